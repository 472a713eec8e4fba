//! Kernels that are faster on all units, offered beside the one that is the best of one unit.
//!
//! ```text
//! tile.run "mm" @mm(...)   ->   tile.run "mm" @mm or [@mm_wide](...)
//! ```
//!
//! Large tiles take the fewest cycles and may leave units idle: then smaller ones, which are more
//! rTasks, are done first although they are more work. Rammer (OSDI'20, section 4) calls the two
//! the fastest and the most efficient rKernel; which is better depends on what runs beside
//! them, so the schedule chooses.

use weft_dialects::device::Machine;
use weft_dialects::ir::{Builder, Context, Mapping, Op, attr};

use super::isa::Search;
use super::layout::Layout;
use super::policy::{self, Ranked, Tiled};
use super::rtiles::Tile;
use super::why::Why;
use crate::cost::worth;
use crate::cost::worth::parts;
use crate::nest::Nest;

/// The tile that is done first when all units share it, where that is another than `best`; of two
/// that take about as long the one of less work.
pub(super) fn wider<'c>(
    machine: Machine<'c>,
    nest: &Nest<'c>,
    search: Search<'_>,
    best: &Tile<'c>,
) -> Option<Tile<'c>> {
    let unit = machine.units().into_iter().next()?;
    let time = |tile: &Tile<'c>| {
        let tasks = tile.tasks(nest).max(1);
        let parts = parts(tasks, tile.why.cost.cycles as u64, unit.count(), unit.handover_cycles());
        // Units that share work wait for each other.
        let handover = if parts > 1 { unit.handover_cycles() as f64 } else { 0.0 };
        tile.why.cost.cycles * tasks.div_ceil(parts) as f64 / tasks as f64 + handover
    };
    let idle =
        best.tasks(nest) < unit.count() && best.why.cost.cycles > unit.handover_cycles() as f64;
    if !idle || matches!(best.tiled, Tiled::Block(_)) {
        return None;
    }
    let fixed = vec![Layout::Fixed; nest.inputs.len()];
    let search = Search { spread: unit.count(), ..search };
    let Ranked { found: others, compared } =
        policy::candidates(machine, nest, &fixed, search, usize::MAX).ok()?;
    // In other tiles, and not by lanes what an instruction of its own axes does best.
    let same = best.tiled.instruction();
    let others = others.into_iter().filter(|other| other.tiled.instruction() == same);
    let others = others.filter_map(|other| {
        let why = Why { cost: other.cost, rule: other.rule, compared };
        let tile = Tile::fitting(machine, nest, other.tiled, why).ok()?;
        Some((time(&tile), tile))
    });
    let first = (time(best), None);
    let (_, wide) = others.fold(first, |best, (time, tile)| match worth::is_worth(time, best.0) {
        true => (time, Some(tile)),
        false => best,
    });
    wide
}

/// A copy of a kernel, behind it, under a name of its own.
pub(super) fn copy<'c>(context: &'c Context, kernel: Op<'c>) -> Op<'c> {
    let taken = |name: &str| {
        let beside = kernel.block().map(|block| block.ops()).unwrap_or_default();
        beside.iter().any(|op| op.symbol() == name)
    };
    let mut name = format!("{}_wide", kernel.symbol());
    while taken(&name) {
        name.push('_');
    }
    let copy = Builder::after(context, kernel).clone_op(kernel, &mut Mapping::default());
    copy.set_attr("sym_name", attr::of_string(context, &name));
    copy
}
