//! The computations of a kernel, one `linalg.generic` after another, for counting.

use weft_dialects::ir::Op;

use super::{Loop, generic_axes};

/// One `linalg.generic` of a kernel: its loops, and what its body does at every point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part<'c> {
    /// The loops, outermost first.
    pub axes: Vec<Loop>,
    /// The scalar operations by name, in the order of the body; constants and indices are none.
    pub operations: Vec<&'c str>,
}

impl Part<'_> {
    /// Scalar operations at all points.
    pub fn count(&self) -> u64 {
        let points = self.axes.iter().map(|axis| axis.extent);
        points.fold(self.operations.len() as u64, u64::saturating_mul)
    }
}

/// The parts of `kernel` in the order of its text, whatever they are nested in; what is no
/// loop nest is left out.
pub fn parts(kernel: Op<'_>) -> Vec<Part<'_>> {
    let mut found = Vec::new();
    kernel.walk(&mut |op| found.extend(part(op)));
    found
}

/// The part that a `linalg.generic` is; `None` where it is no loop nest.
pub fn part(op: Op<'_>) -> Option<Part<'_>> {
    if !op.is("linalg.generic") {
        return None;
    }
    let axes = generic_axes(op).ok()?;
    let counts = |op: &Op<'_>| {
        !["arith.constant", "graph.length", "linalg.index", "linalg.yield"].contains(&op.name())
    };
    let ops = op.body(0)?.ops().into_iter().filter(counts);
    Some(Part { axes, operations: ops.map(Op::name).collect() })
}
