//! What lanes do to the sums of a block while they are in registers: how they begin, and the epilogue.
//!
//! ```text
//! sums = extf(bias)             where that is neither a number nor a copy
//! sums = sums + A * B           in the registers of a group, as the instruction spreads them
//! residual                      brought to registers in the same order
//! sums = relu(sums + residual)  by lanes, each on the elements that it has
//! ```

use weft_dialects::device::{Lanes, Machine};
use weft_dialects::ir;

use super::{Begin, Block, Core, begin};
use crate::math;
use crate::nest::{Access, Nest, Start, index_axis};
use crate::tile::instruction::{applies, body_cycles};

/// What sums begin with where lanes compute it: the inputs, and the body on their elements.
pub fn computed_start<'n, 'c>(nest: &'n Nest<'c>) -> Option<(&'n [Access<'c>], ir::Block<'c>)> {
    let [Start::From { inputs, body }] = &nest.starts[..] else { return None };
    let plain = match begin(nest, false) {
        Some(Begin::Copied) => inputs.len() == 1,
        known => known.is_some(),
    };
    (!plain).then_some((inputs, *body))
}

/// The bodies that lanes apply to a nest's sums.
pub fn bodies<'c>(nest: &Nest<'c>) -> Vec<ir::Block<'c>> {
    let start = computed_start(nest).map(|(_, body)| body);
    start.into_iter().chain(nest.epilogue.as_ref().map(|epilogue| epilogue.body)).collect()
}

/// The lane unit that applies what lanes do to a nest's sums in some registers; `None` where there is
/// none.
pub fn lane_unit<'c>(machine: Machine<'c>, nest: &Nest<'c>, registers: &str) -> Option<Lanes<'c>> {
    let bodies = bodies(nest);
    let ops: Vec<_> = bodies.iter().flat_map(|body| body.ops()).collect();
    let asks = ops.iter().any(|op| index_axis(*op).is_some());
    let extracts = ops.iter().any(|op| op.is("tensor.extract"));
    let units = machine.lanes_units().into_iter();
    let mut units = units.filter(|unit| unit.memory() == registers && !asks && !extracts);
    units.find(|unit| bodies.iter().all(|body| applies(unit, *body, &math::expands)))
}

/// Tests that lanes have nothing to do to a nest's sums, or can do it where an instruction leaves them.
pub(super) fn is_applied<'c>(machine: Machine<'c>, nest: &Nest<'c>, block: &Block<'c>) -> bool {
    let registers = block.instruction().operands().last();
    bodies(nest).is_empty()
        || registers.is_some_and(|registers| lane_unit(machine, nest, registers).is_some())
}

/// Cycles that a unit issues for that on one operand's elements; 0 where there is nothing to do.
pub(super) fn cycles<'c>(machine: Machine<'c>, nest: &Nest<'c>, block: &Block<'c>) -> f64 {
    let registers = block.instruction().operands().last();
    let Some(unit) = registers.and_then(|registers| lane_unit(machine, nest, registers)) else {
        return 0.0;
    };
    let registers = match &block.core {
        Core::Matrix(..) => block.quanta()[..2].iter().product::<u64>().div_ceil(block.lanes),
        Core::Lanes(..) => 1,
    };
    let issued = bodies(nest).into_iter().map(|body| body_cycles(&unit, body));
    registers as f64 * issued.sum::<f64>()
}
