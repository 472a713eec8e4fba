//! The one kernel that this stage writes: it copies a tensor, element by element.
//!
//! Tensors of any shape are copied under their flat view, so one kernel serves
//! each number of elements of each type. Its tiles are chosen like those of any kernel, or are
//! the parts that a move copies one after another.

use weft_dialects::device::{Machine, Move};
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::payload::{Axis, Payload};
use weft_dialects::ir::{Builder, Context, Linear, Location, Op, Type, ty};
use weft_dialects::tile::{Kernel, build};

use crate::tile::Chooser;
use crate::tile::construct_rtiles::{Wanted, construct};
use crate::tile::way::piece_bytes;
use crate::tile::write_compute::construct_move;

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
    let Kernel { op: kernel, body: block, .. } = build::kernel(&mut b, name, &[tensor, tensor]);
    let mut payload = Payload::new(context, block, Location::unknown(context));
    let each = || vec![Linear::axis(1, 0)];
    let (read, write) = ((block.arg(0), each()), (block.arg(1), each()));
    let copied = payload.generic(&[Axis::Parallel], &[read], &[write], |_, args| vec![args[0]]);
    build::yield_values(payload.builder(), &copied);
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
