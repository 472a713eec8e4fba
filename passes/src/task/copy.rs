//! The one kernel that this stage writes: it copies a tensor, element by element.
//!
//! Tensors of any shape are copied under their flat view, so one kernel serves
//! each number of elements of each type. Its tiles are chosen like those of any kernel, or are
//! the parts that a move copies one after another.

use weft_dialects::device::{Machine, Move};
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::payload::{Axis, Payload};
use weft_dialects::ir::{Builder, Context, Linear, Location, Op, Type, attr, ty};

use crate::tile::Chooser;
use crate::tile::construct_rtiles::{Wanted, construct};
use crate::tile::write_compute::construct_move;

/// Factor on a move's latency for each part that it copies, as others that use
/// the same memory are served between them.
const PIECE_LATENCIES: u64 = 2;

/// Appends the kernel `name` to `module`; it copies so many elements, by a move where one is named.
///
/// # Errors
/// Reported: a machine that has no way to move elements.
pub(crate) fn emit<'c>(
    context: &'c Context,
    module: Op<'c>,
    machine: Machine<'c>,
    name: &str,
    (count, elem): (u64, Type<'c>),
    way: Option<&Move<'c>>,
) -> Result<Op<'c>, Failed> {
    let tensor = ty::tensor(&[count], elem);
    let mut b = Builder::at_end(context, module.body(0).ok_or(Failed)?);
    let kernel =
        b.op_with("tile.kernel", &[], &[], &[("sym_name", attr::of_string(context, name))], 1);
    let block = b.block(kernel.region(0), &[tensor, tensor]);
    let mut payload = Payload::new(context, block, Location::unknown(context));
    let each = || vec![Linear::axis(1, 0)];
    let (read, write) = ((block.arg(0), each()), (block.arg(1), each()));
    let copied = payload.generic(&[Axis::Parallel], &[read], &[write], |_, args| vec![args[0]]);
    payload.builder().op("tile.yield", &copied, &[]);
    match way {
        Some(way) => construct_move(context, machine, kernel, way, piece(way, elem))?,
        None => {
            construct(context, &Chooser::new(machine), kernel, Wanted::default())?;
        }
    }
    Ok(kernel)
}

/// Elements of a part; all at once where the machine does not state the rate of the move.
fn piece(way: &Move<'_>, elem: Type<'_>) -> Option<u64> {
    Some((piece_bytes(way)? / ty::byte_size(elem)?).max(1))
}

/// Bytes of a part that a move copies.
pub(crate) fn piece_bytes(way: &Move<'_>) -> Option<u64> {
    let bytes = way.bytes_per_cycle()?.checked_mul(way.latency_cycles()?)?;
    bytes.checked_mul(PIECE_LATENCIES)
}
