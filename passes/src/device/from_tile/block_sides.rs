//! Boxes between a tensor and what a block has of it: a side of a tile is one axis of the nest, or a box of
//! several (`tile/block/sides.rs`).
//!
//! ```text
//! rows of the tile      128, 16 elements apart
//! places of the tensor  2 images, 8 lines, 8 pixels; in the tile 1024, 128 and 16 elements apart
//! ```

use weft_dialects::device::Limit;
use weft_dialects::ir::{Builder, Type, Val};

use super::block::Blocks;
use super::index::Sum;
use crate::nest::{Access, row_major};
use crate::tile::block::{Digit, Held, K, M, N};

/// A side of a box: some points along m, n or k.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    /// Which of the three; `None` for one that is the same place everywhere.
    pub along: Option<usize>,
    pub count: u64,
    /// Points of m, n or k between two of them.
    pub step: u64,
    /// Elements between them where the block has them.
    pub near: i64,
}

/// Sides that run along one axis of the nest each.
pub(super) struct Sides {
    pub sizes: Vec<u64>,
    /// Elements between neighbours where the block has them.
    pub near: Vec<i64>,
    digits: Vec<Option<Digit>>,
}

impl Sides {
    /// Points of an axis between neighbours of each side.
    fn along(&self, axis: usize) -> Vec<i64> {
        let points = |digit: &Option<Digit>| {
            digit.filter(|digit| digit.axis == axis).map_or(0, |digit| digit.apart as i64)
        };
        self.digits.iter().map(points).collect()
    }
}

impl<'c> Blocks<'_, 'c> {
    /// Sides by the axes of the nest.
    pub(super) fn sides(&self, sides: &[Side]) -> Sides {
        let mut found = Sides { sizes: Vec::new(), near: Vec::new(), digits: Vec::new() };
        for side in sides {
            let Some(along) = side.along else {
                found.sizes.push(side.count);
                found.near.push(side.near);
                found.digits.push(None);
                continue;
            };
            for digit in self.block.digits(along, side.count, side.step) {
                found.sizes.push(digit.count);
                found.near.push(side.near * (digit.step / side.step.max(1)) as i64);
                found.digits.push(Some(digit));
            }
        }
        found
    }

    /// The sides of registers, which lie row-major.
    pub(super) fn held_sides(&self, held: &Held) -> Sides {
        let near = row_major(&held.sizes);
        let side = |own: usize| {
            let along = [M, N, K].into_iter().find(|&axis| held.along[axis][own] != 0);
            let step = along.map_or(1, |axis| held.along[axis][own] as u64);
            Side { along, count: held.sizes[own], step, near: near[own] }
        };
        let all: Vec<Side> = (0..held.sizes.len()).map(side).collect();
        self.sides(&all)
    }

    /// Elements between neighbours of each side in a tensor.
    pub(super) fn far(&self, access: &Access<'c>, sides: &Sides) -> Vec<i64> {
        let stride = |digit: &Option<Digit>| {
            let own = digit
                .map(|digit| digit.apart as i64 * access.stride(self.nest.axes.len(), digit.axis));
            own.unwrap_or(0)
        };
        sides.digits.iter().map(stride).collect()
    }

    /// What is left of a box at a place: a limit for each axis along m, n or k, two of them, that a tile
    /// may pass the end of, whether or not the box has several places along it. Where the access does not
    /// move along an axis what is behind that one's end is there, too.
    pub(super) fn limits(
        &self,
        b: &mut Builder<'c>,
        access: &Access<'c>,
        (sides, along): (&Sides, [usize; 2]),
        at: &[Sum<'c>],
    ) -> Vec<Limit<'c>> {
        let axes = along.into_iter().flat_map(|side| self.block.axes_along(side));
        let axes = axes.map(|(axis, _)| axis).filter(|&axis| access.uses(axis));
        axes.filter_map(|axis| {
            let bound = self.left(b, axis, at)?;
            Some(Limit { bound, steps: sides.along(axis) })
        })
        .collect()
    }

    /// The place so many points along a side from another.
    pub(super) fn moved(
        &self,
        b: &mut Builder<'c>,
        at: &[Sum<'c>],
        side: usize,
        points: &Sum<'c>,
    ) -> Vec<Sum<'c>> {
        let mut at = at.to_vec();
        let all = self.block.axes_along(side);
        if let [(axis, _)] = all[..] {
            at[axis] = at[axis].clone().plus(points, 1);
            return at;
        }
        let mut rest = points.clone();
        for (place, &(axis, count)) in all.iter().enumerate().rev() {
            let own = match place {
                0 => rest.clone(),
                _ => {
                    let own = divided(b, &rest, "arith.remui", count);
                    rest = divided(b, &rest, "arith.divui", count);
                    own
                }
            };
            at[axis] = at[axis].clone().plus(&own, 1);
        }
        at
    }

    /// Points that are left along an axis of the nest from a place on, where a tile may pass the end.
    fn left(&self, b: &mut Builder<'c>, axis: usize, at: &[Sum<'c>]) -> Option<Val<'c>> {
        let extent = self.nest.axes[axis].extent;
        if extent.is_multiple_of(self.block.points_along(axis)?) {
            return None;
        }
        let end = Sum::number(extent as i64);
        // A group may begin behind the end: nothing is left for it then.
        let index = Type::index(self.context);
        let (end, begin) = (end.emit(b), at[axis].emit(b));
        let begin = b.op("arith.minui", &[begin, end], &[index]).result(0);
        Some(b.op("arith.subi", &[end, begin], &[index]).result(0))
    }
}

/// A sum divided by a number, or what is left over.
fn divided<'c>(b: &mut Builder<'c>, sum: &Sum<'c>, name: &str, by: u64) -> Sum<'c> {
    if let Some(number) = sum.as_number() {
        let by = by as i64;
        return Sum::number(if name == "arith.remui" { number % by } else { number / by });
    }
    let (sum, by) = (sum.emit(b), b.index(by as i64));
    Sum::value(b.op(name, &[sum, by], &[Type::index(b.context())]).result(0))
}
