//! The one kernel that this room writes: it copies a tensor, element by element.
//!
//! Tensors of any shape are copied under their flat view, so one kernel serves
//! each number of elements of each type. Its tiles are chosen like those of any kernel.

use weft_dialects::device::Machine;
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::payload::{Axis, Payload};
use weft_dialects::ir::{Builder, Context, Linear, Location, Op, Type, attr, ty};

use crate::tile::construct_rtiles::{Wanted, construct};

/// Appends the kernel `name` to `module`.
///
/// # Errors
/// Reported: a machine that has no way to move elements.
pub(crate) fn emit<'c>(
    context: &'c Context,
    module: Op<'c>,
    machine: Machine<'c>,
    name: &str,
    count: u64,
    elem: Type<'c>,
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
    construct(context, machine, kernel, Wanted::default())?;
    Ok(kernel)
}
