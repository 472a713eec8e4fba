//! Some of the points of one axis, or all of them as two axes.
//!
//! ```text
//! c[m, n] += a[m, k] * b[k, n], m from 64 to 67  ->  c[64 + m, n] += a[64 + m, k] * b[k, n]
//! c[m, n] += a[m, k] * b[k, n], n by 16          ->  c[m, n, j] += a[m, k] * b[k, n, j]
//! ```

use weft_dialects::ir::Linear;

use super::{Loop, Nest, Start};
use crate::length::{Length, kept};

impl Nest<'_> {
    /// The points `from .. from + count` of `axis`, and what its axes are for
    /// `linalg.index`. A later part of a reduction begins with what the parts before it left.
    pub fn part(&self, axis: usize, from: u64, count: u64) -> (Self, Vec<Linear>) {
        let mut part = self.clone();
        part.axes[axis] = Loop { extent: count, ..part.axes[axis] };
        for access in part.accesses_mut() {
            for index in &mut access.index {
                index.constant += index.coefficients[axis] * from as i64;
            }
        }
        if self.reduces(axis) && from > 0 {
            part.starts.fill(Start::Held);
        }
        let axes = self.axes.len();
        let mut now: Vec<_> = (0..axes).map(|axis| Linear::axis(axes, axis)).collect();
        now[axis].constant = from as i64;
        (part, now)
    }

    /// Cuts `axis` in panels, whose size divides it and its length: the axis counts panels, a new last axis
    /// runs inside one.
    ///
    /// A dimension that was the whole axis becomes two, which is another view of the same
    /// elements, and so does one of an output in which the axis begins with a panel. Returns what the old axes
    /// are in terms of the new ones.
    pub fn split(&mut self, axis: usize, panel: u64) -> Vec<Linear> {
        let old = self.axes.len();
        let Loop { extent: whole, kind, length } = self.axes[axis];
        let ends = |length: &Length| length.is_multiple_of(panel as i64);
        debug_assert!(length.is_none_or(ends), "a panel would be cut where nobody knows");
        self.axes[axis].extent /= panel;
        self.axes[axis].length = length.map(|length| kept(length.floor_div(panel as i64)));
        self.axes.push(Loop { extent: panel, kind, length: None });
        let cut = |index: &mut Linear| {
            let factor = index.coefficients[axis];
            index.coefficients[axis] = factor * panel as i64;
            index.coefficients.push(factor);
        };
        let outputs = self.outputs.len();
        let mut accesses = self.accesses_mut();
        let reads = accesses.len() - outputs;
        for (number, access) in accesses.iter_mut().enumerate() {
            for dim in (0..access.index.len()).rev() {
                let (index, shape) = (&access.index[dim], access.shape[dim]);
                let is_whole = index.as_axis() == Some(axis) && shape == whole;
                // Starts and epilogues may read nothing: the axes' extents follow from the output alone.
                let begins_with_panels = number >= reads
                    && index.as_moved_axis() == Some(axis)
                    && shape.is_multiple_of(panel)
                    && u64::try_from(index.constant).is_ok_and(|at| at.is_multiple_of(panel));
                if is_whole || begins_with_panels {
                    access.shape[dim] /= panel;
                    access.shape.insert(dim + 1, panel);
                    access.index[dim].constant /= panel as i64;
                    access.index[dim].coefficients.push(0);
                    access.index.insert(dim + 1, Linear::axis(old + 1, old));
                } else {
                    cut(&mut access.index[dim]);
                }
            }
        }
        let mut now: Vec<Linear> = (0..old).map(|axis| Linear::axis(old, axis)).collect();
        now.iter_mut().for_each(cut);
        now
    }

    /// The same with the fastest `points` of an axis as one of its own, behind it.
    pub fn cut_off(&self, axis: usize, points: u64) -> Self {
        let mut nest = self.clone();
        nest.split(axis, points);
        let place = axis + 1;
        if let Some(own) = nest.axes.pop() {
            nest.axes.insert(place, own);
        }
        for access in nest.accesses_mut() {
            for index in &mut access.index {
                if let Some(own) = index.coefficients.pop() {
                    index.coefficients.insert(place, own);
                }
            }
        }
        nest
    }
}
