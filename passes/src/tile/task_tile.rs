//! The rTile of the rTask: whole register tiles, scaled out and shrunk until every unit has some
//! (Roller, OSDI'22, section 4.3).

use weft_dialects::device::{Machine, Unit};
use weft_dialects::ir::ty;
use weft_dialects::tile::RTile;

use super::lane_facts::{Private, group_lanes};
use super::rtiles::task_memory;
use super::shape::runs;
use super::way::private_cache;
use crate::cost::worth::shares;
use crate::nest::{Access, Nest};

/// The largest number of rTasks for a unit. Where data that is read again stays in a cache of the
/// unit's own, larger rTasks read more of it again. Groups of lanes hide what each waits for: as many as one
/// rTask could have are under way at once.
fn tasks_per_unit(machine: Machine<'_>, nest: &Nest<'_>, unit: &Unit<'_>) -> u64 {
    if let Some(lanes) = group_lanes(machine) {
        return (unit.block_lanes() / lanes).max(1);
    }
    let shares = (0..nest.axes.len()).any(|axis| nest.reduces(axis));
    if shares && private_cache(machine).is_some() { 2 } else { 8 }
}

/// The rTask's rTile: whole register tiles, cut so that there are a few rTasks
/// for every unit where the work is worth it. Axes are cut in the order in which
/// they are looped over, so that neighbours share what they load; where there are sums, first
/// the one whose pieces read the fewest bytes again.
pub(super) fn task_tile(
    machine: Machine<'_>,
    nest: &Nest<'_>,
    registers: &RTile,
    unit: &Unit<'_>,
    cycles: f64,
) -> RTile {
    let tasks = tasks_per_unit(machine, nest, unit);
    let mut wanted = shares(cycles as u64, unit.handover_cycles()).min(unit.count() * tasks).max(1);
    let mut sizes = nest.extents();
    // A transpose reads along one axis and writes along the other: tiles as long on both touch the
    // fewest pages.
    let turned = (0..sizes.len()).all(|axis| !nest.reduces(axis))
        && registers.sizes.iter().filter(|&&size| size > 1).count() > 1;
    let even = if turned { (wanted as f64).sqrt().ceil() as u64 } else { wanted };
    let mut order = loop_order(nest, Private::of(machine).as_ref(), &registers.sizes, None);
    let shares = order.len() < sizes.len();
    if shares {
        // Every piece along an axis reads again what does not move along it.
        order.sort_by_key(|&axis| still(nest, axis));
    }
    for axis in order {
        if nest.reduces(axis) || wanted == 1 {
            continue;
        }
        let tile = registers.sizes[axis].max(1);
        let tiles = nest.axes[axis].extent.div_ceil(tile);
        let least = shortest(tiles, wanted.min(even));
        let length = match group_lanes(machine) {
            Some(_) if is_even(tiles, least, unit.count()) => least,
            _ => evened(tiles, wanted.min(even), unit.count()),
        };
        sizes[axis] = (length * tile).min(nest.axes[axis].extent);
        let pieces = tiles.div_ceil(length);
        wanted = wanted.div_ceil(pieces);
        // Pieces of a second axis read again what the first one's have read.
        if shares && pieces >= unit.count() && is_even(tiles, length, unit.count()) {
            break;
        }
    }
    RTile { memory: task_memory(machine).to_owned(), sizes }
}

/// Tiles of a piece when `tiles` are cut in at most `wanted` pieces.
fn shortest(tiles: u64, wanted: u64) -> u64 {
    tiles.div_ceil(wanted.min(tiles).max(1)).max(1)
}

/// Tiles of a piece when `tiles` are cut in about `wanted` pieces: so many that the unit with
/// the most of them has the fewest tiles, where there are pieces for every unit.
fn evened(tiles: u64, wanted: u64, units: u64) -> u64 {
    let least = shortest(tiles, wanted);
    let most = tiles.div_ceil(units.max(1)).max(least);
    if wanted < units {
        return least;
    }
    let load = |length: u64| tiles.div_ceil(length).div_ceil(units) * length;
    (least..=most).min_by_key(|&length| load(length)).unwrap_or(least)
}

/// Bytes of the inputs that do not move along an axis.
fn still(nest: &Nest<'_>, axis: usize) -> u64 {
    let whole = nest.extents();
    let inputs = nest.inputs.iter().filter(|access| !access.uses(axis));
    inputs.map(|access| footprint(access, &whole)).sum()
}

/// Returns whether units have about as much to do when `tiles` are cut in rTasks of `length`: the
/// one with the most has at most a sixteenth more than its share.
fn is_even(tiles: u64, length: u64, units: u64) -> bool {
    let most = tiles.div_ceil(length).div_ceil(units) * length;
    most * units * 16 <= tiles * 17
}

/// Parallel axes from the outermost loop in, for tiles of these sizes.
///
/// Data that a loop does not move stays near through all its rounds, so the innermost loops are
/// those that leave the most of a tile's inputs where it is: its bytes, and those that would come while
/// its rows are jumped to. Among equals, and if nothing is used twice, or more is written than read,
/// the order of the axes stays. Along `grow` tiles are longer where others end, so its loop is the
/// last of its equals.
pub(super) fn loop_order(
    nest: &Nest<'_>,
    private: Option<&Private<'_>>,
    tile: &[u64],
    grow: Option<usize>,
) -> Vec<usize> {
    let mut order: Vec<usize> = (0..nest.axes.len()).filter(|&axis| !nest.reduces(axis)).collect();
    let elements = |accesses: &[Access<'_>]| {
        let sizes = accesses.iter().map(|access| access.shape.iter().product::<u64>());
        sizes.max().unwrap_or(0)
    };
    let reads_more = elements(&nest.inputs) >= elements(&nest.outputs);
    if order.len() < nest.axes.len() && reads_more {
        let mut sizes = tile.to_vec();
        for (axis, size) in sizes.iter_mut().enumerate().filter(|(axis, _)| nest.reduces(*axis)) {
            *size = nest.axes[axis].extent;
        }
        let stays = |axis: usize| {
            let still = nest.inputs.iter().filter(|access| !access.uses(axis));
            still
                .map(|access| footprint(access, &sizes) + jumps(access, private, &sizes))
                .sum::<u64>()
        };
        order.sort_by_cached_key(|&axis| (stays(axis), Some(axis) == grow));
    } else {
        order.sort_by_key(|&axis| Some(axis) == grow);
    }
    order
}

/// Bytes that come in the time in which the rows of a tile are jumped to, of what does not stay in
/// the unit's cache.
fn jumps(access: &Access<'_>, private: Option<&Private<'_>>, sizes: &[u64]) -> u64 {
    let whole = access.shape.iter().product::<u64>() * ty::byte_size(access.elem()).unwrap_or(8);
    let Some(private) = private.filter(|own| whole > own.shared_bytes) else { return 0 };
    let runs = runs(access, &reached(access, sizes), private.line_bytes);
    private.behind.bytes_of_jumps(runs, whole)
}

/// Bytes of a tensor that a tile of these sizes touches.
pub(super) fn footprint(access: &Access<'_>, sizes: &[u64]) -> u64 {
    reached(access, sizes).iter().product::<u64>() * ty::byte_size(access.elem()).unwrap_or(8)
}

/// What a tile of these sizes touches of each dimension.
fn reached(access: &Access<'_>, sizes: &[u64]) -> Vec<u64> {
    let dims = access.index.iter().zip(&access.shape).map(|(index, &dim)| {
        let (low, high) = index.range(sizes);
        (high.abs_diff(low) + 1).min(dim)
    });
    dims.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_as_much_to_do() {
        // 15 pieces of 3 of 43 tiles would give one of two units 24 and the other 19.
        assert_eq!(evened(43, 16, 2), 11);
        assert_eq!(evened(16, 16, 2), 1);
        assert_eq!(evened(64, 16, 2), 4);
        assert_eq!(evened(5, 1, 2), 5);
        assert_eq!(evened(1, 16, 2), 1);
    }

    #[test]
    fn a_sixteenth_more_is_even() {
        assert!(is_even(98, 49, 2));
        // 25 pieces each, the last of 23 tiles.
        assert!(is_even(98, 25, 2));
        assert!(!is_even(7, 4, 2));
    }
}
