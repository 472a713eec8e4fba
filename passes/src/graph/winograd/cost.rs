//! The predicted cycles of a convolution, directly and by transforms, from the machine file.
//!
//! ```text
//! total = Σ nests (`nest_cost.rs`), and a handover to the other units before each but the first
//! ```
//!
//! The small sums of the transforms cost what their loads do. Their tensors are several times as
//! large as the image, which the bytes of a nest cover.

use super::emit::Written;
use super::read::Conv;
use crate::graph::nest_cost::cycles;
use crate::nest::Access;
use crate::tile::Chooser;

/// Cycles of the convolution as it is.
pub fn direct<'c>(chooser: &Chooser<'c>, conv: &Conv<'c>) -> f64 {
    let constant =
        |access: &Access<'_>| access.tensor == conv.filter.tensor && conv.filter_is_constant();
    cycles(chooser, conv.op, &constant)
}

/// Cycles of the nests that stand for it in every run.
pub fn of<'c>(chooser: &Chooser<'c>, conv: &Conv<'c>, written: &Written<'c>) -> f64 {
    let known = conv.filter_is_constant();
    let filter = &written.nests[..2];
    let constant = |access: &Access<'_>| {
        let made = access.tensor.def();
        made.is_some_and(|op| op.is("arith.constant") || known && filter.contains(&op))
    };
    let runs = if known { &written.nests[2..] } else { &written.nests };
    let handover = chooser
        .machine
        .units()
        .first()
        .map_or(0, |unit| unit.handover_cycles() * (unit.count() - 1));
    let cycles: f64 = runs.iter().map(|op| cycles(chooser, *op, &constant)).sum();
    cycles + (handover * (runs.len() as u64 - 1)) as f64
}
