//! Views: the position of a tensor's elements in a flat buffer.

use weft_dialects::ir::Linear;
use weft_runtime::vm::{Access, TensorId};

use crate::nest::row_major;

/// Elements of a buffer under a shape: that of index `i` is at `offset + Σ strides[d] · i[d]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct View {
    /// The buffer.
    pub buffer: TensorId,
    /// Address of the first element.
    pub offset: i64,
    /// Extent of each dimension.
    pub shape: Vec<u64>,
    /// Elements between neighbours along each dimension.
    pub strides: Vec<i64>,
}

impl View {
    /// A whole buffer in row-major order.
    pub fn whole(buffer: TensorId, shape: &[u64]) -> Self {
        Self { buffer, offset: 0, shape: shape.to_vec(), strides: row_major(shape) }
    }

    /// Number of elements.
    pub fn count(&self) -> u64 {
        self.shape.iter().product()
    }

    /// Returns whether the elements lie one after the other, in row-major order.
    pub fn is_contiguous(&self) -> bool {
        let steps = self.strides.iter().zip(row_major(&self.shape)).zip(&self.shape);
        self.count() == 0 || steps.into_iter().all(|((&own, rows), &dim)| own == rows || dim == 1)
    }

    /// The same elements under another shape; `None` where they do not lie in a row.
    pub fn reshape(&self, shape: &[u64]) -> Option<Self> {
        self.is_contiguous().then(|| Self {
            buffer: self.buffer,
            offset: self.offset,
            shape: shape.to_vec(),
            strides: row_major(shape),
        })
    }

    /// A window, of the same rank.
    pub fn slice(&self, offsets: &[i64], sizes: &[u64], strides: &[i64]) -> Self {
        let skipped: i64 = offsets.iter().zip(&self.strides).map(|(a, b)| a * b).sum();
        Self {
            buffer: self.buffer,
            offset: self.offset + skipped,
            shape: sizes.to_vec(),
            strides: strides.iter().zip(&self.strides).map(|(a, b)| a * b).collect(),
        }
    }

    /// The access to the element at `index` over a nest of `axes` axes.
    pub fn access(&self, axes: usize, index: &[Linear]) -> Access {
        let mut sum = Linear::constant(axes, self.offset);
        for (index, &stride) in index.iter().zip(&self.strides) {
            sum = sum.add(&index.clone().scale(stride));
        }
        Access { tensor: self.buffer, offset: sum.constant, strides: sum.coefficients }
    }

    /// The access whose point is the index itself.
    pub fn identity(&self) -> Access {
        Access::new(self.buffer, self.offset, &self.strides)
    }
}

#[cfg(test)]
mod tests {
    use super::View;

    #[test]
    fn slices_compose() {
        let whole = View::whole(0, &[4, 6]);
        let odd = whole.slice(&[1, 1], &[3, 3], &[1, 2]);
        assert_eq!((odd.offset, odd.strides.as_slice()), (7, [6, 2].as_slice()));
        let one = odd.slice(&[1, 1], &[2, 1], &[1, 1]);
        assert_eq!((one.offset, one.strides.as_slice()), (15, [6, 2].as_slice()));
        assert!(!odd.is_contiguous());
    }

    #[test]
    fn unit_dimensions_are_in_a_row() {
        let row = View::whole(0, &[4, 6]).slice(&[2, 0], &[1, 6], &[1, 1]);
        assert_eq!(row.reshape(&[3, 2]).map(|view| view.offset), Some(12));
    }
}
