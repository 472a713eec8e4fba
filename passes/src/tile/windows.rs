//! Over which reductions windows slide (`nest/windows.rs`), whether a tile of them is little enough
//! code, and what it loads.

use std::collections::BTreeSet;

use super::shape::Shape;
use crate::nest::{Nest, Windows};

/// Sliding windows are written out, and a tile of more steps than this is too much code.
pub(super) const MOST_STEPS: u64 = 400;

/// The taps of the windows that slide over `rows` with lanes along `lanes_axis`: the innermost
/// reductions that move along the one input on lanes together with other axes, one of them a
/// row axis. Gives the input, too.
pub(super) fn taps(
    nest: &Nest<'_>,
    lanes_axis: usize,
    rows: &[usize],
) -> Option<(usize, Vec<usize>)> {
    let mut on_lanes = nest.inputs.iter().enumerate().filter(|(_, one)| one.uses(lanes_axis));
    let (input, access) = on_lanes.next().filter(|_| on_lanes.next().is_none())?;
    let slides = |axis: usize| {
        let mut along = access.index.iter().filter(|index| index.coefficients[axis] != 0);
        along.next().is_some_and(|index| index.as_axis().is_none()) && along.next().is_none()
    };
    let reduces = |axis: &usize| nest.reduces(*axis) && nest.axes[*axis].extent > 1;
    let reductions: Vec<usize> = (0..nest.axes.len()).filter(reduces).collect();
    let inside = reductions.iter().rposition(|&axis| !slides(axis)).map_or(0, |at| at + 1);
    let taps = &reductions[inside..];
    let shares = Windows::share(nest, lanes_axis, rows, taps);
    // A row axis that the input does not move along has weights of its own for every tap,
    // which are used best a tap at a time.
    let alone = rows.iter().all(|&axis| access.uses(axis)) && !taps.contains(&lanes_axis);
    (shares && alone).then(|| (input, taps.to_vec()))
}

/// Returns whether the windows of a register tile are few enough to be written out.
pub(super) fn fits(nest: &Nest<'_>, shape: &Shape) -> bool {
    taps_of(nest, shape).is_none_or(|taps| shape.registers() * taps <= MOST_STEPS)
}

/// Points of the taps over which the windows of a tile slide; `None` where none does.
pub(super) fn tap_points(nest: &Nest<'_>, lanes_axis: usize, rows: &[usize]) -> Option<u64> {
    taps(nest, lanes_axis, rows).map(|(_, taps)| points(nest, &taps))
}

/// The same for the rows of a tile.
pub(super) fn taps_of(nest: &Nest<'_>, shape: &Shape) -> Option<u64> {
    shared(nest, shape).map(|(_, taps)| points(nest, &taps))
}

/// The registers that hold a tile of `registers`, the weights of its windows, one of the input, and two
/// to work with.
pub(super) fn held(registers: u64, taps: u64) -> u64 {
    registers + taps + 3
}

/// The input that windows slide over, and how many registers of it a tile loads for one tap.
pub(super) fn loads(nest: &Nest<'_>, shape: &Shape) -> Option<(usize, f64)> {
    let (input, taps) = shared(nest, shape)?;
    let extents = taps.iter().map(|&axis| (axis, nest.axes[axis].extent));
    let moved: Vec<_> = shape.rows.iter().copied().chain(extents).collect();
    let distinct = nest.inputs[input].index.iter().map(|index| {
        let mut places = BTreeSet::from([0]);
        for &(axis, extent) in &moved {
            let step = index.coefficients[axis];
            let all = places.iter().flat_map(|at| (0..extent as i64).map(move |n| at + step * n));
            places = all.collect();
        }
        places.len() as f64
    });
    let places = distinct.product::<f64>() * shape.vectors as f64;
    Some((input, places / points(nest, &taps) as f64))
}

fn shared(nest: &Nest<'_>, shape: &Shape) -> Option<(usize, Vec<usize>)> {
    let rows: Vec<usize> = shape.rows.iter().map(|&(axis, _)| axis).collect();
    taps(nest, shape.lanes_axis?, &rows)
}

fn points(nest: &Nest<'_>, axes: &[usize]) -> u64 {
    axes.iter().map(|&axis| nest.axes[axis].extent).product()
}
