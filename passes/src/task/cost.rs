//! A rough estimate of a kernel's cycles on one unit.
//!
//! ```text
//! compute = points · operations of the body / lanes · issue cycles     on a lane unit
//! compute = points / points of the instruction · issue cycles          on an instruction
//! compute = instructions that cover the points, ragged ones whole · issue cycles    by its axes
//! compute = bytes / bytes per cycle, and the latency for each rTask                 by a move
//! memory  = bytes of all arguments / bytes per cycle of the smallest memory that holds them:
//!           a cache, or the device's memory
//! waits   = tiles that a core loads to its own memory, and those that it stores from there · latency
//!           of the move, where moves fill it
//! cycles  = the larger of the first two, and the waits
//! ```
//!
//! The estimate decides whether work is split and which unit is free first. It
//! compares runs with each other and with a threshold; it is no promise.

use weft_dialects::device::{Machine, Move};
use weft_dialects::ir::ty;
use weft_dialects::tile::Compute;

use super::touch::Touches;
use crate::cost::{memory_cycles, points};
use crate::nest::Nest;
use crate::nest::grid::task_grid;
use crate::tile::isa::mapping;
use crate::tile::{local_buffer, move_cycles};

/// Cycles that all rTasks of a kernel take on one unit, at least 1.
pub fn cycles(
    machine: Machine<'_>,
    compute: &Compute<'_>,
    nest: &Nest<'_>,
    touches: &Touches,
) -> u64 {
    if let Some(way) = machine.move_named(compute.instruction) {
        let tasks: u64 = task_grid(nest, &compute.tiles[0]).iter().product();
        return by_move(machine, &way, nest, tasks).ceil().max(1.0) as u64;
    }
    let arithmetic = arithmetic(machine, compute, nest);
    let moved = memory_cycles(machine, touches.bytes(nest.points()));
    (arithmetic.max(moved) + waits(machine, compute, nest)).ceil().max(1.0) as u64
}

/// Cycles that a unit waits for a kernel's tiles to come to its own memory and to go from there, one
/// after the other; none if they are not moved.
fn waits(machine: Machine<'_>, compute: &Compute<'_>, nest: &Nest<'_>) -> f64 {
    let Some(buffer) = local_buffer(machine) else { return 0.0 };
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

/// Cycles that computing all points of a nest takes on one unit.
pub fn arithmetic(machine: Machine<'_>, compute: &Compute<'_>, nest: &Nest<'_>) -> f64 {
    match by_axes(machine, compute, nest) {
        Some(cycles) => cycles,
        None => nest.points() as f64 * cycles_per_point(machine, compute, nest),
    }
}

/// Cycles of an instruction that has axes of its own.
fn by_axes(machine: Machine<'_>, compute: &Compute<'_>, nest: &Nest<'_>) -> Option<f64> {
    let instruction = machine.instruction(compute.instruction)?;
    let mapping = mapping(&instruction, nest, compute.axes.as_ref()?)?;
    Some(mapping.instructions(&nest.extents()) as f64 * instruction.issue_cycles())
}

fn cycles_per_point(machine: Machine<'_>, compute: &Compute<'_>, nest: &Nest<'_>) -> f64 {
    if let Some(instruction) = machine.instruction(compute.instruction) {
        return instruction.issue_cycles() / points(&instruction);
    }
    let operations = nest.body_ops().iter().filter(|op| !op.is("arith.constant")).count();
    let Some(unit) = machine.lanes_unit(compute.instruction) else {
        return operations.max(1) as f64;
    };
    let elem = nest.outputs.first().map(|output| output.elem());
    let lanes = elem.and_then(|elem| unit.lanes_for(elem)).filter(|_| compute.lanes.is_some());
    operations.max(1) as f64 * unit.issue_cycles() / lanes.unwrap_or(1) as f64
}
