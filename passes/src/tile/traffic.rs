//! Traffic and footprint of a group, in bytes.
//!
//! ```text
//! traffic   Σ tensors from outside, and those that leave:  Σ tiles  elements of a tile · T / min(T, run)
//! footprint the arena of the tiles that wait (`placements.rs`)
//! ```
//!
//! `run` is the number of a tile's elements that are contiguous in its tensor, `T` a transaction
//! (Welder, OSDI'23, section 4.2). Tiles that are handed over inside the group cost nothing.

use weft_dialects::ir::ty;

use super::placements::HandedOver;
use super::propagate::{Chain, Link, Span, Tiles, reach};
use crate::nest::{Access, Nest};

/// Bytes of the memory that all units share which a group reads and writes. `leaves` says of
/// each member whether its output is written there; the last one's always is.
pub fn traffic(
    chain: &Chain<'_, '_>,
    tiles: &Tiles,
    leaves: &[bool],
    transaction_bytes: u64,
) -> u64 {
    let last = chain.nests.len() - 1;
    let mut bytes = 0;
    for (member, nest) in chain.nests.iter().enumerate() {
        let reads = nest.reads();
        let inside = |read: usize| {
            chain
                .links
                .iter()
                .any(|&Link { reader, read: own, .. }| reader == member && own == read)
        };
        let outside = (0..reads.len()).filter(|&read| !inside(read)).map(|read| reads[read]);
        let written = nest.outputs.iter().filter(|_| member == last || leaves[member]);
        let moved: Vec<_> = outside.chain(written).collect();
        for (count, spans) in kinds(nest, tiles, member) {
            let tile = |access: &&Access<'_>| {
                tile_bytes(access, &reach(access, &spans), transaction_bytes)
            };
            bytes += count * moved.iter().map(tile).sum::<u64>();
        }
    }
    bytes
}

/// The tiles of a member: how many, and how large. Only the last one's are smaller at the ends of
/// axes; the others' are pushed inside.
fn kinds(nest: &Nest<'_>, tiles: &Tiles, member: usize) -> Vec<(u64, Vec<Span>)> {
    let spans = &tiles.spans[member];
    if member + 1 < tiles.spans.len() {
        return vec![(tiles.count(), spans.clone())];
    }
    let mut kinds = vec![(1, spans.clone())];
    for axis in (0..spans.len()).filter(|&axis| !nest.reduces(axis)) {
        let (extent, size) = (nest.axes[axis].extent, spans[axis].size.max(1));
        let ends = [(extent / size, size), (u64::from(extent % size > 0), extent % size)];
        let along = |(count, spans): (u64, Vec<Span>)| {
            ends.into_iter().filter(|(times, _)| *times > 0).map(move |(times, size)| {
                let mut spans = spans.clone();
                spans[axis].size = size;
                (count * times, spans)
            })
        };
        kinds = kinds.into_iter().flat_map(along).collect();
    }
    kinds
}

/// Bytes that a tile of a tensor takes to move: whole transactions of what lies side by side.
fn tile_bytes(access: &Access<'_>, reach: &[u64], transaction_bytes: u64) -> u64 {
    let size = ty::byte_size(access.elem()).unwrap_or(8);
    let shape = access.shape_in_memory();
    let mut run = size;
    for (own, whole) in reach.iter().zip(&shape).rev() {
        run *= own;
        if own < whole {
            break;
        }
    }
    let rows = (reach.iter().product::<u64>() * size) / run.max(1);
    rows * run.next_multiple_of(transaction_bytes.max(1))
}

/// The members whose tiles wait near the unit: all but the last and those that `leaves` names.
pub fn handed_over<'w, 'n, 'c>(
    chain: &'w Chain<'n, 'c>,
    leaves: &[bool],
) -> HandedOver<'w, 'n, 'c> {
    let last = chain.nests.len() - 1;
    let waits = (0..=last).map(|member| member < last && !leaves[member]);
    HandedOver::new(chain, waits.collect())
}

/// Bytes of the arena in which all tiles wait.
pub fn footprint(chain: &Chain<'_, '_>, tiles: &Tiles, leaves: &[bool]) -> u64 {
    handed_over(chain, leaves).placements(tiles).bytes
}
