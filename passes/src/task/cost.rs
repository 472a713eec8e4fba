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

use weft_dialects::device::{Instruction, Machine, Move};
use weft_dialects::ir::{Type, ty};
use weft_dialects::tile::Compute;

use super::grid::task_grid;
use super::touch::Touches;
use crate::nest::{Nest, generic_axes};
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

/// Cycles that the smallest memory that holds `bytes`, a cache or the device's memory, takes to
/// read or write them; none where the machine does not say.
pub fn memory_cycles(machine: Machine<'_>, bytes: u64) -> f64 {
    let memories = machine.memories();
    let holding = memories.iter().filter(|m| m.is_cache() && m.capacity_bytes() >= bytes);
    let cache = holding.min_by_key(|memory| memory.capacity_bytes()).cloned();
    let rate = cache.or_else(|| machine.shared()).and_then(|memory| memory.bytes_per_cycle());
    rate.map_or(0.0, |rate| bytes as f64 / rate as f64)
}

/// Cycles that each point of a product of `elem` takes on the fastest instruction of three operands.
pub fn product_cycles<'c>(machine: Machine<'c>, elem: Type<'c>) -> Option<f64> {
    let fits = |instruction: &Instruction<'c>| {
        let types = instruction.operand_types();
        types.len() == 3 && ty::elem(types[0]) == Some(elem)
    };
    let instructions = machine.instructions().into_iter().filter(fits);
    instructions.map(|one| one.issue_cycles() / points(&one)).min_by(f64::total_cmp)
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
