//! The predicted cycles of a nest of a payload, from the machine file.
//!
//! ```text
//! nest  = max(cycles of its tiles on one unit, its bytes / rate of the memory that holds them)
//! ```
//!
//! Tiles are those that would be chosen for it (`tile/policy.rs`). Their cycles assume that data is
//! in a local cache: the bytes cover the rest.

use weft_dialects::ir::{Op, Val, ty};

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
    let bytes = |value: Val<'_>| {
        let elem = ty::elem(value.ty()).and_then(ty::byte_size).unwrap_or(8);
        ty::count(value.ty()).unwrap_or(0) * elem
    };
    let bytes = op.operands().into_iter().map(bytes).sum::<u64>();
    tile_cycles(chooser, op, constant).max(memory_cycles(chooser.machine, bytes))
}

/// The same of its tiles alone.
pub(super) fn tile_cycles<'c>(
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
    let starts = vec![Start::Unread; outputs.len()];
    let mut nest =
        Nest { axes, inputs, outputs, body, starts, epilogue: None, captures: Vec::new() };
    nest.simplify();
    chooser.cycles_where(&nest, &constant).unwrap_or(f64::INFINITY)
}
