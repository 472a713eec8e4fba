//! Constraints of the `device` dialect.

use crate::ir::{Diagnostics, Op};

/// Checks `op` against the constraints of its description.
pub(crate) fn check(_op: Op<'_>, _diag: &mut Diagnostics) {}
