//! The least times of memories and instructions, by the machine's facts alone.

use weft_dialects::device::{Instruction, Machine};
use weft_dialects::ir::{Type, ty};

use super::home::{Beside, Homes};
use crate::nest::generic_axes;

/// Cycles that the smallest memory that holds `bytes`, a cache or the device's memory, takes to
/// read or write them; none where the machine does not say.
pub(crate) fn memory_cycles(machine: Machine<'_>, bytes: u64) -> f64 {
    Homes::of(machine).cycles(bytes, bytes, Beside::Nothing)
}

/// Cycles that each point of a product of `elem` takes on the fastest instruction of three operands.
pub(crate) fn product_cycles<'c>(machine: Machine<'c>, elem: Type<'c>) -> Option<f64> {
    let fits = |instruction: &Instruction<'c>| {
        let types = instruction.operand_types();
        types.len() == 3 && ty::elem(types[0]) == Some(elem)
    };
    let instructions = machine.instructions().into_iter().filter(fits);
    instructions.map(|one| point_cycles(&one)).min_by(f64::total_cmp)
}

/// Cycles that each point of an instruction takes.
pub(crate) fn point_cycles(instruction: &Instruction<'_>) -> f64 {
    instruction.issue_cycles() / points(instruction)
}

/// Points of the nest that an instruction's meaning computes; where it is no
/// `linalg.generic`, the elements of its largest operand.
fn points(instruction: &Instruction<'_>) -> f64 {
    let last = instruction
        .meaning()
        .and_then(|block| block.iter().filter(|op| op.is("linalg.generic")).last())
        .and_then(|generic| generic_axes(generic).ok());
    let points: u64 = match last {
        Some(axes) => axes.iter().map(|axis| axis.extent).product(),
        None => {
            let types = instruction.operand_types().into_iter();
            types.filter_map(ty::count).max().unwrap_or(1)
        }
    };
    points.max(1) as f64
}
