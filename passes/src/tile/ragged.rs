//! The tiles in which a nest is done: whole ones, and shorter ones where axes end.
//!
//! ```text
//! 7 x 7 points in tiles of 1 x 6              7 of 1 x 6, 7 of 1 x 1
//! the same, more on the first axis (`grow`)   7 of 1 x 6, 1 of 6 x 1, 1 of 1 x 1
//! ```

use super::shape::Shape;
use crate::nest::Nest;

/// The tiles of every size, and how many there are of each, for a register tile of `lanes` lanes.
pub(super) fn tiles(nest: &Nest<'_>, lanes: u64, whole: &Shape) -> Vec<(f64, Shape)> {
    let extent = |axis: usize| nest.axes[axis].extent;
    let apart = (0..nest.axes.len()).filter(|&axis| {
        let tiled = [whole.lanes_axis, whole.grow].contains(&Some(axis))
            || whole.rows.iter().any(|row| row.0 == axis);
        !tiled && !nest.reduces(axis)
    });
    let mut found = vec![(apart.map(|axis| extent(axis) as f64).product(), whole.clone())];
    for &(axis, rows) in whole.rows.iter().filter(|row| Some(row.0) != whole.grow) {
        cut(&mut found, |_| pieces(extent(axis), rows), |tile, size| tile.with_rows(axis, size));
    }
    if let Some(axis) = whole.lanes_axis.filter(|&axis| !nest.reduces(axis)) {
        let registers = pieces(extent(axis).div_ceil(lanes), whole.vectors);
        let with = |tile: &Shape, vectors| Shape { vectors, ..tile.clone() };
        cut(&mut found, |_| registers.clone(), with);
    }
    if let Some(axis) = whole.grow {
        let sizes = |tile: &Shape| pieces(extent(axis), grown(tile, whole, axis));
        cut(&mut found, sizes, |tile, size| tile.with_rows(axis, size));
    }
    found
}

/// Cuts tiles along one more axis.
fn cut(
    tiles: &mut Vec<(f64, Shape)>,
    sizes: impl Fn(&Shape) -> Vec<(f64, u64)>,
    with: impl Fn(&Shape, u64) -> Shape,
) {
    let each = |(count, tile): &(f64, Shape)| {
        let own = sizes(tile).into_iter().map(|(times, size)| (count * times, with(tile, size)));
        own.collect::<Vec<_>>()
    };
    *tiles = tiles.iter().flat_map(each).collect();
}

/// Points of a tile along the axis where it grows: as many times those of a whole one as it is shorter
/// along the other rows.
fn grown(tile: &Shape, whole: &Shape, axis: usize) -> u64 {
    let others = whole.rows.iter().filter(|row| row.0 != axis);
    let times = others.map(|&(other, size)| size / tile.size(other)).product::<u64>();
    whole.size(axis) * times
}

/// Whole tiles of `size` and the rest: how many, and how long.
fn pieces(extent: u64, size: u64) -> Vec<(f64, u64)> {
    let whole = ((extent / size) as f64, size);
    let rest = (1.0, extent % size);
    [whole, rest].into_iter().filter(|(count, size)| *count > 0.0 && *size > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ragged_tiles_count_as_what_they_are() {
        assert_eq!(pieces(7, 6), [(1.0, 6), (1.0, 1)]);
        assert_eq!(pieces(12, 6), [(2.0, 6)]);
        assert_eq!(pieces(5, 6), [(1.0, 5)]);
    }

    #[test]
    fn what_is_shorter_along_one_axis_is_longer_along_another() {
        let rows = |rows| Shape { lanes_axis: None, vectors: 1, rows, grow: Some(1) };
        let whole = rows(vec![(0, 2), (2, 6)]);
        assert_eq!(grown(&whole, &whole, 1), 1);
        assert_eq!(grown(&rows(vec![(0, 2), (2, 1)]), &whole, 1), 6);
        assert_eq!(grown(&rows(vec![(0, 1), (2, 2)]), &whole, 1), 6);
    }
}
