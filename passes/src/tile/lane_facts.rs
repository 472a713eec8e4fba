//! Facts of a machine about lanes and the registers that they work in: loads and stores, loops, and
//! the cache next to them.

use weft_dialects::device::{Lanes, Machine, Memory, Scope};
use weft_dialects::ir::{Type, ty};

use super::banks::Banks;
use super::sets::Sets;
use super::way::{Stage, Way, move_cycles, private_cache, way};
use crate::cost::home::{Beside, Homes, room};

/// Lanes of a group, where registers are spread over lanes: groups of them hide what each waits for.
pub(super) fn group_lanes(machine: Machine<'_>) -> Option<u64> {
    machine.memories().iter().find_map(|memory| memory.lanes().filter(|lanes| *lanes > 1))
}

/// Machine facts that the model uses.
pub(super) struct Facts<'c> {
    /// Cycles between two loads of a register.
    pub load: f64,
    /// Cycles between two stores of a register, and until one is done.
    pub store: f64,
    pub store_latency: f64,
    /// Cycles to exchange lanes of two registers, of a round of a loop, and to begin and end the
    /// loops of a register tile.
    pub shuffle: f64,
    pub step: f64,
    pub tile: f64,
    /// The lane unit that works in them.
    pub unit: Option<Lanes<'c>>,
    /// Registers.
    pub registers: u64,
    /// Bytes of a register for one lane, where it is spread over lanes.
    pub lane_bytes: Option<u64>,
    /// Bytes side by side that a lane moves at once, where registers are spread over lanes.
    pub access_bytes: Option<u64>,
    /// Bytes of the shared memory that one access of a lane touches, where registers are spread over lanes.
    pub touched_bytes: Option<u64>,
    /// The memory in which tiles are staged on the way to them.
    pub stage: Option<Stage<'c>>,
    /// Cycles for one byte on the way to where they wait.
    pub stage_byte: f64,
    /// The banks of that memory.
    pub stage_banks: Option<Banks>,
    /// The smallest cache, if it says which addresses compete in it.
    pub near: Option<Near>,
    /// A unit's own caches that say so, the smallest first.
    pub caches: Vec<Near>,
    /// The largest cache that a unit has for itself.
    pub private: Option<Private<'c>>,
}

/// The largest cache that a unit has for itself, and what lies behind it.
pub(super) struct Private<'c> {
    /// Its name.
    pub name: &'c str,
    /// Bytes of what tiles share that stay there.
    pub shared_bytes: u64,
    /// Addresses a multiple of this apart compete, if it says so.
    pub way_bytes: Option<u64>,
    /// Bytes that one access fills.
    pub line_bytes: u64,
    /// The memories behind it.
    pub behind: Homes,
}

impl<'c> Private<'c> {
    /// `None` where units have no such cache.
    pub fn of(machine: Machine<'c>) -> Option<Self> {
        let cache = private_cache(machine)?;
        let memory = machine.memory(cache.name)?;
        Some(Self {
            name: cache.name,
            shared_bytes: cache.shared_bytes,
            way_bytes: memory.way_bytes(),
            line_bytes: memory.transaction_bytes()?,
            behind: Homes::beyond(machine, memory.capacity_bytes()),
        })
    }
}

/// The cache next to the registers.
pub(super) struct Near {
    /// Bytes of what is read that stay in it.
    pub capacity_bytes: u64,
    /// Addresses a multiple of this apart compete.
    pub way_bytes: u64,
    /// Places for which they compete.
    pub ways: u64,
    /// Bytes that one access fills.
    pub line_bytes: u64,
    /// Cycles to fill a line of it from the next memory.
    pub refill: f64,
    /// Cycles of a line that nothing asked for before it was needed, beside these.
    pub jump: f64,
}

impl Near {
    /// `None` where registers have none.
    pub fn of(machine: Machine<'_>) -> Option<Self> {
        let caches = machine.memories();
        let caches = caches.iter().filter(|memory| memory.is_cache());
        Self::at(machine, caches.min_by_key(|memory| memory.capacity_bytes())?)
    }

    /// All that a unit has for itself, the smallest first.
    fn all(machine: Machine<'_>) -> Vec<Self> {
        let mut caches = machine.memories();
        caches.retain(|memory| memory.is_cache() && memory.scope() == Scope::Core);
        caches.sort_by_key(|memory| memory.capacity_bytes());
        caches.iter().filter_map(|cache| Self::at(machine, cache)).collect()
    }

    fn at(machine: Machine<'_>, cache: &Memory<'_>) -> Option<Self> {
        let behind = machine.memory(cache.caches()?)?;
        let (way_bytes, line_bytes) = (cache.way_bytes()?, cache.transaction_bytes()?);
        Some(Self {
            capacity_bytes: room(cache, Beside::Stores),
            way_bytes,
            ways: cache.capacity_bytes() / way_bytes,
            line_bytes,
            refill: line_bytes as f64 / behind.bytes_per_cycle()? as f64,
            jump: behind.jump_cycles().unwrap_or(0) as f64,
        })
    }

    /// Returns whether lines at these addresses evict each other before they are used up, when they
    /// may take `places` of those for which they compete: some are left for other data.
    pub fn thrashes(&self, addresses: impl Iterator<Item = i64>, places: u64) -> bool {
        let mut lines: Vec<i64> =
            addresses.map(|address| address.div_euclid(self.line_bytes as i64)).collect();
        lines.sort_unstable();
        lines.dedup();
        let first = lines.first().copied().unwrap_or(0);
        let mut sets = self.sets();
        lines.into_iter().for_each(|line| sets.add_line((line - first) as u64));
        sets.crowded(places) > 0.0
    }

    /// Its sets, without any lines yet.
    pub fn sets(&self) -> Sets {
        Sets::new(self.way_bytes, self.line_bytes)
    }
}

impl<'c> Facts<'c> {
    /// The facts about the registers of `memory`; `None` where they cannot be reached.
    pub fn of(machine: Machine<'c>, memory: &str) -> Option<Self> {
        Self::by(machine, memory, way(machine, memory)?)
    }

    /// Those of registers that are reached this way.
    pub fn by(machine: Machine<'c>, memory: &str, way: Way<'c>) -> Option<Self> {
        let registers = machine.memory(memory)?;
        let unit = machine.lanes_units().into_iter().find(|unit| unit.memory() == memory);
        let spread = registers.lanes().filter(|lanes| *lanes > 1);
        let stage_byte =
            way.stage.as_ref().map_or(0.0, |stage| move_cycles(machine, &stage.load, 1.0));
        Some(Self {
            load: way.load.issue_cycles().unwrap_or(1.0),
            store: way.store.issue_cycles().unwrap_or(1.0),
            store_latency: way.store.latency_cycles().unwrap_or(0) as f64,
            shuffle: unit.as_ref().map_or(0.0, Lanes::shuffle_cycles),
            step: unit.as_ref().map_or(0.0, Lanes::step_cycles),
            tile: unit.as_ref().map_or(0.0, Lanes::tile_cycles),
            unit,
            registers: usable(&registers)?,
            lane_bytes: registers
                .lanes()
                .zip(registers.register_bytes())
                .map(|(n, bytes)| bytes / n),
            access_bytes: spread.map(|_| registers.access_bytes()),
            touched_bytes: spread.and_then(|_| machine.shared()?.transaction_bytes()),
            near: Near::of(machine).filter(|_| way.stage.is_none()),
            caches: if way.stage.is_none() { Near::all(machine) } else { Vec::new() },
            stage_banks: way.stage.as_ref().and_then(|stage| Banks::of(&stage.memory)),
            stage: way.stage,
            stage_byte,
            private: Private::of(machine),
        })
    }

    /// Registers that an element of each lane takes: wide ones take several of a lane's.
    pub fn words(&self, elem: Type<'_>) -> u64 {
        let bytes = ty::byte_size(elem).unwrap_or(1);
        self.lane_bytes.map_or(1, |lane| bytes.div_ceil(lane))
    }
}

/// Registers that tiles may take. Where threads share a register file it also holds
/// what each computes addresses with.
fn usable(memory: &Memory<'_>) -> Option<u64> {
    let registers = memory.capacity_bytes() / memory.register_bytes()?;
    Some(if memory.lanes().is_some() { registers / 4 * 3 } else { registers })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEAR: Near = Near {
        capacity_bytes: 49152,
        way_bytes: 4096,
        ways: 12,
        line_bytes: 64,
        refill: 1.0,
        jump: 0.0,
    };

    #[test]
    fn rows_a_way_apart_push_each_other_out() {
        let rows = |count: i64, step: i64| NEAR.thrashes((0..count).map(|row| row * step), 9);
        assert!(!rows(9, 4096));
        assert!(rows(10, 4096));
        assert!(rows(14, 8192));
        // Half a way apart they share two places; neighbours share none.
        assert!(!rows(18, 2048));
        assert!(rows(20, 2048));
        assert!(!rows(28, 224));
    }
}
