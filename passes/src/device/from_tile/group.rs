//! Several computes in one kernel: what one makes waits near the unit until others have read it.
//!
//! ```text
//! %e = tile.empty in @l2; %h = tile.compute ... -> %e; tile.compute ins(%h) -> %o
//!   ->  %room = device.alloc at 0 : memref<96x6x112xf32, "l2">
//!       loops over register tiles of a tile of h, stored to %room
//!       loops over register tiles of the rTask, which read %room
//! ```
//!
//! The last compute's first rTile is the rTask; which tiles the others make follows from it
//! (`tile/propagate.rs`), and so do their rooms, pieces of one arena in each memory
//! (`tile/rooms.rs`). Places are those of the whole tensors, so a room subtracts where its tile
//! begins. Lanes that share registers wait for each other between two members, for one of them
//! made what another reads.

use std::collections::HashMap;

use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Builder, Report, Type, Val, attr, ty};
use weft_dialects::tile::{Compute, Empty, RTile};

use super::index::{Sum, scf_for};
use super::matrix::{Ends, Matrix};
use super::tiles::Tiles as Loops;
use super::{Here, Plan};
use crate::nest::{Border, Nest};
use crate::tile::propagate::{Chain, Link, Span, Tiles, groups, links, merged, propagate};
use crate::tile::rooms::{self, Waiting, sizes};
use crate::tile::{beside, loop_order, way};

/// A tile of a tensor, in a memory near the unit.
#[derive(Clone)]
pub(super) struct Room<'c> {
    pub memory: &'c str,
    pub memref: Val<'c>,
    /// From there to the registers, and back.
    pub moves: [&'c str; 2],
    /// The dimensions in which the tensor is handed over.
    pub handed: Vec<u64>,
    /// Where the tile begins along each.
    pub starts: Vec<Sum<'c>>,
    /// Its extent along each.
    pub sizes: Vec<u64>,
}

impl<'c> Room<'c> {
    /// The place in the room of a place in the tensor, seen in `shape`.
    pub fn place(&self, shape: &[u64], place: &[Sum<'c>]) -> Vec<Sum<'c>> {
        let merge = |(dims, start): (Vec<(usize, u64)>, &Sum<'c>)| {
            let at = Sum::default().plus(start, -1);
            dims.into_iter().fold(at, |at, (dim, step)| at.plus(&place[dim], step as i64))
        };
        groups(shape, &self.handed).into_iter().zip(&self.starts).map(merge).collect()
    }

    /// First row and the one behind the last of those that lie in the room whole, along dimension
    /// `dim` of `shape`; `None` where all do.
    pub fn rows(&self, b: &mut Builder<'c>, shape: &[u64], dim: usize) -> Option<[Val<'c>; 2]> {
        let groups = groups(shape, &self.handed);
        let group = groups.iter().position(|dims| dims.iter().any(|&(own, _)| own == dim))?;
        let (_, step) = *groups[group].iter().find(|&&(own, _)| own == dim)?;
        if self.sizes[group] == self.handed[group] {
            return None;
        }
        let (index, steps) = (Type::index(b.context()), b.index(step as i64));
        let mut row = |add: i64| {
            let at = self.starts[group].clone().plus(&Sum::number(add), 1).emit(b);
            b.op("arith.divui", &[at, steps], &[index]).result(0)
        };
        Some([row(step as i64 - 1), row(self.sizes[group] as i64)])
    }
}

/// The computes of a kernel, and the tiles of each.
pub(super) struct Group<'h, 'c> {
    here: &'h Here<'c>,
    members: Vec<(Compute<'c>, Nest<'c>)>,
    tiles: Tiles,
    handed: Vec<Vec<u64>>,
    links: Vec<Link>,
    waiting: Vec<Option<Wait<'c>>>,
}

/// What is done of a member at once.
struct Piece {
    member: usize,
    is_last: bool,
    outer: RTile,
    inner: RTile,
    /// Pieces along each parallel axis.
    grid: Vec<u64>,
}

impl Piece {
    /// Leaves of a nest what one piece has along the axes that do not reduce.
    fn cut(&self, nest: &mut Nest<'_>) {
        for axis in (0..nest.axes.len()).filter(|&axis| !nest.reduces(axis)).collect::<Vec<_>>() {
            nest.axes[axis].extent = nest.axes[axis].extent.min(self.outer.sizes[axis]);
        }
    }
}

/// A tile that waits.
struct Wait<'c> {
    memory: &'c str,
    room: rooms::Room,
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
        let waiting = waiting(&chain, &tiles);
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
        let rooms = self.rooms(b, &places)?;
        for (member, (compute, nest)) in self.members.iter().enumerate() {
            let near = self.near(nest.clone());
            let piece = self.piece(member, &near, grid);
            let mut written = Ok(());
            let mut write = |b: &mut Builder<'c>| {
                written = match &compute.axes {
                    Some(axes) => self.matrix(b, (compute, axes), &near, &piece, &rooms, &places),
                    None => self.lanes(b, (compute, near.clone()), &piece, &rooms, &places),
                };
            };
            // A loop, even of one round, frees what a member took before the next one begins.
            if self.stages(compute) {
                let ends = [Sum::number(0), Sum::number(1)];
                scf_for(b, &ends[0], &ends[1], 1, |b, _| write(b));
            } else {
                write(b);
            }
            written?;
        }
        Ok(())
    }

    /// Whether a member takes some of the memory in which tiles wait while it is done.
    fn stages(&self, compute: &Compute<'c>) -> bool {
        let registers = compute.tiles.last().map_or("", |tile| tile.memory.as_str());
        compute.axes.is_some()
            || way(self.here.machine, registers).is_some_and(|way| way.stage.is_some())
    }

    /// What is done of a member.
    fn piece(&self, member: usize, nest: &Nest<'c>, grid: &[u64]) -> Piece {
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
        Piece { member, is_last, outer, inner, grid }
    }

    /// Writes a member that lanes do.
    fn lanes(
        &self,
        b: &mut Builder<'c>,
        (compute, nest): (&Compute<'c>, Nest<'c>),
        piece: &Piece,
        rooms: &[Option<(Val<'c>, Room<'c>)>],
        places: &[Vec<Sum<'c>>],
    ) -> Result<(), Failed> {
        let mut plan = self.here.plan(compute, nest)?;
        if piece.member > 0 {
            self.meet(b, &plan);
        }
        for room in rooms.iter().flatten() {
            plan.rooms.insert(room.0, room.1.clone());
            plan.memrefs.insert(room.0, room.1.memref);
        }
        if !piece.is_last {
            // It is read again at once.
            plan.stream = None;
            piece.cut(&mut plan.nest);
            plan.tile = piece.inner.clone();
        }
        self.here.lanes(b, compute, plan, &piece.outer, &piece.grid, &places[piece.member])
    }

    /// Writes a member that an instruction of axes does.
    fn matrix(
        &self,
        b: &mut Builder<'c>,
        compute: (&Compute<'c>, &[Vec<usize>]),
        nest: &Nest<'c>,
        piece: &Piece,
        rooms: &[Option<(Val<'c>, Room<'c>)>],
        places: &[Vec<Sum<'c>>],
    ) -> Result<(), Failed> {
        let Here { context, machine, kernel, .. } = *self.here;
        let rooms: HashMap<_, _> = rooms.iter().flatten().cloned().collect();
        let mut memrefs = self.here.memrefs_of(nest);
        memrefs.extend(rooms.iter().map(|(tensor, room)| (*tensor, room.memref)));
        // The instruction was chosen for a nest of one tile.
        let mut one = nest.clone();
        piece.cut(&mut one);
        let around = if piece.is_last { nest } else { &one };
        let ends = Ends { memrefs: &memrefs, rooms: &rooms };
        let matrix = Matrix::new(context, machine, kernel, compute, &one, ends)?;
        Loops {
            nest: around,
            tile: &piece.inner,
            outer: &piece.outer,
            grid: &piece.grid,
            order: &loop_order(around, &piece.inner.sizes),
            starts: &places[piece.member],
        }
        .write(b, &|b, at, sizes| matrix.write(b, at, sizes));
        Ok(())
    }

    /// Lets the lanes of a register wait for each other; one that is a thread's own needs not.
    fn meet(&self, b: &mut Builder<'c>, plan: &Plan<'c>) {
        let registers = self.here.machine.memory(plan.registers);
        if let Some(registers) = registers.filter(|registers| registers.lanes.is_some()) {
            let scope = attr::of_string(b.context(), registers.scope.name());
            b.op_with("device.barrier", &[], &[], &[("scope", scope)], 0);
        }
    }

    /// The moves between a room in `memory` and the registers of lanes: those of the way
    /// that tensors come, unless it lies beside.
    fn moves(&self, memory: &'c str) -> Result<[&'c str; 2], Failed> {
        let Here { machine, kernel, .. } = *self.here;
        let unit = machine.lanes_units().into_iter().next();
        let registers = unit.map_or("", |unit| unit.memory);
        let behind = |name: &str| machine.behind(name).map(|memory| memory.name);
        let along = way(machine, registers).filter(|way| behind(memory) == behind(way.load.source));
        let moves = match along {
            Some(way) => Some([way.load, way.store]),
            None => beside(machine, memory, registers),
        };
        moves.map(|moves| moves.map(|way| way.name)).ok_or_else(|| {
            let what = format!("nothing moves between @{memory} and @{registers} both ways");
            Report::new(kernel.location(), what)
                .help("let tiles wait where the machine has strided moves from and to registers");
            Failed
        })
    }

    /// Where each member's tile begins along its axes.
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

    /// Makes room for what members hand over.
    fn rooms(
        &self,
        b: &mut Builder<'c>,
        places: &[Vec<Sum<'c>>],
    ) -> Result<Vec<Option<(Val<'c>, Room<'c>)>>, Failed> {
        let mut rooms: Vec<Option<(Val<'c>, Room<'c>)>> = Vec::new();
        for (member, (_, nest)) in self.members.iter().enumerate() {
            let Some(wait) = &self.waiting[member] else {
                rooms.push(None);
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
            let memref = match wait.room.over {
                Some(maker) => rooms[maker].as_ref().expect("it waits, too").1.memref,
                None => {
                    let memory = attr::of_string(b.context(), wait.memory);
                    let ty = ty::memref(&sizes, output.elem(), Some(memory));
                    let offset = attr::of_int(b.context(), wait.room.offset as i64);
                    b.op_with("device.alloc", &[], &[ty], &[("offset", offset)], 0).result(0)
                }
            };
            let moves = self.moves(wait.memory)?;
            let room = Room { memory: wait.memory, memref, moves, handed, starts, sizes };
            rooms.push(Some((output.argument(), room)));
        }
        Ok(rooms)
    }

    /// A nest that sees what members hand over in the dimensions that all of them have.
    fn near(&self, mut nest: Nest<'c>) -> Nest<'c> {
        let handed: HashMap<Val<'c>, &Vec<u64>> = (0..self.members.len())
            .map(|maker| (self.members[maker].1.outputs[0].argument(), &self.handed[maker]))
            .collect();
        for access in nest.accesses_mut() {
            // What has a border is copied to a plane, by who knows the room.
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

/// Where the tiles of a group wait, memory by memory.
fn waiting<'c>(chain: &Chain<'_, 'c>, tiles: &Tiles) -> Vec<Option<Wait<'c>>> {
    let tensors = chain.nests.iter().map(|nest| nest.outputs[0].argument());
    let memories: Vec<Option<&str>> =
        tensors.map(|tensor| Some(Empty::of(tensor.def()?)?.memory)).collect();
    let mut found: Vec<Option<Wait<'c>>> = memories.iter().map(|_| None).collect();
    for (first, memory) in memories.iter().enumerate() {
        let (Some(name), None) = (memory, &found[first]) else { continue };
        let waits = memories.iter().map(|other| other == memory).collect();
        let rooms = Waiting::new(chain, waits).rooms(tiles);
        for (member, room) in rooms.of.into_iter().enumerate() {
            let Some(room) = room else { continue };
            found[member] = Some(Wait { memory: name, room, sizes: sizes(chain, tiles, member) });
        }
    }
    found
}

/// Where a tile begins along an axis, from where its readers' tiles do.
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
