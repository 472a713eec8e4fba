//! From an operation's name to the constraints that Rust checks.

use crate::ir::{Diagnostics, Op};
use crate::{device, graph, task, tile};

/// Checks every numbered constraint of `op`; reports what is wrong.
pub(crate) fn verify(op: Op<'_>) -> bool {
    let mut diag = Diagnostics::new();
    match op.name().split_once('.') {
        Some(("graph", _)) => graph::verify::check(op, &mut diag),
        Some(("tile", _)) => tile::verify::check(op, &mut diag),
        Some(("task", _)) => task::verify::check(op, &mut diag),
        Some(("device", _)) => device::verify::check(op, &mut diag),
        _ => {}
    }
    diag.is_ok()
}
