//! The predicted cycles of a convolution, directly and by transforms, from the machine file.
//!
//! ```text
//! nest  = max(cycles of its tiles on one unit, its bytes / rate of the memory that holds them)
//! total = Σ nests, and a handover to the other units before each but the first
//! ```
//!
//! Tiles of a nest are those that would be chosen for it (`tile/policy.rs`), so the small sums of
//! the transforms cost what their loads do. Their tensors are several times as large as the
//! image, and the cycles of tiles assume that data is in a local cache: the bytes cover the rest.

use weft_dialects::ir::{Op, ty};

use super::emit::Written;
use super::read::Conv;
use crate::cost::memory_cycles;
use crate::nest::{Access, Nest, Start, generic_accesses, generic_axes, generic_inputs};
use crate::tile::Chooser;

/// Cycles of the convolution as it is.
pub fn direct<'c>(chooser: &Chooser<'c>, conv: &Conv<'c>) -> f64 {
    let constant =
        |access: &Access<'_>| access.tensor == conv.filter.tensor && conv.filter_is_constant();
    nest(chooser, conv.op, &constant)
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
    let cycles: f64 = runs.iter().map(|op| nest(chooser, *op, &constant)).sum();
    cycles + (handover * (runs.len() as u64 - 1)) as f64
}

fn nest<'c>(chooser: &Chooser<'c>, op: Op<'c>, constant: &dyn Fn(&Access<'c>) -> bool) -> f64 {
    let (Ok(axes), Ok(mut inputs), Some(body)) =
        (generic_axes(op), generic_accesses(op), op.body(0))
    else {
        return f64::INFINITY;
    };
    let outputs = inputs.split_off(generic_inputs(op));
    let constant: Vec<_> = inputs.iter().map(constant).collect();
    let bytes = |access: &Access<'_>| {
        access.shape.iter().product::<u64>() * ty::byte_size(access.elem()).unwrap_or(8)
    };
    let bytes = inputs.iter().chain(&outputs).map(bytes).sum::<u64>();
    let starts = vec![Start::Unread; outputs.len()];
    let mut nest =
        Nest { axes, inputs, outputs, body, starts, epilogue: None, captures: Vec::new() };
    nest.simplify();
    let cycles = chooser.cycles_where(&nest, &constant).unwrap_or(f64::INFINITY);
    cycles.max(memory_cycles(chooser.machine, bytes))
}
