//! rTasks of a kernel: the tile of the nest that each number stands for.
//!
//! The first rTile divides every parallel axis into tiles; the tiles together are
//! a grid, and rTask numbers count it in row-major order, the first axis slowest.
//! Reductions are never cut.

use weft_dialects::tile::RTile;

use super::Nest;
use crate::length::Length;

/// Pieces along each parallel axis, in the order of the axes.
///
/// The number of rTasks is the product: one where there is no parallel axis.
pub fn task_grid(nest: &Nest<'_>, first_rtile: &RTile) -> Vec<u64> {
    parallel_axes(nest)
        .into_iter()
        .map(|axis| nest.axes[axis].extent.div_ceil(first_rtile.sizes[axis]))
        .collect()
}

/// How many rTasks there are in a run, where callers decide some length of the nest.
pub(crate) fn task_count(nest: &Nest<'_>, first_rtile: &RTile) -> Option<Length> {
    let along = |axis: usize| {
        let (own, size) = (nest.axes[axis], first_rtile.sizes[axis]);
        match own.length {
            Some(length) => length.ceil_div(size as i64),
            None => Length::number(own.extent.div_ceil(size) as i64),
        }
    };
    let counts = parallel_axes(nest).into_iter().map(along);
    nest.has_lengths().then(|| counts.fold(Length::number(1), |all, count| all.times(&count)))
}

/// The axes that a grid counts.
pub fn parallel_axes(nest: &Nest<'_>) -> Vec<usize> {
    (0..nest.axes.len()).filter(|&axis| !nest.reduces(axis)).collect()
}

/// Cuts a run of task numbers into boxes of the grid, in order.
///
/// A box says for each axis the first tile and the last one. There are at most
/// two boxes per axis, and one where the run is made of whole rows.
///
/// ```
/// # use weft_passes::nest::grid::boxes;
/// assert_eq!(boxes(&[3, 4], 4, 12), [[(1, 2), (0, 3)]]);
/// assert_eq!(boxes(&[3, 4], 0, 6), [[(0, 0), (0, 3)], [(1, 1), (0, 1)]]);
/// ```
pub fn boxes(grid: &[u64], begin: u64, end: u64) -> Vec<Vec<(u64, u64)>> {
    let mut found = Vec::new();
    if begin < end {
        cut(grid, begin, end, &mut Vec::new(), &mut found);
    }
    found
}

fn cut(
    grid: &[u64],
    begin: u64,
    end: u64,
    fixed: &mut Vec<(u64, u64)>,
    found: &mut Vec<Vec<(u64, u64)>>,
) {
    let Some((_, rest)) = grid.split_first() else {
        found.push(fixed.clone());
        return;
    };
    let row: u64 = rest.iter().product();
    let mut part = |first: u64, last: u64, begin: u64, end: u64| {
        fixed.push((first, last));
        cut(rest, begin, end, fixed, found);
        fixed.pop();
    };
    let (first, last) = (begin / row, (end - 1) / row);
    if first == last {
        part(first, first, begin - first * row, end - first * row);
        return;
    }
    let whole = (begin.div_ceil(row), end / row);
    if first < whole.0 {
        part(first, first, begin - first * row, row);
    }
    if whole.0 < whole.1 {
        part(whole.0, whole.1 - 1, 0, row);
    }
    if whole.1 == last {
        part(last, last, 0, end - last * row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn boxes_hold_each_task_once(
            grid in prop::collection::vec(1u64..5, 0..4),
            ends in (0u64..200, 0u64..200),
        ) {
            let count: u64 = grid.iter().product();
            let (begin, end) = (ends.0.min(ends.1) % (count + 1), ends.0.max(ends.1) % (count + 1));
            let mut seen = vec![0; count as usize];
            let found = boxes(&grid, begin, end);
            prop_assert!(found.len() <= 1.max(2 * grid.len()));
            for piece in found {
                for (task, seen) in seen.iter_mut().enumerate() {
                    let mut rest = task as u64;
                    let inside = grid.iter().zip(&piece).rev().all(|(&size, &(low, high))| {
                        let at = rest % size;
                        rest /= size;
                        (low..=high).contains(&at)
                    });
                    *seen += i32::from(inside);
                }
            }
            for (task, seen) in seen.into_iter().enumerate() {
                prop_assert_eq!(seen, i32::from((begin..end).contains(&(task as u64))));
            }
        }
    }
}
