//! `device.invoke`: the instruction's lowering, between reads and writes of its views.

use weft_dialects::device::{Invoke, Machine, View};
use weft_dialects::ir::{Builder, Diagnostics, Mapping, Type, Val, ty};

use super::view;

/// Puts the lowering before the operation.
pub fn expand<'c>(b: &mut Builder<'c>, machine: Machine<'c>, invoke: &Invoke<'c>, diag: &mut Diagnostics) {
    let instruction = machine.instruction(invoke.instruction);
    let Some(lowering) = instruction.as_ref().and_then(|found| found.lowering()) else {
        diag.error(invoke.op, format!("the machine has no instruction @{}", invoke.instruction));
        return;
    };
    let mut map = Mapping::default();
    for (arg, view) in lowering.args().into_iter().zip(&invoke.views) {
        map.set(arg, read(b, view, arg.ty()));
    }
    for op in lowering.ops() {
        if !op.is("device.yield") {
            b.clone_op(op, &mut map);
            continue;
        }
        let results = op.operands();
        let first = invoke.views.len() - results.len();
        for (result, view) in results.into_iter().zip(&invoke.views[first..]) {
            view::store(b, map.get(result), view);
        }
    }
}

fn read<'c>(b: &mut Builder<'c>, view: &View<'c>, as_type: Type<'c>) -> Val<'c> {
    if !ty::is_vector(as_type) {
        return view::load(b, view, 1);
    }
    let operands: Vec<_> = std::iter::once(view.memref).chain(view.indices.iter().copied()).collect();
    b.op("vector.load", &operands, &[as_type]).result(0)
}
