//! Traffic and footprint of a group, in bytes.
//!
//! ```text
//! traffic   Σ tensors from outside, and those that leave:  Σ tiles  elements of a tile · T / min(T, run)
//! footprint the arena of the tiles that wait (`placements.rs`)
//! priority  (traffic + 1) · waves,  waves = ⌈tiles / units⌉
//! ```
//!
//! `run` is the number of a tile's elements that are contiguous in its tensor, `T` a transaction
//! (Welder, OSDI'23, section 4.2). Tiles that are handed over inside the group cost nothing.

use weft_dialects::ir::ty;

use super::placements::HandedOver;
use super::propagate::{Chain, Link, Span, Tiles, propagate, reach};
use crate::nest::{Access, Nest};
use crate::remarks::Refused;

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

/// Limits on the tiles of a group.
#[derive(Clone, Debug)]
pub struct Limits<'l> {
    /// Bytes for tiles that wait.
    pub room: u64,
    /// Units that work beside each other.
    pub units: u64,
    /// Tiles without which too many of them stand idle for the search to end.
    pub least: u64,
    /// Bytes that move together.
    pub transaction_bytes: u64,
    /// Of what the last member's tile is a multiple, per axis, if such a one fits.
    pub steps: &'l [u64],
    /// Members that others read, too.
    pub leaves: &'l [bool],
}

/// A tile of the last member, and what the group is with it.
#[derive(Clone, Debug)]
pub struct Config {
    /// Sizes of the tile.
    pub sizes: Vec<u64>,
    /// All members' tiles.
    pub tiles: Tiles,
    /// Bytes that wait.
    pub footprint: u64,
    /// Bytes from and to the shared memory.
    pub traffic: u64,
    /// Key by which configurations are sorted.
    pub priority: u64,
}

/// Tiles that are looked at, at most.
const VISITED: usize = 128;

/// At most `keep` tiles that fit, that of the least priority first: the whole is cut in halves,
/// along every axis, the most promising first.
///
/// # Errors
/// The limit that the whole, or the smallest tile, exceeds.
pub fn configs(
    chain: &Chain<'_, '_>,
    limits: &Limits<'_>,
    keep: usize,
) -> Result<Vec<Config>, Refused> {
    let whole = chain.nests[chain.nests.len() - 1].extents();
    search(chain, limits, keep).or_else(|why| {
        // Less than a step where not even one fits.
        propagate(chain, &whole).map_err(|_| why)?;
        search(chain, &Limits { steps: &vec![1; whole.len()], ..limits.clone() }, keep)
    })
}

/// The same in whole steps.
fn search(chain: &Chain<'_, '_>, limits: &Limits<'_>, keep: usize) -> Result<Vec<Config>, Refused> {
    let root = chain.nests[chain.nests.len() - 1];
    let wait = handed_over(chain, limits.leaves);
    let (mut waiting, mut seen) = (Vec::new(), std::collections::HashSet::new());
    let (mut found, mut why) = (Vec::new(), Refused::by("tiles", "no tile of it fits"));
    let (mut enough, mut smallest) = (0, u64::MAX);
    let mut look = |sizes: Vec<u64>, waiting: &mut Vec<(u64, Vec<u64>)>| {
        let rank = match config(chain, limits, &wait, &sizes) {
            Ok(config) => {
                let over = config.footprint.saturating_sub(limits.room);
                // As many times worse as it is too large: that is how often it will be cut.
                let times = config.footprint.div_ceil(limits.room.max(1)).max(1);
                let rank = config.priority.saturating_mul(times);
                if over > 0 {
                    smallest = smallest.min(config.footprint);
                    let says = "what waits does not fit near a unit";
                    let values = format!("{smallest} bytes, there is room for {}", limits.room);
                    why = Refused::by("room", says).met(values);
                } else if whole_leaves(limits, &config.tiles) {
                    enough += usize::from(config.tiles.count() >= limits.least);
                    found.push(config);
                }
                rank
            }
            Err(refusal) => {
                why = refusal;
                u64::MAX
            }
        };
        waiting.push((rank, sizes));
        enough
    };
    look(root.extents(), &mut waiting);
    while let Some(next) = (0..waiting.len()).min_by_key(|&at| waiting[at].0) {
        let (_, sizes) = waiting.swap_remove(next);
        let mut enough = seen.len() > VISITED;
        for axis in (0..sizes.len()).filter(|&axis| !root.reduces(axis)) {
            let mut cut = sizes.clone();
            cut[axis] = sizes[axis].div_ceil(2).next_multiple_of(limits.steps[axis].max(1));
            if cut[axis] < sizes[axis] && seen.insert(cut.clone()) {
                enough |= look(cut, &mut waiting) >= 4 * keep.max(1);
            }
        }
        if enough {
            break;
        }
    }
    found.sort_by(|one, other| {
        one.priority.cmp(&other.priority).then_with(|| other.sizes.cmp(&one.sizes))
    });
    found.truncate(keep);
    if found.is_empty() { Err(why) } else { Ok(found) }
}

/// The configuration of a group with a tile of `sizes`.
fn config(
    chain: &Chain<'_, '_>,
    limits: &Limits<'_>,
    handed_over: &HandedOver<'_, '_, '_>,
    sizes: &[u64],
) -> Result<Config, Refused> {
    let tiles = propagate(chain, sizes).map_err(|why| Refused::by(why.rule(), why.to_string()))?;
    let traffic = traffic(chain, &tiles, limits.leaves, limits.transaction_bytes);
    let waves = tiles.count().div_ceil(limits.units);
    Ok(Config {
        sizes: sizes.to_vec(),
        footprint: handed_over.placements(&tiles).bytes,
        traffic,
        // Of one tile a wave, for as many units.
        priority: (traffic / tiles.count() + 1).saturating_mul(waves * limits.units),
        tiles,
    })
}

/// Returns whether each tensor that leaves the group is computed once.
fn whole_leaves(limits: &Limits<'_>, tiles: &Tiles) -> bool {
    let last = tiles.spans.len() - 1;
    (0..last).all(|member| !limits.leaves[member] || tiles.partitions(member))
}
