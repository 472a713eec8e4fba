//! `device.apply`: scalar operations as vector operations.

use weft_dialects::device::{Apply, Machine, View};
use weft_dialects::ir::{Builder, Diagnostics};

use super::lanewise::Lanewise;
use super::view;

/// Puts the vector form before the operation.
pub fn expand<'c>(
    b: &mut Builder<'c>,
    machine: Machine<'c>,
    apply: &Apply<'c>,
    diag: &mut Diagnostics,
) {
    let mut lanewise = Lanewise::new(*b, apply.lanes);
    for (arg, input) in apply.body.args().into_iter().zip(&apply.inputs) {
        let lanes = if in_registers(machine, apply, input) { apply.lanes } else { 1 };
        let value = view::load(b, input, lanes);
        lanewise.set(arg, value);
    }
    let results = lanewise.run(apply.body, diag);
    for (result, output) in results.into_iter().zip(&apply.outputs) {
        view::store(b, result, output);
    }
}

/// Returns whether an operand gives one element a lane.
fn in_registers<'c>(machine: Machine<'c>, apply: &Apply<'c>, view: &View<'c>) -> bool {
    let unit = machine.lanes_unit(apply.lanes_unit);
    let memory = machine.memory_of(view.memref.ty());
    matches!((unit, memory), (Some(unit), Some(memory)) if unit.memory() == memory.name)
}
