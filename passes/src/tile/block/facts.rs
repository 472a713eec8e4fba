//! What a machine says about a block tile of a product: what fits, and what it takes.
//!
//! ```text
//! lanes    step = max(instructions · issue / parts that have a group, turns of banks,
//!                     bytes / bandwidth, latency / blocks) + two barriers
//! matrix   step = max(the first two and a part of the smaller, bytes / bandwidth of the cache and a part
//!                     of that, what a block alone does one after the other / blocks) + barriers
//! engines  step = max(instructions · issue, turns of banks, bytes / bandwidth of the cache, latency / steps ahead),
//!          of what rTasks bring together each its part
//! time  = ⌈tiles / units⌉ · (steps · step + what the sums take)
//! ```

use weft_dialects::device::{Machine, Move};
use weft_dialects::ir::ty;

use super::super::banks::{Banks, Choice};
use super::far::{cached, far};
use super::{Block, Core, K, Lying, M, N, Supply, Ways, accesses, epilogue};
use crate::cost::{Cost, Term};
use crate::nest::Nest;

/// What part of its cycles something adds that is done beside what takes longer: an estimate.
const BESIDE: f64 = 4.0;

/// Bytes of an address of the memory behind.
const ADDRESS_BYTES: u64 = 8;

/// Cycles of a block's step: to compute and to load with all blocks of a unit, how many these are, and
/// to compute it alone.
struct Work {
    compute: f64,
    near: f64,
    resident: f64,
    own: f64,
}

/// What a step takes, and of what.
struct Step {
    far: f64,
    waits: f64,
    barriers: f64,
    cycles: f64,
}

/// A block that knows how its tiles lie, and how they do.
pub(super) type Laid<'c> = (Block<'c>, [(Lying, Choice); 2]);

/// What the machine says about a block's work.
pub(super) struct Facts {
    pub(super) units: f64,
    pub(super) issue: f64,
    /// Parts of a unit that issue side by side.
    pub(super) partitions: f64,
    /// Bytes a cycle that one unit gets of the memory behind, and of what caches it for all units.
    pub(super) far: f64,
    pub(super) cached: f64,
    /// Bytes that this holds.
    pub(super) cached_bytes: u64,
    /// Bytes a turn of all banks.
    row: f64,
    pub(super) latency: f64,
    /// The same of boxes.
    boxes_latency: f64,
    /// Cycles in which the rTasks of a cluster meet.
    meet_cycles: f64,
    /// Cycles until what is loaded from the shared memory is there.
    near_latency: f64,
    /// Cycles that an instruction of lanes issues.
    lane_cycles: f64,
    /// Turns in which groups may go through an rTask.
    pub(super) turns: u64,
    /// Cycles of a barrier of all groups.
    pub(super) barrier: f64,
    /// Bytes that a block may have in the shared memory.
    pub(super) room: u64,
    /// Bytes of it that one core has.
    pub(super) whole: u64,
    /// Registers of a lane that tiles may take, what they leave to others, and their bytes.
    pub(super) registers: u64,
    pub(super) spare: u64,
    pub(super) lane_bytes: u64,
    /// Registers of all lanes of a core, and lanes of a block.
    pub(super) core_registers: u64,
    pub(super) block_lanes: u64,
    /// Bytes of an element of each input and of the sums, and of one that is stored.
    pub(super) elem_bytes: [u64; 3],
    stored_bytes: u64,
    /// Extents of the nest's axes, and bytes that a lane moves of an input at once.
    extents: Vec<u64>,
    moved: [u64; 2],
    /// Bytes that the memory behind gives at least, and cycles that a group issues to bring as many as it
    /// moves at once.
    pub(super) transaction: u64,
    bring: f64,
    /// Cycles that lanes issue for an operand's elements of the sums, and bytes that they read for an
    /// element.
    epilogue: (f64, f64),
}

impl Facts {
    pub(super) fn of<'c>(
        machine: Machine<'c>,
        nest: &Nest<'c>,
        block: &Block<'c>,
        ways: &Ways<'c>,
    ) -> Option<Self> {
        let unit = machine.units().into_iter().next()?;
        let (count, bytes) = ways.near.banks().zip(ways.near.bank_bytes())?;
        let register = ways.registers.register_bytes()?;
        let lane_bytes = register / block.lanes;
        // Steps that are written out for matrix instructions leave few addresses: half as many. These,
        // too, are worth to ask for shared memory, for lanes compute longer than it takes to bring more.
        let (addresses, room) = match block.core {
            Core::Matrix(..) => (2, ways.near.capacity_bytes()),
            Core::Lanes(..) => (1, ways.near.kernel_bytes()),
        };
        let spare = (ways.registers.reserved_bytes() / addresses).div_ceil(register);
        let moved = |side: usize| {
            let access = &nest.inputs[block.inputs[side]];
            block.run(nest, access, [side, K]).0 * ty::byte_size(access.elem()).unwrap_or(1)
        };
        let (cached, cached_bytes) = cached(machine).unwrap_or((far(machine)?, 0));
        let elem = |input: usize| ty::byte_size(nest.inputs[block.inputs[input]].elem());
        Some(Self {
            units: unit.count().max(1) as f64,
            issue: block.instruction().issue_cycles(),
            partitions: partitions(machine, unit.partitions(), block.lanes),
            far: far(machine)?,
            cached,
            cached_bytes,
            row: (count * bytes) as f64,
            latency: ways.stage.latency_cycles().unwrap_or(0) as f64,
            boxes_latency: (ways.boxes.as_ref().or(ways.boxes_apart.as_ref()))
                .and_then(Move::latency_cycles)
                .unwrap_or(0) as f64,
            meet_cycles: ways.boxes.as_ref().and_then(Move::boxes).map_or(0, |own| own.meet_cycles)
                as f64,
            near_latency: ways.load.as_ref().and_then(Move::latency_cycles).unwrap_or(0) as f64,
            lane_cycles: machine.lanes_units().first().map_or(1.0, |own| own.issue_cycles()),
            turns: unit.turns(),
            barrier: unit.barrier_cycles() as f64,
            room,
            whole: ways.near.capacity_bytes(),
            registers: (ways.registers.capacity_bytes() / register).saturating_sub(spare),
            spare,
            lane_bytes,
            core_registers: ways.registers.core_bytes().map_or(u64::MAX, |own| own / lane_bytes),
            block_lanes: unit.block_lanes(),
            elem_bytes: [elem(M)?, elem(N)?, ty::byte_size(nest.sum_type(0))?],
            stored_bytes: ty::byte_size(nest.outputs[0].elem())?,
            extents: nest.extents(),
            moved: [moved(M), moved(N)],
            transaction: machine.shared().and_then(|own| own.transaction_bytes()).unwrap_or(1),
            bring: ways.stage.issue_cycles().unwrap_or(0.0),
            epilogue: (epilogue::cycles(machine, nest, block), read_by_lanes(nest)),
        })
    }

    /// Extents of the nest's axes.
    pub(super) fn axes(&self) -> &[u64] {
        &self.extents
    }

    /// Whether a tile of so many points, done by so many lanes, is a block's.
    pub(super) fn holds(&self, tile: [u64; 3], lanes: u64) -> bool {
        let bytes: u64 =
            [M, N].map(|side| tile[side] * tile[K] * self.elem_bytes[side]).iter().sum();
        bytes <= self.room && lanes <= self.block_lanes
    }

    /// Bytes of an input's tile in the shared memory.
    pub(super) fn own(&self, block: &Block<'_>, side: usize) -> u64 {
        block.tile[side] * block.tile[K] * self.elem_bytes[side]
    }

    /// Turns of banks to store the tile of an input, without conflicts.
    pub(super) fn stored(&self, block: &Block<'_>, side: usize) -> f64 {
        self.own(block, side) as f64 / self.row
    }

    /// Bytes of a block in the shared memory.
    pub(super) fn bytes(&self, block: &Block<'_>) -> u64 {
        self.own(block, M) + self.own(block, N)
    }

    /// How the inputs lie, each in as large a part of the room as its tile is of both: the best plain
    /// way, and the best with k interleaved; with the number of accesses.
    pub(super) fn lying<'c>(
        &self,
        banks: Banks,
        nest: &Nest<'c>,
        block: &Block<'c>,
    ) -> Vec<(u64, Laid<'c>)> {
        let room = self.room / block.rooms();
        let part =
            |side| (self.own(block, side) * room / self.bytes(block), self.pack_cycles(side));
        let both = |block: &Block<'c>| {
            let m = accesses::lie(banks, nest, block, M, part(M), true)?;
            let n = accesses::lie(banks, nest, &m.block, N, part(N), true)?;
            Some((m.taken[1] + n.taken[1], (n.block, [(m.lying, m.choice), (n.lying, n.choice)])))
        };
        let ways = std::iter::once(block.clone()).chain(block.interleave(K));
        ways.filter_map(|block| both(&block)).collect()
    }

    pub(super) fn fits(&self, block: &Block<'_>) -> bool {
        let (lanes, registers) = (lanes(block), self.held(block));
        self.bytes(block) * block.rooms() <= self.room
            && registers <= self.registers
            && (registers + self.spare) * self.given(block) <= self.core_registers
            && lanes <= self.block_lanes
    }

    /// Registers that tiles take of each lane.
    fn held(&self, block: &Block<'_>) -> u64 {
        let words = |elements: u64, bytes: u64| (elements * bytes).div_ceil(self.lane_bytes);
        let lane = |elements: u64, bytes| words(elements.div_ceil(block.lanes), bytes);
        let inputs: u64 =
            [M, N].map(|side| words(block.held(side), self.elem_bytes[side])).iter().sum();
        let sums = lane(block.group[M] * block.group[N], self.elem_bytes[K]);
        // What is on its way to the shared memory is in registers, too.
        let staged = match block.is_brought() {
            true => 0,
            false => {
                let step = self.bytes(block).div_ceil(lanes(block) * self.lane_bytes);
                step * block.on_the_way().max(1)
            }
        };
        let addresses = match block.core {
            // As much as that, where steps are short and loads are many.
            Core::Lanes(..) => staged,
            // What is spared is enough where copies take turns with instructions of an engine.
            Core::Matrix(..) if block.is_direct() => 0,
            // Copies of an engine have an address each, and loads some of which are left out a condition
            // along both of their axes, too.
            Core::Matrix(..) => {
                let sides = [M, N, K].into_iter().flat_map(|side| block.axes_along(side));
                let whole = sides
                    .into_iter()
                    .all(|(axis, points)| self.extents[axis].is_multiple_of(points));
                let own = |side: usize| self.own(block, side);
                let moves = |side: usize| own(side).div_ceil(lanes(block) * self.moved[side]);
                let address = words(1, ADDRESS_BYTES);
                let left_out = u64::from(!whole && block.stages > 1);
                // Loads of several steps have an address each, too.
                let more = block.on_the_way().saturating_sub(1);
                let apart = u64::from(block.is_brought()) + more;
                let each = apart * address + left_out * (address + 2);
                each * (moves(M) + moves(N))
            }
        };
        let rotated = if block.rotates() { 2 } else { 1 };
        sums + rotated * inputs + staged + addresses
    }

    /// Lanes that registers are given to: as many in each part of a unit (Roller's rule 1).
    fn given(&self, block: &Block<'_>) -> u64 {
        lanes(block).next_multiple_of(block.lanes * self.partitions as u64)
    }

    /// How many blocks take turns in a unit, two at most: by the shared memory and by registers.
    fn resident(&self, block: &Block<'_>) -> f64 {
        let by_bytes = self.whole / (self.bytes(block) * block.rooms()).max(1);
        let taken = (self.held(block) + self.spare) * self.given(block);
        let by_registers = self.core_registers / taken;
        by_bytes.min(by_registers).clamp(1, 2) as f64
    }

    /// Turns of banks that an input takes in a step, all groups together: to be stored, and for
    /// each instruction along k to be read. What several lanes read is read once, and by one
    /// access no more than a lane moves at once.
    pub(super) fn turns(&self, block: &Block<'_>, side: usize) -> f64 {
        let elem_bytes = self.elem_bytes[side];
        if block.direct[side].is_some() {
            return self.own(block, side) as f64 / self.row + self.read(block, side);
        }
        let [tall, wide] = block.groups();
        let inner = (block.tile[K] / block.quanta()[K]) as f64;
        let bytes = block.group[side] * block.quanta()[K] * elem_bytes;
        let held = block.held_input(side).sizes.iter().product::<u64>() / block.lanes;
        let accesses = held.div_ceil(block.widest(elem_bytes)) as f64;
        let read = (bytes as f64 / self.row).max(accesses);
        (tall * wide) as f64 * inner * read + self.own(block, side) as f64 / self.row
    }

    /// Cycles that an input takes in a step whose turns of banks were counted.
    pub(super) fn loaded(&self, block: &Block<'_>, side: usize, choice: &Choice) -> f64 {
        choice.after.taken as f64 + self.read(block, side)
    }

    /// Cycles in which lanes put elements of an input together in a step.
    fn packs(&self, block: &Block<'_>, side: usize) -> f64 {
        block.packed(side) as f64 * self.pack_cycles(side)
    }

    /// Turns of banks of an instruction that takes an input where it lies.
    pub(super) fn read(&self, block: &Block<'_>, side: usize) -> f64 {
        let bytes = || block.read_by_instructions(side, self.elem_bytes[side]) as f64;
        block.direct[side].map_or(0.0, |_| bytes() / self.row)
    }

    /// Cycles that an element takes of an instruction of lanes that makes one register of several.
    pub(super) fn pack_cycles(&self, side: usize) -> f64 {
        self.elem_bytes[side] as f64 / self.lane_bytes as f64 * self.lane_cycles
    }

    /// Tiles of the output.
    pub(super) fn tiles(&self, nest: &Nest<'_>, block: &Block<'_>) -> f64 {
        let parallel = (0..nest.axes.len()).filter(|&axis| !nest.reduces(axis));
        parallel.map(|axis| block.tasks_along(nest, axis) as f64).product()
    }

    /// A step of lanes: all that it does is hidden behind what takes longest. So says `alone` of
    /// groups that bring everything themselves, with which these blocks are compared.
    fn overlapped(&self, block: &Block<'_>, work: &Work) -> Step {
        let far = self.bytes(block) as f64 / self.far;
        let waits = self.latency / work.resident;
        let barriers = 2.0 * self.barrier;
        let cycles = work.compute.max(work.near).max(far).max(waits) + barriers;
        Step { far, waits, barriers, cycles }
    }

    /// A step whose tiles and instructions are engines' work: both go on while groups begin more, and wait
    /// for each other.
    fn by_engines(&self, nest: &Nest<'_>, block: &Block<'_>, work: &Work) -> Step {
        let &Work { compute, near, resident, .. } = work;
        let far = self.far_cycles(nest, block);
        let latency = match (block.ahead, block.cluster) {
            (Some(own), None) if own.is_boxes() => self.boxes_latency,
            (Some(Supply::Boxes), Some(_)) => self.boxes_latency + self.meet_cycles,
            _ => self.latency,
        };
        let waits = (latency + far) / block.steps_ahead() as f64 / resident;
        let cycles = compute.max(near).max(far).max(waits);
        Step { far, waits, barriers: 0.0, cycles }
    }

    /// Cycles that groups issue to bring an input in narrower pieces than lanes can move.
    fn narrow(&self, block: &Block<'_>, side: usize) -> f64 {
        let pieces = |bytes: u64| self.own(block, side) as f64 / (block.lanes * bytes) as f64;
        let widest = block.widest(self.elem_bytes[side]) * self.elem_bytes[side];
        (pieces(self.moved[side].max(1)) - pieces(widest)).max(0.0) * self.bring
    }

    /// A step of matrix instructions, which are compared with each other: what is not hidden counts.
    fn in_turns(&self, nest: &Nest<'_>, block: &Block<'_>, work: &Work) -> Step {
        let &Work { compute, near, resident, own } = work;
        let far = self.far_cycles(nest, block);
        let inner = (block.tile[K] / block.quanta()[K]) as f64;
        // Groups of a part of the unit take turns: one loads while another computes.
        let groups = block.groups().iter().product::<u64>() as f64 * resident;
        let turns = (groups / self.partitions).max(1.0);
        let stores = self.bytes(block) as f64 / self.row;
        // In the rotated order loads, stores and waiting for others are behind instructions; else a block
        // alone first stores, then loads, then computes. What is brought ahead arrives meanwhile.
        let (busy, own) = match block.rotates() {
            true => (crowded(compute, near, turns), own),
            false => (compute.max(near) + compute.min(near) / turns, self.near_latency + own),
        };
        let arrives = self.latency + far;
        // What is brought ahead is asked for beside the first instructions, and waited for before the last;
        // what other blocks ask for comes in between.
        let ahead = block.steps_ahead() as f64 - if block.rotates() { 1.0 / inner } else { 0.0 };
        let waits = match (block.stages, block.is_brought()) {
            (1, _) => arrives + stores + own,
            (2, false) => arrives.max(stores + own),
            (_, false) => (arrives / block.on_the_way() as f64).max(own),
            (_, true) => ((arrives + (resident - 1.0) * far) / ahead).max(own),
        };
        let waits = waits / resident;
        let barriers = match (block.rotates(), block.rooms()) {
            (true, _) => 0.0,
            (false, 1) => 2.0 * self.barrier,
            (false, _) => self.barrier,
        };
        let longest = busy.max(far).max(waits);
        Step { far, waits, barriers, cycles: longest + busy.min(far) / BESIDE + barriers }
    }

    /// What all units together take until they are done, for so many turns of banks a step.
    pub(super) fn cost(&self, nest: &Nest<'_>, block: &Block<'_>, turns: [f64; 2]) -> Cost {
        let (quanta, [tall, wide]) = (block.quanta(), block.groups());
        let (tiles, steps) = (self.tiles(nest, block), block.steps(nest) as f64);
        let [rows, columns] = block.counts();
        let inner = (block.tile[K] / quanta[K]) as f64;
        let near = turns[M] + turns[N] + self.narrow(block, M) + self.narrow(block, N);
        let resident = self.resident(block).min((tiles / self.units).ceil().max(1.0));
        // Which parts of a unit its groups have is the hardware's choice: another block's may be the same.
        let issues = ((tall * wide) as f64 / self.partitions).min(1.0);
        let compute = (tall * wide * rows * columns) as f64 * inner * self.issue / issues;
        // A group does this between what it reads and its instructions, and no other has its slots meanwhile.
        let packs = (self.packs(block, M) + self.packs(block, N)) / issues;
        let busy = compute + packs;
        let work = Work { compute: busy, near, resident, own: busy * issues };
        let Step { far, waits, barriers, cycles: step } = match block.core {
            Core::Lanes(..) => self.overlapped(block, &work),
            Core::Matrix(..) if block.is_direct() && block.is_brought() => {
                self.by_engines(nest, block, &work)
            }
            Core::Matrix(..) => self.in_turns(nest, block, &work),
        };
        let points = (block.tile[M] * block.tile[N]) as f64;
        let sums = points * (self.stored_bytes as f64 + self.epilogue.1) / self.far;
        let sums = sums + (tall * wide * rows * columns) as f64 * self.epilogue.0 / issues;
        let tile = Cost::default()
            .with(Term::Compute, steps * compute)
            .with(Term::Loads, steps * (near + packs))
            .with(Term::Transfers, steps * far)
            .with(Term::Waits, steps * waits + self.latency)
            .with(Term::Loops, steps * barriers)
            .with(Term::Results, sums)
            .taking(steps * step + sums + self.latency);
        // Units that are no whole cluster have nothing to do.
        let count = block.cluster.map_or(1.0, |own| own.count as f64);
        let units = (self.units / count).floor().max(1.0) * count;
        tile * (tiles / units).ceil()
    }
}

/// Cycles of two things that groups do by so many turns beside each other. Where both take about as long,
/// each waits for the other again and again, by half of what it takes: an estimate by simulations of assembly.
fn crowded(one: f64, other: f64, turns: f64) -> f64 {
    let (most, least) = (one.max(other), one.min(other));
    let crowd = (least / most.max(1.0)).powi(8) / 2.0;
    most + least * crowd.max(1.0 / turns / BESIDE)
}

/// Bytes that lanes read for an element of the sums: inputs as large as the output count whole.
fn read_by_lanes(nest: &Nest<'_>) -> f64 {
    let all = nest.outputs[0].shape.iter().product::<u64>().max(1) as f64;
    let start = epilogue::computed_start(nest).map_or(&[][..], |(inputs, _)| inputs);
    let inputs = nest.epilogue.iter().flat_map(|epilogue| &epilogue.inputs).chain(start);
    let bytes = |access: &crate::nest::Access<'_>| {
        access.shape.iter().product::<u64>() * ty::byte_size(access.elem()).unwrap_or(1)
    };
    inputs.map(|access| bytes(access) as f64 / all).sum()
}

/// Parts of a unit that have a group each: those groups that are as wide as several parts take turns.
fn partitions(machine: Machine<'_>, partitions: u64, lanes: u64) -> f64 {
    let all = machine.memories().into_iter().filter_map(|memory| memory.lanes());
    let least = all.min().unwrap_or(lanes).max(1);
    (partitions / (lanes / least).max(1)).max(1) as f64
}

/// Lanes of all groups of a block.
fn lanes(block: &Block<'_>) -> u64 {
    let [rows, columns] = block.groups();
    rows * columns * block.lanes
}
