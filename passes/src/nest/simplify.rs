//! Fewer axes for the same nest: unit axes go, axes that always move together become one.
//!
//! ```text
//! x[n, c, i, j], n = 1   ->   x[c, p] with p = i * J + j   ->   x[q]
//! ```
//!
//! Axis fusion is Roller's first rewrite (OSDI'22, section 4.1). Axes that the
//! body asks for by `linalg.index` stay.

use weft_dialects::ir::Linear;

use crate::length::{Length, kept};

use super::{Access, Loop, Nest, index_axis};

impl Nest<'_> {
    /// Simplifies in place; shapes of tensors change with their axes, their
    /// elements in row-major order do not.
    ///
    /// `linalg.index` in the bodies still counts the axes of before: the result
    /// says for each of them what it is now.
    pub fn simplify(&mut self) -> Vec<Linear> {
        let count = self.axes.len();
        let mut now: Vec<Linear> = (0..count).map(|axis| Linear::axis(count, axis)).collect();
        let asked: Vec<usize> = self.body.ops().into_iter().filter_map(index_axis).collect();
        for axis in (0..count).rev() {
            let Loop { extent, length, .. } = self.axes[axis];
            if extent == 1 && length.is_none() && self.axes.len() > 1 {
                self.drop_axis(axis, &mut now);
            }
        }
        self.drop_unit_dims();
        while let Some((outer, inner)) = self.fusible(&now, &asked) {
            self.fuse(outer, inner, &mut now);
        }
        now
    }

    fn drop_axis(&mut self, axis: usize, now: &mut [Linear]) {
        self.axes.remove(axis);
        for access in self.accesses_mut() {
            for index in &mut access.index {
                index.coefficients.remove(axis);
            }
        }
        for index in now {
            index.coefficients.remove(axis);
        }
    }

    /// Dimensions of size one that no axis moves along.
    fn drop_unit_dims(&mut self) {
        for access in self.accesses_mut() {
            let constant = |index: &Linear| index.coefficients.iter().all(|&c| c == 0);
            let keep: Vec<bool> = access
                .shape
                .iter()
                .zip(&access.index)
                .map(|(&dim, index)| dim != 1 || !constant(index))
                .collect();
            let mut kept = keep.iter();
            access.shape.retain(|_| *kept.next().expect("one flag per dimension"));
            let mut kept = keep.iter();
            access.index.retain(|_| *kept.next().expect("one flag per dimension"));
        }
    }

    /// Two axes that every access has side by side, whole and in order, or not at all.
    fn fusible(&self, now: &[Linear], asked: &[usize]) -> Option<(usize, usize)> {
        let wanted = |axis: usize| asked.iter().any(|&old| now[old].coefficients[axis] != 0);
        for outer in 0..self.axes.len() {
            for inner in 0..self.axes.len() {
                if outer == inner
                    || self.axes[outer].kind != self.axes[inner].kind
                    // The points that are there would not follow each other.
                    || self.axes[inner].length.is_some()
                    || (self.reduces(outer) && inner != outer + 1)
                    || wanted(outer)
                    || wanted(inner)
                {
                    continue;
                }
                let mut together = false;
                let fits = self.accesses().iter().all(|access| {
                    if !access.uses(outer) && !access.uses(inner) {
                        return true;
                    }
                    together = true;
                    side_by_side(access, outer, inner, self.axes[inner].extent).is_some()
                });
                if fits && together {
                    return Some((outer, inner));
                }
            }
        }
        None
    }

    fn fuse(&mut self, outer: usize, inner: usize, now: &mut [Linear]) {
        let extent = self.axes[inner].extent;
        for access in self.accesses_mut() {
            if let Some(dim) = side_by_side(access, outer, inner, extent) {
                access.shape[dim] *= access.shape[dim + 1];
                access.shape.remove(dim + 1);
                access.index.remove(dim + 1);
            }
        }
        self.axes[outer].extent *= extent;
        let all = |length: &Length| kept(length.times(&Length::number(extent as i64)));
        self.axes[outer].length = self.axes[outer].length.map(all);
        self.drop_axis(inner, now);
    }
}

/// The dimension that is `outer` alone where the next is `inner` alone and whole.
fn side_by_side(access: &Access<'_>, outer: usize, inner: usize, extent: u64) -> Option<usize> {
    let dim = access.index.iter().position(|index| index.as_axis() == Some(outer))?;
    let next = access.index.get(dim + 1)?;
    let once = |axis: usize| {
        access.index.iter().filter(|index| index.coefficients[axis] != 0).count() == 1
    };
    (next.as_axis() == Some(inner) && access.shape[dim + 1] == extent && once(outer) && once(inner))
        .then_some(dim)
}
