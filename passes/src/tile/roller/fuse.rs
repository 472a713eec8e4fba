//! Fewer axes for the same operator, before it is cut into tiles (Roller, section 4.1).
//!
//! ```text
//! y[n, c, h, w] = f(x[n, c, h, w])                    ->  y[p] = f(x[p])
//! y[n, f, h, w] += x[n, c, 2h+r, 2w+s] * k[f, c, r, s]  ->  y[f, p] += x[q, p] * k[f, q]
//! ```
//!
//! The first joins axes that are adjacent in every tensor that has them. The second is the
//! implicit matrix product: `p` counts (n, h, w) and `q` counts (c, r, s); nothing is stored
//! that way, a tile of `x[q, p]` is gathered when it is loaded.

use super::operator::{Axis, Dim, Operator, Tensor};

impl Operator {
    /// The operator with the axes that it is tiled along: as a matrix product where it is one,
    /// and with adjacent axes joined where not.
    pub fn fused(&self) -> Self {
        self.as_product().unwrap_or_else(|| self.joined())
    }

    /// Joins axes of one kind that are side by side, whole and in order, in every tensor that
    /// has one of them.
    pub fn joined(&self) -> Self {
        let mut joined = self.clone();
        while let Some((outer, inner)) = joined.neighbours() {
            joined.join(outer, inner);
        }
        joined
    }

    fn neighbours(&self) -> Option<(usize, usize)> {
        let axes = 0..self.axes.len();
        axes.clone().flat_map(|outer| axes.clone().map(move |inner| (outer, inner))).find(
            |&(outer, inner)| {
                let mut together = false;
                outer != inner
                    && self.axes[outer].reduction == self.axes[inner].reduction
                    && self.tensors().all(|tensor| {
                        let used = tensor.uses(outer) || tensor.uses(inner);
                        together |= used;
                        !used || self.beside(tensor, outer, inner).is_some()
                    })
                    && together
            },
        )
    }

    fn tensors(&self) -> impl Iterator<Item = &Tensor> {
        self.inputs.iter().chain([&self.output])
    }

    /// The dimension that is `outer` alone where the next is `inner` alone and whole.
    fn beside(&self, tensor: &Tensor, outer: usize, inner: usize) -> Option<usize> {
        let dim = tensor.dims.iter().position(|dim| dim.axis() == Some(outer))?;
        let next = tensor.dims.get(dim + 1)?;
        let once = |axis: usize| tensor.dims.iter().filter(|dim| dim.steps[axis] != 0).count() == 1;
        (next.axis() == Some(inner)
            && next.extent == self.axes[inner].extent
            && once(outer)
            && once(inner))
        .then_some(dim)
    }

    fn join(&mut self, outer: usize, inner: usize) {
        let places: Vec<_> =
            self.tensors().map(|tensor| self.beside(tensor, outer, inner)).collect();
        for (tensor, place) in self.inputs.iter_mut().chain([&mut self.output]).zip(places) {
            if let Some(dim) = place {
                let inner = tensor.dims.remove(dim + 1);
                tensor.dims[dim].extent *= inner.extent;
            }
            for dim in &mut tensor.dims {
                dim.steps.remove(inner);
            }
        }
        let gone = self.axes.remove(inner);
        // One place further to the front, where the removed axis was before it.
        let kept = &mut self.axes[if inner < outer { outer - 1 } else { outer }];
        kept.extent *= gone.extent;
        kept.name = format!("{}*{}", kept.name, gone.name);
    }

    /// As a product of two matrices: every reduction moves both inputs, every axis of the
    /// output one of them. The rows are the axes of the input that does not have the output's
    /// last one.
    pub fn as_product(&self) -> Option<Self> {
        let [left, right] = self.inputs.as_slice() else { return None };
        let spatial = self.spatial();
        let (outer, inner) = self.axes.split_at(spatial);
        let shared = (spatial..self.axes.len()).all(|axis| left.uses(axis) && right.uses(axis));
        let apart = (0..spatial).all(|axis| left.uses(axis) != right.uses(axis));
        if inner.is_empty() || outer.is_empty() || !shared || !apart {
            return None;
        }
        let right_is_last = right.uses(spatial - 1);
        let last = |axis: &usize| right.uses(*axis) == right_is_last;
        let (columns, rows): (Vec<_>, Vec<_>) = (0..spatial).partition(last);
        if rows.is_empty() {
            return None;
        }
        let group = |members: &[usize], reduction: bool| {
            let names: Vec<_> = members.iter().map(|&axis| self.axes[axis].name.as_str()).collect();
            let extent = members.iter().map(|&axis| self.axes[axis].extent).product();
            Axis { name: names.join("*"), extent, reduction }
        };
        let inner: Vec<_> = (spatial..self.axes.len()).collect();
        let axes = vec![group(&rows, false), group(&columns, false), group(&inner, true)];
        let shape = |order: [usize; 2], tensor: &Tensor| Tensor {
            dims: order.iter().map(|&axis| plain(&axes, axis)).collect(),
            elem_bytes: tensor.elem_bytes,
        };
        // A matrix that is one already keeps the order of its dimensions.
        let order = |tensor: &Tensor, group: usize| {
            let own = tensor.dims.first().and_then(Dim::axis);
            let first = match own {
                Some(axis) if tensor.dims.len() == 2 => self.axes[axis].reduction,
                _ => group == 1,
            };
            if first { [2, group] } else { [group, 2] }
        };
        let (of_left, of_right) = if right_is_last { (0, 1) } else { (1, 0) };
        let inputs = vec![shape(order(left, of_left), left), shape(order(right, of_right), right)];
        let output = shape([0, 1], &self.output);
        Some(Self { axes, inputs, output })
    }
}

/// A dimension that is an axis.
fn plain(axes: &[Axis], axis: usize) -> Dim {
    let mut steps = vec![0; axes.len()];
    steps[axis] = 1;
    Dim { steps, extent: axes[axis].extent, border: 0 }
}
