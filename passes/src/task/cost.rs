//! Cycles of a kernel on one unit, for the schedule of tasks.
//!
//! ```text
//! schedule = what the models of the tile stage say of the tiles in the text (`tile/predict.rs`)
//!            bytes / bytes per cycle, and the latency for each rTask, where a move does it
//! memory   = bytes of all arguments / bytes per cycle of the smallest memory that holds them:
//!            a cache, or the device's memory
//! waits    = tiles that a core loads to its own memory, and those that it stores from there · latency
//!            of the move, where moves fill it for lanes
//! cycles   = the larger of the first two, and the waits
//! ```

use weft_dialects::device::{Machine, Move};
use weft_dialects::ir::ty;
use weft_dialects::tile::Compute;

use super::touch::Touches;
use crate::cost::memory_cycles;
use crate::nest::Nest;
use crate::nest::grid::task_grid;
use crate::tile::predict::{self, Tensors};
use crate::tile::{local_buffer, move_cycles};

/// Cycles that all rTasks of a kernel take on one unit, at least 1.
pub fn cycles<'c>(
    machine: Machine<'c>,
    compute: &Compute<'c>,
    nest: &Nest<'c>,
    touches: &Touches,
) -> u64 {
    if let Some(way) = machine.move_named(compute.instruction) {
        let tasks: u64 = task_grid(nest, &compute.tiles[0]).iter().product();
        return by_move(machine, &way, nest, tasks).ceil().max(1.0) as u64;
    }
    let moved = memory_cycles(machine, touches.bytes(nest.points()));
    let own = scheduled(machine, compute, nest, Tensors::Shared);
    (own.max(moved) + waits(machine, compute, nest)).ceil().max(1.0) as u64
}

/// Cycles that a schedule takes; none where the machine has no such schedule, which the next stage
/// refuses.
pub(crate) fn scheduled<'c>(
    machine: Machine<'c>,
    compute: &Compute<'c>,
    nest: &Nest<'c>,
    tensors: Tensors,
) -> f64 {
    predict::cost(machine, nest, compute, tensors).map_or(0.0, |cost| cost.cycles)
}

/// Cycles that a unit waits for the tiles of lanes to come to its own memory and to go from there,
/// one after the other; none if they are not moved, or an instruction with axes brings them.
fn waits(machine: Machine<'_>, compute: &Compute<'_>, nest: &Nest<'_>) -> f64 {
    let buffer = local_buffer(machine).filter(|_| compute.axes.is_none());
    let Some(buffer) = buffer else { return 0.0 };
    let [bring, take] = buffer.latencies();
    let Some(tile) = compute.tiles.get(1) else { return 0.0 };
    let rounds = |axis: usize| nest.axes[axis].extent.div_ceil(tile.sizes[axis].max(1)) as f64;
    let axes = 0..nest.axes.len();
    let brought: f64 = axes.clone().map(rounds).product();
    let taken: f64 = axes.filter(|&axis| !nest.reduces(axis)).map(rounds).product();
    brought * bring + taken * take
}

/// Returns the cycles of a move for the outputs of a nest, in so many parts.
pub fn by_move(machine: Machine<'_>, way: &Move<'_>, nest: &Nest<'_>, pieces: u64) -> f64 {
    let bytes = nest.points() * ty::byte_size(nest.outputs[0].elem()).unwrap_or(1);
    let latency = way.latency_cycles().unwrap_or(0) as f64;
    move_cycles(machine, way, bytes as f64) + pieces as f64 * latency
}
