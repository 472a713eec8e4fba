//! `device.invoke`: the instruction's lowering, between reads and writes of its views.

use weft_dialects::device::{Invoke, Machine, View};
use weft_dialects::ir::{Block, Builder, Diagnostics, Mapping, Type, Val, ty};

use super::bf16::bits_of;
use super::{record, view};

/// Puts the lowering before the operation.
pub fn expand<'c>(
    b: &mut Builder<'c>,
    machine: Machine<'c>,
    invoke: &Invoke<'c>,
    diag: &mut Diagnostics,
) {
    inline(b, machine, invoke, diag, &read, &|b, value, view| view::store(b, value, view));
}

/// Puts the lowering before the operation: `read` gives an operand in the type that the
/// lowering takes, `write` takes what it yields, as memory holds it.
pub fn inline<'c>(
    b: &mut Builder<'c>,
    machine: Machine<'c>,
    invoke: &Invoke<'c>,
    diag: &mut Diagnostics,
    read: &dyn Fn(&mut Builder<'c>, &View<'c>, Type<'c>) -> Val<'c>,
    write: &dyn Fn(&mut Builder<'c>, Val<'c>, &View<'c>),
) {
    let instruction = machine.instruction(invoke.instruction);
    let Some(lowering) = instruction.as_ref().and_then(|found| found.lowering()) else {
        diag.error(invoke.op, format!("the machine has no instruction @{}", invoke.instruction));
        return;
    };
    let args = lowering.args().into_iter().zip(&invoke.views);
    let args: Vec<_> = args.map(|(arg, view)| read(b, view, arg.ty())).collect();
    let results = written(b, lowering, &args);
    let first = invoke.views.len() - results.len();
    for (value, view) in results.into_iter().zip(&invoke.views[first..]) {
        let value = cast(b, value, in_memory(b, value.ty()));
        write(b, value, view);
    }
}

/// Puts the operations of a lowering before what `b` builds next; gives what they yield of these arguments.
pub fn written<'c>(b: &mut Builder<'c>, lowering: Block<'c>, args: &[Val<'c>]) -> Vec<Val<'c>> {
    let mut map = Mapping::default();
    for (own, arg) in lowering.args().into_iter().zip(args) {
        map.set(own, *arg);
    }
    let mut results = Vec::new();
    for op in lowering.ops() {
        if op.is("device.yield") {
            results.extend(op.operands().into_iter().map(|value| map.get(value)));
            continue;
        }
        let given = op.operands().first().map(|value| map.get(*value));
        match given.and_then(|value| record::cast(b, op, value)) {
            Some(value) => map.set(op.result(0), value),
            None => drop(b.clone_op(op, &mut map)),
        }
    }
    results
}

fn read<'c>(b: &mut Builder<'c>, view: &View<'c>, as_type: Type<'c>) -> Val<'c> {
    let loaded = in_memory(b, as_type);
    let name = if ty::is_vector(as_type) { "vector.load" } else { "memref.load" };
    let operands: Vec<_> =
        std::iter::once(view.memref).chain(view.indices.iter().copied()).collect();
    let value = b.op(name, &operands, &[loaded]).result(0);
    cast(b, value, as_type)
}

/// The type under which a memref holds a scalar or a vector.
pub fn in_memory<'c>(b: &Builder<'c>, ty: Type<'c>) -> Type<'c> {
    match (ty::shape(ty), ty::elem(ty)) {
        (Some(shape), Some(elem)) => Type::vector(&shape, bits_of(b.context(), elem)),
        _ => bits_of(b.context(), ty),
    }
}

/// Reinterprets bits under another type.
pub fn cast<'c>(b: &mut Builder<'c>, value: Val<'c>, ty: Type<'c>) -> Val<'c> {
    if value.ty() == ty { value } else { b.op("arith.bitcast", &[value], &[ty]).result(0) }
}
