//! Reductions that get more points, so that an instruction adds up whole groups of neighbours.

use weft_dialects::ir::Type;
use weft_dialects::ir::payload::Axis;

use super::small_factors::Wanted;
use crate::nest::{Access, Loop};

/// A reduction that gets more points, whose products are zero, so that an instruction adds up whole groups of
/// neighbours: seven taps of a window become eight.
pub(super) struct Longer {
    axis: usize,
    /// Its points before, and now.
    whole: u64,
    extent: u64,
    /// The factor that is known: what it has more is its zero.
    pub weight: usize,
}

impl Longer {
    /// For an instruction on neighbours: a reduction along which these lie side by side in one factor, and
    /// that is a dimension of the other one, which has lanes.
    pub fn of<'c>(
        wanted: &Wanted<'c>,
        elems: [Type<'c>; 2],
        accesses: [&Access<'c>; 2],
        axes: &[Loop],
    ) -> Option<Self> {
        let points = wanted.points().filter(|_| wanted.takes(elems))?;
        let longer = |axis: usize, weight: usize| {
            let [own, other] = [accesses[weight], accesses[1 - weight]];
            let lanes = |along: usize| {
                axes[along].kind == Axis::Parallel && own.uses(along) && !other.uses(along)
            };
            axes[axis].kind == Axis::Reduction
                && axes[axis].length.is_none()
                && axes[axis].extent > 1
                && own.index.iter().all(|index| index.as_axis().is_some())
                && own.uses(axis)
                && other.stride(axes.len(), axis) == 1
                && (0..axes.len()).any(lanes)
        };
        let both = (0..axes.len()).flat_map(|axis| [(axis, 0), (axis, 1)]);
        let (axis, weight) = { both }.find(|&(axis, weight)| longer(axis, weight))?;
        let whole = axes[axis].extent;
        Some(Self { axis, whole, extent: whole.next_multiple_of(points), weight })
    }

    /// How many times as many products there are.
    pub fn more(&self) -> f64 {
        self.extent as f64 / self.whole as f64
    }

    /// The extents of a factor with room for all points.
    pub fn shape(&self, side: usize, access: &Access<'_>) -> Vec<u64> {
        let mut shape = access.shape.clone();
        let last = access.index.iter().rposition(|index| index.coefficients[self.axis] != 0);
        let dim = last.expect("both factors move along it");
        match side == self.weight {
            true => shape[dim] = self.extent,
            false => shape[dim] += self.extent - self.whole,
        }
        shape
    }
}
