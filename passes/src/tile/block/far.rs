//! What a block's step takes of the memory behind all units, and of what caches it for them.

use weft_dialects::device::{Machine, Scope};

use super::facts::Facts;
use super::{Block, M, N};
use crate::nest::Nest;
use crate::tile::task_tile::footprint;

/// Bytes a cycle that one unit gets of the fastest memory that caches for all units, and how many it holds.
pub(super) fn cached(machine: Machine<'_>) -> Option<(f64, u64)> {
    let units = machine.units().first().map_or(1, |unit| unit.count().max(1)) as f64;
    let memories = machine.memories().into_iter();
    let caches = memories.filter(|memory| memory.is_cache() && memory.scope() == Scope::Device);
    let rates = caches.filter_map(|own| Some((own.bytes_per_cycle()?, own.capacity_bytes())));
    let (rate, bytes) = rates.max()?;
    Some((rate as f64 / units, bytes))
}

/// Bytes a cycle that one unit gets of the memory behind. What caches it may give more;
/// a tile that needs no more than this is not bound by either (Roller's test at the shared
/// layer).
pub(super) fn far(machine: Machine<'_>) -> Option<f64> {
    let units = machine.units().first().map_or(1, |unit| unit.count().max(1)) as f64;
    Some(machine.shared()?.bytes_per_cycle()? as f64 / units)
}

impl Facts {
    /// Cycles until a unit has a step's bytes, of what caches the memory behind or of this.
    pub(super) fn far_cycles(&self, nest: &Nest<'_>, block: &Block<'_>) -> f64 {
        let [cached, behind] = self.rates(nest, block);
        cached.max(behind)
    }

    /// Whether the memory behind bounds a step, and not what caches it.
    pub(super) fn is_bound_behind(&self, nest: &Nest<'_>, block: &Block<'_>) -> bool {
        let [cached, behind] = self.rates(nest, block);
        behind > cached
    }

    /// Cycles of a step's bytes at the rate of what caches the memory behind, and at that of this.
    fn rates(&self, nest: &Nest<'_>, block: &Block<'_>) -> [f64; 2] {
        let own = |side| self.brought(nest, block, side) / block.shares(nest, side) as f64;
        [(own(M) + own(N)) / self.cached, self.first_read(nest, block) / self.far]
    }

    /// Bytes of a step that a block does not share with others that are under way, nor with steps of its own: units
    /// take blocks as they are numbered, and what several read is cached for all but the first. Inputs that fit half
    /// of the cache come once.
    fn first_read(&self, nest: &Nest<'_>, block: &Block<'_>) -> f64 {
        let [m, n] =
            [M, N].map(|side| self.brought(nest, block, side) * self.read_anew(nest, block, side));
        if self.cached <= self.far {
            return m + n;
        }
        let [fast, slow] = block.fast_slow();
        let tiles = |side: usize| block.tasks_of_side(nest, side) as f64;
        let band = (block.band_rows() as f64).min(tiles(slow)).min(self.units);
        let along = (self.units / band).ceil().min(tiles(fast));
        let bands = (self.units / (band * along)).ceil();
        let rows = (band * bands).min(tiles(slow));
        let under_way = (along * rows).min(self.units);
        let of = |side: usize| if side == M { m } else { n };
        let first = (along * of(fast) + rows * of(slow)) / under_way;
        let bytes = [M, N].map(|side| {
            nest.inputs[block.inputs[side]].shape.iter().product::<u64>() * self.elem_bytes[side]
        });
        let all: u64 = bytes.iter().sum();
        // Results go through the cache, too.
        match 2 * all <= self.cached_bytes {
            true => first.min(all as f64 / (self.tiles(nest, block) * block.steps(nest) as f64)),
            false => first,
        }
    }

    /// The part of what the steps of a block read of an input that none of them read before: windows read elements
    /// again, which are in the cache where those of all units fit half of it.
    fn read_anew(&self, nest: &Nest<'_>, block: &Block<'_>, side: usize) -> f64 {
        let own = |axis: usize| match nest.reduces(axis) {
            true => nest.axes[axis].extent,
            false => block.points_along(axis).unwrap_or(1),
        };
        let sizes: Vec<u64> = (0..nest.axes.len()).map(own).collect();
        let touched = footprint(&nest.inputs[block.inputs[side]], &sizes);
        let read = self.own(block, side) * block.steps(nest);
        let fits = 2.0 * self.units * touched as f64 <= self.cached_bytes as f64;
        if fits { (touched as f64 / read as f64).min(1.0) } else { 1.0 }
    }

    /// Bytes that come for the tile of an input: whole transactions of what lies side by side.
    fn brought(&self, nest: &Nest<'_>, block: &Block<'_>, side: usize) -> f64 {
        let address = nest.inputs[block.inputs[side]].address(nest.axes.len());
        let along = (0..nest.axes.len()).find(|&axis| address.coefficients[axis] == 1);
        let points = along.and_then(|axis| block.points_along(axis)).unwrap_or(1);
        let bytes = (points * self.elem_bytes[side]).max(1);
        let whole = bytes.next_multiple_of(self.transaction.max(1));
        self.own(block, side) as f64 * whole as f64 / bytes as f64
    }
}
