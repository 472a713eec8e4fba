//! The instruction that computes a kernel on a machine, and the reasons against the others.

use weft_dialects::device::Machine;
use weft_dialects::ir::Op;
use weft_dialects::ir::pass::Failed;
use weft_dialects::tile::{Kernel, RTile};

use super::construct_rtiles::read;
use super::instruction::refusals;
use super::isa::Search;
use super::layout::Layout;
use super::policy::{self, Candidate, Ranked, Tiled};
use super::predict::{self, Tensors};
use crate::cost::Cost;
use crate::nest::read_kernel;

/// The instructions tried for a kernel.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The instruction that computes it and its predicted cycles on one unit; or the reason for
    /// none.
    pub winner: Result<(String, f64), String>,
    /// The instruction or lane unit of the winner.
    pub instruction: Option<String>,
    /// The next best way by another instruction or lane unit, which is predicted to take longer.
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
    let fixed = vec![Layout::Fixed; nest.inputs.len()];
    let ranked = policy::candidates(machine, &nest, &fixed, Search::default(), 1);
    let refusals = refusals(machine, &nest);
    let refusals = refusals.iter().map(|(name, why)| ((*name).to_owned(), why.says())).collect();
    Ok(match ranked {
        Ok(Ranked { found, .. }) => {
            let mut ways = found.iter().map(|way| (way.tiled.instruction(), way));
            let (instruction, best) = ways.next().expect("there is a way, or a reason for none");
            let second = ways.find(|(other, _)| *other != instruction);
            let told = |way: &Candidate<'_>| (way.tiled.describe(), way.cost.cycles);
            Explained {
                winner: Ok(told(best)),
                instruction: Some(instruction.to_owned()),
                runner_up: second.map(|(_, way)| told(way)),
                refusals,
            }
        }
        Err(reason) => {
            Explained { winner: Err(reason), instruction: None, runner_up: None, refusals }
        }
    })
}

/// The cost model's prediction for a kernel that has its tile.
#[derive(Clone, Debug)]
pub struct Predicted {
    /// The instruction that computes it, and its tile.
    pub what: String,
    /// What the whole kernel takes on one unit.
    pub cost: Cost,
    /// The next best way, of another instruction, axis or tile.
    pub second: Option<(String, f64)>,
}

/// The cycles of the tile that a kernel names, and what comes next; `None` where the tile is
/// none that the policy would consider, as one that was written by hand, and where the kernel
/// is more than one loop nest.
pub fn predicted<'c>(machine: Machine<'c>, kernel: Op<'c>) -> Option<Predicted> {
    const KEPT: usize = 64;
    let computes = Kernel::of(kernel)?.computes();
    let [compute] = &computes[..] else { return None };
    let (nest, inner) = (read_kernel(kernel).ok()?, compute.tiles.last()?);
    let fixed = vec![Layout::Fixed; nest.inputs.len()];
    let ranked = policy::candidates(machine, &nest, &fixed, Search::default(), KEPT);
    let mut ranked = ranked.ok()?.found;
    let names = |tiled: &Tiled<'_>| {
        // Tiles staged near the unit may be smaller than those that its registers would hold.
        let fits = |tile: &RTile| match tiled {
            Tiled::Lanes(lanes) if lanes.stage.is_some() => {
                tile.sizes.iter().zip(&inner.sizes).all(|(most, size)| size <= most)
            }
            _ => tile.sizes == inner.sizes,
        };
        tiled.instruction() == compute.instruction && fits(&tiled.tile(&nest))
    };
    let at = ranked.iter().position(|candidate| names(&candidate.tiled))?;
    let own = ranked.remove(at);
    let cost = predict::cost(machine, &nest, compute, Tensors::Shared)?;
    let second = ranked.first().map(|next| (next.tiled.describe(), next.cost.cycles));
    Some(Predicted { what: own.tiled.describe(), cost, second })
}
