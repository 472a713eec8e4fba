//! Buffers of the tiles that members of a group hand over: one arena for all in a memory.
//!
//! ```text
//! member  makes         reads         lives   placement
//! 0       scores                      0 to 2  bytes 0 to 4292
//! 1       largest       scores        1 to 2  bytes 4352 to 4500
//! 2       exponentials  both          2 to 4  over the scores
//! 3       sums          exponentials  3 to 4  bytes 4352 to 4500
//! ```
//!
//! A tile lives from the member that makes it to the last one that reads it, and those whose lives
//! do not meet may share bytes (`arena.rs` of `passes/src`). A member that reads a tile as the last one, each
//! element where it makes one of its own, writes over it.

use weft_dialects::ir::ty;

use super::propagate::{Chain, Tiles, groups};
use crate::arena::{self, Life};
use crate::nest::Border;

/// Tiles of a group that wait in one memory.
pub struct HandedOver<'w, 'n, 'c> {
    chain: &'w Chain<'n, 'c>,
    /// For each member, whether its tile waits there.
    waits: Vec<bool>,
    /// For each member the makers over whose tiles it may write, if their sizes agree.
    over: Vec<Vec<usize>>,
}

/// The buffer of a member's tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// First byte in the arena.
    pub offset: u64,
    /// Size of the tile.
    pub bytes: u64,
    /// The first and the last member that touch these bytes for it, or for the member that writes over it.
    pub life: (usize, usize),
    /// The member whose bytes they are, if this one writes over its tile.
    pub over: Option<usize>,
}

/// The buffers of all tiles that wait in a memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placements {
    /// By member; none for those whose tiles do not wait here.
    pub of: Vec<Option<Placement>>,
    /// Size of the arena.
    pub bytes: u64,
}

/// The reason that a member does not write over a tile that it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotInPlace {
    /// The tile is not read by the member.
    #[error("it does not read the tile")]
    Unread,
    /// Another member reads the tile later.
    #[error("member {0} reads the tile after it")]
    ReadLater(usize),
    /// The member reads the tile again when some of its elements are done.
    #[error("it folds elements: one that is read again may have been written")]
    Folds,
    /// Reads past the tile's ends go to a plane.
    #[error("it reads past the tile's ends")]
    Border,
    /// Elements are not as large, or of another kind.
    #[error("its elements have another type")]
    Elements,
    /// The tile and its own are seen in other dimensions.
    #[error("it hands over a tensor of other dimensions")]
    Dimensions,
    /// An element is read elsewhere than where one is written.
    #[error("it reads elements at other places than it writes")]
    Places,
    /// The tile is larger than its own.
    #[error("its tile has another size")]
    Sizes,
}

impl<'w, 'n, 'c> HandedOver<'w, 'n, 'c> {
    /// Tiles of the members that `waits` says so of.
    pub fn new(chain: &'w Chain<'n, 'c>, waits: Vec<bool>) -> Self {
        let may = |reader: usize| {
            let makers = (0..reader).filter(|&maker| waits[reader] && waits[maker]);
            makers.filter(|&maker| element_by_element(chain, maker, reader).is_ok()).collect()
        };
        let over = (0..chain.nests.len()).map(may).collect();
        Self { chain, waits, over }
    }

    /// Their placements in the arena.
    pub fn placements(&self, tiles: &Tiles) -> Placements {
        let members = self.chain.nests.len();
        // The member that whose bytes each one takes.
        let mut owner: Vec<usize> = (0..members).collect();
        let mut over = vec![None; members];
        for (reader, makers) in self.over.iter().enumerate() {
            let same = |maker: &usize| {
                let taken = over.contains(&Some(*maker));
                !taken && sizes(self.chain, tiles, *maker) == sizes(self.chain, tiles, reader)
            };
            if let Some(maker) = makers.iter().copied().find(same) {
                (owner[reader], over[reader]) = (owner[maker], Some(maker));
            }
        }
        let mut lives = vec![Life { first: 0, last: 0, bytes: 0 }; members];
        for member in (0..members).filter(|&member| self.waits[member]) {
            let own = &mut lives[owner[member]];
            if owner[member] == member {
                (own.first, own.bytes) = (member as u32, bytes(self.chain, tiles, member));
            }
            own.last = own.last.max(last_reader(self.chain, member) as u32);
        }
        let arena = arena::place(&lives, 0);
        let placement = |member: usize| {
            let Life { first, last, bytes } = lives[owner[member]];
            self.waits[member].then(|| Placement {
                offset: arena.offsets[owner[member]],
                bytes,
                life: (first as usize, last as usize),
                over: over[member],
            })
        };
        let of: Vec<Option<Placement>> = (0..members).map(placement).collect();
        let bytes = of
            .iter()
            .flatten()
            .map(|placement| placement.offset + placement.bytes)
            .max()
            .unwrap_or(0);
        Placements { of, bytes }
    }
}

/// Two tiles that share bytes while both are of use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the tiles of members {first} and {second} share bytes {from} to {to} while both are of use{}",
    why.map_or(String::new(), |why| format!(", and {second} may not write over {first}: {why}"))
)]
pub struct Clash {
    /// The member that makes the first one.
    pub first: usize,
    /// The member that makes the other one.
    pub second: usize,
    /// The first byte that they share.
    pub from: u64,
    /// The byte behind the last one.
    pub to: u64,
    /// The reason that the second one may not write over the first, where it begins at the same byte
    /// and is the last to read it.
    pub why: Option<NotInPlace>,
}

impl HandedOver<'_, '_, '_> {
    /// The placements of tiles that begin at these bytes, by member. One without lies behind all others,
    /// in whole pieces of `align` bytes.
    ///
    /// # Errors
    /// The first two that would share bytes while both are of use.
    pub fn at(&self, tiles: &Tiles, at: &[Option<u64>], align: u64) -> Result<Placements, Clash> {
        let members = (0..self.chain.nests.len()).filter(|&member| self.waits[member]);
        let mut of: Vec<Option<Placement>> = vec![None; self.chain.nests.len()];
        for member in members.clone() {
            let (bytes, last) = (bytes(self.chain, tiles, member), last_reader(self.chain, member));
            let offset = at[member].unwrap_or(0);
            of[member] = Some(Placement { offset, bytes, life: (member, last), over: None });
        }
        let end = |of: &[Option<Placement>], said: &dyn Fn(usize) -> bool| {
            let own = of.iter().enumerate().filter(|(member, _)| said(*member));
            own.filter_map(|(_, own)| own.map(|own| own.offset + own.bytes)).max().unwrap_or(0)
        };
        let mut free = end(&of, &|member| at[member].is_some());
        for member in members.clone().filter(|&member| at[member].is_none()) {
            let Some(own) = &mut of[member] else { continue };
            own.offset = free.next_multiple_of(align.max(1));
            free = own.offset + own.bytes;
        }
        for second in members {
            for first in 0..second {
                let (Some(one), Some(other)) = (of[first], of[second]) else { continue };
                let from = one.offset.max(other.offset);
                let to = (one.offset + one.bytes).min(other.offset + other.bytes);
                if from >= to || one.life.1 < second {
                    continue;
                }
                let mut clash = Clash { first, second, from, to, why: None };
                if one.life.1 > second || one.offset != other.offset {
                    return Err(clash);
                }
                match may_write_over(self.chain, tiles, first, second) {
                    Ok(()) => of[second] = Some(Placement { over: Some(first), ..other }),
                    Err(why) => {
                        clash.why = Some(why);
                        return Err(clash);
                    }
                }
            }
        }
        let bytes = end(&of, &|_| true);
        Ok(Placements { of, bytes })
    }
}

/// The placements of the tiles that wait in each of these memories, by member: one arena in each.
pub fn in_memories(
    chain: &Chain<'_, '_>,
    tiles: &Tiles,
    memories: &[Option<&str>],
) -> Vec<Option<Placement>> {
    let mut found = vec![None; memories.len()];
    for (first, memory) in memories.iter().enumerate() {
        if memory.is_none() || memories[..first].contains(memory) {
            continue;
        }
        let waits = memories.iter().map(|other| other == memory).collect();
        let own = HandedOver::new(chain, waits).placements(tiles).of;
        for (found, own) in found.iter_mut().zip(own) {
            *found = found.or(own);
        }
    }
    found
}

/// Checks that `reader` may write over the tile that `maker` hands it.
///
/// # Errors
/// The reason that it may not.
pub fn may_write_over(
    chain: &Chain<'_, '_>,
    tiles: &Tiles,
    maker: usize,
    reader: usize,
) -> Result<(), NotInPlace> {
    element_by_element(chain, maker, reader)?;
    let same = sizes(chain, tiles, maker) == sizes(chain, tiles, reader);
    if same { Ok(()) } else { Err(NotInPlace::Sizes) }
}

/// Checks that `reader` is the last to read what `maker` makes, and reads each element only for its
/// own element in the same position. Its tile then takes the buffer of the maker's tile if both
/// have one size: a maker's tile holds what its readers' tiles read.
fn element_by_element(
    chain: &Chain<'_, '_>,
    maker: usize,
    reader: usize,
) -> Result<(), NotInPlace> {
    let [made, own] = [maker, reader].map(|member| &chain.nests[member].outputs[0]);
    let nest = chain.nests[reader];
    let links = || chain.links.iter().filter(|link| link.maker == maker);
    let mut reads = links().filter(|link| link.reader == reader).peekable();
    if reads.peek().is_none() {
        return Err(NotInPlace::Unread);
    }
    if let Some(later) = links().find(|link| link.reader > reader) {
        return Err(NotInPlace::ReadLater(later.reader));
    }
    if (0..nest.axes.len()).any(|axis| nest.reduces(axis)) {
        return Err(NotInPlace::Folds);
    }
    if made.elem() != own.elem() {
        return Err(NotInPlace::Elements);
    }
    if chain.handed[maker] != chain.handed[reader] {
        return Err(NotInPlace::Dimensions);
    }
    let written = chain.merged(reader, own);
    for link in reads {
        let read = nest.reads()[link.read];
        if Border::of(read).is_some() {
            return Err(NotInPlace::Border);
        }
        if chain.merged(maker, read) != written {
            return Err(NotInPlace::Places);
        }
    }
    Ok(())
}

/// The last member that reads what another makes.
fn last_reader(chain: &Chain<'_, '_>, maker: usize) -> usize {
    let links = chain.links.iter().filter(|link| link.maker == maker);
    links.map(|link| link.reader).max().unwrap_or(maker)
}

/// The sizes of the tile that a member hands over, in the dimensions in which it does.
pub fn sizes(chain: &Chain<'_, '_>, tiles: &Tiles, member: usize) -> Vec<u64> {
    let output = &chain.nests[member].outputs[0];
    let size = |dim: usize| {
        let axes = output.index[dim].coefficients.iter().zip(&tiles.spans[member]);
        axes.filter(|(factor, _)| **factor != 0).map(|(_, span)| span.size).product::<u64>()
    };
    groups(&output.shape, &chain.handed[member])
        .into_iter()
        .map(|dims| dims.into_iter().map(|(dim, _)| size(dim)).product())
        .collect()
}

/// Bytes of that tile.
fn bytes(chain: &Chain<'_, '_>, tiles: &Tiles, member: usize) -> u64 {
    let elem = chain.nests[member].outputs[0].elem();
    sizes(chain, tiles, member).iter().product::<u64>() * ty::byte_size(elem).unwrap_or(8)
}
