//! Several computes in one kernel: what one makes waits near the unit until others have read it.
//!
//! ```text
//! %e = tile.empty in @l2; %h = tile.compute ... -> %e; tile.compute ins(%h) -> %o
//!   ->  %h_tile = device.alloc at 0 : memref<96x6x112xf32, "l2">
//!       loops over register tiles of a tile of h, stored to %h_tile
//!       loops over register tiles of the rTask, which read %h_tile
//! ```
//!
//! The last compute's first rTile is the rTask; which tiles the others make follows from it
//! (`tile/propagate.rs`). The text says where each lies in its memory, and so which are written over
//! others (`tile.empty in @l2 at 4352`). Indices are those of the whole tensors, so a local tile subtracts where it
//! begins. Lanes that share registers wait for each other between two members, for one of them
//! made what another reads.

use std::collections::HashMap;

use weft_dialects::device::{ARENA_ALIGN, build};
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Builder, Report, Type, Val, attr, ty};
use weft_dialects::tile::{Compute, Empty};

use super::Here;
use super::index::Sum;
use super::member::{self, LocalTile, MemberTile};
use crate::nest::{Border, Nest};
use crate::tile::placements::{self, HandedOver, sizes};
use crate::tile::propagate::{Chain, Link, Span, Tiles, groups, links, merged, propagate};

/// The computes of a kernel, and the tiles of each.
pub(super) struct Group<'h, 'c> {
    here: &'h Here<'c>,
    members: Vec<(Compute<'c>, Nest<'c>)>,
    tiles: Tiles,
    handed: Vec<Vec<u64>>,
    links: Vec<Link>,
    waiting: Vec<Option<Wait<'c>>>,
}

/// A tile that waits.
struct Wait<'c> {
    memory: &'c str,
    placement: placements::Placement,
    sizes: Vec<u64>,
}

impl<'h, 'c> Group<'h, 'c> {
    /// Reports where the members' tiles do not follow from the last one's.
    pub fn new(here: &'h Here<'c>, members: Vec<(Compute<'c>, Nest<'c>)>) -> Result<Self, Failed> {
        let (last, _) = members.last().ok_or(Failed)?;
        let nests: Vec<_> = members.iter().map(|(_, nest)| nest).collect();
        let links = links(&nests);
        let chain = Chain::new(nests, links.clone());
        let tiles = propagate(&chain, &last.tiles[0].sizes).map_err(|refusal| {
            let kernel = here.kernel;
            Report::new(kernel.location(), format!("@{}: {refusal}", kernel.symbol()))
                .help("members are counted from 0; hand the tensor over in the shared memory");
            Failed
        })?;
        let waiting = waiting(here, &chain, &tiles)?;
        let handed = chain.handed;
        Ok(Self { here, members, tiles, handed, links, waiting })
    }

    /// Writes all computes, one after the other.
    pub fn write(
        self,
        b: &mut Builder<'c>,
        grid: &[u64],
        starts: Vec<Sum<'c>>,
    ) -> Result<(), Failed> {
        let places = self.places(b, starts);
        let local_tiles = self.local_tiles(b, &places)?.into_iter().flatten().collect();
        for (member, (compute, nest)) in self.members.iter().enumerate() {
            // Instructions of axes are told from a nest by the dimensions of its tensors.
            let near = self.near(nest.clone(), compute.axes.is_none());
            let tile = self.tile(member, &near, grid);
            if member > 0 {
                self.meet(b, compute);
            }
            member::write(self.here, b, (compute, near), &tile, &local_tiles, &places[member])?;
        }
        Ok(())
    }

    /// The part of a member that is computed at once.
    fn tile(&self, member: usize, nest: &Nest<'c>, grid: &[u64]) -> MemberTile {
        let compute = &self.members[member].0;
        let is_last = member + 1 == self.members.len();
        let (mut outer, mut grid) = (compute.tiles[0].clone(), grid.to_vec());
        let mut inner = compute.tiles[compute.tiles.len() - 1].clone();
        if !is_last {
            outer.sizes = self.tiles.sizes(member);
            grid = vec![1; grid.len().max(nest.axes.len())];
            for (tile, size) in inner.sizes.iter_mut().zip(&outer.sizes) {
                *tile = (*tile).min(*size);
            }
        }
        MemberTile { cut: !is_last, outer, inner, grid }
    }

    /// Lets the lanes of a register wait for each other; one that is a thread's own needs not.
    fn meet(&self, b: &mut Builder<'c>, compute: &Compute<'c>) {
        let registers =
            compute.tiles.last().and_then(|tile| self.here.machine.memory(&tile.memory));
        if let Some(registers) = registers.filter(|registers| registers.lanes().is_some()) {
            build::barrier(b, registers.scope());
        }
    }

    /// First point of each member's tile along its axes.
    fn places(&self, b: &mut Builder<'c>, root: Vec<Sum<'c>>) -> Vec<Vec<Sum<'c>>> {
        let last = self.members.len() - 1;
        let mut places: Vec<Vec<Sum<'c>>> = vec![Vec::new(); last + 1];
        places[last] = root;
        // Readers first; who lies beside comes behind those that it lies beside.
        let read = |member: usize| self.links.iter().any(|link| link.maker == member);
        let order = (0..last).rev().filter(|&member| read(member));
        for member in order.chain((0..last).filter(|&member| !read(member))) {
            let spans = &self.tiles.spans[member];
            places[member] = spans.iter().map(|span| start(b, span, &places)).collect();
        }
        places
    }

    /// Allocates the tiles that members hand over.
    fn local_tiles(
        &self,
        b: &mut Builder<'c>,
        places: &[Vec<Sum<'c>>],
    ) -> Result<Vec<Option<(Val<'c>, LocalTile<'c>)>>, Failed> {
        let mut local_tiles: Vec<Option<(Val<'c>, LocalTile<'c>)>> = Vec::new();
        for (member, (_, nest)) in self.members.iter().enumerate() {
            let Some(wait) = &self.waiting[member] else {
                local_tiles.push(None);
                continue;
            };
            let output = &nest.outputs[0];
            let handed = self.handed[member].clone();
            let start = |dims: Vec<(usize, u64)>| {
                dims.into_iter().fold(Sum::default(), |start, (dim, step)| {
                    start.plus(&Sum::of(&output.index[dim], &places[member]), step as i64)
                })
            };
            let starts = groups(&output.shape, &handed).into_iter().map(start).collect();
            let sizes = wait.sizes.clone();
            let memref = match wait.placement.over {
                Some(maker) => local_tiles[maker].as_ref().expect("it waits, too").1.memref,
                None => {
                    let memory = attr::of_string(b.context(), wait.memory);
                    let ty = ty::memref(&sizes, output.elem(), Some(memory));
                    build::alloc_at(b, wait.placement.offset, ty)
                }
            };
            let moves = member::moves(self.here, wait.memory)?;
            let local_tile =
                LocalTile { memory: wait.memory, memref, moves, handed, starts, sizes };
            local_tiles.push(Some((output.argument(), local_tile)));
        }
        Ok(local_tiles)
    }

    /// A nest of the tensors themselves; `merges` says whether it sees what members hand over in the
    /// dimensions that all of them have.
    fn near(&self, mut nest: Nest<'c>, merges: bool) -> Nest<'c> {
        // A tensor that does not wait has those dimensions in any case.
        let handed: HashMap<Val<'c>, &Vec<u64>> = (0..self.members.len())
            .filter(|&maker| merges || self.waiting[maker].is_none())
            .map(|maker| (self.members[maker].1.outputs[0].argument(), &self.handed[maker]))
            .collect();
        for access in nest.accesses_mut() {
            // A tensor with a border is copied to a plane by the code that knows its buffer.
            let handed = handed.get(&access.argument()).filter(|_| Border::of(access).is_none());
            let tensor = access.argument();
            if let Some(handed) = handed {
                access.index = merged(access, handed);
                access.shape = handed.to_vec();
            }
            if Border::of(access).is_none() {
                access.tensor = tensor;
            }
        }
        nest
    }
}

/// The tiles of a group that wait, memory by memory; reports those whose bytes clash, and those
/// beyond a memory's end.
fn waiting<'c>(
    here: &Here<'c>,
    chain: &Chain<'_, 'c>,
    tiles: &Tiles,
) -> Result<Vec<Option<Wait<'c>>>, Failed> {
    let tensors = chain.nests.iter().map(|nest| nest.outputs[0].argument());
    let empties: Vec<Option<Empty<'c>>> = tensors.map(|tensor| Empty::of(tensor.def()?)).collect();
    let memories: Vec<Option<&str>> =
        empties.iter().map(|empty| empty.as_ref().map(|empty| empty.memory)).collect();
    let at: Vec<Option<u64>> =
        empties.iter().map(|empty| empty.as_ref().and_then(|empty| empty.at)).collect();
    let mut found: Vec<Option<Wait<'c>>> = memories.iter().map(|_| None).collect();
    for (first, memory) in memories.iter().enumerate() {
        let (Some(name), None) = (memory, &found[first]) else { continue };
        let facts = here.machine.memory(name).ok_or(Failed)?;
        let waits = memories.iter().map(|other| other == memory).collect();
        let placements = HandedOver::new(chain, waits).at(tiles, &at, ARENA_ALIGN as u64);
        let placements = placements.map_err(|clash| {
            refuse(here, &empties[clash.second], clash.to_string());
            Failed
        })?;
        let holds = facts.kernel_bytes();
        for (member, placement) in placements.of.into_iter().enumerate() {
            let Some(placement) = placement else { continue };
            let end = placement.offset + placement.bytes;
            if end > holds {
                let what = format!("member {member} has {} bytes at", placement.bytes);
                let what = format!("{what} {} of @{name}, which holds {holds}", placement.offset);
                refuse(here, &empties[member], what);
                return Err(Failed);
            }
            found[member] =
                Some(Wait { memory: name, placement, sizes: sizes(chain, tiles, member) });
        }
    }
    Ok(found)
}

/// Reports a tile that cannot lie where the text says.
fn refuse(here: &Here<'_>, empty: &Option<Empty<'_>>, what: String) {
    let place = empty.as_ref().map_or(here.kernel, |empty| empty.op);
    Report::new(place.location(), format!("@{}: {what}", here.kernel.symbol())).help(
        "members are counted from 0; `at` of tiles whose lives meet is bytes apart, or the same where \
         the last reader of one makes the other element by element; without `at` a tile lies behind \
         all others",
    );
}

/// First point of a tile along an axis, from those of its readers' tiles.
fn start<'c>(b: &mut Builder<'c>, span: &Span, places: &[Vec<Sum<'c>>]) -> Sum<'c> {
    let index = Type::index(b.context());
    let asks = span.asks.iter().map(|ask| Sum::of(&ask.start, &places[ask.member]));
    let mut asks: Vec<Sum<'c>> = asks.collect();
    asks.dedup_by_key(|ask| ask.clone());
    let Some(first) = asks.pop() else { return Sum::number(0) };
    let plain = asks.is_empty() && span.over == 1 && span.within.is_none() && !span.clamped;
    if plain {
        return first;
    }
    let mut at = first.emit(b);
    for ask in asks {
        let other = ask.emit(b);
        at = b.op("arith.minsi", &[at, other], &[index]).result(0);
    }
    if span.clamped {
        let zero = b.index(0);
        at = b.op("arith.maxsi", &[at, zero], &[index]).result(0);
    }
    if span.over > 1 {
        let over = b.index(span.over as i64);
        at = b.op("arith.divui", &[at, over], &[index]).result(0);
    }
    if let Some(within) = span.within {
        let within = b.index(within as i64);
        at = b.op("arith.remui", &[at, within], &[index]).result(0);
    }
    if span.clamped {
        let most = b.index((span.extent - span.size) as i64);
        at = b.op("arith.minsi", &[at, most], &[index]).result(0);
    }
    Sum::value(at)
}
