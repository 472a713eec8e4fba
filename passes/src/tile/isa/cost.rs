//! What a mapping with a tile costs: room, bytes and cycles.
//!
//! ```text
//! cycles = tiles · (first stream + steps · step + moves out); of steps that overlap the last one is its
//!          instructions alone, for nothing comes beside it
//! move   = its bytes by its rate, or the pieces of the shared memory that it touches by that
//!          memory's, whichever is longer; and what is filled before it
//! step   = the larger of instructions · issue and the moves in, where engines bring them
//!          their sum, where the unit does, or where the model says so
//! ```

use weft_dialects::device::{Machine, Move};
use weft_dialects::ir::ty;

use super::cached::Cached;
use super::choose::{Model, Near};
use super::finish::Finish;
use super::mapping::Mapping;
use super::unify::Bound;
use crate::cost::{Cost, Term};
use crate::nest::{Nest, Start};
use crate::tile::far::bytes;
use crate::tile::passing::Passing;
use crate::tile::way::move_cycles;

/// A move between where a tensor lies and an operand, with the facts of its ends.
struct Path<'c> {
    way: Move<'c>,
    /// Bytes a cycle of the slowest on the way.
    slowest: Option<u64>,
    /// Bytes of a register at one of its ends.
    register: Option<u64>,
    /// Whether it leads from or to the shared memory.
    far: bool,
}

impl<'c> Path<'c> {
    fn between(machine: Machine<'c>, from: &str, to: &str) -> Option<Self> {
        let way = machine.move_between(from, to)?;
        let ends = [way.source(), way.target()].map(|name| machine.memory(name));
        let rates = ends.iter().flatten().filter(|end| !end.is_registers());
        let slowest =
            rates.filter_map(|end| end.bytes_per_cycle()).chain(way.bytes_per_cycle()).min();
        let register = ends.iter().flatten().find_map(|end| end.register_bytes());
        let shared = machine.shared().map(|shared| shared.name);
        let far = [Some(way.source()), Some(way.target())].contains(&shared);
        Some(Self { way, slowest, register, far })
    }

    /// Cycles of one transfer, as [`transfer_cycles`].
    fn cycles(&self, bytes: f64) -> f64 {
        let moved = self.slowest.map_or(0.0, |rate| bytes / rate as f64);
        let issue = match self.register {
            Some(register) => {
                (bytes / register as f64).ceil() * self.way.issue_cycles().unwrap_or(1.0)
            }
            None => self.way.issue_cycles().unwrap_or(0.0),
        };
        let latency = self.way.latency_cycles().unwrap_or(0) as f64;
        // Registers are many: the next move begins before this one has arrived.
        let latency = if self.register.is_some() { 0.0 } else { latency };
        moved.max(issue) + latency
    }
}

/// An operand of the instruction.
pub(super) struct Operand<'c> {
    memory: &'c str,
    /// What brings it, or what it starts from, from where that lies.
    load: Option<Path<'c>>,
    /// What takes it to where the result will lie.
    store: Option<Path<'c>>,
    /// Elements of one, and bytes of each.
    block: u64,
    elem_bytes: u64,
    pub is_result: bool,
    /// Whether it is one everywhere.
    pub is_one: bool,
    /// The axes that it moves along and the instruction does not have.
    around: Vec<usize>,
    /// Those that the instruction has, with the points of one.
    inside: Vec<(usize, u64)>,
}

/// A mapping beside its nest on a machine, whose facts are read once: every tile asks for them.
pub(super) struct Mapped<'p, 'c> {
    pub machine: Machine<'c>,
    pub nest: &'p Nest<'c>,
    pub mapping: &'p Mapping<'c>,
    /// What waits near the unit.
    near: Option<Near<'p>>,
    pub operands: Vec<Operand<'c>>,
    /// Bytes that tiles may take of each operand's memory.
    rooms: Vec<u64>,
    /// What passes the shared memory.
    passing: Passing,
    units: u64,
    /// Where registers are filled through caches.
    cached: Option<Cached>,
    /// Who applies the epilogue to tiles of sums.
    pub finish: Option<Finish<'c>>,
}

impl<'p, 'c> Mapped<'p, 'c> {
    pub fn new(
        machine: Machine<'c>,
        nest: &'p Nest<'c>,
        mapping: &'p Mapping<'c>,
        near: Option<Near<'p>>,
    ) -> Self {
        let home = |access: Option<usize>| home(machine, near, access);
        let types = mapping.instruction.operand_types();
        let operand = |(number, &memory): (usize, &&'c str)| Operand {
            memory,
            load: home(read_by(nest, mapping, number))
                .and_then(|home| Path::between(machine, home, memory)),
            store: home(written(nest)).and_then(|home| Path::between(machine, memory, home)),
            block: ty::count(types[number]).unwrap_or(1),
            elem_bytes: ty::elem(types[number]).and_then(ty::byte_size).unwrap_or(8),
            is_result: mapping.is_result(nest, number),
            is_one: mapping.binding.operands[number] == Bound::One,
            around: mapping.around(nest, number),
            inside: {
                let inside = mapping.inside(number).into_iter();
                inside.map(|axis| (axis, mapping.quantum(axis))).collect()
            },
        };
        let operands: Vec<_> =
            mapping.instruction.operands().iter().enumerate().map(operand).collect();
        let rooms = operands.iter().map(|own| room(machine, near, own.memory)).collect();
        let mut mapped = Self {
            machine,
            nest,
            mapping,
            near,
            operands,
            rooms,
            passing: Passing::of(machine),
            units: machine.units().first().map_or(1, |unit| unit.count().max(1)),
            cached: None,
            finish: Finish::of(machine, nest, &mapping.instruction),
        };
        mapped.cached = Cached::of(&mapped);
        mapped
    }

    /// The memory in which what is read for an operand lies, and the one for the result.
    pub fn homes(&self, operand: usize) -> [Option<&'p str>; 2]
    where
        'c: 'p,
    {
        let home = |access| home(self.machine, self.near, access);
        [home(read_by(self.nest, self.mapping, operand)), home(written(self.nest))]
    }
}

/// The memory in which the tensor of an access lies.
fn home<'p, 'c: 'p>(
    machine: Machine<'c>,
    near: Option<Near<'p>>,
    access: Option<usize>,
) -> Option<&'p str> {
    let waits = |near: &Near<'_>| access.and_then(|number| near.inside.get(number)) == Some(&true);
    match near.filter(waits) {
        Some(near) => Some(near.memory),
        None => machine.shared().map(|shared| shared.name),
    }
}

/// The access whose tensor is brought for an operand: what is read, or what sums start from.
fn read_by(nest: &Nest<'_>, mapping: &Mapping<'_>, operand: usize) -> Option<usize> {
    match mapping.binding.operands[operand] {
        Bound::One => None,
        Bound::Operand(number) if number < nest.inputs.len() => Some(number),
        Bound::Operand(_) => match nest.starts.first() {
            Some(Start::From { inputs, .. }) if !inputs.is_empty() => Some(nest.inputs.len()),
            _ => written(nest),
        },
    }
}

/// The access of the result.
fn written(nest: &Nest<'_>) -> Option<usize> {
    Some(nest.reads().len())
}

/// Bytes of a memory that tiles may take.
fn room(machine: Machine<'_>, near: Option<Near<'_>>, memory: &str) -> u64 {
    let Some(memory) = machine.memory(memory) else { return 0 };
    match memory.is_registers() {
        true => memory.tile_bytes(),
        false => {
            let near = near.filter(|near| near.memory == memory.name);
            memory.capacity_bytes().saturating_sub(near.map_or(0, |near| near.taken))
        }
    }
}

impl<'c> Mapped<'_, 'c> {
    /// Elements that an operand holds for a tile, whole instructions of them.
    pub fn held(&self, sizes: &[u64], operand: usize) -> u64 {
        let around = self.operands[operand].around.iter();
        let around: u64 = around.map(|&axis| sizes[axis]).product();
        around * self.blocks(sizes, operand) * self.block(operand)
    }

    /// Operands of the instruction side by side in a tile.
    fn blocks(&self, sizes: &[u64], operand: usize) -> u64 {
        let own = &self.operands[operand];
        if own.is_one {
            return 1;
        }
        own.inside.iter().map(|&(axis, points)| sizes[axis].div_ceil(points)).product()
    }

    /// Operands of the instruction that a tile holds.
    pub(super) fn registers(&self, sizes: &[u64], operand: usize) -> u64 {
        self.held(sizes, operand) / self.block(operand).max(1)
    }

    /// Elements of one operand of the instruction.
    fn block(&self, operand: usize) -> u64 {
        self.operands[operand].block
    }

    pub fn elem_bytes(&self, operand: usize) -> u64 {
        self.operands[operand].elem_bytes
    }

    /// Whether some block of an operand has points that are none of the nest.
    pub fn is_ragged(&self, sizes: &[u64], operand: usize) -> bool {
        let dims = self.mapping.dims[operand].iter().flatten();
        dims.into_iter().any(|&own| self.mapping.is_ragged(sizes, own))
    }

    /// Bytes that are needed in a memory. What streams through is held twice: one is used
    /// while the other fills, and what is left over of the steps is held beside both.
    pub fn needed(&self, sizes: &[u64], memory: &str) -> u64 {
        let there = self.operands.iter().enumerate().filter(|(_, own)| own.memory == memory);
        there.map(|(n, _)| self.copies(sizes, n) * self.held(sizes, n) * self.elem_bytes(n)).sum()
    }

    /// Bytes of an operand's memory that tiles may take.
    pub fn room(&self, memory: &str) -> u64 {
        let place = self.operands.iter().position(|own| own.memory == memory);
        place.map_or(0, |place| self.rooms[place])
    }

    /// The first memory that does not hold its operands, with what they need.
    pub fn overfull(&self, sizes: &[u64]) -> Option<(&'c str, u64)> {
        let memories = self.operands.iter().map(|own| own.memory);
        let mut needed = memories.map(|memory| (memory, self.needed(sizes, memory)));
        needed.find(|(memory, bytes)| *bytes > self.room(memory))
    }

    /// How many tiles of an operand are held.
    fn copies(&self, sizes: &[u64], operand: usize) -> u64 {
        let own = &self.operands[operand];
        let brought = !own.is_result && !own.is_one;
        let streams = brought && self.load(operand).is_some_and(|way| way.engine().is_some());
        let extent = |axis: usize| self.nest.axes[axis].extent;
        let steps = self.reductions().any(|axis| extent(axis) > sizes[axis]);
        let ragged = self.reductions().any(|axis| !extent(axis).is_multiple_of(sizes[axis]));
        1 + u64::from(streams && steps) + u64::from(streams && ragged)
    }

    /// Two where engines bring all inputs, step by step: the next step's come while one is
    /// computed. Else one.
    pub fn stages(&self, sizes: &[u64]) -> u64 {
        let by_engine = |operand| self.load(operand).is_some_and(|way| way.engine().is_some());
        let mut brought = (0..self.operands.len()).filter(|&operand| {
            let own = &self.operands[operand];
            !own.is_result && !own.is_one
        });
        let by_engines = brought.all(by_engine);
        let steps = self.innermost(sizes).map_or(1, |(_, steps)| steps);
        1 + u64::from(by_engines && steps > 1)
    }

    /// The innermost reduction that is looped over, and its whole steps.
    fn innermost(&self, sizes: &[u64]) -> Option<(usize, u64)> {
        let extent = |axis: usize| self.nest.axes[axis].extent;
        let innermost = self.reductions().filter(|&axis| extent(axis) > sizes[axis]).last()?;
        Some((innermost, extent(innermost) / sizes[innermost]))
    }

    /// The reduction along which inputs of later steps come while one is computed, its whole steps, and how many
    /// of them have room; `None` where they do not.
    pub(super) fn ahead(&self, sizes: &[u64]) -> Option<(usize, u64, u64)> {
        let rooms = self.stages(sizes);
        let (axis, steps) = self.innermost(sizes).filter(|_| rooms > 1)?;
        Some((axis, steps, rooms.min(steps)))
    }

    fn reductions(&self) -> impl Iterator<Item = usize> {
        (0..self.nest.axes.len()).filter(|&axis| self.nest.reduces(axis))
    }

    /// What brings an operand, or what it starts from, from where that lies.
    pub fn load(&self, operand: usize) -> Option<&Move<'c>> {
        self.operands[operand].load.as_ref().map(|path| &path.way)
    }

    /// What takes a result to where it will lie.
    pub fn store(&self, operand: usize) -> Option<&Move<'c>> {
        self.operands[operand].store.as_ref().map(|path| &path.way)
    }

    /// Elements of an axis that move together with their neighbours in memory: a transaction of
    /// the tensors that it is contiguous in; 1 where it is in none.
    pub fn transaction_of(&self, axis: usize) -> u64 {
        let operands = 0..self.operands.len();
        let own = operands.filter_map(|operand| {
            let access = self.mapping.access(self.nest, operand)?;
            let contiguous = access.stride(self.nest.axes.len(), axis) == 1;
            contiguous.then(|| self.passing.transaction_bytes / self.elem_bytes(operand).max(1))
        });
        own.max().unwrap_or(1).max(1)
    }

    /// The sizes with every reduction in one step.
    pub fn with_whole_reductions(&self, sizes: &[u64]) -> Vec<u64> {
        let mut whole = sizes.to_vec();
        for axis in self.reductions() {
            whole[axis] = self.nest.axes[axis].extent;
        }
        whole
    }

    /// Bytes of all tiles that are held for a tile.
    pub fn footprint(&self, sizes: &[u64]) -> f64 {
        let bytes = |operand| (self.held(sizes, operand) * self.elem_bytes(operand)) as f64;
        (0..self.operands.len()).map(bytes).sum()
    }

    /// Bytes that are moved for the whole nest in tiles of these sizes, in whole transactions.
    pub fn traffic(&self, sizes: &[u64]) -> f64 {
        let (tiles, steps) = (self.tiles(sizes) as f64, self.steps(sizes) as f64);
        let bytes = |(operand, own): (usize, &Operand<'_>)| match own.is_result {
            _ if own.is_one => 0.0,
            true => tiles * self.moved_bytes(sizes, operand),
            false => tiles * steps * self.moved_bytes(sizes, operand),
        };
        self.operands.iter().enumerate().map(bytes).sum()
    }

    /// Bytes of the transactions that the tile of an operand touches.
    pub(super) fn moved_bytes(&self, sizes: &[u64], operand: usize) -> f64 {
        (self.pieces(sizes, operand, self.passing.transaction_bytes)
            * self.passing.transaction_bytes) as f64
    }

    /// What the whole nest takes on one unit.
    pub fn cost(&self, sizes: &[u64], model: Model) -> Cost {
        self.tile_cost(sizes, model, 1) * self.tiles(sizes) as f64
    }

    /// Cycles until all units together are done: tiles go out in waves, and those of a wave
    /// share the bandwidth of the memory that all units share.
    pub fn elapsed(&self, sizes: &[u64], model: Model) -> f64 {
        let (units, tiles) = (self.units, self.tiles(sizes));
        if self.near.is_some() {
            // A tile of a group: the other units do theirs.
            return tiles as f64 * self.tile_cost(sizes, model, units).cycles;
        }
        let wave = self.tile_cost(sizes, model, units.min(tiles)).cycles;
        tiles.div_ceil(units) as f64 * wave
    }

    /// Cycles that the instructions alone take: no tile needs fewer.
    pub fn least_cycles(&self) -> f64 {
        self.mapping.instructions(&self.nest.extents()) as f64
            * self.mapping.instruction.issue_cycles()
    }

    fn tiles(&self, sizes: &[u64]) -> u64 {
        let parallel = (0..sizes.len()).filter(|&axis| !self.nest.reduces(axis));
        parallel.map(|axis| self.nest.axes[axis].extent.div_ceil(sizes[axis])).product()
    }

    /// Steps of the reductions of one tile.
    pub(super) fn steps(&self, sizes: &[u64]) -> u64 {
        let steps = self.reductions().map(|axis| self.nest.axes[axis].extent.div_ceil(sizes[axis]));
        steps.product()
    }

    /// What one tile takes, while `active` units do one each.
    fn tile_cost(&self, sizes: &[u64], model: Model, active: u64) -> Cost {
        if let Some(cached) = &self.cached {
            return cached.tile_cost(self, sizes);
        }
        let steps = self.steps(sizes);
        let issue = self.mapping.instruction.issue_cycles();
        let compute = self.mapping.instructions(sizes) as f64 * issue;
        let (mut stream, mut finish) = (0.0, 0.0);
        let mut overlap = model == Model::Overlapped;
        for (operand, own) in self.operands.iter().enumerate().filter(|(_, own)| !own.is_one) {
            let path = if own.is_result { &own.store } else { &own.load };
            let Some(path) = path else { return Cost::default().taking(f64::INFINITY) };
            let cycles = self.move_cycles(path, sizes, operand, active);
            if own.is_result {
                finish += 2.0 * cycles;
            } else {
                stream += cycles;
                overlap &= path.way.engine().is_some();
            }
        }
        let latency = self.mapping.instruction.latency_cycles() as f64;
        let steps = steps as f64;
        let both = match overlap {
            true => (steps - 1.0).max(0.0) * compute.max(stream) + compute + stream,
            // One stream more keeps steps short where lanes hold their operands in registers.
            false => steps * (compute + stream) + stream,
        };
        Cost::default()
            .with(Term::Compute, steps * compute)
            .with(Term::Transfers, if overlap { steps } else { steps + 1.0 } * stream)
            .with(Term::Waits, steps * latency)
            .with(Term::Results, finish)
            .taking(both + steps * latency + finish)
    }
}

impl<'c> Mapped<'_, 'c> {
    /// Cycles that the tile of an operand is on its way, while `active` units bring one each.
    fn move_cycles(&self, path: &Path<'c>, sizes: &[u64], operand: usize, active: u64) -> f64 {
        let held = (self.held(sizes, operand) * self.elem_bytes(operand)) as f64;
        let cycles = path.cycles(held);
        if !path.far {
            return cycles;
        }
        let bytes = active as f64 * self.moved_bytes(sizes, operand) * self.passes(sizes, operand);
        cycles.max(self.passing.rate.map_or(0.0, |rate| bytes / rate as f64))
    }

    /// The part of what units read for an operand that passes the shared memory.
    fn passes(&self, sizes: &[u64], operand: usize) -> f64 {
        let inputs =
            self.mapping.access(self.nest, operand).filter(|_| !self.operands[operand].is_result);
        let Some(access) = inputs else { return 1.0 };
        let tiles = self.tiles(sizes) * self.steps(sizes);
        let read = tiles * self.moved_bytes(sizes, operand) as u64;
        self.passing.bytes(read, bytes(access)) as f64 / read.max(1) as f64
    }

    /// Pieces of `unit` bytes that the tile of an operand touches in its tensor: rows of the
    /// box that hold it, rows that follow each other as one.
    fn pieces(&self, sizes: &[u64], operand: usize, unit: u64) -> u64 {
        let Some(access) = self.mapping.access(self.nest, operand) else { return 0 };
        let elem = self.elem_bytes(operand);
        let extent = |index: &weft_dialects::ir::Linear| -> u64 {
            let reach = index.coefficients.iter().zip(sizes);
            1 + reach.map(|(factor, size)| factor.unsigned_abs() * (size - 1)).sum::<u64>()
        };
        let points = |index: &weft_dialects::ir::Linear| -> u64 {
            let moved = index.coefficients.iter().zip(sizes).filter(|(factor, _)| **factor != 0);
            moved.map(|(_, size)| size).product()
        };
        let (mut row, mut rows, mut joined) = (1, 1, true);
        for (index, &dim) in access.index.iter().zip(&access.shape).rev() {
            if joined {
                row *= extent(index);
                joined = extent(index) == dim;
            } else {
                rows *= extent(index).min(points(index));
            }
        }
        rows * (row * elem).div_ceil(unit)
    }
}

/// What a nest takes on one unit under a mapping, in tiles of these sizes.
pub fn cost<'c>(
    machine: Machine<'c>,
    nest: &Nest<'c>,
    mapping: &Mapping<'c>,
    sizes: &[u64],
) -> Cost {
    Mapped::new(machine, nest, mapping, None).cost(sizes, Model::default())
}

/// Cycles of one transfer: its bytes by the slowest rate on the way, registers by their
/// own time, and the time until it is there.
pub fn transfer_cycles(machine: Machine<'_>, way: &Move<'_>, bytes: f64) -> f64 {
    let ends = [way.source(), way.target()];
    let register = ends
        .iter()
        .find_map(|name| machine.memory(name).and_then(|memory| memory.register_bytes()));
    let issue = match register {
        Some(register) => (bytes / register as f64).ceil() * way.issue_cycles().unwrap_or(1.0),
        None => way.issue_cycles().unwrap_or(0.0),
    };
    let latency = way.latency_cycles().unwrap_or(0) as f64;
    // Registers are many: the next move begins before this one has arrived.
    let latency = if register.is_some() { 0.0 } else { latency };
    move_cycles(machine, way, bytes).max(issue) + latency
}
