//! The order in which rTasks are begun, so that those which run at the same time read few tiles.
//!
//! ```text
//! row by row, 4 units              rTasks of the first row, of 4 columns         1 tile of A, 4 of B
//! in bands of 2                    of two rows, of 2 columns                     2 tiles of A, 2 of B
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

    /// Rows of rTasks that are begun before the next column: those of a band, or of a cluster.
    pub(super) fn band_rows(&self) -> u64 {
        let [_, slow] = self.fast_slow();
        let along = [self.bands, self.cluster].into_iter().flatten();
        let slow = along.filter(|own| own.axis == self.axes[slow]);
        slow.map(|own| own.count).max().unwrap_or(1)
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
        let behind = (axis + 1..nest.axes.len()).filter(|&own| !nest.reduces(own));
        if behind.map(|own| self.tasks_along(nest, own)).product::<u64>() == 1 {
            return Err(format!("rTasks along axis {axis} follow each other already"));
        }
        match self.cluster.filter(|own| own.axis == axis) {
            Some(own) if !count.is_multiple_of(own.count) || count == own.count => Err(format!(
                "clusters have {} rTasks along axis {axis}, and bands several clusters",
                own.count
            )),
            _ => Ok(()),
        }
    }

    /// The same in the bands that take the least time, row by row where none take less: of products whose rTasks are those
    /// of two axes, and where the memory behind would bound a step more than what caches it.
    pub(super) fn in_bands(self, nest: &Nest<'c>, facts: &Facts) -> Self {
        let [_, slow] = self.fast_slow();
        let others = (0..nest.axes.len()).filter(|&axis| !nest.reduces(axis));
        let mut others = others.filter(|axis| ![self.axes[M], self.axes[N]].contains(axis));
        let alone = others.all(|axis| self.tasks_along(nest, axis) == 1);
        if !matches!(self.core, Core::Matrix(..)) || !alone || !facts.is_bound_behind(nest, &self) {
            return self;
        }
        let axis = self.axes[slow];
        let tasks = self.tasks_along(nest, axis);
        // As many in each of so many bands, or nearly so.
        let mut counts: Vec<u64> = (1..=tasks).map(|bands| tasks.div_ceil(bands)).collect();
        counts.dedup();
        let all = counts.into_iter().rev().map(|count| Some(TasksAlong { axis, count }));
        let all = all.map(|bands| Block { bands, ..self.clone() });
        let all = all.filter(|own| own.may_have_bands(nest).is_ok());
        let cycles = |block: &Block<'c>| facts.far_cycles(nest, block);
        // The first of those that take as long: that with the least in a band.
        let all = std::iter::once(self.clone()).chain(all);
        all.min_by(|one, other| cycles(one).total_cmp(&cycles(other))).unwrap_or(self)
    }
}
