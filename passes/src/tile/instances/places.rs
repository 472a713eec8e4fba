//! Where the tensors of an instance lie in its core's memory.
//!
//! ```text
//! tile.empty in @l1   ->   tile.empty in @l1 at 4096      tensors of no use any more are overwritten
//! ```

use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Context, Op, Report, attr};

use super::super::lives::{lives, memories};
use crate::arena::{Life, place};
use crate::nest::read_members;

/// Writes the first byte of each tensor that is made inside a stitched kernel.
///
/// # Errors
/// Reported: a compute that is no loop nest.
pub(super) fn write<'c>(context: &'c Context, kernel: Op<'c>) -> Result<(), Failed> {
    let members = read_members(kernel).map_err(|error| {
        Report::new(kernel.location(), format!("an instance: {error}"));
        Failed
    })?;
    let nests: Vec<_> = members.iter().map(|(_, nest)| nest).collect();
    let lives = lives(&nests);
    for memory in memories(&lives) {
        let own: Vec<_> = lives.iter().filter(|(empty, _)| empty.memory == memory).collect();
        let arena = place(&own.iter().map(|(_, life)| *life).collect::<Vec<Life>>(), 0);
        for ((empty, _), offset) in own.into_iter().zip(arena.offsets) {
            empty.op.set_attr("at", attr::of_int(context, offset as i64));
        }
    }
    Ok(())
}
