//! What runs at the same time: rTasks of a cluster, by the numbers that they get, those of a unit, and groups by turns.
//!
//! ```text
//! grid [16, 32], cluster = [2, 1, 1]     rTasks t and t + 32
//! ```

use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Context, Op, Report, attr};
use weft_dialects::tile::Compute;

use crate::nest::Nest;
use crate::tile::block::ClusterAxis;

/// Sets `turns` and `resident` of the new kernel from its computes' schedules.
pub(super) fn write_unit<'c>(
    context: &'c Context,
    new: Op<'c>,
    members: &[(Compute<'c>, Nest<'c>)],
) {
    let schedules = || members.iter().map(|(compute, _)| &compute.schedule);
    let turns = schedules().map(|own| own.turns).max();
    let resident = schedules().map(|own| own.resident).max();
    for (name, number) in [("turns", turns), ("resident", resident)] {
        if let Some(number) = number.filter(|own| *own > 1) {
            new.set_attr(name, attr::of_int(context, number as i64));
        }
    }
}

/// Sets `cluster` of the new kernel from its compute's schedule; rTasks are numbered row by row over the grid of parallel
/// axes.
pub(super) fn write<'c>(
    context: &'c Context,
    kernel: Op<'c>,
    new: Op<'c>,
    members: &[(Compute<'c>, Nest<'c>)],
    grid: &[u64],
) -> Result<(), Failed> {
    let of = |(compute, _): &(Compute<'c>, Nest<'c>)| ClusterAxis::of(&compute.schedule.cluster);
    let [only] = members else {
        let Some((compute, _)) = members.iter().find(|own| of(own).is_some()) else {
            return Ok(());
        };
        let what =
            format!("@{} has clusters, and is a kernel of several computes", kernel.symbol());
        Report::new(compute.op.location(), what).help("leave `cluster` out");
        return Err(Failed);
    };
    let Some(ClusterAxis { axis, count }) = of(only) else { return Ok(()) };
    let nest = &only.1;
    let before = (0..axis).filter(|&own| !nest.reduces(own)).count();
    let apart: u64 = grid[before + 1..].iter().product();
    new.set_attr("cluster", attr::of_ints(context, &[count as i64, apart as i64]));
    Ok(())
}
