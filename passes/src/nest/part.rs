//! Part of a nest: some of the points of one axis.
//!
//! ```text
//! c[m, n] += a[m, k] * b[k, n], m from 64 to 67  ->  c[64 + m, n] += a[64 + m, k] * b[k, n]
//! ```

use weft_dialects::ir::Linear;

use super::{Nest, Start};

impl Nest<'_> {
    /// The points `from .. from + count` of `axis`, and what its axes are for
    /// `linalg.index`. A later part of a reduction begins with what the parts before it left.
    pub fn part(&self, axis: usize, from: u64, count: u64) -> (Self, Vec<Linear>) {
        let mut part = self.clone();
        part.axes[axis].extent = count;
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
}
