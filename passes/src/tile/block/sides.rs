//! Several axes of the nest as one side of a product: rows that are pixels of several images.
//!
//! ```text
//! y[n, h, w, o] += x[n, h + r, w + s, c] * f[r, s, c, o]      m is (n, h, w), a box of them a tile:
//! 128 rows of m = 2 images of 8 by 8 pixels                   row = 64 n + 8 h + w
//! ```
//!
//! In the memory that groups share, and in registers, a tile has rows and columns; only where a tensor is
//! read or written a row is a place along each axis. Of several axes the tile's points are powers of two,
//! so every part of a side is a box, too.

use super::{Block, K, M, N};
use crate::nest::Nest;

/// A part of a side along one axis of the nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digit {
    /// The axis.
    pub axis: usize,
    /// Points of it.
    pub count: u64,
    /// Points of the axis between two of them.
    pub apart: u64,
    /// Points of the side between two of them.
    pub step: u64,
}

impl Block<'_> {
    /// The axes of the nest that a side is, the slowest first, and the points of the tile along each.
    pub fn axes_along(&self, side: usize) -> Vec<(usize, u64)> {
        let slower = self.slower.get(side).map(Vec::as_slice).unwrap_or_default();
        let others: u64 = slower.iter().map(|(_, points)| points).product();
        let fastest = (self.axes[side], self.tile[side] / others.max(1));
        slower.iter().copied().chain([fastest]).collect()
    }

    /// The axes of the nest that a side is, the slowest first.
    pub(super) fn axes_of(&self, side: usize) -> Vec<usize> {
        self.axes_along(side).into_iter().map(|(axis, _)| axis).collect()
    }

    /// Points of the nest along a side.
    pub(super) fn extent(&self, nest: &Nest<'_>, side: usize) -> u64 {
        self.axes_of(side).into_iter().map(|axis| nest.axes[axis].extent).product()
    }

    /// Points of the tile along an axis of the nest; `None` for one that a block goes through point by
    /// point.
    pub fn points_along(&self, axis: usize) -> Option<u64> {
        let all = (0..self.axes.len()).flat_map(|side| self.axes_along(side));
        all.into_iter().find(|(own, _)| *own == axis).map(|(_, points)| points)
    }

    /// Every `step`-th point of a side, `count` of them, by the axes of the nest: the slowest first.
    pub fn digits(&self, side: usize, count: u64, step: u64) -> Vec<Digit> {
        let all = self.axes_along(side);
        if let [(axis, _)] = all[..] {
            return vec![Digit { axis, count, apart: step, step }];
        }
        let mut found = Vec::new();
        let mut low = 1;
        for (place, &(axis, points)) in all.iter().enumerate().rev() {
            let high = if place == 0 { u64::MAX } else { low * points };
            let (begin, end) = (step.max(low), (step * count).min(high));
            if end > begin {
                found.push(Digit { axis, count: end / begin, apart: begin / low, step: begin });
            }
            low = low.saturating_mul(points);
        }
        if found.is_empty() {
            found.push(Digit { axis: all[all.len() - 1].0, count: 1, apart: step, step });
        }
        found.reverse();
        found
    }

    /// Whether another block has the same inputs and sum and more axes along m or n, of which this one has
    /// not the longest alone: tiles of one axis may have sizes that boxes cannot have.
    pub(super) fn is_less_than(&self, other: &Self, extents: &[u64]) -> bool {
        if (self.inputs, self.axes[K]) != (other.inputs, other.axes[K]) {
            return false;
        }
        let sides = [M, N].map(|side| (self.axes_of(side), other.axes_of(side)));
        let within = sides.iter().all(|(own, all)| own.iter().all(|axis| all.contains(axis)));
        let longest = sides.iter().all(|(own, all)| {
            let most = all.iter().map(|&axis| extents[axis]).max();
            own == all || own.len() == 1 && Some(extents[own[0]]) == most
        });
        within && sides.iter().any(|(own, all)| own.len() < all.len()) && !longest
    }

    /// Whether every part of a side that is several axes is a box of them.
    pub(super) fn is_box(&self) -> bool {
        let mut several = [M, N].into_iter().filter(|&side| !self.slower[side].is_empty());
        let groups: u64 = self.groups().iter().product();
        several.all(|side| {
            let points = self.axes_along(side).into_iter().map(|(_, points)| points);
            let sizes = points.chain([self.tile[side], self.group[side], groups]);
            sizes.into_iter().all(u64::is_power_of_two)
        })
    }

    /// The same with the points of the tile along each axis of a side chosen so that the fewest tiles cover
    /// the nest, of those the longest along the fastest; `None` where no box has so many.
    pub(super) fn boxed(mut self, extents: &[u64]) -> Option<Self> {
        for side in [M, N] {
            if self.slower[side].is_empty() {
                continue;
            }
            let own: Vec<u64> = self.axes_of(side).iter().map(|&axis| extents[axis]).collect();
            let points = best_box(self.tile[side], &own)?;
            for (slower, points) in self.slower[side].iter_mut().zip(points) {
                slower.1 = points;
            }
        }
        self.is_box().then_some(self)
    }
}

/// Powers of two whose product is `points`, one for each extent: those of which the fewest boxes cover all.
fn best_box(points: u64, extents: &[u64]) -> Option<Vec<u64>> {
    if !points.is_power_of_two() {
        return None;
    }
    let (&last, before) = extents.split_last()?;
    if before.is_empty() {
        return Some(vec![points]);
    }
    let boxes = |sizes: &[u64]| -> u64 {
        extents.iter().zip(sizes).map(|(extent, size)| extent.div_ceil(*size)).product()
    };
    // None is longer than what first reaches the end of its axis, but for the slowest.
    let most = last.max(1).next_power_of_two();
    let halves = std::iter::successors(Some(points.min(most)), |n| (*n > 1).then_some(n / 2));
    let candidates = halves.filter_map(|size| {
        let mut sizes = best_box(points / size, before)?;
        sizes.push(size);
        Some(sizes)
    });
    candidates.min_by_key(|sizes| boxes(sizes))
}

#[cfg(test)]
mod tests {
    use super::best_box;

    #[test]
    fn a_box_is_covered_with_the_fewest() {
        assert_eq!(best_box(128, &[4096]), Some(vec![128]));
        assert_eq!(best_box(96, &[4096]), None);
        // Squares of pixels that end where an image does, and as many images as are left.
        assert_eq!(best_box(128, &[32, 56, 56]), Some(vec![2, 8, 8]));
        assert_eq!(best_box(128, &[32, 28, 28]), Some(vec![8, 4, 4]));
        assert_eq!(best_box(128, &[32, 14, 14]), Some(vec![32, 2, 2]));
        // Of equal covers the one that is longest along the fastest axis.
        assert_eq!(best_box(64, &[32, 7, 7]), Some(vec![8, 1, 8]));
        assert_eq!(best_box(16, &[1, 7, 7]), Some(vec![1, 2, 8]));
    }
}
