//! Which block tile: those of `tiles.rs`, compared by the time that all units take.
//!
//! ```text
//! lanes    step = max(instructions · issue / parts that have a group, turns of banks,
//!                     bytes / bandwidth, latency / blocks) + two barriers
//! matrix   step = max(the first two, the smaller of them by turns of groups; bytes / bandwidth of
//!                     the cache; what a block alone does one after the other / blocks) + barriers
//! time  = ⌈tiles / units⌉ · (steps · step + what the sums take)
//! ```
//!
//! Waves over all units make tiles of small problems small (Roller, OSDI'22, section 3.3). Turns
//! of banks are estimated, and for the best of these counted by the addresses of some steps.

use weft_dialects::device::{Machine, Move, Scope};
use weft_dialects::ir::ty;
use weft_dialects::tile::RTile;

use super::super::banks::{Banks, Choice};
use super::super::why::Rule;
use super::{
    Block, Chosen, Core, Dealt, K, Lying, M, N, Ways, accesses, epilogue, of_numbers, tiles,
};
use crate::cost::{Cost, Term};
use crate::nest::Nest;

/// Tiles whose turns of banks are counted.
const COUNTED: usize = 8;

/// Steps that an engine has room for.
const MOST_STAGES: u64 = 4;

/// The best block tile of each instruction that can do the nest, among those that are constructed
/// or among all.
pub fn choose<'c>(machine: Machine<'c>, nest: &Nest<'c>, all_tiles: bool) -> Vec<Chosen<'c>> {
    let mut found = Block::all(machine, nest);
    // Of those that take as long the instruction is the first that computes most.
    let points = |block: &Block<'_>| {
        let points: u64 = block.quanta().iter().product();
        points as f64 / block.instruction().issue_cycles()
    };
    found.sort_by(|one, other| points(other).total_cmp(&points(one)));
    found.into_iter().filter_map(|block| best(machine, nest, block, all_tiles)).collect()
}

/// Returns whether groups of the machine may share tiles of the nest.
pub fn may_share<'c>(machine: Machine<'c>, nest: &Nest<'c>) -> bool {
    let ways = |block: &Block<'c>| {
        block.instruction().operands().last().and_then(|own| Ways::of(machine, own)).is_some()
    };
    Block::all(machine, nest).iter().any(ways)
}

fn best<'c>(
    machine: Machine<'c>,
    nest: &Nest<'c>,
    block: Block<'c>,
    all_tiles: bool,
) -> Option<Chosen<'c>> {
    let ways = Ways::of(machine, block.instruction().operands().last()?)?;
    let banks = Banks::of(&ways.near)?;
    let facts = Facts::of(machine, nest, &block, &ways)?;
    let candidates = match all_tiles {
        true => {
            let all = tiles::enumerated(nest, &block, &facts).into_iter();
            all.map(|block| (block, Rule::Enumerated)).collect()
        }
        false => tiles::constructed(machine, nest, &block, &ways, &facts),
    };
    let ahead = |(block, rule): (Block<'c>, Rule)| {
        let stages = facts.stages(nest, &block, &ways);
        let own = move |(stages, ahead)| (Block { stages, ahead, ..block.clone() }, rule);
        stages.into_iter().map(own).collect::<Vec<_>>()
    };
    let candidates: Vec<_> = candidates.into_iter().flat_map(ahead).collect();
    let compared = candidates.len();
    let estimated = candidates.into_iter().map(|(block, rule)| {
        let turns = [M, N].map(|side| facts.turns(&block, side));
        (facts.cost(nest, &block, turns).cycles, block, rule)
    });
    let mut ranked: Vec<(f64, Block<'c>, Rule)> = estimated.collect();
    ranked.sort_by(|one, other| {
        let bytes = |block| facts.bytes(block);
        one.0.total_cmp(&other.0).then_with(|| bytes(&one.1).cmp(&bytes(&other.1)))
    });
    ranked.truncate(COUNTED);
    let taken = |block: &Block<'c>, lying: &[(Lying, Choice); 2]| {
        let turns = [M, N].map(|side| lying[side].1.after.taken as f64);
        facts.cost(nest, block, turns) * facts.units
    };
    let counted = ranked.into_iter().filter_map(|(_, block, rule)| {
        let (block, lying) = facts.lying(banks, nest, &block)?;
        facts.fits(&block).then(|| (taken(&block, &lying).cycles, (block, lying, rule)))
    });
    let (_, (block, lying, rule)) = counted.min_by(|one, other| one.0.total_cmp(&other.0))?;
    let own = |side: usize| {
        let own: Lying = lying[side].0;
        Some((own, accesses::counted(banks, nest, &block, side, &own)?))
    };
    let lying = [own(M)?, own(N)?];
    let cost = taken(&block, &lying);
    Some(Chosen { block, ways, lying, cost, rule, compared })
}

/// What a block takes that a tile program describes, as [`Chosen::cost`], its turns of banks counted.
/// `None` where the program says of an input no layout.
pub fn cost<'c>(
    machine: Machine<'c>,
    nest: &Nest<'c>,
    block: &Block<'c>,
    layouts: &[Vec<i64>],
) -> Option<Cost> {
    let ways = Ways::of(machine, block.instruction().operands().last()?)?;
    let (banks, facts) = (Banks::of(&ways.near)?, Facts::of(machine, nest, block, &ways)?);
    let turns = |side: usize| {
        let lying = of_numbers(layouts.get(block.inputs[side])?)?;
        Some(accesses::counted(banks, nest, block, side, &lying)?.after.taken as f64)
    };
    Some(facts.cost(nest, block, [turns(M)?, turns(N)?]) * facts.units)
}

/// Bytes a cycle that one unit gets of the fastest memory that caches for all units.
fn cached(machine: Machine<'_>) -> Option<f64> {
    let units = machine.units().first().map_or(1, |unit| unit.count().max(1)) as f64;
    let memories = machine.memories().into_iter();
    let caches = memories.filter(|memory| memory.is_cache() && memory.scope() == Scope::Device);
    let rates = caches.filter_map(|memory| memory.bytes_per_cycle());
    Some(rates.max()? as f64 / units)
}

/// What a group that brings everything itself takes, cycles times units, for its register
/// tile; `cost` is what it takes where nothing has to be waited for. Its tiles come from
/// the memory behind, of which each unit has a part, and it waits for them at every step of
/// the reductions; two steps are under way at once.
pub fn alone<'c>(machine: Machine<'c>, nest: &Nest<'c>, tile: &RTile, cost: Cost) -> Cost {
    let sizes = &tile.sizes;
    let units = machine.units();
    let facts = machine.shared().zip(far(machine)).zip(units.first());
    let Some(((shared, far), unit)) = facts else { return cost };
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
    let units = unit.count().max(1) as f64;
    let way = machine.move_between(shared.name, &tile.memory);
    let latency = way.and_then(|way| way.latency_cycles()).unwrap_or(0) as f64;
    let waves = (tiles / units / unit.groups() as f64).ceil();
    let waits = waves * latency / 2.0;
    let transfers = (tiles / units).ceil() * step / far;
    let [transfers, waits] = [transfers, waits].map(|each| each * steps * units);
    let (cycles, brought) = (cost.cycles, transfers.max(waits));
    // Of the groups under way one is at its end, or at its beginning.
    let all = cycles.max(brought) + cycles.min(brought) / unit.groups() as f64;
    cost.with(Term::Transfers, transfers).with(Term::Waits, waits).taking(all)
}

/// Bytes a cycle that one unit gets of the memory behind. What caches it may give more;
/// a tile that needs no more than this is not bound by either (Roller's test at the shared
/// layer).
fn far(machine: Machine<'_>) -> Option<f64> {
    let units = machine.units().first().map_or(1, |unit| unit.count().max(1)) as f64;
    Some(machine.shared()?.bytes_per_cycle()? as f64 / units)
}

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
type Laid<'c> = (Block<'c>, [(Lying, Choice); 2]);

/// What the machine says about a block's work.
pub(super) struct Facts {
    units: f64,
    issue: f64,
    /// Parts of a unit that issue side by side.
    partitions: f64,
    /// Bytes a cycle that one unit gets of the memory behind, and of what caches it for all units.
    far: f64,
    cached: f64,
    /// Bytes a turn of all banks.
    row: f64,
    latency: f64,
    /// Cycles until what is loaded from the shared memory is there.
    near_latency: f64,
    /// Cycles of a barrier of all groups.
    barrier: f64,
    /// Bytes that a block may have in the shared memory.
    room: u64,
    /// Bytes of it that one core has.
    whole: u64,
    /// Registers of a lane that tiles may take, what they leave to others, and their bytes.
    registers: u64,
    spare: u64,
    lane_bytes: u64,
    /// Registers of all lanes of a core, and lanes of a block.
    core_registers: u64,
    block_lanes: u64,
    elem_bytes: [u64; 3],
    /// Cycles that the epilogue issues for an operand's elements, and bytes that it reads of an
    /// element.
    epilogue: (f64, f64),
}

impl Facts {
    fn of<'c>(
        machine: Machine<'c>,
        nest: &Nest<'c>,
        block: &Block<'c>,
        ways: &Ways<'c>,
    ) -> Option<Self> {
        let unit = machine.units().into_iter().next()?;
        let (count, bytes) = ways.near.banks().zip(ways.near.bank_bytes())?;
        let register = ways.registers.register_bytes()?;
        let lane_bytes = register / block.lanes;
        let elem = |input: usize| ty::byte_size(nest.inputs[block.inputs[input]].elem());
        Some(Self {
            units: unit.count().max(1) as f64,
            issue: block.instruction().issue_cycles(),
            partitions: unit.partitions() as f64,
            far: far(machine)?,
            cached: cached(machine).unwrap_or(far(machine)?),
            row: (count * bytes) as f64,
            latency: ways.stage.latency_cycles().unwrap_or(0) as f64,
            near_latency: ways.load.latency_cycles().unwrap_or(0) as f64,
            barrier: unit.barrier_cycles() as f64,
            room: ways.near.kernel_bytes(),
            whole: ways.near.capacity_bytes(),
            registers: ways.registers.tile_bytes() / register,
            spare: ways.registers.reserved_bytes() / register,
            lane_bytes,
            core_registers: ways.registers.core_bytes().map_or(u64::MAX, |own| own / lane_bytes),
            block_lanes: unit.block_lanes(),
            elem_bytes: [elem(M)?, elem(N)?, ty::byte_size(nest.outputs[0].elem())?],
            epilogue: (epilogue::cycles(machine, nest, block), read_by_epilogue(nest)),
        })
    }

    /// Whether a tile of so many points, done by so many lanes, is a block's.
    pub(super) fn holds(&self, tile: [u64; 3], lanes: u64) -> bool {
        let bytes: u64 =
            [M, N].map(|side| tile[side] * tile[K] * self.elem_bytes[side]).iter().sum();
        bytes <= self.room && lanes <= self.block_lanes
    }

    /// Bytes of an input's tile in the shared memory.
    fn own(&self, block: &Block<'_>, side: usize) -> u64 {
        block.tile[side] * block.tile[K] * self.elem_bytes[side]
    }

    /// Bytes of a block in the shared memory.
    fn bytes(&self, block: &Block<'_>) -> u64 {
        self.own(block, M) + self.own(block, N)
    }

    /// How the inputs lie, each in as large a part of the room as its tile is of both.
    fn lying<'c>(&self, banks: Banks, nest: &Nest<'c>, block: &Block<'c>) -> Option<Laid<'c>> {
        let room = self.room / block.rooms();
        let room = |side| self.own(block, side) * room / self.bytes(block);
        let both = |block: &Block<'c>| {
            let m = accesses::lie(banks, nest, block, M, room(M))?;
            let n = accesses::lie(banks, nest, &m.block, N, room(N))?;
            let taken = [0, 1].map(|what| m.taken[what] + n.taken[what]);
            Some((taken, (n.block, [(m.lying, m.choice), (n.lying, n.choice)])))
        };
        let ways = std::iter::once(block.clone()).chain(block.interleave(K));
        let found = ways.filter_map(|block| both(&block));
        found.min_by_key(|(taken, _)| *taken).map(|(_, laid)| laid)
    }

    /// The numbers of stages that are compared for a block of matrix instructions, and whether an
    /// engine brings later ones: one, and more where there is a later step to bring ahead and a way
    /// for it. That is registers where groups share the tiles out evenly, for the addresses of rooms
    /// take more to add up than the barrier that they save; an engine elsewhere. Several blocks of
    /// lanes take turns in a unit.
    fn stages(&self, nest: &Nest<'_>, block: &Block<'_>, ways: &Ways<'_>) -> Vec<(u64, bool)> {
        let mut found = vec![(1, false)];
        if steps(nest, block) > 1 && matches!(block.core, Core::Matrix(..)) {
            let both = |suits: &dyn Fn(usize, usize) -> bool| {
                [M, N].into_iter().all(|side| {
                    let (_, along) = block.run(nest, &nest.inputs[block.inputs[side]], [side, K]);
                    suits(side, block.axes[along])
                })
            };
            let even = both(&|side, inner| Dealt::of(block, nest, side, inner).is_some());
            let by_engine = |way: &Move<'_>| {
                both(&|side, inner| block.comes_ahead(nest, side, inner, way.least_bytes()))
            };
            if even && ways.put.is_some() {
                found.push((2, false));
            } else if ways.ahead.as_ref().is_some_and(by_engine) {
                found
                    .extend((2..=MOST_STAGES.min(steps(nest, block))).map(|stages| (stages, true)));
            }
        }
        found
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
        let held = |side: usize| block.held_input(side).sizes.iter().product();
        let inputs: u64 = [M, N].map(|side| lane(held(side), self.elem_bytes[side])).iter().sum();
        let sums = lane(block.group[M] * block.group[N], self.elem_bytes[K]);
        // What is on its way to the shared memory is in registers, too, beside its addresses.
        let staged = match block.ahead {
            true => 0,
            false => self.bytes(block).div_ceil(lanes(block) * self.lane_bytes),
        };
        sums + inputs + 2 * staged
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
        let [tall, wide] = block.groups();
        let inner = (block.tile[K] / block.quanta()[K]) as f64;
        let bytes = block.group[side] * block.quanta()[K] * elem_bytes;
        let held = block.held_input(side).sizes.iter().product::<u64>() / block.lanes;
        let accesses = held.div_ceil(block.widest(elem_bytes)) as f64;
        let read = (bytes as f64 / self.row).max(accesses);
        (tall * wide) as f64 * inner * read + self.own(block, side) as f64 / self.row
    }

    /// Bytes of a step that a block does not share with others that are under way: units take blocks
    /// as they are numbered, and what several read is cached for all but the first.
    fn first_read(&self, nest: &Nest<'_>, block: &Block<'_>) -> f64 {
        if self.cached <= self.far {
            return self.bytes(block) as f64;
        }
        let (inner, outer) = if block.axes[M] < block.axes[N] { (N, M) } else { (M, N) };
        let tiles = |side: usize| {
            nest.axes[block.axes[side]].extent.div_ceil(block.tile[side]).max(1) as f64
        };
        let along = tiles(inner).min(self.units);
        let rows = (self.units / along).ceil().min(tiles(outer));
        let under_way = (along * rows).min(self.units);
        (along * self.own(block, inner) as f64 + rows * self.own(block, outer) as f64) / under_way
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

    /// A step of matrix instructions, which are compared with each other: what is not hidden counts.
    fn in_turns(&self, nest: &Nest<'_>, block: &Block<'_>, work: &Work) -> Step {
        let &Work { compute, near, resident, own } = work;
        let far = self.bytes(block) as f64 / self.cached;
        let far = far.max(self.first_read(nest, block) / self.far);
        // Groups of a part of the unit take turns: one loads while another computes.
        let groups = block.groups().iter().product::<u64>() as f64 * resident;
        let turns = (groups / self.partitions).max(1.0);
        let busy = compute.max(near) + compute.min(near) / turns;
        // Between barriers a block alone first stores, then loads, then computes; what is brought
        // ahead arrives meanwhile.
        let stores = self.bytes(block) as f64 / self.row;
        let own = self.near_latency + own;
        let waits = match (block.stages, block.ahead) {
            (1, _) => self.latency + stores + own,
            (_, false) => self.latency.max(stores + own),
            (stages, true) => (self.latency / (stages - 1) as f64).max(own),
        };
        let waits = waits / resident;
        let barriers = if block.ahead { 1.0 } else { 2.0 } * self.barrier;
        Step { far, waits, barriers, cycles: busy.max(far).max(waits) + barriers }
    }

    /// What all units together take until they are done, for so many turns of banks a step.
    fn cost(&self, nest: &Nest<'_>, block: &Block<'_>, turns: [f64; 2]) -> Cost {
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
        let near = turns[M] + turns[N];
        let resident = self.resident(block);
        let issues = ((tall * wide) as f64 * resident / self.partitions).min(1.0);
        let compute = (tall * wide * rows * columns) as f64 * inner * self.issue / issues;
        let work = Work { compute, near, resident, own: compute * issues };
        let Step { far, waits, barriers, cycles: step } = match block.core {
            Core::Lanes(..) => self.overlapped(block, &work),
            Core::Matrix(..) => self.in_turns(nest, block, &work),
        };
        let points = (block.tile[M] * block.tile[N]) as f64;
        let sums = points * (self.elem_bytes[K] as f64 + self.epilogue.1) / self.far;
        let sums = sums + (tall * wide * rows * columns) as f64 * self.epilogue.0 / issues;
        let tile = Cost::default()
            .with(Term::Compute, steps * compute)
            .with(Term::Loads, steps * near)
            .with(Term::Transfers, steps * far)
            .with(Term::Waits, steps * waits + self.latency)
            .with(Term::Loops, steps * barriers)
            .with(Term::Results, sums)
            .taking(steps * step + sums + self.latency);
        tile * (tiles / self.units).ceil()
    }
}

/// Steps of all reductions.
fn steps(nest: &Nest<'_>, block: &Block<'_>) -> u64 {
    let own = (0..nest.axes.len()).filter(|&axis| nest.reduces(axis));
    let size = |axis: usize| if axis == block.axes[K] { block.tile[K] } else { 1 };
    own.map(|axis| nest.axes[axis].extent.div_ceil(size(axis))).product()
}

/// Bytes that the epilogue reads for an element: inputs as large as the output count whole.
fn read_by_epilogue(nest: &Nest<'_>) -> f64 {
    let all = nest.outputs[0].shape.iter().product::<u64>().max(1) as f64;
    let inputs = nest.epilogue.iter().flat_map(|epilogue| &epilogue.inputs);
    let bytes = |access: &crate::nest::Access<'_>| {
        access.shape.iter().product::<u64>() * ty::byte_size(access.elem()).unwrap_or(1)
    };
    inputs.map(|access| bytes(access) as f64 / all).sum()
}

/// Lanes of all groups of a block.
fn lanes(block: &Block<'_>) -> u64 {
    let [rows, columns] = block.groups();
    rows * columns * block.lanes
}
