//! Rows that become lanes: transposes in registers.
//!
//! ```text
//! y[i, j] = x[j, i]      lanes along i as they are loaded, along j as they are stored
//! ```
//!
//! A square of registers is loaded along one axis and stored along another, so that both
//! sides move whole registers.

use super::cost::Shape;
use super::instruction::Mapped;
use crate::nest::{Nest, Start};

/// Registers wider than this would not fit as a square.
const MOST_LANES: u64 = 16;

/// The register tile that is turned when it is stored, with lanes along `lanes_axis`.
pub(super) fn turned(
    nest: &Nest<'_>,
    mapped: &Mapped<'_>,
    lanes_axis: usize,
) -> impl Iterator<Item = Shape> {
    let rows = (0..nest.axes.len())
        .find(|&rows| rows != lanes_axis && turns(nest, lanes_axis, rows))
        .filter(|_| (2..=MOST_LANES).contains(&mapped.lanes));
    let rows = rows.map(|axis| (axis, mapped.lanes.min(nest.axes[axis].extent)));
    rows.filter(|&(_, rows)| rows > 1).into_iter().map(move |rows| Shape {
        lanes_axis: Some(lanes_axis),
        vectors: 1,
        rows: vec![rows],
    })
}

/// Whether every output of a nest without reductions lies along the axis `rows`, and every
/// input along the axis of the lanes or in one place for all of them.
pub fn turns(nest: &Nest<'_>, lanes_axis: usize, rows: usize) -> bool {
    let axes = nest.axes.len();
    let stride = |access: &crate::nest::Access<'_>, axis| access.stride(axes, axis);
    (0..axes).all(|axis| !nest.reduces(axis))
        && nest.starts.iter().all(|start| matches!(start, Start::Unread))
        && nest.outputs.iter().all(|output| {
            stride(output, rows) == 1 && stride(output, lanes_axis) > 1 && !shares(output, rows)
        })
        && nest
            .inputs
            .iter()
            .all(|input| matches!(stride(input, lanes_axis), 0 | 1) && !shares(input, lanes_axis))
        && nest.inputs.iter().any(|input| stride(input, lanes_axis) == 1)
}

/// Whether an axis moves along more than one dimension.
fn shares(access: &crate::nest::Access<'_>, axis: usize) -> bool {
    access.index.iter().filter(|index| index.coefficients[axis] != 0).count() > 1
}
