//! An invocation as the instruction's lowering, on byte addresses.

use weft_dialects::device::{Instruction, Invoke, Machine, View, build};
use weft_dialects::ir::{Builder, Context, Mapping, Type, Val, ty};

use super::super::index_sum::IndexSum;
use super::allocations::{Allocations, strides};
use super::is_own;

/// Puts the lowering in the place of the invocation, where it has operations of the
/// vendor's; whether it did.
pub fn expand<'c>(
    context: &'c Context,
    machine: Machine<'c>,
    allocations: &Allocations<'c>,
    invoke: &Invoke<'c>,
) -> bool {
    let Some(instruction) = machine.instruction(invoke.instruction) else { return false };
    let Some(lowering) = instruction.lowering().filter(|_| is_vendors(machine, &instruction))
    else {
        return false;
    };
    let mut b = Builder::before(context, invoke.op);
    let mut map = Mapping::default();
    for (arg, view) in lowering.args().into_iter().zip(&invoke.views) {
        let value = if ty::is_index(arg.ty()) {
            address(&mut b, machine, allocations, view)
        } else {
            load(&mut b, view, arg.ty())
        };
        map.set(arg, value);
    }
    for op in lowering.ops() {
        if !op.is("device.yield") {
            b.clone_op(op, &mut map);
            continue;
        }
        // Results overwrite the last operands that have no address.
        let results = op.operands();
        let args = lowering.args().into_iter().zip(&invoke.views);
        let views: Vec<_> =
            args.filter(|(arg, _)| !ty::is_index(arg.ty())).map(|(_, view)| view).collect();
        let first = views.len().saturating_sub(results.len());
        for (result, view) in results.into_iter().zip(&views[first..]) {
            store(&mut b, map.get(result), view);
        }
    }
    if let (Some(engine), Some(token)) = (instruction.engine(), invoke.op.results().first()) {
        token.replace_with(build::mark(&mut b, engine));
    }
    invoke.op.erase();
    true
}

/// Returns whether the lowering has an operation of the machine's own dialects.
pub fn is_vendors(machine: Machine<'_>, instruction: &Instruction<'_>) -> bool {
    let names = machine.vendor_operations();
    let mut own = false;
    if let Some(lowering) = instruction.lowering() {
        for op in lowering.iter() {
            op.walk(&mut |op| own |= is_own(&names, op));
        }
    }
    own
}

/// The byte address of the first element of a view. That of a tensor in the shared memory
/// is known when the program runs.
fn address<'c>(
    b: &mut Builder<'c>,
    machine: Machine<'c>,
    allocations: &Allocations<'c>,
    view: &View<'c>,
) -> Val<'c> {
    let memref = view.memref;
    let (base, strides) = match allocations.of(memref) {
        Some(allocation) => (allocation.address, allocation.strides.clone()),
        None => {
            let strides =
                machine.memory_of(memref.ty()).map(|memory| strides(&memory, memref.ty()));
            (0, strides.unwrap_or_default())
        }
    };
    let mut sum = IndexSum::from(base as i64);
    // The outermost index last: it comes first where the sum is written.
    for (&index, stride) in view.indices.iter().zip(strides).rev() {
        sum.add(index, stride as i64);
    }
    let inside = sum.write(b);
    if allocations.of(memref).is_some() {
        return inside;
    }
    let index = Type::index(b.context());
    let base = b.op("memref.extract_aligned_pointer_as_index", &[memref], &[index]).result(0);
    b.op("arith.addi", &[base, inside], &[index]).result(0)
}

fn operands<'c>(view: &View<'c>) -> Vec<Val<'c>> {
    std::iter::once(view.memref).chain(view.indices.iter().copied()).collect()
}

fn load<'c>(b: &mut Builder<'c>, view: &View<'c>, ty: Type<'c>) -> Val<'c> {
    let name = if ty::is_vector(ty) { "vector.load" } else { "memref.load" };
    b.op(name, &operands(view), &[ty]).result(0)
}

fn store<'c>(b: &mut Builder<'c>, value: Val<'c>, view: &View<'c>) {
    let name = if ty::is_vector(value.ty()) { "vector.store" } else { "memref.store" };
    let mut all = vec![value];
    all.extend(operands(view));
    b.op(name, &all, &[]);
}
