//! Points side by side that each lane takes of a register tile, so that it moves them by one access.
//!
//! ```text
//! 32 lanes, 4 registers      register 0     register 1                         bytes that a lane moves at once
//!   neighbours = 1           points 0..32   points 32..64                      4
//!   neighbours = 4           0, 4, 8, ...   1, 5, 9, ...                       16: lane 0 has points 0 to 3
//! ```

use weft_dialects::ir::ty;

use super::lane_facts::Facts;
use super::shape::Shape;
use crate::nest::{Access, Border, Nest};

/// Returns whether every tensor that has points along an axis has them side by side, in its last dimension.
pub fn lies_along(nest: &Nest<'_>, axis: usize) -> bool {
    nest.accesses().into_iter().filter(|access| access.uses(axis)).all(|access| {
        let steps: Vec<i64> = access.index.iter().map(|index| index.coefficients[axis]).collect();
        let (last, others) = steps.split_last().expect("it has a dimension that uses the axis");
        *last == 1 && others.iter().all(|step| *step == 0)
    })
}

/// How many neighbours each of so many lanes takes of tiles of this shape; 1 where tiles are not whole, accesses would not be one, or not begin
/// at a multiple of their bytes.
pub(super) fn neighbours(nest: &Nest<'_>, facts: &Facts<'_>, lanes: u64, shape: &Shape) -> u64 {
    let whole = |axis: &usize| shape.vectors * lanes <= nest.axes[*axis].extent;
    let axis = shape.lanes_axis.filter(whole).filter(|_| shape.grow.is_none());
    let Some(axis) = axis else { return 1 };
    let most = most_neighbours(nest, facts, axis);
    let counts = std::iter::successors(Some(most), |&count| Some(count / 2));
    let mut counts = counts.take_while(|&count| count > 1);
    counts.find(|count| shape.vectors.is_multiple_of(*count)).unwrap_or(1)
}

/// The same of tiles of any number of registers along the lanes.
pub(super) fn most_neighbours(nest: &Nest<'_>, facts: &Facts<'_>, lanes_axis: usize) -> u64 {
    let (Some(bytes), None) = (facts.access_bytes, &facts.stage) else { return 1 };
    let accesses = nest.accesses();
    let bordered = accesses.iter().any(|access| Border::of(access).is_some());
    if bordered || !lies_along(nest, lanes_axis) {
        return 1;
    }
    let moved: Vec<_> = accesses.into_iter().filter(|access| access.uses(lanes_axis)).collect();
    let widest = moved.iter().filter_map(|access| ty::byte_size(access.elem())).max().unwrap_or(1);
    let counts = std::iter::successors(Some(bytes / widest), |&count| Some(count / 2));
    let mut counts = counts.take_while(|&count| count > 1);
    let begin = |count: &u64| {
        moved.iter().all(|access| begins_at_multiples(nest, access, lanes_axis, *count))
    };
    counts.find(begin).unwrap_or(1)
}

/// Returns whether the elements that an access touches with the lanes' axis at zero are multiples of a count.
fn begins_at_multiples(
    nest: &Nest<'_>,
    access: &Access<'_>,
    lanes_axis: usize,
    count: u64,
) -> bool {
    let address = access.address(nest.axes.len());
    let moves = |&axis: &usize| axis != lanes_axis && nest.axes[axis].extent > 1;
    let steps = (0..nest.axes.len()).filter(moves).map(|axis| address.coefficients[axis]);
    let mut all = steps.chain([address.constant]);
    all.all(|step| step.unsigned_abs().is_multiple_of(count))
}
