//! Copies of elements from and to memrefs.

pub(super) use weft_dialects::device::View;
use weft_dialects::device::build::{Along, CopyOp};
use weft_dialects::ir::Builder;

/// Copies `count` elements that lie side by side in the target, and in the source either too or
/// along a dimension, so far apart.
pub(super) fn copy_from<'c>(
    b: &mut Builder<'c>,
    move_name: &str,
    source: &View<'c>,
    target: &View<'c>,
    count: u64,
    along: Option<(usize, i64)>,
) {
    CopyOp { move_name, source, target, count, from: way(count, along), to: None }.build(b);
}

/// Copies `count` elements that lie side by side in the source, and in the target either too or
/// along a dimension, so far apart.
pub(super) fn copy_to<'c>(
    b: &mut Builder<'c>,
    move_name: &str,
    source: &View<'c>,
    target: &View<'c>,
    count: u64,
    along: Option<(usize, i64)>,
) {
    CopyOp { move_name, source, target, count, from: None, to: way(count, along) }.build(b);
}

/// One element runs along no dimension.
fn way(count: u64, along: Option<(usize, i64)>) -> Option<Along> {
    along.filter(|_| count > 1).map(|(dim, step)| Along { dim, step })
}
