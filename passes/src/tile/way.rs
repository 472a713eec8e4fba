//! Moves that bring tensors from the shared memory to the memory in which they are computed on.
//!
//! ```text
//! direct    @dram -> @vreg
//! staged    @dram -> @spad -> @vreg      tiles wait in @spad
//! ```

use weft_dialects::device::{Machine, Memory, Move, Scope};
use weft_dialects::tile::Compute;

use crate::cost::home::{Beside, room};

/// A memory in which tiles wait between the shared memory and where they are used.
#[derive(Clone, Debug)]
pub struct Stage<'c> {
    /// The memory.
    pub memory: Memory<'c>,
    /// From the shared memory into it.
    pub load: Move<'c>,
    /// Back.
    pub store: Move<'c>,
}

/// The way from the shared memory to another one and back.
#[derive(Clone, Debug)]
pub struct Way<'c> {
    /// The memory in which tiles are staged on the way; `None` where one move does.
    pub stage: Option<Stage<'c>>,
    /// The last move there.
    pub load: Move<'c>,
    /// The first move back.
    pub store: Move<'c>,
}

/// The ways to `memory` and back: one move each, or, where none does, two by a memory that is no
/// cache, and that strided moves fill, for tiles are boxes.
pub fn ways<'c>(machine: Machine<'c>, memory: &str) -> Vec<Way<'c>> {
    let Some(shared) = machine.shared() else { return Vec::new() };
    let both = |from: &str, to: &str| {
        Some((machine.move_between(from, to)?, machine.move_between(to, from)?))
    };
    if let Some((load, store)) = both(shared.name, memory) {
        return vec![Way { stage: None, load, store }];
    }
    let stages = machine.memories().into_iter().filter(|stage| !stage.is_registers());
    let by = |stage: Memory<'c>| {
        let (load, store) = both(shared.name, stage.name)
            .filter(|(load, store)| load.strided() && store.strided())?;
        let (near, back) = both(stage.name, memory)?;
        let stage = Stage { memory: stage, load, store };
        Some(Way { stage: Some(stage), load: near, store: back })
    };
    stages.filter_map(by).collect()
}

/// The way to `memory` that tiles are constructed for: the first in the order of the machine file.
pub fn way<'c>(machine: Machine<'c>, memory: &str) -> Option<Way<'c>> {
    ways(machine, memory).into_iter().next()
}

/// The way to the registers of a tile program: by the memory in which one of its rTiles waits,
/// or else the first.
pub fn way_of<'c>(machine: Machine<'c>, compute: &Compute<'c>) -> Option<Way<'c>> {
    let mut ways = ways(machine, &compute.tiles.last()?.memory);
    let waits = |stage: &Stage<'_>| compute.tile_in(stage.memory.name).is_some();
    let named = ways.iter().position(|way| way.stage.as_ref().is_some_and(waits));
    (!ways.is_empty()).then(|| ways.swap_remove(named.unwrap_or(0)))
}

/// The memory of one core in which tiles wait that lanes make and read: its largest cache, where
/// tiles are staged on the way to the registers, or where lanes that share registers have moves
/// to and from it beside the way. `None` where lanes have none of these.
pub fn waiting_memory(machine: Machine<'_>) -> Option<Memory<'_>> {
    if let Some(cache) = private_cache(machine) {
        return machine.memory(cache.name);
    }
    let unit = machine.lanes_units().into_iter().next()?;
    let of_a_core = |memory: &Memory<'_>| memory.scope() == Scope::Core && !memory.is_cache();
    if let Some(stage) = way(machine, unit.memory())?.stage {
        return Some(stage.memory).filter(|memory| memory.scope() == Scope::Core);
    }
    machine.memory(unit.memory())?.lanes()?;
    let mut memories = machine.memories().into_iter().filter(of_a_core);
    memories.find(|memory| beside(machine, memory.name, unit.memory()).is_some())
}

/// Whether lanes read a tensor from the memory that all units see each time that they read it: no cache
/// of a unit keeps it, and it is not staged on the way.
pub(super) fn reads_each_time(machine: Machine<'_>) -> bool {
    let Some(unit) = machine.lanes_units().into_iter().next() else { return false };
    let direct = way(machine, unit.memory()).is_some_and(|way| way.stage.is_none());
    direct && private_cache(machine).is_none() && waiting_memory(machine).is_some()
}

/// The memory of a core that moves fill and empty, from which lanes with registers of their own get
/// their tiles.
pub fn local_buffer(machine: Machine<'_>) -> Option<Stage<'_>> {
    let lanes = machine.lanes_units().into_iter().next()?.memory();
    let stage = way(machine, lanes)?.stage.filter(|stage| stage.memory.scope() == Scope::Core)?;
    machine.memory(lanes)?.lanes().is_none().then_some(stage)
}

/// The private cache of a core as a buffer that its lanes fill and empty themselves.
pub fn cache_buffer(machine: Machine<'_>) -> Option<Stage<'_>> {
    let lanes = machine.lanes_units().into_iter().next()?.memory();
    let Way { load, store, .. } = way(machine, lanes)?;
    Some(Stage { memory: machine.memory(private_cache(machine)?.name)?, load, store })
}

impl Stage<'_> {
    /// Cycles until what moves into it, and back, has come.
    pub fn latencies(&self) -> [f64; 2] {
        [&self.load, &self.store].map(|way| way.latency_cycles().unwrap_or(0) as f64)
    }
}

/// The moves between a memory that lies beside the way and registers: there and back.
pub fn beside<'c>(machine: Machine<'c>, memory: &str, registers: &str) -> Option<[Move<'c>; 2]> {
    let load = machine.move_between(memory, registers)?;
    let store = machine.move_between(registers, memory)?;
    (load.strided() && store.strided()).then_some([load, store])
}

/// The move of lanes of several registers into one; none where lanes are threads, which have registers of
/// their own.
pub fn gather<'c>(machine: Machine<'c>, registers: &str) -> Option<Move<'c>> {
    let apart = machine.memory(registers).is_some_and(|memory| memory.lanes().is_some());
    machine.move_between(registers, registers).filter(|way| way.strided() && !apart)
}

/// The move of registers to others of the same lanes, where lanes are threads.
pub fn relabel<'c>(machine: Machine<'c>, registers: &str) -> Option<Move<'c>> {
    let apart = machine.memory(registers).is_some_and(|memory| memory.lanes().is_some());
    machine.move_between(registers, registers).filter(|way| way.strided() && apart)
}

/// Cycles that a move takes for `bytes`; what the machine does not say takes none.
pub fn move_cycles(machine: Machine<'_>, way: &Move<'_>, bytes: f64) -> f64 {
    let ends = [way.source(), way.target()].map(|name| machine.memory(name));
    let rates = ends.iter().flatten().filter(|end| !end.is_registers());
    let slowest = rates.filter_map(|end| end.bytes_per_cycle()).chain(way.bytes_per_cycle()).min();
    slowest.map_or(0.0, |rate| bytes / rate as f64)
}

/// Latencies that each chunk of a copy takes: others that use the same memory get their turns
/// between the chunks.
const PIECE_LATENCIES: u64 = 2;

/// Bytes of a piece that a move brings.
pub(crate) fn piece_bytes(way: &Move<'_>) -> Option<u64> {
    let bytes = way.bytes_per_cycle()?.checked_mul(way.latency_cycles()?)?;
    bytes.checked_mul(PIECE_LATENCIES)
}

/// The cache in which a unit keeps a piece of its own while it works on it.
#[derive(Clone, Copy, Debug)]
pub struct PrivateCache<'c> {
    /// Its name.
    pub name: &'c str,
    /// Bytes of a largest piece: the rest is for what streams by.
    pub most_bytes: u64,
    /// Bytes of all pieces that tiles share, if nothing but what streams by is beside them.
    pub shared_bytes: u64,
}

/// The largest cache that a unit has for itself. Only where one thread's registers are filled
/// from the shared memory itself; elsewhere tiles wait where they are brought to.
pub fn private_cache(machine: Machine<'_>) -> Option<PrivateCache<'_>> {
    let unit = machine.lanes_units().into_iter().next()?;
    let registers = machine.memory(unit.memory())?;
    let direct = registers.lanes().is_none() && way(machine, registers.name)?.stage.is_none();
    let memories = machine.memories();
    let caches =
        memories.iter().filter(|memory| memory.is_cache() && memory.scope() == Scope::Core);
    let largest = caches.max_by_key(|memory| memory.capacity_bytes()).filter(|_| direct)?;
    let [most_bytes, shared_bytes] =
        [Beside::TilesAndStream, Beside::Stream].map(|beside| room(largest, beside));
    Some(PrivateCache { name: largest.name, most_bytes, shared_bytes })
}

/// The caches of a unit that are smaller than the one in which tiles wait, if that is a cache: what
/// waits is nearer where it fits one of them.
pub(super) fn nearer_caches<'c>(machine: Machine<'c>, waiting: &Memory<'c>) -> Vec<Memory<'c>> {
    let smaller = |memory: &Memory<'c>| {
        let of_a_unit = memory.is_cache() && memory.scope() == Scope::Core;
        of_a_unit && memory.capacity_bytes() < waiting.capacity_bytes()
    };
    let memories = machine.memories().into_iter();
    memories.filter(|memory| waiting.is_cache() && smaller(memory)).collect()
}
