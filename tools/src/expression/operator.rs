//! An expression as the operator that tiles are constructed for.

use weft_dialects::ir::Linear;
use weft_passes::tile::roller::{Axis, Dim, Operator, Tensor};

use super::Kernel;

impl Kernel {
    /// The axes and index forms, without what is calculated.
    ///
    /// ```
    /// use weft::expression::{Element, Kernel};
    /// let conv = "O[n,f,y,x] += I[n,c,y+r-1,x+s-1] * W[f,c,r,s]";
    /// let shape = "n=2,f=8,y=5,x=5,c=4,r=3,s=3";
    /// let operator = Kernel::read_bordered(conv, shape, Element::F32)?.operator();
    /// // As a product of matrices: f by n*y*x, summed over c*r*s.
    /// assert_eq!(operator.fused().extents(), [8, 50, 36]);
    /// # Ok::<(), weft::Failure>(())
    /// ```
    pub fn operator(&self) -> Operator {
        let free = self.free();
        let axis = |(at, axis): (usize, &super::Axis)| Axis {
            name: axis.name.clone(),
            extent: axis.extent,
            reduction: at >= free,
        };
        let axes: Vec<_> = self.axes.iter().enumerate().map(axis).collect();
        let elem_bytes = self.element.dtype().bytes() as u64;
        let tensor = |shape: &[u64], index: &[Linear]| Tensor {
            dims: shape.iter().zip(index).map(|(&extent, index)| self.dim(extent, index)).collect(),
            elem_bytes,
        };
        let inputs = self.reads.iter().map(|(at, index)| tensor(&self.inputs[*at].shape, index));
        let own: Vec<_> = (0..free).map(|axis| Linear::axis(axes.len(), axis)).collect();
        Operator { inputs: inputs.collect(), output: tensor(&self.output.shape, &own), axes }
    }

    fn dim(&self, extent: u64, index: &Linear) -> Dim {
        let extents: Vec<_> = self.axes.iter().map(|axis| axis.extent).collect();
        let (low, _) = index.range(&extents);
        Dim { steps: index.coefficients.clone(), extent, border: low.min(0).unsigned_abs() }
    }
}
