//! Reductions in parts: what the tiles of an rTask share stays in the unit's cache.
//!
//! ```text
//! for part of k { for panel of j { for rows of i {     C[i, j] += A[i, part] * B[part, j]
//! ```
//!
//! Between the rTile of the rTask and the one in registers stands a third, as long as the
//! rTask's on all axes but one reduction. The innermost loop over tiles leaves the panel of B
//! where it is, and the next panel finds the rows of A near again, if both fit. Sums wait in
//! the output from one part to the next.

use weft_dialects::device::Machine;
use weft_dialects::ir::ty;
use weft_dialects::tile::RTile;

use super::cost;
use super::task_tile::{footprint, loop_order};
use super::way::private_cache;
use crate::nest::{Access, Border, Nest, Start};

/// Fewer steps than this between starting and storing a tile's sums, and parts cost more than
/// they save.
const LEAST_STEPS: u64 = 128;
/// Steps for which an rTask is cut, so that what they share fits.
const GOOD_STEPS: u64 = 256;
/// Parts are for tiles that wait longer than this part of their time for far memories.
const MOST_WAIT: f64 = 0.125;

/// An rTask and the part of a reduction that its tiles do together, if that is worth it.
///
/// `cycles` are those of the whole nest. The rTask is cut along its innermost loop where what
/// that loop runs over would leave the cache otherwise.
pub(super) fn in_parts(
    machine: Machine<'_>,
    nest: &Nest<'_>,
    lanes_axis: Option<usize>,
    cycles: f64,
    registers: &RTile,
    task: RTile,
) -> (RTile, Option<RTile>) {
    let part = Parts::of(machine, nest, lanes_axis, registers).and_then(|parts| {
        let share = |axis: usize| {
            let whole = nest.axes[axis].extent.max(1);
            registers.sizes[axis].min(whole) as f64 / whole as f64
        };
        let tiles = (0..nest.axes.len()).filter(|&axis| !nest.reduces(axis)).map(share);
        let most = cycles * tiles.product::<f64>() * MOST_WAIT;
        (parts.waits(machine, &task) > most).then(|| parts.cut(&task)).flatten()
    });
    match part {
        Some((task, part)) => (task, Some(part)),
        None => (task, None),
    }
}

/// Returns whether the unit's cache, of which a tensor's tile may take `most_bytes`, holds the
/// inputs of a tile of `sizes` for the shortest part of its reductions for which an rTask is cut.
pub(super) fn have_room(nest: &Nest<'_>, most_bytes: u64, mut sizes: Vec<u64>) -> bool {
    let Some(axis) = longest_reduction(nest) else { return true };
    sizes[axis] = good_length(nest, axis);
    nest.inputs.iter().map(|access| footprint(access, &sizes)).sum::<u64>() <= room(most_bytes)
}

/// The reduction that parts are cut from.
fn longest_reduction(nest: &Nest<'_>) -> Option<usize> {
    let reductions = (0..nest.axes.len()).filter(|&axis| nest.reduces(axis));
    reductions.max_by_key(|&axis| nest.axes[axis].extent)
}

/// Points along `axis` for which an rTask is cut.
fn good_length(nest: &Nest<'_>, axis: usize) -> u64 {
    GOOD_STEPS.div_ceil(other_steps(nest, axis)).min(nest.axes[axis].extent)
}

/// Steps of the reductions for one point along `axis`.
fn other_steps(nest: &Nest<'_>, axis: usize) -> u64 {
    let others = (0..nest.axes.len()).filter(|&other| other != axis && nest.reduces(other));
    others.map(|other| nest.axes[other].extent).product::<u64>().max(1)
}

/// Bytes of a cache that are for what tiles share.
fn room(most_bytes: u64) -> u64 {
    2 * most_bytes
}

/// Facts from which the parts of a reduction are made.
struct Parts<'n, 'c> {
    nest: &'n Nest<'c>,
    registers: &'n RTile,
    /// The reduction that is cut.
    axis: usize,
    /// The cache, and how many bytes of it are for what is shared.
    cache: &'n str,
    room: u64,
    line_bytes: u64,
}

impl<'n, 'c> Parts<'n, 'c> {
    /// `None` without a cache of the unit's own, and for what is folded at once: by lanes, with
    /// a border, or starting from nothing.
    fn of(
        machine: Machine<'n>,
        nest: &'n Nest<'c>,
        lanes_axis: Option<usize>,
        registers: &'n RTile,
    ) -> Option<Self> {
        let cache = private_cache(machine)?;
        let held = nest.starts.iter().all(|start| !matches!(start, Start::Unread));
        let bordered = nest.inputs.iter().any(|access| Border::of(access).is_some());
        let across = lanes_axis.is_some_and(|axis| nest.reduces(axis));
        if across || bordered || !held || !nest.captures.is_empty() {
            return None;
        }
        Some(Self {
            nest,
            registers,
            axis: longest_reduction(nest)?,
            cache: cache.name,
            room: room(cache.most_bytes),
            line_bytes: machine.memory(cache.name)?.transaction_bytes()?,
        })
    }

    /// Cycles in which a tile with the whole reduction waits for what would be near in parts:
    /// what the innermost loop leaves where it is, if it is too much to stay, and what that loop
    /// runs over again for the next round of another.
    fn waits(&self, machine: Machine<'_>, task: &RTile) -> f64 {
        let loops = self.loops(task);
        let Some(&innermost) = loops.last() else { return 0.0 };
        let sizes = self.sizes(self.nest.axes[self.axis].extent);
        let bytes = |access: &Access<'_>| footprint(access, &sizes);
        let fits = self.nest.inputs.iter().map(bytes).sum::<u64>() <= self.room;
        let far = |access: &&Access<'_>| match access.uses(innermost) {
            true => loops.len() > 1,
            false => !fits,
        };
        let wait = |access: &Access<'_>| {
            let lines = cost::lines(self.nest, access, &sizes, self.line_bytes);
            lines * self.line_bytes as f64 / rate(machine, access, self.room)
        };
        self.nest.inputs.iter().filter(far).map(wait).sum()
    }

    /// An rTask in which parts are long enough, no larger than `task`, and such a part: whole
    /// lines of what lies along the reduction, all parts about as long.
    fn cut(&self, task: &RTile) -> Option<(RTile, RTile)> {
        let extent = self.nest.axes[self.axis].extent;
        let others = other_steps(self.nest, self.axis);
        let task = self.shorter(task, good_length(self.nest, self.axis));
        let widest = self.nest.inputs.iter().filter_map(|input| ty::byte_size(input.elem())).max();
        let line = (self.line_bytes / widest?.max(1)).max(1);
        let fits = |length: &u64| self.shared(&task, *length) <= self.room;
        let most = (1..=extent / line).rev().map(|lines| lines * line).find(fits)?;
        let length = extent.div_ceil(extent.div_ceil(most)).next_multiple_of(line);
        if length >= extent || length * others < LEAST_STEPS {
            return None;
        }
        let mut part = RTile { memory: self.cache.to_owned(), sizes: task.sizes.clone() };
        part.sizes[self.axis] = length;
        Some((task, part))
    }

    /// The rTask cut along its innermost loop until parts of `length` points fit; as it is
    /// where none do.
    fn shorter(&self, task: &RTile, length: u64) -> RTile {
        let [_, .., innermost] = self.loops(task)[..] else { return task.clone() };
        let (whole, tile) = (task.sizes[innermost], self.registers.sizes[innermost]);
        let tiles = whole.div_ceil(tile);
        let pieces = (1..=tiles).map(|pieces| {
            let mut task = task.clone();
            task.sizes[innermost] = (tiles.div_ceil(pieces) * tile).min(whole);
            task
        });
        let mut fitting = pieces.filter(|task| self.shared(task, length) <= self.room);
        fitting.next().unwrap_or_else(|| task.clone())
    }

    /// Bytes of inputs that have to stay near for a part of `length` points: what the innermost
    /// loop over tiles leaves where it is, and all that it runs over, if it does so again.
    fn shared(&self, task: &RTile, length: u64) -> u64 {
        let mut sizes = self.sizes(length);
        if let [_, .., innermost] = self.loops(task)[..] {
            sizes[innermost] = task.sizes[innermost];
        }
        self.nest.inputs.iter().map(|access| footprint(access, &sizes)).sum()
    }

    /// Sizes of a tile with `length` points of the reduction.
    fn sizes(&self, length: u64) -> Vec<u64> {
        let axes = self.registers.sizes.iter().enumerate();
        axes.map(|(axis, &size)| match self.nest.reduces(axis) {
            true if axis == self.axis => length,
            true => self.nest.axes[axis].extent,
            false => size,
        })
        .collect()
    }

    /// The axes of an rTask that are looped over tile by tile, the outermost first.
    fn loops(&self, task: &RTile) -> Vec<usize> {
        let looped = |axis: &usize| task.sizes[*axis] > self.registers.sizes[*axis];
        loop_order(self.nest, &self.registers.sizes).into_iter().filter(looped).collect()
    }
}

/// Bytes of a tensor that come every cycle from where it lies: the smallest memory beyond
/// `near` bytes that holds it.
fn rate(machine: Machine<'_>, access: &Access<'_>, near: u64) -> f64 {
    let points: u64 = access.shape.iter().product();
    let bytes = points * ty::byte_size(access.elem()).unwrap_or(8);
    let memories = machine.memories().into_iter().filter(|memory| {
        memory.capacity_bytes() > 2 * near
            && memory.capacity_bytes() >= bytes
            && !memory.is_registers()
    });
    let home = memories.min_by_key(|memory| memory.capacity_bytes());
    home.and_then(|memory| memory.bytes_per_cycle()).map_or(f64::INFINITY, |rate| rate as f64)
}
