//! Which block tile: sizes that line up with the instruction and the lanes, compared by
//! the time that all units take.
//!
//! ```text
//! step  = max(instructions · issue, turns of banks, bytes / bandwidth, latency / blocks)
//!         + a part of the latency, for barriers around what is brought
//! time  = ⌈tiles / units⌉ · (steps · step + what the sums take)
//! ```
//!
//! Sizes are powers of two of the instruction's (Roller, OSDI'22, section 3.2 rule 1); the
//! waves over all units make tiles of small problems small (its section 3.3).

use weft_dialects::device::Machine;
use weft_dialects::ir::ty;
use weft_dialects::tile::RTile;

use super::super::banks::Banks;
use super::{Block, Chosen, Core, K, M, N, Ways, accesses};
use crate::nest::Nest;

/// Instructions of a group along an axis, groups of a block along it, instructions of a
/// step along k: what is tried of each.
const SIZES: [u64; 5] = [1, 2, 4, 8, 16];
/// Most lanes of a block.
const MOST_LANES: u64 = 256;
/// The part of the latency that waiting for each other costs a step.
const SYNCHRONISING: f64 = 0.1;
/// Bytes that one element's row of a step has at least, to be read in whole transactions.
const STEP_BYTES: [u64; 3] = [32, 64, 128];

/// The best block tile of each instruction that can do the nest.
pub fn choose<'c>(machine: Machine<'c>, nest: &Nest<'c>) -> Vec<Chosen<'c>> {
    let found = Block::all(machine, nest).into_iter();
    found.filter_map(|block| best(machine, nest, block)).collect()
}

fn best<'c>(machine: Machine<'c>, nest: &Nest<'c>, block: Block<'c>) -> Option<Chosen<'c>> {
    let ways = Ways::of(machine, block.instruction().operands().last()?)?;
    let banks = Banks::of(&ways.near)?;
    let facts = Facts::of(machine, nest, &block, &ways)?;
    let mut best: Option<(f64, u64, Block<'c>)> = None;
    for block in candidates(nest, &block, &facts) {
        let cycles = facts.cycles(nest, &block);
        let bytes = facts.bytes(&block);
        let better = best.as_ref().is_none_or(|(least, room, _)| {
            cycles < least * 0.999 || (cycles < least * 1.001 && bytes < *room)
        });
        if better {
            best = Some((cycles, bytes, block));
        }
    }
    let (cycles, _, block) = best?;
    let own = |side: usize| block.tile[side] * block.tile[K] * facts.elem_bytes[side];
    // Each may grow by as large a part as the other.
    let room = |side| own(side) * facts.room / facts.bytes(&block);
    let lying = [M, N].map(|side| accesses::lie(banks, nest, &block, side, room(side)));
    Some(Chosen { block, ways, lying, cycles: cycles * facts.units })
}

/// What a group that brings everything itself takes, cycles times units, for its register
/// tile; `cycles` is what it takes where nothing has to be waited for. Its tiles come from
/// the memory behind, of which each unit has a part, and it waits for them at every step of
/// the reductions; two steps are under way at once.
pub fn alone<'c>(machine: Machine<'c>, nest: &Nest<'c>, tile: &RTile, cycles: f64) -> f64 {
    let sizes = &tile.sizes;
    let (Some(shared), Some(far)) = (machine.shared(), far(machine)) else { return cycles };
    let axes = 0..nest.axes.len();
    let count = |reduces: bool| -> f64 {
        let own = axes.clone().filter(|&axis| nest.reduces(axis) == reduces);
        own.map(|axis| nest.axes[axis].extent.div_ceil(sizes[axis]) as f64).product()
    };
    let (tiles, steps) = (count(false), count(true));
    let bytes = |access: &crate::nest::Access<'c>| {
        let own = axes.clone().filter(|&axis| access.uses(axis));
        let elements: u64 = own.map(|axis| sizes[axis].min(nest.axes[axis].extent)).product();
        elements as f64 * ty::byte_size(access.elem()).unwrap_or(1) as f64
    };
    let step: f64 = nest.inputs.iter().map(bytes).sum();
    let units = machine.units().first().map_or(1, |unit| unit.count().max(1)) as f64;
    let way = machine.move_between(shared.name, &tile.memory);
    let latency = way.and_then(|way| way.latency_cycles()).unwrap_or(0) as f64;
    let waves = (tiles / units / GROUPS_AT_ONCE).ceil();
    let waits = waves * latency / 2.0;
    let brought = ((tiles / units).ceil() * step / far).max(waits) * steps * units;
    cycles.max(brought) + SYNCHRONISING * brought
}

/// Groups of one unit that hide each other's waiting.
pub const GROUPS_AT_ONCE: f64 = 8.0;

/// Bytes a cycle that one unit gets of the memory behind. What caches it may give more;
/// a tile that needs no more than this is not bound by either (Roller's test at the shared
/// layer).
fn far(machine: Machine<'_>) -> Option<f64> {
    let units = machine.units().first().map_or(1, |unit| unit.count().max(1)) as f64;
    Some(machine.shared()?.bytes_per_cycle()? as f64 / units)
}

/// Every tile that fits: groups of instructions, blocks of groups, steps along k.
fn candidates<'c>(nest: &Nest<'c>, block: &Block<'c>, facts: &Facts) -> Vec<Block<'c>> {
    let quanta = block.quanta();
    let extent = |axis: usize| nest.axes[block.axes[axis]].extent;
    // A tile beyond the end is worth nothing once a smaller one reaches it.
    let reaches = |axis: usize, size: u64| size < 2 * extent(axis).next_multiple_of(quanta[axis]);
    let most = |axis: usize| match block.core {
        // A lane's neighbours are one access; rows are broadcast.
        Core::Lanes(..) if axis == N => super::WIDEST_BYTES / facts.elem_bytes[N],
        _ => 16,
    };
    let steps = STEP_BYTES.map(|bytes| (bytes / facts.elem_bytes[M]).max(quanta[K]));
    let mut found = Vec::new();
    for rows in SIZES.into_iter().filter(|&rows| rows <= most(M)) {
        for columns in SIZES.into_iter().filter(|&columns| columns <= most(N)) {
            let group = [rows * quanta[M], columns * quanta[N]];
            if !reaches(M, group[M]) || !reaches(N, group[N]) {
                continue;
            }
            for along in SIZES {
                for across in
                    SIZES.into_iter().take_while(|n| along * n * block.lanes <= MOST_LANES)
                {
                    let wide = [along * group[M], across * group[N]];
                    if !reaches(M, wide[M]) || !reaches(N, wide[N]) {
                        continue;
                    }
                    for step in steps {
                        let step = step.next_multiple_of(quanta[K]);
                        let tile = [wide[M], wide[N], step];
                        let candidate = Block { tile, group, ..block.clone() };
                        if facts.fits(&candidate)
                            && !found.iter().any(|b: &Block<'_>| (b.tile, b.group) == (tile, group))
                        {
                            found.push(candidate);
                        }
                    }
                }
            }
        }
    }
    found
}

/// What the machine says about a block's work.
struct Facts {
    units: f64,
    issue: f64,
    /// Bytes a cycle that one unit gets of the memory behind.
    far: f64,
    /// Bytes a turn of all banks.
    row: f64,
    latency: f64,
    /// Bytes that a block may have in the shared memory.
    room: u64,
    /// Bytes of it that one core has.
    whole: u64,
    /// Registers of a lane that tiles may take, and their bytes.
    registers: u64,
    lane_bytes: u64,
    elem_bytes: [u64; 3],
}

impl Facts {
    fn of<'c>(
        machine: Machine<'c>,
        nest: &Nest<'c>,
        block: &Block<'c>,
        ways: &Ways<'c>,
    ) -> Option<Self> {
        let units = machine.units().first().map_or(1, |unit| unit.count().max(1)) as f64;
        let (count, bytes) = ways.near.banks().zip(ways.near.bank_bytes())?;
        let register = ways.registers.register_bytes()?;
        let elem = |input: usize| ty::byte_size(nest.inputs[block.inputs[input]].elem());
        Some(Self {
            units,
            issue: block.instruction().issue_cycles(),
            far: far(machine)?,
            row: (count * bytes) as f64,
            latency: ways.stage.latency_cycles().unwrap_or(0) as f64,
            room: ways.near.kernel_bytes(),
            whole: ways.near.capacity_bytes(),
            registers: ways.registers.capacity_bytes() / register / 4 * 3,
            lane_bytes: register / block.lanes,
            elem_bytes: [elem(M)?, elem(N)?, ty::byte_size(nest.outputs[0].elem())?],
        })
    }

    /// Bytes of a block in the shared memory, room for padding included.
    fn bytes(&self, block: &Block<'_>) -> u64 {
        let one = |side: usize| block.tile[side] * block.tile[K] * self.elem_bytes[side];
        one(M) + one(N)
    }

    fn fits(&self, block: &Block<'_>) -> bool {
        let words = |elements: u64, bytes: u64| (elements * bytes).div_ceil(self.lane_bytes);
        let lane = |sizes: &[u64], bytes| {
            words(sizes.iter().product::<u64>().div_ceil(block.lanes), bytes)
        };
        let inputs: u64 = [M, N]
            .into_iter()
            .map(|side| lane(&block.held_input(side).sizes, self.elem_bytes[side]))
            .sum();
        let sums = lane(&[block.group[M], block.group[N]], self.elem_bytes[K]);
        // What is on its way to the shared memory is in registers, too, beside its addresses.
        let [rows, columns] = block.groups();
        let staged = self.bytes(block).div_ceil(rows * columns * block.lanes * self.lane_bytes);
        self.bytes(block) <= self.room && sums + inputs + 2 * staged <= self.registers
    }

    /// Cycles until all units are done.
    fn cycles(&self, nest: &Nest<'_>, block: &Block<'_>) -> f64 {
        let (quanta, [tall, wide]) = (block.quanta(), block.groups());
        let extent = |axis: usize| nest.axes[axis].extent;
        let (mut tiles, mut steps) = (1.0, 1.0);
        for axis in 0..nest.axes.len() {
            let own = block.axes.iter().position(|own| *own == axis);
            let count = extent(axis).div_ceil(own.map_or(1, |own| block.tile[own])) as f64;
            if nest.reduces(axis) { steps *= count } else { tiles *= count }
        }
        let [rows, columns] = block.counts();
        let inner = (block.tile[K] / quanta[K]) as f64;
        let groups = (tall * wide) as f64;
        let compute = groups * (rows * columns) as f64 * inner * self.issue;
        let near: f64 = [M, N]
            .into_iter()
            .map(|side| {
                let held = block.held_input(side).sizes.iter().product::<u64>();
                let bytes = match block.core {
                    // One word for all lanes takes a turn, and a wide one several.
                    Core::Lanes(..) if side == M => rows as f64 * self.row,
                    _ => (held * self.elem_bytes[side]) as f64,
                };
                let stored = (block.tile[side] * block.tile[K] * self.elem_bytes[side]) as f64;
                (groups * inner * bytes + stored) / self.row
            })
            .sum();
        let far = self.bytes(block) as f64 / self.far;
        let resident = (self.whole / self.bytes(block).max(1)).clamp(1, 2) as f64;
        let waits = SYNCHRONISING * self.latency;
        let step = compute.max(near).max(far).max(self.latency / resident) + waits;
        let sums = (block.tile[M] * block.tile[N] * self.elem_bytes[K]) as f64 / self.far;
        (tiles / self.units).ceil() * (steps * step + sums + self.latency)
    }
}
