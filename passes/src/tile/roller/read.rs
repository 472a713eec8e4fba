//! From the nest of a kernel to an operator.

use weft_dialects::ir::{Linear, payload, ty};

use super::operator::{Axis, Dim, Operator, Tensor};
use crate::nest::{Access, Loop, Nest};

impl Operator {
    /// The operator that a nest is, and for each of its axes which axis of the nest it is:
    /// parallel ones first. `None` for what has several outputs, or reads at addresses that it
    /// computes: tiles of those are no boxes.
    pub fn of(nest: &Nest<'_>) -> Option<(Self, Vec<usize>)> {
        let [output] = nest.outputs.as_slice() else { return None };
        if !nest.captures.is_empty() {
            return None;
        }
        Self::of_accesses(&nest.axes, &nest.inputs, output)
    }

    /// The operator of loops that read and write tensors so; as [`Operator::of`].
    pub(crate) fn of_accesses(
        loops: &[Loop],
        inputs: &[Access<'_>],
        output: &Access<'_>,
    ) -> Option<(Self, Vec<usize>)> {
        let reduces = |axis: &usize| loops[*axis].kind == payload::Axis::Reduction;
        let (inner, outer): (Vec<usize>, Vec<usize>) = (0..loops.len()).partition(reduces);
        let order: Vec<_> = outer.into_iter().chain(inner).collect();
        let axis = |&axis: &usize| Axis {
            name: format!("d{axis}"),
            extent: loops[axis].extent,
            reduction: reduces(&axis),
        };
        let axes = order.iter().map(axis).collect();
        let inputs = inputs.iter().map(|access| tensor(access, &order));
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
