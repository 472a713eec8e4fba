//! The order in which rTasks are begun, so that those which run at the same time read few tiles.
//!
//! ```text
//! row by row, 4 units                0 1 2 3     1 tile of A, 4 of B
//! in bands of 2                      0 2 ..      2 tiles of A, 2 of B
//!                                    1 3 ..
//! ```
//!
//! What units read at the same time comes once from the memory behind, and from its cache for all others. Only this order changes: rTasks
//! keep their numbers, and ranges of a program go by them.

use super::facts::Facts;
use super::{Block, Core, M, N, TasksAlong};
use crate::nest::Nest;

impl<'c> Block<'c> {
    /// The sides of a product along whose axes rTasks go fast and slowly, by the order of the nest's axes.
    pub(super) fn fast_slow(&self) -> [usize; 2] {
        if self.axes[M] < self.axes[N] { [N, M] } else { [M, N] }
    }

    /// RTasks along a side.
    pub(super) fn tasks_of_side(&self, nest: &Nest<'_>, side: usize) -> u64 {
        let along = self.axes_of(side).into_iter();
        along.map(|axis| self.tasks_along(nest, axis)).product::<u64>().max(1)
    }

    /// Whether rTasks can be begun in its bands.
    ///
    /// # Errors
    /// Why they cannot, as the end of a sentence about them.
    pub fn may_have_bands(&self, nest: &Nest<'_>) -> Result<(), String> {
        let Some(TasksAlong { axis, count }) = self.bands else { return Ok(()) };
        let tasks = self.tasks_along(nest, axis);
        if count > tasks {
            return Err(format!("there are {tasks} rTasks along axis {axis}"));
        }
        match self.cluster.filter(|own| own.axis == axis && !count.is_multiple_of(own.count)) {
            None => Ok(()),
            Some(own) => Err(format!("clusters have {} rTasks along axis {axis}", own.count)),
        }
    }

    /// The same in the bands that take the least time, row by row where none take less: of products whose rTasks are those
    /// of two axes.
    pub(super) fn in_bands(self, nest: &Nest<'c>, facts: &Facts) -> Self {
        let [_, slow] = self.fast_slow();
        let others = (0..nest.axes.len()).filter(|&axis| !nest.reduces(axis));
        let mut others = others.filter(|axis| ![self.axes[M], self.axes[N]].contains(axis));
        if !matches!(self.core, Core::Matrix(..))
            || others.any(|axis| self.tasks_along(nest, axis) > 1)
        {
            return self;
        }
        let axis = self.axes[slow];
        let tasks = self.tasks_along(nest, axis);
        let counts = (1..).map(|bits| 1 << bits).take_while(|count| *count <= tasks);
        let all = counts.map(|count| Some(TasksAlong { axis, count }));
        let all = all.map(|bands| Block { bands, ..self.clone() });
        let all = all.filter(|own| own.may_have_bands(nest).is_ok());
        let cycles = |block: &Block<'c>| facts.far_cycles(nest, block);
        // The first of those that take as long.
        let all = std::iter::once(self.clone()).chain(all);
        all.min_by(|one, other| cycles(one).total_cmp(&cycles(other))).unwrap_or(self)
    }
}
