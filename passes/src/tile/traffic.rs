//! Traffic and footprint of a group, in bytes.
//!
//! ```text
//! traffic   Σ tensors from outside, and those that leave:  Σ tiles  elements of a tile · T / min(T, run)
//! footprint the arena of the tiles that wait (`placements.rs`)
//! ```
//!
//! `run` is the number of a tile's elements that are contiguous in its tensor, `T` a transaction
//! (Welder, OSDI'23, section 4.2). Tiles that are handed over inside the group cost nothing. What units of
//! a cluster read again passes the memory that all share once for each cluster (`passing.rs`).

use weft_dialects::ir::ty;

use super::far::bytes;
use super::passing::Passing;
use super::placements::HandedOver;
use super::propagate::{Chain, Link, Span, Tiles, reach};
use crate::nest::{Access, Nest};

/// Bytes that a group moves, in whole transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Read and written by units.
    pub moved: u64,
    /// Those that pass the memory that all units share.
    pub passing: u64,
}

/// What a group reads and writes of the memory that all units share. `leaves` says of each member whether
/// its output is written there; the last one's always is.
pub fn traffic(
    chain: &Chain<'_, '_>,
    tiles: &Tiles,
    leaves: &[bool],
    passing: &Passing,
) -> Traffic {
    let last = chain.nests.len() - 1;
    let mut all = Traffic::default();
    for (member, nest) in chain.nests.iter().enumerate() {
        let reads = nest.reads();
        let inside = |read: usize| {
            chain
                .links
                .iter()
                .any(|&Link { reader, read: own, .. }| reader == member && own == read)
        };
        let kinds = kinds(nest, tiles, member);
        let moved = |access: &Access<'_>| -> u64 {
            let tile = |spans: &[Span]| {
                tile_bytes(access, &reach(access, spans), passing.transaction_bytes)
            };
            kinds.iter().map(|(count, spans)| count * tile(spans)).sum()
        };
        for read in (0..reads.len()).filter(|&read| !inside(read)) {
            let own = moved(reads[read]);
            all.moved += own;
            all.passing += passing.bytes(own, bytes(reads[read]));
        }
        if member == last || leaves[member] {
            let written: u64 = nest.outputs.iter().map(moved).sum();
            all.moved += written;
            all.passing += written;
        }
    }
    all
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
