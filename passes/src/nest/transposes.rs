//! Transposes in registers: what a nest stores along another axis than its lanes.
//!
//! ```text
//! y[i, j] = x[j, i]      lanes along i as they are loaded, along j as they are stored
//! y[i] = Σ x[i, k]       lanes along k: the lines of the transpose hold one lane of all rows
//! ```

use super::{Access, Loop, Nest, Start, index_axis};

/// Returns whether every output of a nest without reductions is contiguous along the axis `rows`,
/// and every input along the axis of the lanes or in one place for all of them.
pub fn stores_along(nest: &Nest<'_>, lanes_axis: usize, rows: usize) -> bool {
    let axes = nest.axes.len();
    let stride = |access: &Access<'_>, axis| access.stride(axes, axis);
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

/// Returns whether registers of the sums of a nest with reductions can be stored along the axis `rows`:
/// every output is contiguous there, and not along the lanes.
pub fn sums_lie_along(nest: &Nest<'_>, lanes_axis: usize, rows: usize) -> bool {
    let axes = nest.axes.len();
    (0..axes).any(|axis| nest.reduces(axis))
        && ![lanes_axis, rows].iter().any(|&axis| nest.reduces(axis))
        && nest.outputs.iter().all(|output| {
            let stride = |axis| output.stride(axes, axis);
            stride(rows) == 1 && stride(lanes_axis) > 1 && !shares(output, rows)
        })
}

/// Returns whether an axis moves along more than one dimension.
fn shares(access: &Access<'_>, axis: usize) -> bool {
    access.index.iter().filter(|index| index.coefficients[axis] != 0).count() > 1
}

/// Returns whether the lanes of all rows along `rows`, which fold a reduction, may be combined by
/// one transpose: whole registers only, rows that start alike, and neighbours along one dimension
/// of the output and of what the epilogue reads.
pub fn may_combine_rows(nest: &Nest<'_>, lanes_axis: usize, lanes: u64, rows: usize) -> bool {
    let Loop { extent, length, .. } = nest.axes[lanes_axis];
    let whole = length.is_none() && extent.is_multiple_of(lanes) && lanes.is_power_of_two();
    let alike = match &nest.starts[0] {
        Start::Unread => true,
        Start::Held => false,
        Start::From { inputs, body } => {
            inputs.is_empty() && body.ops().into_iter().all(|op| index_axis(op).is_none())
        }
    };
    let output = &nest.outputs[0];
    let epilogue = nest.epilogue.iter().flat_map(|epilogue| &epilogue.inputs);
    let forwards = |access: &Access<'_>| {
        let steps = access.index.iter().map(|index| index.coefficients[rows]);
        let steps: Vec<_> = steps.filter(|&step| step != 0).collect();
        steps.len() <= 1 && steps.iter().all(|&step| step > 0)
    };
    whole && alike && output.uses(rows) && epilogue.chain([output]).all(forwards)
}
