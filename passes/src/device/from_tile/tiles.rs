//! Loops over tiles, the last of which may be smaller.
//!
//! A ragged last tile is a copy of the body for its own size: nothing is computed
//! twice and nothing is masked but the last register of a row.

use weft_dialects::ir::{Builder, Type, Val};
use weft_dialects::tile::RTile;

use super::index::{Sum, scf_for, scf_if};
use super::lengths;
use crate::length::Length;
use crate::nest::Nest;

/// A piece of a nest: an rTask, or what one computes at once.
#[derive(Clone, Copy)]
pub(super) struct Piece<'p, 'c> {
    /// Its size.
    pub outer: &'p RTile,
    /// Pieces per parallel axis, in axis order.
    pub grid: &'p [u64],
    /// First point of the piece.
    pub starts: &'p [Sum<'c>],
}

/// Loops over the tiles of a piece of a nest.
pub(super) struct Tiles<'p, 'c> {
    /// The nest.
    pub nest: &'p Nest<'c>,
    /// Size of a tile.
    pub tile: &'p RTile,
    pub piece: Piece<'p, 'c>,
    /// Axes to loop over, the outermost first.
    pub order: &'p [usize],
    /// How tiles grow where they end; none are longer than others without it.
    pub grow: Option<Grow>,
    /// Whether the leaf lets the last row of an axis stand for those behind it, and the axis of which
    /// it does not: that of the lanes.
    pub repeats: Option<Option<usize>>,
}

/// An axis along which a tile is longer where it ends ragged along those that are looped over before,
/// as many times as it is shorter there.
#[derive(Clone, Copy)]
pub(super) struct Grow {
    pub axis: usize,
    /// The axis of the lanes, whose registers are whole.
    pub lanes: Option<usize>,
}

/// A box of a nest's points.
#[derive(Clone, Copy)]
pub(super) struct Points<'p, 'c> {
    /// The first along each axis.
    pub at: &'p [Sum<'c>],
    /// How many along each axis.
    pub sizes: &'p [u64],
    /// Axes of which fewer points may be there: the last one stands for all behind it.
    pub ends: &'p [(usize, Val<'c>)],
}

/// Writes the code of one tile.
pub(super) type Leaf<'l, 'c> = &'l dyn Fn(&mut Builder<'c>, Points<'_, 'c>);

/// A tile while the loops around it are written.
struct Inside<'l, 'c> {
    /// First point along each axis.
    at: Vec<Sum<'c>>,
    /// Extent along each axis.
    sizes: Vec<u64>,
    /// See [`Points::ends`].
    ends: Vec<(usize, Val<'c>)>,
    /// Writes it.
    leaf: Leaf<'l, 'c>,
}

impl<'c> Tiles<'_, 'c> {
    /// Writes the loops; `leaf` writes a tile.
    pub fn write(&self, b: &mut Builder<'c>, leaf: Leaf<'_, 'c>) {
        let (at, sizes) = (self.piece.starts.to_vec(), self.tile.sizes.clone());
        self.axis(b, 0, &mut Inside { at, sizes, ends: Vec::new(), leaf });
    }

    /// The loop over `order[depth]` and all inside it.
    fn axis(&self, b: &mut Builder<'c>, depth: usize, inside: &mut Inside<'_, 'c>) {
        let Some(&axis) = self.order.get(depth) else {
            (inside.leaf)(b, Points { at: &inside.at, sizes: &inside.sizes, ends: &inside.ends });
            return;
        };
        if let Some(length) = self.nest.axes[axis].length {
            self.up_to_length(b, depth, inside, length);
            return;
        }
        let (extent, tile) = (self.nest.axes[axis].extent, self.step(depth, inside));
        let start = self.piece.starts[axis].clone();
        let count = self.tasks(axis);
        if count == 1 {
            self.span(b, depth, inside, start, extent);
            return;
        }
        let task = self.piece.outer.sizes[axis];
        let last = extent - (count - 1) * task;
        if task.is_multiple_of(tile) && last.is_multiple_of(tile) {
            self.whole_tiles(b, depth, inside, task.max(last), last);
            return;
        }
        // The last rTask has another rest than the others.
        let end = Sum::number((extent - last) as i64);
        let is_last = compare(b, "uge", &start, &end);
        let is_other = compare(b, "ult", &start, &end);
        scf_if(b, is_other, |b| self.span(b, depth, inside, start.clone(), task));
        scf_if(b, is_last, |b| self.span(b, depth, inside, start.clone(), last));
    }

    /// rTasks along an axis.
    fn tasks(&self, axis: usize) -> u64 {
        let parallel = (0..axis).filter(|&before| !self.nest.reduces(before)).count();
        self.piece.grid.get(parallel).copied().unwrap_or(1)
    }

    /// Points of a tile along `order[depth]`, whose sizes along the axes before are known.
    fn step(&self, depth: usize, inside: &Inside<'_, 'c>) -> u64 {
        let axis = self.order[depth];
        let size = |axis: usize| self.tile.sizes[axis].min(self.nest.axes[axis].extent);
        let grow = self.grow.filter(|grow| grow.axis == axis).map_or(1, |grow| {
            let before = self.order[..depth].iter().filter(|&&own| Some(own) != grow.lanes);
            before.map(|&own| size(own) / inside.sizes[own].max(1)).product()
        });
        (size(axis) * grow).min(self.nest.axes[axis].extent)
    }

    /// Tiles of the points that are there in a run, or those of them in the rTask.
    fn up_to_length(
        &self,
        b: &mut Builder<'c>,
        depth: usize,
        inside: &mut Inside<'_, 'c>,
        length: &Length,
    ) {
        let axis = self.order[depth];
        let (start, tile) = (&self.piece.starts[axis], self.step(depth, inside));
        let task = self.piece.outer.sizes[axis];
        let mut end = lengths::value(b, length);
        let mut divides = length.is_multiple_of(tile as i64);
        if self.tasks(axis) > 1 {
            divides &= task.is_multiple_of(tile);
            let index = Type::index(b.context());
            let reach = start.clone().plus(&Sum::number(task as i64), 1);
            let ends = [reach.emit(b), end.emit(b)];
            end = Sum::value(b.op("arith.minui", &ends, &[index]).result(0));
        }
        let repeats = self.repeats.is_some_and(|lanes| lanes != Some(axis));
        let sizes = lengths::Sizes::of(tile, divides, repeats);
        lengths::in_tiles(b, [start, &end], &sizes, &mut |b, along| {
            (inside.at[axis], inside.sizes[axis]) = (along.at, along.size);
            inside.ends.extend(along.last.map(|last| (axis, last)));
            self.axis(b, depth + 1, inside);
            inside.ends.retain(|(own, _)| *own != axis);
        });
    }

    /// Whole tiles only, `span` points or, in the last rTask, `last`.
    fn whole_tiles(
        &self,
        b: &mut Builder<'c>,
        depth: usize,
        inside: &mut Inside<'_, 'c>,
        span: u64,
        last: u64,
    ) {
        let axis = self.order[depth];
        let (start, tile) = (&self.piece.starts[axis], self.step(depth, inside));
        let mut end = start.clone().plus(&Sum::number(span as i64), 1);
        if last < span {
            let index = Type::index(b.context());
            let (reach, whole) = (end.emit(b), b.index(self.nest.axes[axis].extent as i64));
            end = Sum::value(b.op("arith.minui", &[reach, whole], &[index]).result(0));
        }
        inside.sizes[axis] = tile;
        scf_for(b, start, &end, tile as i64, |b, iv| {
            inside.at[axis] = Sum::value(iv);
            self.axis(b, depth + 1, inside);
        });
    }

    /// `span` points from `start`: whole tiles in a loop, then the rest.
    fn span(
        &self,
        b: &mut Builder<'c>,
        depth: usize,
        inside: &mut Inside<'_, 'c>,
        start: Sum<'c>,
        span: u64,
    ) {
        let axis = self.order[depth];
        let tile = self.step(depth, inside);
        let whole = span / tile * tile;
        let middle = start.clone().plus(&Sum::number(whole as i64), 1);
        // A loop, even of one round, frees what a tile took before the rest begins.
        if whole == tile && whole == span {
            (inside.at[axis], inside.sizes[axis]) = (start, tile);
            self.axis(b, depth + 1, inside);
        } else if whole > 0 {
            inside.sizes[axis] = tile;
            scf_for(b, &start, &middle, tile as i64, |b, iv| {
                inside.at[axis] = Sum::value(iv);
                self.axis(b, depth + 1, inside);
            });
        }
        if span > whole {
            (inside.at[axis], inside.sizes[axis]) = (middle, span - whole);
            self.axis(b, depth + 1, inside);
        }
    }
}

/// An index comparison.
pub(super) fn compare<'c>(
    b: &mut Builder<'c>,
    predicate: &str,
    x: &Sum<'c>,
    y: &Sum<'c>,
) -> Val<'c> {
    let (x, y) = (x.emit(b), y.emit(b));
    weft_dialects::ir::payload::Scalar::at(*b).cmpi(predicate, x, y)
}
