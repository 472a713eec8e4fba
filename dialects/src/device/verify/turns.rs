//! Constraints of kernels whose groups go through an rTask one barrier behind each other.

use super::super::tokens::{Kind, begun};
use super::super::{Kernel, Machine};
use crate::ir::{Diagnostics, Op};
use crate::verify::int;

/// C9. Groups are as many in each of 2 `turns` or more, and in no more than the unit has; a kernel with turns begins no
/// boxes, and has no cluster.
pub(super) fn kernel_c9(op: Op<'_>, diag: &mut Diagnostics) {
    let (Some(turns), Some(kernel), Some(machine)) =
        (int(op, "turns"), Kernel::of(op), Machine::of(op))
    else {
        return;
    };
    if turns < 2 || !kernel.groups.is_multiple_of(kernel.turns) {
        let what = format!("device.kernel has {} groups in {turns} turns", kernel.groups);
        diag.error(op, what).help("give 2 turns or more, and as many groups in each");
    }
    let most = machine.units().first().map_or(1, |unit| unit.turns());
    if kernel.turns > most {
        diag.error(
            op,
            format!("device.kernel has {turns} turns, and groups of a unit go in {most}"),
        )
        .help("leave `turns` out, or give fewer");
    }
    let mut boxes = None;
    op.walk(&mut |inner| {
        boxes = boxes.or((begun(machine, inner) == Some(Kind::Boxes)).then_some(inner));
    });
    if let Some(boxes) = boxes {
        diag.error(boxes, "device.transfer begins a box, and groups go by turns")
            .note(op, "they do here")
            .help("bring it by a move that takes elements one by one, or leave `turns` out");
    }
    if kernel.cluster.is_some() {
        diag.error(op, "device.kernel has a cluster, and its groups go by turns")
            .help("leave one of both out");
    }
}
