//! A reduction in parts: all tiles of an rTask with one part, then all with the next.
//!
//! ```text
//! tiles [l2 [512, 504, 4096], l2 [512, 504, 256], vreg [9, 48, 1]]
//!   ->  scf.for part of the reduction {
//!         scf.for (register tiles of the rTask) {
//!           start the accumulators, or load what they hold so far; ...; store } }
//! ```
//!
//! The inputs of a part's tiles stay near until all have read them. Sums wait in the output.

use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Builder, Op, Report, Type};
use weft_dialects::tile::Compute;

use super::index::{Sum, scf_for};
use super::register_tile::Part;
use crate::nest::{Nest, Start};

/// The parts of a reduction.
pub(super) struct Parts {
    axis: usize,
    /// Points of a part; the last may have fewer.
    size: u64,
}

/// In which parts the kernel reduces; `None` for all at once, where there is no rTile between
/// the rTask's and the one in registers.
///
/// Reports an rTile that does not cut one reduction, and nothing else.
pub(super) fn of<'c>(
    kernel: Op<'c>,
    compute: &Compute<'c>,
    nest: &Nest<'c>,
) -> Result<Option<Parts>, Failed> {
    let [task, middle @ .., _] = &compute.tiles[..] else { return Ok(None) };
    let Some(between) = middle.first() else { return Ok(None) };
    let cut = |axis: &usize| between.sizes[*axis] < task.sizes[*axis];
    let cuts: Vec<usize> = (0..nest.axes.len()).filter(cut).collect();
    let sums = nest.starts.iter().all(|start| !matches!(start, Start::Unread));
    match cuts[..] {
        [] if middle.len() == 1 => Ok(None),
        [axis]
            if middle.len() == 1 && nest.reduces(axis) && compute.lanes != Some(axis) && sums =>
        {
            Ok(Some(Parts { axis, size: between.sizes[axis] }))
        }
        _ => {
            let what = format!("@{} has an rTile that cuts axes {cuts:?}", kernel.symbol());
            Report::new(kernel.location(), what).help(
                "between the rTask and the registers one rTile may cut one reduction without lanes",
            );
            Err(Failed)
        }
    }
}

impl Parts {
    /// Writes the loop over parts; `body` writes all tiles of one.
    pub fn write<'c>(
        &self,
        b: &mut Builder<'c>,
        nest: &Nest<'c>,
        body: impl FnOnce(&mut Builder<'c>, Part<'c>),
    ) {
        let extent = nest.axes[self.axis].extent;
        let (size, ends) = (self.size as i64, [Sum::number(0), Sum::number(extent as i64)]);
        scf_for(b, &ends[0], &ends[1], size, |b, begin| {
            let mut end = Sum::value(begin).plus(&Sum::number(size), 1).emit(b);
            if !extent.is_multiple_of(self.size) {
                let (whole, index) = (b.index(extent as i64), Type::index(b.context()));
                end = b.op("arith.minui", &[end, whole], &[index]).result(0);
            }
            body(b, Part { axis: self.axis, begin, end });
        });
    }
}
