//! RTasks that bring a tile together, on units beside each other, so that it is read once for all of them.
//!
//! ```text
//! C[m,n] += A[m,k] B[k,n], blocks of 256 x 128, two along n      each brings half of the 256 rows of A for both, and
//!                                                                its own 128 columns of B
//! ```

use super::facts::Facts;
use super::{Block, K, M, N, Supply, Ways};
use crate::nest::Nest;

/// So many rTasks that follow each other along an axis of a nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TasksAlong {
    /// The axis.
    pub axis: usize,
    /// How many, at least 2.
    pub count: u64,
}

impl TasksAlong {
    /// Those that a field of a schedule says: rTasks along each axis.
    pub fn of(along: &[u64]) -> Option<Self> {
        let axis = along.iter().position(|count| *count > 1)?;
        Some(Self { axis, count: along[axis] })
    }

    /// The same as a schedule says it, for so many axes.
    pub fn along(self, axes: usize) -> Vec<u64> {
        (0..axes).map(|axis| if axis == self.axis { self.count } else { 1 }).collect()
    }
}

impl<'c> Block<'c> {
    /// RTasks that bring the tile of an input together.
    pub fn shares(&self, nest: &Nest<'_>, side: usize) -> u64 {
        let moves = |axis| nest.inputs[self.inputs[side]].uses(axis);
        self.cluster.filter(|own| !moves(own.axis)).map_or(1, |own| own.count)
    }

    /// RTasks along an axis.
    pub fn tasks_along(&self, nest: &Nest<'_>, axis: usize) -> u64 {
        nest.axes[axis].extent.div_ceil(self.points_along(axis).unwrap_or(1))
    }

    /// Whether its clusters are some that the move of boxes can serve.
    ///
    /// # Errors
    /// Why they are not, as the end of a sentence about them.
    pub fn may_cluster(&self, nest: &Nest<'c>, ways: &Ways<'c>) -> Result<(), String> {
        let Some(TasksAlong { axis, count }) = self.cluster else { return Ok(()) };
        let boxes = ways.brings(self.ahead).and_then(|way| way.boxes());
        let Some(boxes) = boxes.filter(|own| self.is_direct() && own.units.is_some()) else {
            return Err("no move `ahead` brings boxes to several units".to_owned());
        };
        let (most, tasks) = (boxes.units.unwrap_or(1), self.tasks_along(nest, axis));
        if count > most {
            return Err(format!("boxes go to {most} units at once"));
        }
        if !tasks.is_multiple_of(count) {
            return Err(format!("there are {tasks} rTasks along axis {axis}"));
        }
        let shared = [M, N].into_iter().filter(|&side| self.shares(nest, side) > 1);
        let shared: Vec<usize> = shared.collect();
        if shared.is_empty() {
            return Err(format!("both inputs move along axis {axis}"));
        }
        match shared.into_iter().find(|&side| !self.comes_in_boxes(nest, side, &boxes)) {
            None => Ok(()),
            Some(side) => {
                let input = self.inputs[side];
                Err(format!("the tile of input {input} has no {count} equal parts that are boxes"))
            }
        }
    }

    /// The same in the clusters that take the least time, in none where none take less; each in its bands.
    pub(super) fn in_clusters(self, nest: &Nest<'c>, ways: &Ways<'c>, facts: &Facts) -> Self {
        let units = ways.boxes.as_ref().and_then(|way| way.boxes()?.units).unwrap_or(1);
        if self.ahead != Some(Supply::Boxes) || units < 2 {
            return self.in_bands(nest, facts);
        }
        let counts = || (1..).map(|bits| 1 << bits).take_while(|count| *count <= units);
        let axes = [M, N].into_iter().flat_map(|side| self.axes_of(side));
        let axes = axes.filter(|axis| *axis != self.axes[K]);
        let all = axes.flat_map(|axis| counts().map(move |count| TasksAlong { axis, count }));
        let others = all.map(|own| Block { cluster: Some(own), ..self.clone() });
        let others = others.filter(|own| own.may_cluster(nest, ways).is_ok());
        let cycles = |block: &Block<'c>| {
            let turns = [M, N].map(|side| facts.turns(block, side));
            facts.cost(nest, block, turns).cycles
        };
        // The first of those that take as long.
        let all = std::iter::once(self.clone()).chain(others).map(|own| own.in_bands(nest, facts));
        all.min_by(|one, other| cycles(one).total_cmp(&cycles(other))).unwrap_or(self)
    }
}
