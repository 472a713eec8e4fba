//! Reductions in parts: the data that the tiles of an rTask share stays in the unit's cache.
//!
//! ```text
//! for part of k { for panel of j { for rows of i {     C[i, j] += A[i, part] * B[part, j]
//! ```
//!
//! Between the rTile of the rTask and the one in registers stands a third, as long as the
//! rTask's on all axes but one reduction. The innermost loop over tiles leaves the panel of B
//! where it is, and the next panel finds the rows of A near again, if both fit. Rows of a panel
//! that lie a multiple of the cache's ways apart take more room than their bytes, so parts of them
//! are shorter. Sums wait in the output from one part to the next.

use weft_dialects::ir::ty;

use super::lane_facts::Private;
use super::roller::steps::gcd;
use super::shape::{Operand, lines};
use super::task_tile::{footprint, loop_order};
use crate::cost::home::Beside;
use crate::nest::{Access, Border, Nest, Start};

/// Steps for which an rTask is cut, so that what they share fits.
const GOOD_STEPS: u64 = 256;

/// The reduction that parts are cut from.
fn longest_reduction(nest: &Nest<'_>) -> Option<usize> {
    let reductions = (0..nest.axes.len()).filter(|&axis| nest.reduces(axis));
    reductions.max_by_key(|&axis| nest.axes[axis].extent)
}

/// Facts from which the parts of a reduction are made.
///
/// `registers` below are the sizes of a tile in registers, `task` those of the rTask around it.
pub(super) struct Parts<'n, 'c> {
    nest: &'n Nest<'c>,
    private: &'n Private<'n>,
    /// The reduction that is cut.
    pub axis: usize,
    /// For each input, whether steps of the reduction are far apart in it.
    jumps: Vec<bool>,
    /// Those of them that do not stay in the cache as a whole, and are more than are fetched ahead.
    scattered: Vec<usize>,
    /// The axis along which tiles grow where others end ragged.
    grow: Option<usize>,
}

impl<'n, 'c> Parts<'n, 'c> {
    /// `None` for what is folded at once: by lanes, with a border, starting from nothing, or to sums
    /// that cannot wait in the output.
    pub fn of(
        nest: &'n Nest<'c>,
        private: &'n Private<'n>,
        lanes_axis: Option<usize>,
    ) -> Option<Self> {
        let held = nest.starts.iter().all(|start| !matches!(start, Start::Unread));
        let bordered = nest.inputs.iter().any(|access| Border::of(access).is_some());
        let across = lanes_axis.is_some_and(|axis| nest.reduces(axis));
        if across || bordered || !held || nest.casts_sums() || !nest.captures.is_empty() {
            return None;
        }
        let axis = longest_reduction(nest)?;
        let jumps = |access: &Access<'_>| {
            // What a step takes of the other reductions comes with it.
            let reductions = (0..nest.axes.len()).filter(|&axis| nest.reduces(axis));
            let mut sizes = vec![1; nest.axes.len()];
            reductions.for_each(|axis| sizes[axis] = nest.axes[axis].extent);
            let operand = Operand::of(nest, access, false, None, None);
            operand.is_far_apart(axis, &sizes, private.line_bytes)
        };
        let jumps: Vec<bool> = nest.inputs.iter().map(jumps).collect();
        let leaves = |&n: &usize| {
            let whole = whole_bytes(&nest.inputs[n]);
            let followed = private.behind.follow(nest.axes[axis].extent, whole);
            jumps[n] && whole > private.shared_bytes && !followed
        };
        let scattered = (0..jumps.len()).filter(leaves).collect();
        Some(Self { nest, private, axis, jumps, scattered, grow: None })
    }

    /// The same for tiles that grow along an axis where others end ragged.
    pub fn growing(self, grow: Option<usize>) -> Self {
        Self { grow, ..self }
    }

    /// The loops over tiles, the outermost first.
    fn order(&self, registers: &[u64]) -> Vec<usize> {
        loop_order(self.nest, Some(self.private), registers, self.grow)
    }

    /// Parts beside the first.
    pub fn rounds(&self, length: u64) -> f64 {
        (self.nest.axes[self.axis].extent.div_ceil(length.max(1)) - 1) as f64
    }

    /// Returns whether the cache holds the inputs of a tile for the shortest part of its reductions
    /// for which an rTask is cut.
    pub fn have_room(&self, registers: &[u64]) -> bool {
        self.fit(&self.sizes(registers, self.good_length()))
    }

    /// Cycles that a tile takes for rows that lie far apart behind the cache, so that nothing brings
    /// them before they are asked for: with the whole reduction, or in parts that stay for the next
    /// tiles, whichever is shorter. `packed` says of each input whether it will lie in the order of
    /// the tiles; `restart` are the cycles to store a tile's sums and load them again.
    pub fn scattered(
        &self,
        registers: &[u64],
        packed: impl Fn(usize) -> bool,
        restart: f64,
    ) -> f64 {
        let mut scattered = self.scattered.iter().filter(|&&n| !packed(n)).peekable();
        if scattered.peek().is_none() {
            return 0.0;
        }
        let extents = self.nest.extents();
        let loops = looped(&self.order(registers), registers, &extents);
        let innermost = loops.last().copied();
        let sizes = self.sizes(registers, extents[self.axis]);
        // Brought once for all tiles along the innermost loop, if they stay, or in parts.
        let shared = |axis: usize| extents[axis].div_ceil(registers[axis].max(1)) as f64;
        let (mut whole, mut parted) = (0.0, 0.0);
        for access in scattered.map(|&n| &self.nest.inputs[n]) {
            let wait = self.scattered_wait(access, &sizes);
            let again = innermost.filter(|&axis| !access.uses(axis)).map_or(1.0, shared);
            let stays = self.occupied(access, &sizes) <= self.private.shared_bytes;
            whole += if stays { wait / again } else { wait };
            parted += wait / again;
        }
        if parted == whole {
            return whole;
        }
        let parts = self.cut(registers, &extents);
        let parted = parts.map(|(_, length)| parted + self.rounds(length) * restart);
        parted.map_or(whole, |parted| parted.min(whole))
    }

    /// Cycles in which the rows of an input's tile come, none of which follows the one before it.
    fn scattered_wait(&self, access: &Access<'_>, sizes: &[u64]) -> f64 {
        let line = self.private.line_bytes;
        let lines = lines(self.nest, access, sizes, line);
        let steps = sizes[self.axis] as f64;
        let bytes = lines * line as f64;
        let whole = whole_bytes(access);
        self.private.behind.scattered_cycles(steps, bytes, whole, Beside::Nothing)
    }

    /// Cycles in which a tile with the whole reduction waits for what would be near in parts:
    /// what the innermost loop leaves where it is, if it is too much to stay, and what that loop
    /// runs over again for the next round of another.
    pub fn waits(&self, registers: &[u64], task: &[u64]) -> f64 {
        let loops = looped(&self.order(registers), registers, task);
        let Some(&innermost) = loops.last() else { return 0.0 };
        let sizes = self.sizes(registers, self.nest.axes[self.axis].extent);
        let fits = self.fit(&sizes);
        let far = |access: &&Access<'_>| match access.uses(innermost) {
            true => loops.len() > 1,
            false => !fits,
        };
        self.nest.inputs.iter().filter(far).map(|access| self.wait(access, &sizes)).sum()
    }

    /// Cycles in which a tile of an input comes from where the tensor lies behind the cache.
    fn wait(&self, access: &Access<'_>, sizes: &[u64]) -> f64 {
        let line = self.private.line_bytes;
        let lines = lines(self.nest, access, sizes, line);
        let bytes = (lines * line as f64) as u64;
        self.private.behind.cycles(bytes, whole_bytes(access), Beside::Nothing)
    }

    /// An rTask in which parts are long enough, no larger than `task`, and the length of such a
    /// part: whole lines of what lies along the reduction, all parts about as long. `None` where
    /// no line fits, or the whole reduction does.
    pub fn cut(&self, registers: &[u64], task: &[u64]) -> Option<(Vec<u64>, u64)> {
        let extent = self.nest.axes[self.axis].extent;
        let order = self.order(registers);
        let task = self.shorter(&order, registers, task);
        let widest = self.nest.inputs.iter().filter_map(|input| ty::byte_size(input.elem())).max();
        let line = (self.private.line_bytes / widest?.max(1)).max(1);
        // Longer parts need more room: the most lines that fit are found by halving.
        let (mut most, mut beyond) = (0, extent / line + 1);
        while most + 1 < beyond {
            let lines = (most + beyond) / 2;
            let fits = self.fit(&self.shared(&order, registers, &task, lines * line));
            *(if fits { &mut most } else { &mut beyond }) = lines;
        }
        if most == 0 {
            return None;
        }
        let most = most * line;
        let length = extent.div_ceil(extent.div_ceil(most)).next_multiple_of(line);
        (length < extent).then_some((task, length))
    }

    /// The rTask cut along its innermost loop until parts that are long enough fit; as it is
    /// where none do.
    fn shorter(&self, order: &[usize], registers: &[u64], task: &[u64]) -> Vec<u64> {
        let length = self.good_length();
        let [_, .., innermost] = looped(order, registers, task)[..] else { return task.to_vec() };
        let (whole, tile) = (task[innermost], registers[innermost]);
        let tiles = whole.div_ceil(tile);
        let piece = |pieces: u64| {
            let mut task = task.to_vec();
            task[innermost] = (tiles.div_ceil(pieces) * tile).min(whole);
            task
        };
        let fits = |task: &Vec<u64>| self.fit(&self.shared(order, registers, task, length));
        if !fits(&piece(tiles)) {
            return task.to_vec();
        }
        (1..=tiles).map(piece).find(fits).unwrap_or_else(|| task.to_vec())
    }

    /// Sizes of what has to stay near for a part of `length` points: what the innermost loop over
    /// tiles leaves where it is, and all that it runs over, if it does so again.
    fn shared(&self, order: &[usize], registers: &[u64], task: &[u64], length: u64) -> Vec<u64> {
        let mut sizes = self.sizes(registers, length);
        if let [_, .., innermost] = looped(order, registers, task)[..] {
            sizes[innermost] = task[innermost];
        }
        sizes
    }

    /// Returns whether the inputs of a tile stay in the cache: all their bytes, and rows that are a
    /// step of the reduction each in the places for which they compete.
    fn fit(&self, sizes: &[u64]) -> bool {
        let room = self.private.shared_bytes;
        let inputs = self.nest.inputs.iter();
        inputs.clone().map(|access| footprint(access, sizes)).sum::<u64>() <= room
            && inputs
                .zip(&self.jumps)
                .all(|(access, &jumps)| !jumps || self.occupied(access, sizes) <= room)
    }

    /// Bytes of the cache that the rows of an input's tile keep from others. Rows as far apart as
    /// some sets of the cache share these sets, however short they are: a row takes as much as the
    /// greatest common divisor of their distances and the cache's ways.
    fn occupied(&self, access: &Access<'_>, sizes: &[u64]) -> u64 {
        let Some(way_bytes) = self.private.way_bytes else { return footprint(access, sizes) };
        let bytes = ty::byte_size(access.elem()).unwrap_or(8);
        let address = access.address(self.nest.axes.len());
        let (mut run, mut rows, mut apart) = (bytes, 1, way_bytes);
        let mut steps: Vec<(u64, u64)> = (address.coefficients.iter().zip(sizes))
            .map(|(step, &size)| (step.unsigned_abs() * bytes, size))
            .filter(|&(step, size)| step > 0 && size > 1)
            .collect();
        steps.sort_unstable();
        for (step, size) in steps {
            if step <= run {
                run += step * (size - 1);
            } else {
                rows *= size;
                apart = gcd(apart, step);
            }
        }
        rows * if rows > 1 { run.max(apart) } else { run }
    }

    /// Points along the cut axis for which an rTask is cut.
    fn good_length(&self) -> u64 {
        let others = (0..self.nest.axes.len())
            .filter(|&other| other != self.axis && self.nest.reduces(other))
            .map(|other| self.nest.axes[other].extent);
        let steps = others.product::<u64>().max(1);
        GOOD_STEPS.div_ceil(steps).min(self.nest.axes[self.axis].extent)
    }

    /// Sizes of a tile with `length` points of the reduction.
    fn sizes(&self, registers: &[u64], length: u64) -> Vec<u64> {
        let axes = registers.iter().enumerate();
        axes.map(|(axis, &size)| match self.nest.reduces(axis) {
            true if axis == self.axis => length,
            true => self.nest.axes[axis].extent,
            false => size,
        })
        .collect()
    }
}

/// The axes of an rTask that are looped over tile by tile, in the order of its loops.
fn looped(order: &[usize], registers: &[u64], task: &[u64]) -> Vec<usize> {
    order.iter().copied().filter(|&axis| task[axis] > registers[axis]).collect()
}

/// Bytes of a tensor.
fn whole_bytes(access: &Access<'_>) -> u64 {
    access.shape.iter().product::<u64>() * ty::byte_size(access.elem()).unwrap_or(8)
}
