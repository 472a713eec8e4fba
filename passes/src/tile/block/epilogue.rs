//! The epilogue of a block: what is done to the sums while they are in registers.
//!
//! ```text
//! sums = A * B                  in the registers of a group, as the instruction spreads them
//! bias                          brought to registers in the same order
//! sums = relu(sums + bias)      by lanes, each on the elements that it has
//! ```

use weft_dialects::device::{Lanes, Machine};

use super::{Block, Core};
use crate::math;
use crate::nest::{Nest, index_axis};
use crate::tile::instruction::{applies, body_cycles};

/// The lane unit that applies a nest's epilogue in some registers; `None` where there is none.
pub fn lane_unit<'c>(machine: Machine<'c>, nest: &Nest<'c>, registers: &str) -> Option<Lanes<'c>> {
    let body = nest.epilogue.as_ref()?.body;
    let asks = body.ops().into_iter().any(|op| index_axis(op).is_some());
    let extracts = body.ops().iter().any(|op| op.is("tensor.extract"));
    let units = machine.lanes_units().into_iter();
    let mut units = units.filter(|unit| unit.memory() == registers && !asks && !extracts);
    units.find(|unit| applies(unit, body, &math::expands))
}

/// Tests that a nest has no epilogue, or one that lanes apply where an instruction leaves its sums.
pub(super) fn is_applied<'c>(machine: Machine<'c>, nest: &Nest<'c>, block: &Block<'c>) -> bool {
    let registers = block.instruction().operands().last();
    nest.epilogue.is_none()
        || registers.is_some_and(|registers| lane_unit(machine, nest, registers).is_some())
}

/// Cycles that a unit issues for the epilogue of one operand's elements; 0 where there is none.
pub(super) fn cycles<'c>(machine: Machine<'c>, nest: &Nest<'c>, block: &Block<'c>) -> f64 {
    let registers = block.instruction().operands().last();
    let unit = registers.and_then(|registers| lane_unit(machine, nest, registers));
    let Some((unit, epilogue)) = unit.zip(nest.epilogue.as_ref()) else { return 0.0 };
    let registers = match &block.core {
        Core::Matrix(..) => block.quanta()[..2].iter().product::<u64>().div_ceil(block.lanes),
        Core::Lanes(..) => 1,
    };
    registers as f64 * body_cycles(&unit, epilogue.body)
}
