//! The schedule of a nest whose instruction and rTiles are chosen: order of loops, what is
//! written out, transposes in registers, streaming stores, borders, stages.
//!
//! ```text
//! on @vfma lanes 1 tiles [l2 [64, 56, 64, 3, 3], vreg [4, 16, 1, 1, 1]]
//!   ->  schedule <order = [1, 0], slide = [3, 4]>
//! ```
//!
//! Everything here is written into `#tile.schedule`; the conversion to `device` reads it there.

use weft_dialects::device::Machine;
use weft_dialects::ir::ty;
use weft_dialects::tile::{RTile, Schedule};

use super::block::Core;
use super::instruction::combine;
use super::isa::{Mapping, mapping};
use super::lane_facts::{Facts, Private};
use super::neighbours::{most_neighbours, neighbours};
use super::policy::{Lanes, Tiled};
use super::task_tile::loop_order;
use super::way::{gather, private_cache, way};
use super::windows;
use crate::cost::home::{Beside, room};
use crate::nest::{
    Access, Border, Loop, MOST_PHASES, Nest, Windows, may_combine_rows, stores_along,
    sums_lie_along,
};

/// A reduction of at most so many points is written out
const MOST_TAPS: u64 = 8;
/// if it comes to at most so many steps of registers.
const MOST_UNROLLED: u64 = 256;

/// The schedule of a nest that is done in `tiles`, the rTask's first.
pub(super) fn schedule<'c>(
    machine: Machine<'c>,
    nest: &Nest<'c>,
    tiled: &Tiled<'c>,
    tiles: &[RTile],
) -> Schedule {
    let inner = &tiles[tiles.len() - 1];
    match tiled {
        Tiled::Lanes(lanes) => of_lanes(machine, nest, lanes, tiles),
        Tiled::Matrix(matrix) => Schedule {
            order: order(machine, nest, &inner.sizes, None),
            stages: matrix.stages,
            operands: operands(nest, &matrix.mapping),
            ..Schedule::default()
        },
        Tiled::Block(chosen) => Schedule {
            spread: chosen.block.spread(nest).unwrap_or_default(),
            interleave: chosen.block.interleaved_axes(),
            stages: chosen.block.stages,
            ahead: chosen.ways.brings(chosen.block.ahead).map(|way| way.name.to_owned()),
            turns: chosen.block.turns,
            resident: chosen.block.resident,
            cluster: chosen.block.cluster.map_or(Vec::new(), |own| own.along(nest.axes.len())),
            bands: chosen.block.bands.map_or(Vec::new(), |own| own.along(nest.axes.len())),
            operands: match &chosen.block.core {
                Core::Matrix(mapping, _) => operands(nest, mapping),
                Core::Lanes(..) => Vec::new(),
            },
            ..Schedule::default()
        },
        Tiled::Moved(..) => Schedule::default(),
    }
}

/// The nest's operands as those of an instruction; none where they are the first with these axes.
fn operands<'c>(nest: &Nest<'c>, chosen: &Mapping<'c>) -> Vec<Option<usize>> {
    let first = mapping(&chosen.instruction, nest, &chosen.axes, &[]);
    match first.is_some_and(|first| first.binding == chosen.binding) {
        true => Vec::new(),
        false => chosen.binding.numbers(),
    }
}

fn of_lanes<'c>(
    machine: Machine<'c>,
    nest: &Nest<'c>,
    lanes: &Lanes<'c>,
    tiles: &[RTile],
) -> Schedule {
    let inner = &tiles[tiles.len() - 1];
    let registers = Registers::of(nest, lanes, inner);
    let grow = lanes.shape.grow;
    let parted = match tiles {
        [task, part, _] if lanes.stage.is_none() => task.cut_by(part),
        _ => None,
    };
    let bordered: Vec<_> =
        nest.inputs.iter().filter(|access| Border::of(access).is_some()).collect();
    let phases: Vec<u64> = bordered.iter().map(|access| registers.phases(access)).collect();
    // Staged tiles are contiguous along the lanes.
    let facts = Facts::of(machine, lanes.memory).filter(|_| lanes.stage.is_none());
    // Where registers are spread over lanes, each lane stores its own rows.
    let whole = facts.as_ref().filter(|facts| facts.access_bytes.is_none());
    let transpose = whole.and_then(|_| registers.transpose());
    let slide = registers.slide(parted);
    let plain = facts.filter(|_| transpose.is_none() && slide.is_empty());
    let moved = plain.zip(lanes.shape.lanes_axis).map(|(facts, axis)| {
        let most = most_neighbours(nest, &facts, axis);
        neighbours(nest, most, lanes.mapped.lanes, &lanes.shape)
    });
    Schedule {
        order: order(machine, nest, &inner.sizes, grow),
        grow,
        neighbours: moved.unwrap_or(1),
        slide,
        unroll: registers.unroll(parted),
        rows: registers.in_order(grow),
        transpose,
        combine_rows: registers.combine_rows(machine, lanes),
        stream: stream(machine, nest, lanes),
        border: private_cache(machine)
            .filter(|_| !bordered.is_empty())
            .map(|own| own.name.to_owned()),
        phases: if phases.iter().all(|&number| number == 1) { Vec::new() } else { phases },
        ..Schedule::default()
    }
}

/// The loops over tiles; none where they are the parallel axes in their order.
fn order(machine: Machine<'_>, nest: &Nest<'_>, tile: &[u64], grow: Option<usize>) -> Vec<usize> {
    let order = loop_order(nest, Private::of(machine).as_ref(), tile, grow);
    if order.is_sorted() { Vec::new() } else { order }
}

/// A nest's register tile.
struct Registers<'n, 'c> {
    nest: &'n Nest<'c>,
    lanes_axis: Option<usize>,
    /// The axis of which each lane adds up all points at once.
    depth: Option<usize>,
    lanes: u64,
    sizes: &'n [u64],
    /// Parallel axes of more than one point without lanes.
    rows: Vec<usize>,
    vectors: u64,
}

impl<'n, 'c> Registers<'n, 'c> {
    fn of(nest: &'n Nest<'c>, lanes: &Lanes<'c>, tile: &'n RTile) -> Self {
        let lanes_axis = lanes.shape.lanes_axis;
        let sizes = &tile.sizes[..];
        Self {
            nest,
            lanes_axis,
            depth: lanes.mapped.depth,
            lanes: lanes.mapped.lanes,
            sizes,
            rows: nest.rows(sizes, lanes_axis),
            vectors: lanes_axis.map_or(1, |axis| sizes[axis].div_ceil(lanes.mapped.lanes)),
        }
    }

    fn on_lanes(&self, access: &Access<'_>) -> bool {
        self.lanes_axis.is_some_and(|lanes| access.uses(lanes))
    }

    /// The reductions of more than one point without lanes, outermost first.
    fn reductions(&self) -> impl Iterator<Item = usize> {
        let own = |&axis: &usize| {
            let looped = self.nest.reduces(axis) && self.nest.axes[axis].extent > 1;
            looped && ![self.lanes_axis, self.depth].contains(&Some(axis))
        };
        (0..self.nest.axes.len()).filter(own)
    }

    /// The rows in the order of the work; none where that is the order of the axes. What lanes
    /// hold for several rows is used by one row after the other, so that an element for all lanes
    /// is needed only once. `grow` is an axis along which ragged tiles have rows, too.
    fn in_order(&self, grow: Option<usize>) -> Vec<usize> {
        let moves = |axis: &usize| {
            let mut inputs = self.nest.inputs.iter().filter(|access| self.on_lanes(access));
            inputs.any(|access| access.uses(*axis))
        };
        let mut rows = self.rows.clone();
        rows.extend(grow.filter(|axis| !rows.contains(axis)));
        rows.sort_unstable();
        rows.sort_by_key(moves);
        if rows.is_sorted() { Vec::new() } else { rows }
    }

    /// The taps of windows that slide over the rows.
    fn slide(&self, parted: Option<usize>) -> Vec<usize> {
        let Some(lanes_axis) = self.lanes_axis else { return Vec::new() };
        let Some((_, taps)) = windows::taps(self.nest, lanes_axis, &self.rows) else {
            return Vec::new();
        };
        let extents = taps.iter().map(|&axis| self.nest.axes[axis].extent);
        let rows = self.rows.iter().map(|&axis| self.sizes[axis]);
        let steps = extents.chain(rows).product::<u64>() * self.vectors;
        let slides = parted.is_none_or(|axis| !taps.contains(&axis))
            && steps <= windows::MOST_STEPS
            && Windows::of(self.nest, lanes_axis, &self.tiled_rows(), &taps).is_some();
        if slides { taps } else { Vec::new() }
    }

    fn tiled_rows(&self) -> Vec<(usize, u64)> {
        self.rows.iter().map(|&axis| (axis, self.sizes[axis])).collect()
    }

    /// The innermost reduction, where it is few taps of a window: their addresses become
    /// constants, and nothing waits for a loop. One without lanes would keep an element of every
    /// tap beside the sums. Where windows slide along it, this is for tiles of a single row.
    fn unroll(&self, parted: Option<usize>) -> Vec<usize> {
        let window = |axis: &usize| {
            let inputs = self.nest.inputs.iter().filter(|access| self.on_lanes(access));
            let mut indices = inputs.flat_map(|access| &access.index);
            indices.any(|index| index.coefficients[*axis] != 0 && index.as_axis().is_none())
        };
        let registers: u64 = self.rows.iter().map(|&axis| self.sizes[axis]).product();
        let few = |axis: &usize| {
            let Loop { extent, length, .. } = self.nest.axes[*axis];
            length.is_none()
                && extent <= MOST_TAPS
                && extent * registers * self.vectors <= MOST_UNROLLED
        };
        let innermost = self.reductions().last().filter(|axis| Some(*axis) != parted);
        innermost.filter(window).filter(few).into_iter().collect()
    }

    /// The axis of the rows, where they are the lanes of what is stored.
    fn transpose(&self) -> Option<usize> {
        let lanes_axis = self.lanes_axis?;
        if let Some(rows) = stored_along(self.nest, lanes_axis, &self.rows) {
            return Some(rows);
        }
        let [rows] = self.rows[..] else { return None };
        let square = self.vectors == 1 && self.sizes[rows] <= self.lanes;
        (square && stores_along(self.nest, lanes_axis, rows)).then_some(rows)
    }

    /// The row axis, where lanes fold and those of all rows may be combined together: there are
    /// no more rows than lanes, no points beside whole registers, and each row starts alike.
    fn combine_rows(&self, machine: Machine<'c>, lanes: &Lanes<'c>) -> Option<usize> {
        let ([axis], Some(lanes_axis)) = (&self.rows[..], self.lanes_axis) else { return None };
        let gathers = gather(machine, lanes.memory).is_some() && lanes.stage.is_none();
        let folds = self.nest.reduces(lanes_axis) && combine(self.nest).is_some();
        let few = (4..=self.lanes).contains(&self.sizes[*axis]);
        let may =
            gathers && folds && few && may_combine_rows(self.nest, lanes_axis, self.lanes, *axis);
        may.then_some(*axis)
    }

    /// In how many interleaved parts the rows of a bordered input lie, so that lanes in steps
    /// find their elements side by side.
    fn phases(&self, access: &Access<'_>) -> u64 {
        let last = access.index.last().expect("a border has a dimension");
        let steps = self.lanes_axis.map_or(1, |axis| last.coefficients[axis]);
        if (2..=MOST_PHASES).contains(&steps) { steps as u64 } else { 1 }
    }
}

/// The row axis along which registers of sums are stored, behind a transpose: what lies along the
/// lanes nowhere goes in rows to memory, instead of element by element.
pub(super) fn stored_along(nest: &Nest<'_>, lanes_axis: usize, rows: &[usize]) -> Option<usize> {
    rows.iter().copied().find(|&axis| sums_lie_along(nest, lanes_axis, axis))
}

/// The move that stores whole registers past the caches, where a nest touches at least as much
/// as the largest cache holds, and what it stores would be gone before anybody reads it.
fn stream<'c>(machine: Machine<'c>, nest: &Nest<'c>, lanes: &Lanes<'c>) -> Option<String> {
    let store = way(machine, lanes.memory).filter(|way| way.stage.is_none())?.store;
    let stream = machine.stream_between(store.source(), store.target())?;
    let memories = machine.memories();
    let caches = memories.iter().filter(|memory| memory.is_cache());
    let largest = caches.max_by_key(|cache| cache.capacity_bytes())?;
    let bytes = |access: &Access<'_>| {
        let points: u64 = access.shape_in_memory().iter().product();
        points * ty::byte_size(access.elem()).unwrap_or(1)
    };
    let touched: u64 = nest.accesses().into_iter().map(bytes).sum();
    let stored: u64 = nest.outputs.iter().map(bytes).sum();
    let leaves = touched >= largest.capacity_bytes() && stored > room(largest, Beside::Stream);
    leaves.then(|| stream.name.to_owned())
}
