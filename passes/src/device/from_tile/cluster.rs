//! What runs at the same time: rTasks of a cluster, and those that a launch begins one after the other, by the numbers that they
//! get, those of a unit, and groups by turns.
//!
//! ```text
//! grid [16, 32], cluster = [2, 1, 1]     rTasks t and t + 32
//! grid [16, 32], bands = [4, 1, 1]       rTasks 0, 32, 64, 96, then 1, 33, 65, 97
//! ```

use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Context, Op, Report, attr};
use weft_dialects::tile::Compute;

use crate::nest::Nest;
use crate::tile::block::TasksAlong;

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

/// Sets `cluster` and `bands` of the new kernel from its compute's schedule; rTasks are numbered row by row over the grid of
/// parallel axes.
pub(super) fn write<'c>(
    context: &'c Context,
    kernel: Op<'c>,
    new: Op<'c>,
    members: &[(Compute<'c>, Nest<'c>)],
    grid: &[u64],
) -> Result<(), Failed> {
    let of = |(compute, _): &(Compute<'c>, Nest<'c>)| {
        let schedule = &compute.schedule;
        [("cluster", &schedule.cluster), ("bands", &schedule.bands)]
            .map(|(name, own)| (name, TasksAlong::of(own)))
    };
    let [only] = members else {
        let said = |own: &(Compute<'c>, Nest<'c>)| {
            let (name, _) = of(own).into_iter().find(|(_, along)| along.is_some())?;
            Some((own.0.op, name))
        };
        let Some((compute, name)) = members.iter().find_map(said) else { return Ok(()) };
        let what = format!(
            "@{} has a schedule with `{name}`, and is a kernel of several computes",
            kernel.symbol()
        );
        Report::new(compute.location(), what).help(format!("leave `{name}` out"));
        return Err(Failed);
    };
    for (name, along) in of(only) {
        let Some(TasksAlong { axis, count }) = along else { continue };
        let before = (0..axis).filter(|&own| !only.1.reduces(own)).count();
        let apart: u64 = grid[before + 1..].iter().product();
        let numbers = match name {
            "cluster" => vec![count, apart],
            _ => vec![count, grid[before], apart],
        };
        let numbers: Vec<i64> = numbers.into_iter().map(|own| own as i64).collect();
        new.set_attr(name, attr::of_ints(context, &numbers));
    }
    Ok(())
}
