//! The rTask's rTile of a copy that reads along one axis and writes along another, as packing does.
//!
//! ```text
//! read   k n v      rows of k, whole: what is fetched ahead is used
//! write  n k v      pieces of as many k as have lines in the cache next to the registers
//! ```
//!
//! Register by register in the order of what is written, each would come from a row of its own: part
//! of a line, from a page that is left again (`docs/cost.md` has the measurements).

use weft_dialects::device::Machine;
use weft_dialects::ir::ty;
use weft_dialects::tile::RTile;

use super::lane_facts::{Near, Private};
use super::rtiles::task_memory;
use super::task_tile::footprint;
use crate::nest::{Access, Nest};

/// `None` where a copy reads and writes in the same order, or all of it stays near.
pub(super) fn copy_tile(machine: Machine<'_>, nest: &Nest<'_>, registers: &RTile) -> Option<RTile> {
    let (near, private) = (Near::of(machine)?, Private::of(machine)?);
    let lanes = lanes(nest, registers)?;
    let ([output], false) = (&nest.outputs[..], nest.has_reductions()) else { return None };
    let along = |access: &Access<'_>| nearest(nest, access, lanes);
    let written = along(output)?;
    let (input, read) =
        nest.inputs.iter().filter_map(|input| Some((input, along(input)?))).find(
            |&(input, read)| read != written && input.stride(nest.axes.len(), written) != 0,
        )?;
    let bytes =
        |sizes: &[u64]| nest.accesses().iter().map(|access| footprint(access, sizes)).sum::<u64>();
    let stays = |sizes: &[u64]| bytes(sizes) <= private.shared_bytes;
    if stays(&nest.extents()) {
        return None;
    }
    let mut sizes = registers.sizes.clone();
    let size = ty::byte_size(input.elem())? as i64;
    let apart = input.stride(nest.axes.len(), written) * size;
    let have_lines = |rows: u64| !near.thrashes((0..rows as i64).map(|row| row * apart), near.ways);
    let with = |sizes: &[u64], axis: usize, length: u64| {
        let mut sizes = sizes.to_vec();
        sizes[axis] = length;
        sizes
    };
    // Whole lines are written, if rows are as long as that.
    let line = (near.line_bytes / footprint(output, &sizes).max(1)).max(1);
    sizes[written] = line.min(nest.axes[written].extent);
    sizes[read] = longest(nest.axes[read].extent, |length| stays(&with(&sizes, read, length)));
    let rows = longest(nest.axes[written].extent, |rows| {
        stays(&with(&sizes, written, rows)) && have_lines(rows)
    });
    sizes[written] = rows.max(sizes[written]);
    Some(RTile { memory: task_memory(machine).to_owned(), sizes })
}

/// The axis of the lanes, if registers are whole along that one alone.
fn lanes(nest: &Nest<'_>, registers: &RTile) -> Option<usize> {
    let mut whole = (0..nest.axes.len()).filter(|&axis| registers.sizes[axis] > 1);
    whole.next().filter(|_| whole.next().is_none())
}

/// The axis beside that of the lanes whose neighbours lie nearest.
fn nearest(nest: &Nest<'_>, access: &Access<'_>, lanes: usize) -> Option<usize> {
    let axes = (0..nest.axes.len()).filter(|&axis| axis != lanes && nest.axes[axis].extent > 1);
    let moving = axes.filter(|&axis| access.stride(nest.axes.len(), axis) != 0);
    moving.min_by_key(|&axis| access.stride(nest.axes.len(), axis).abs())
}

/// The longest of these, at least one, found by halving: what is too long is so with more.
fn longest(most: u64, fits: impl Fn(u64) -> bool) -> u64 {
    let (mut fit, mut beyond) = (1, most + 1);
    while fit + 1 < beyond {
        let length = fit.midpoint(beyond);
        *(if fits(length) { &mut fit } else { &mut beyond }) = length;
    }
    fit
}
