//! From the nest of a kernel to an operator.

use weft_dialects::ir::{Linear, ty};

use super::operator::{Axis, Dim, Operator, Tensor};
use crate::nest::{Access, Nest};

impl Operator {
    /// The operator that a nest is, and for each of its axes which axis of the nest it is:
    /// parallel ones first. `None` for what has several outputs, or reads at addresses that it
    /// computes: tiles of those are no boxes.
    pub fn of(nest: &Nest<'_>) -> Option<(Self, Vec<usize>)> {
        let [output] = nest.outputs.as_slice() else { return None };
        if !nest.captures.is_empty() {
            return None;
        }
        let all = 0..nest.axes.len();
        let (inner, outer): (Vec<usize>, Vec<usize>) = all.partition(|&axis| nest.reduces(axis));
        let order: Vec<_> = outer.into_iter().chain(inner).collect();
        let axis = |&axis: &usize| Axis {
            name: format!("d{axis}"),
            extent: nest.axes[axis].extent,
            reduction: nest.reduces(axis),
        };
        let axes = order.iter().map(axis).collect();
        let inputs = nest.inputs.iter().map(|access| tensor(access, &order));
        let inputs = inputs.collect::<Option<_>>()?;
        Some((Self { axes, inputs, output: tensor(output, &order)? }, order))
    }
}

fn tensor(access: &Access<'_>, order: &[usize]) -> Option<Tensor> {
    let dim = |(&extent, index): (&u64, &Linear)| Dim {
        steps: order.iter().map(|&axis| index.coefficients[axis]).collect(),
        extent,
        border: 0,
    };
    let dims = access.shape.iter().zip(&access.index).map(dim).collect();
    Some(Tensor { dims, elem_bytes: ty::byte_size(access.elem())? })
}
