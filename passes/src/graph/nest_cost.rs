//! The predicted cycles of a nest of a payload, from the machine file.
//!
//! ```text
//! nest  = max(cycles of its tiles on one unit, its bytes / rate of the memory that holds them)
//! ```
//!
//! Tiles are those that would be chosen for it (`tile/policy.rs`). Their cycles assume that data is
//! in a local cache: the bytes cover the rest.

use weft_dialects::ir::{Op, ty};

use crate::cost::memory_cycles;
use crate::nest::{Access, Nest, Start, generic_accesses, generic_axes, generic_inputs};
use crate::tile::Chooser;

/// Cycles of a `linalg.generic`, whose inputs may be laid out beforehand where they are `constant`;
/// infinite where the machine cannot compute it.
pub(super) fn cycles<'c>(
    chooser: &Chooser<'c>,
    op: Op<'c>,
    constant: &dyn Fn(&Access<'c>) -> bool,
) -> f64 {
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
