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

/// The most points side by side that lanes along an axis may take: accesses of several are one that begins at a
/// multiple of its bytes; 1 where they would not be.
pub(super) fn most_neighbours(nest: &Nest<'_>, facts: &Facts<'_>, lanes_axis: usize) -> u64 {
    let (Some(bytes), None) = (facts.access_bytes, &facts.stage) else { return 1 };
    let accesses = nest.accesses();
    let bordered = accesses.iter().any(|access| Border::of(access).is_some());
    if bordered || !lies_along(nest, lanes_axis) {
        return 1;
    }
    let moved: Vec<_> = accesses.into_iter().filter(|access| access.uses(lanes_axis)).collect();
    let widest = moved.iter().filter_map(|access| ty::byte_size(access.elem())).max().unwrap_or(1);
    halved_until(bytes / widest, |count| {
        moved.iter().all(|access| begins_at_multiples(nest, access, lanes_axis, count))
    })
}

/// How many of at most `most` each of so many lanes takes of tiles of this shape; 1 where tiles are not whole.
pub(super) fn neighbours(nest: &Nest<'_>, most: u64, lanes: u64, shape: &Shape) -> u64 {
    let whole = |axis: usize| shape.vectors * lanes <= nest.axes[axis].extent;
    if shape.grow.is_some() || !shape.lanes_axis.is_some_and(whole) {
        return 1;
    }
    halved_until(most, |count| shape.vectors.is_multiple_of(count))
}

/// The first of a number, its half, the half of that, for which something holds, or 1.
fn halved_until(most: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let counts = std::iter::successors(Some(most), |&count| Some(count / 2));
    counts.take_while(|&count| count > 1).find(|&count| holds(count)).unwrap_or(1)
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
