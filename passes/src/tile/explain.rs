//! What the machine does with a kernel, and why not something else.

use weft_dialects::device::Machine;
use weft_dialects::ir::Op;
use weft_dialects::ir::pass::Failed;

use super::construct_rtiles::read;
use super::instruction::instructions;
use super::mapping::has_axes;
use super::matrix;
use super::policy::{self, Choice};
use crate::device::expand_math;

/// What was found out about a kernel.
#[derive(Clone, Debug)]
pub struct Explained {
    /// Who computes it, and its predicted cycles on one unit; or why nobody does.
    pub winner: Result<(String, f64), String>,
    /// The instruction or lane unit of the winner.
    pub instruction: Option<String>,
    /// The best of another kind.
    pub runner_up: Option<(String, f64)>,
    /// Instructions that cannot do it, each with the rule and what it met.
    pub refusals: Vec<(String, String)>,
}

/// Asks what `tile-construct-rtiles` would choose for a kernel, and changes nothing.
///
/// # Errors
/// Reported: a kernel that is no loop nest.
pub fn explain<'c>(machine: Machine<'c>, kernel: Op<'c>) -> Result<Explained, Failed> {
    let nest = read(kernel)?;
    let fixed = vec![false; nest.inputs.len()];
    let chosen = policy::choose(machine, &nest, &fixed, &expand_math::expands);
    let on_lanes: Vec<_> = instructions(machine, &nest).iter().map(|mapped| mapped.name).collect();
    let all = machine.instructions();
    let with_axes = all.iter().filter(|instruction| has_axes(instruction));
    let mut refusals = Vec::new();
    for (instruction, choice) in with_axes.zip(matrix::choices(machine, &nest)) {
        if let Err(reason) = choice {
            refusals.push((instruction.name.to_owned(), reason));
        }
    }
    for instruction in all.iter().filter(|instruction| !has_axes(instruction)) {
        if !on_lanes.contains(&instruction.name) {
            let reason = format!("@{} means another body", instruction.name);
            refusals.push((instruction.name.to_owned(), reason));
        }
    }
    let order = |name: &str| all.iter().position(|instruction| instruction.name == name);
    refusals.sort_by_key(|(name, _)| order(name));
    Ok(match chosen {
        Ok(Choice { tiled, cycles, runner_up }) => Explained {
            winner: Ok((tiled.describe(), cycles)),
            instruction: Some(tiled.instruction().to_owned()),
            runner_up,
            refusals,
        },
        Err(reason) => {
            Explained { winner: Err(reason), instruction: None, runner_up: None, refusals }
        }
    })
}
