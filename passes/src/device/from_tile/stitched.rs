//! A kernel that does several computes whole, one after the other: an instance of a sub-graph
//! (GraphTurbo's buffer stitching).
//!
//! ```text
//! %e = tile.empty in @l1; tile.compute ins(%x) -> %e on @load; tile.compute ins(%e) -> %f on @mme
//!   ->  %buffer = device.alloc at 0 : memref<4096xf32, "l1">
//!       device.transfer @load %x to %buffer; device.wait; device.invoke @mme ...
//! ```
//!
//! A tensor that is made inside has a buffer from the first compute that touches it to the last.
//! A transfer by an engine is waited for when a compute touches the same buffer, or another one
//! that takes its bytes.

use std::collections::HashMap;

use weft_dialects::device::{ARENA_ALIGN, build};
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Builder, Linear, Report, Val, attr, ty};
use weft_dialects::tile::{Compute, Empty};

use super::Here;
use super::index::Sum;
use super::member::{self, LocalTile, LocalTiles, MemberTile};
use super::moved::moved;
use super::tiles::Points;
use super::transfer::wait;
use crate::arena::Life;
use crate::nest::Nest;
use crate::tile::lives::{lives, memories};
use crate::tile::propagate::merged;

/// The computes of such a kernel.
pub(super) struct Stitched<'h, 'c> {
    pub here: &'h Here<'c>,
    pub members: Vec<(Compute<'c>, Nest<'c>)>,
}

/// The buffers of tensors, and the transfers under way there.
struct Waiting<'c> {
    local_tiles: LocalTiles<'c>,
    /// By the tensor, its memory and bytes.
    bytes: HashMap<Val<'c>, (&'c str, u64, u64)>,
    /// Tokens of what moves to or from a tensor.
    under_way: Vec<(Val<'c>, Vec<Val<'c>>)>,
}

impl<'c> Waiting<'c> {
    /// Waits for what is under way where `tensors` lie.
    fn settle(&mut self, b: &mut Builder<'c>, tensors: &[Val<'c>]) {
        let bytes = &self.bytes;
        let meets = |one: &Val<'c>, other: &Val<'c>| {
            let apart = |one: &(&str, u64, u64), other: &(&str, u64, u64)| {
                one.0 != other.0 || one.2 <= other.1 || other.2 <= one.1
            };
            one == other
                || bytes.get(one).zip(bytes.get(other)).is_some_and(|(one, own)| !apart(one, own))
        };
        let (done, left) = std::mem::take(&mut self.under_way)
            .into_iter()
            .partition(|(moved, _)| tensors.iter().any(|tensor| meets(tensor, moved)));
        self.under_way = left;
        let mut tokens: Vec<Val<'c>> = Vec::new();
        for token in Vec::into_iter(done).flat_map(|(_, tokens)| tokens) {
            if !tokens.contains(&token) {
                tokens.push(token);
            }
        }
        // A move is under way at both of its ends.
        self.under_way.retain(|(_, own)| !own.iter().all(|token| tokens.contains(token)));
        wait(b, &tokens);
    }

    /// Waits for everything.
    fn finish(mut self, b: &mut Builder<'c>) {
        let all: Vec<_> = self.under_way.iter().map(|(tensor, _)| *tensor).collect();
        self.settle(b, &all);
    }
}

impl<'c> Stitched<'_, 'c> {
    /// Writes all computes.
    pub fn write(&self, b: &mut Builder<'c>) -> Result<(), Failed> {
        let (local_tiles, bytes) = self.local_tiles(b)?;
        let mut waiting = Waiting { local_tiles, bytes, under_way: Vec::new() };
        for (compute, nest) in &self.members {
            let tensors: Vec<_> = nest.accesses().iter().map(|own| own.argument()).collect();
            waiting.settle(b, &tensors);
            // Instructions of axes are told from a nest by the dimensions of its tensors.
            let near = near(nest.clone(), &waiting.local_tiles, compute.axes.is_none());
            if let Some(way) = self.here.machine.move_named(compute.instruction) {
                let (start, all) = (vec![Sum::number(0); near.axes.len()], near.extents());
                let whole = Points { at: &start, sizes: &all, ends: &[] };
                let tokens = moved(self.here, b, &way, &near, &waiting.local_tiles, whole)?;
                let both = tensors.into_iter().map(|tensor| (tensor, tokens.clone()));
                waiting.under_way.extend(both);
                continue;
            }
            let inner = compute.tiles[compute.tiles.len() - 1].clone();
            let grid = vec![1; nest.axes.len()];
            let tile = MemberTile { cut: true, outer: compute.tiles[0].clone(), inner, grid };
            let starts = vec![Sum::number(0); nest.axes.len()];
            member::write(self.here, b, (compute, near), &tile, &waiting.local_tiles, &starts)?;
        }
        waiting.finish(b);
        Ok(())
    }

    /// Allocates the tensors that are made inside, and says which bytes each has.
    #[allow(clippy::type_complexity)]
    fn local_tiles(
        &self,
        b: &mut Builder<'c>,
    ) -> Result<(LocalTiles<'c>, HashMap<Val<'c>, (&'c str, u64, u64)>), Failed> {
        let nests: Vec<_> = self.members.iter().map(|(_, nest)| nest).collect();
        let lives = lives(&nests);
        let (mut local_tiles, mut bytes) = (LocalTiles::new(), HashMap::new());
        for name in memories(&lives) {
            let own: Vec<_> = lives.iter().filter(|(empty, _)| empty.memory == name).collect();
            let offsets = self.offsets(name, &own)?;
            let moves = member::moves(self.here, name)?;
            for ((empty, life), offset) in own.into_iter().zip(offsets) {
                let tensor = empty.op.result(0);
                let elements = ty::count(tensor.ty()).unwrap_or(0);
                let elem = ty::elem(tensor.ty()).ok_or(Failed)?;
                let ty = ty::memref(&[elements], elem, Some(attr::of_string(b.context(), name)));
                let local_tile = LocalTile {
                    memory: empty.memory,
                    memref: build::alloc_at(b, offset, ty),
                    moves,
                    handed: vec![elements],
                    starts: vec![Sum::number(0)],
                    sizes: vec![elements],
                };
                local_tiles.insert(tensor, local_tile);
                bytes.insert(tensor, (empty.memory, offset, offset + life.bytes));
            }
        }
        Ok((local_tiles, bytes))
    }

    /// The first byte of each tensor in a memory, as the text says; one without lies behind all others.
    /// Reports what does not fit, and tensors that share bytes while both are of use.
    fn offsets(&self, memory: &str, own: &[&(Empty<'c>, Life)]) -> Result<Vec<u64>, Failed> {
        let Here { machine, kernel, .. } = *self.here;
        let found = machine.memory(memory).ok_or(Failed)?;
        let end = |at: u64, life: &Life| at + life.bytes.next_multiple_of(ARENA_ALIGN as u64);
        let known = own.iter().filter_map(|(empty, life)| Some(end(empty.at?, life)));
        let mut free = known.max().unwrap_or(0);
        let mut offsets: Vec<u64> = Vec::new();
        for (number, (empty, life)) in own.iter().enumerate() {
            let at = empty.at.unwrap_or(free);
            free = free.max(end(at, life));
            let refuse = |what: String, help: &str| {
                let name = kernel.symbol();
                Report::new(empty.op.location(), format!("@{name}: {what}"))
                    .note(found.op(), "the memory is here")
                    .help(help);
                Failed
            };
            let holds = found.kernel_bytes();
            if at + life.bytes > holds {
                let what = format!("a tensor has {} bytes at {at} of @{memory}", life.bytes);
                let help = "stitch fewer computes, or smaller ones";
                return Err(refuse(format!("{what}, which holds {holds}"), help));
            }
            let clash = own[..number].iter().zip(&offsets).find(|((_, other), place)| {
                let live = other.first <= life.last && life.first <= other.last;
                live && **place < at + life.bytes && at < **place + other.bytes
            });
            if let Some(((_, other), place)) = clash {
                let (from, to) = (at.max(*place), (at + life.bytes).min(place + other.bytes));
                let what = format!("two tensors share bytes {from} to {to} of @{memory}");
                let help = format!("all of them end at {free}; without `at` it lies behind them");
                return Err(refuse(format!("{what} while both are of use"), &help));
            }
            offsets.push(at);
        }
        Ok(offsets)
    }
}

/// A nest of the tensors themselves; `merges` says whether it sees what waits as one row of
/// elements.
fn near<'c>(mut nest: Nest<'c>, local_tiles: &LocalTiles<'c>, merges: bool) -> Nest<'c> {
    let axes = nest.axes.len();
    for access in nest.accesses_mut() {
        let tensor = access.argument();
        if let Some(local_tile) = local_tiles.get(&tensor).filter(|_| merges) {
            access.index = match access.index.is_empty() {
                true => vec![Linear::constant(axes, 0)],
                false => merged(access, &local_tile.handed),
            };
            access.shape = local_tile.handed.clone();
        }
        access.tensor = tensor;
    }
    nest
}
