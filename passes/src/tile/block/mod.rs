//! Block tiles: what several groups of lanes compute together out of a memory they share.
//!
//! ```text
//! block tile  [BM, BN, BK]   inputs lie in the shared memory of a core, brought by all groups
//! group tile  [WM, WN]       sums lie in the registers of one group
//! instruction [qm, qn, qk]   a matrix instruction, or lanes along n: [1, lanes, 1]
//! ```
//!
//! One description serves the choice (`choose.rs`), the count of bank conflicts
//! (`accesses.rs`) and the door to the device stage: which element each side of a box of
//! registers steps along is said once, here.

mod accesses;
mod choose;
mod lying;

use weft_dialects::device::{Instruction, Machine, Memory, Move, Scope};
use weft_dialects::ir::ty;
use weft_dialects::tile::{Compute, RTile};

use super::banks::Choice;
use super::instruction::bindings;
use super::isa::{Begin, Filter, Mapping, begin, factors, has_axes, mapping, mappings};
use crate::nest::{Access, Nest};

pub use accesses::{near_run, turns};
pub use choose::{GROUPS_AT_ONCE, alone, choose};
pub use lying::{Lying, of_numbers, to_numbers};

/// Which of the three axes of a product.
pub const M: usize = 0;
/// The axis of the lanes, or the columns of a matrix instruction.
pub const N: usize = 1;
/// The axis that reduces.
pub const K: usize = 2;

/// Who computes a group's tile.
#[derive(Clone, Debug)]
pub enum Core<'c> {
    /// An instruction that has the three axes itself, and the nest's operand for each of its.
    Matrix(Mapping<'c>, Vec<usize>),
    /// An instruction of lanes, which run along the second axis.
    Lanes(Instruction<'c>, Vec<usize>),
}

/// The memories and moves of a block tile.
#[derive(Clone, Debug)]
pub struct Ways<'c> {
    /// The memory that the groups of a core share.
    pub near: Memory<'c>,
    /// The registers of one group.
    pub registers: Memory<'c>,
    /// From the machine's shared memory to `near`.
    pub stage: Move<'c>,
    /// From `near` to the registers.
    pub load: Move<'c>,
    /// From the registers to the machine's shared memory.
    pub store: Move<'c>,
    /// Back from there.
    pub fetch: Move<'c>,
    /// What fills the registers.
    pub fill: Move<'c>,
}

impl<'c> Ways<'c> {
    /// Those of a machine whose groups have registers of lanes and a memory of banks to share.
    pub fn of(machine: Machine<'c>, registers: &str) -> Option<Self> {
        let registers = machine.memory(registers).filter(|memory| memory.lanes().is_some())?;
        let shared = machine.shared()?;
        let strided = |from: &str, to: &str| {
            machine.move_between(from, to).filter(|way| way.strided() && way.engine().is_none())
        };
        let near = machine.memories().into_iter().find(|memory| {
            let core =
                memory.scope() == Scope::Core && !memory.is_cache() && !memory.is_registers();
            core && memory.banks().is_some() && strided(shared.name, memory.name).is_some()
        })?;
        let name = registers.name;
        Some(Self {
            stage: strided(shared.name, near.name)?,
            load: strided(near.name, name)?,
            store: strided(name, shared.name)?,
            fetch: strided(shared.name, name)?,
            fill: machine.fill_of(name)?,
            registers,
            near,
        })
    }
}

/// A box of registers: its sides, and how far each steps along the three axes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Extents; those of the register memref too.
    pub sizes: Vec<u64>,
    /// For m, n and k the steps of each side.
    pub along: [Vec<i64>; 3],
}

impl Held {
    /// The steps of each side in a memory where neighbours along the axes are so far apart.
    pub fn strides(&self, apart: [i64; 3]) -> Vec<i64> {
        let sides = 0..self.sizes.len();
        sides.map(|side| (0..3).map(|axis| self.along[axis][side] * apart[axis]).sum()).collect()
    }
}

/// A nest as a product of two inputs in block tiles.
#[derive(Clone, Debug)]
pub struct Block<'c> {
    /// Who computes.
    pub core: Core<'c>,
    /// Lanes of a group.
    pub lanes: u64,
    /// The axes of the nest that are m, n and k.
    pub axes: [usize; 3],
    /// The nest's inputs that move along m and along n.
    pub inputs: [usize; 2],
    /// What a block does at once, along m, n and k.
    pub tile: [u64; 3],
    /// What a group does of it, along m and n.
    pub group: [u64; 2],
}

impl<'c> Block<'c> {
    /// How a nest can be done in blocks, with tiles that are still one instruction; by each
    /// instruction of the machine that can.
    pub fn all(machine: Machine<'c>, nest: &Nest<'c>) -> Vec<Self> {
        let suits = nest.outputs.len() == 1
            && nest.inputs.len() == 2
            && nest.captures.is_empty()
            && nest.epilogue.is_none()
            && begin(nest, false)
                .is_some_and(|begin| begin != Begin::Copied || starts_plainly(nest))
            && factors(nest).is_some_and(|factors| factors.len() == 2);
        if !suits {
            return Vec::new();
        }
        let instructions = machine.instructions();
        instructions.into_iter().flat_map(|found| Self::by(machine, nest, found)).collect()
    }

    fn by(machine: Machine<'c>, nest: &Nest<'c>, instruction: Instruction<'c>) -> Vec<Self> {
        let Some(&registers) = instruction.operands().last() else { return Vec::new() };
        let alike = instruction.operands().iter().all(|memory| *memory == registers);
        let lanes = machine.memory(registers).and_then(|memory| memory.lanes());
        let (Some(lanes), true, None) = (lanes, alike, instruction.engine()) else {
            return Vec::new();
        };
        if instruction.fragments().iter().any(Option::is_none) {
            return Vec::new();
        }
        if has_axes(&instruction) {
            let found = mappings(&instruction, nest, Filter::Signature).unwrap_or_default();
            return found
                .into_iter()
                .filter_map(|mapping| Self::matrix(nest, mapping, lanes))
                .collect();
        }
        let whole = |ty| ty::count(ty) == Some(lanes);
        if !instruction.operand_types().into_iter().all(whole) {
            return Vec::new();
        }
        let Some(binding) = bindings(&instruction, nest).into_iter().next() else {
            return Vec::new();
        };
        // Lanes run along what lies side by side in the output.
        let axes = nest.axes.len();
        let along = (0..axes).find(|&axis| nest.outputs[0].stride(axes, axis) == 1);
        let lanes = |axis| Self::on_lanes(nest, &instruction, &binding, axis, lanes);
        along.and_then(lanes).into_iter().collect()
    }

    fn matrix(nest: &Nest<'c>, mapping: Mapping<'c>, lanes: u64) -> Option<Self> {
        let [_, _, _] = mapping.axes[..] else { return None };
        let alone = |axes: &Vec<usize>| <[usize; 1]>::try_from(&axes[..]).ok();
        let axes: Vec<usize> =
            mapping.axes.iter().map(|axes| Some(alone(axes)?[0])).collect::<Option<_>>()?;
        mapping.dims.iter().all(Option::is_some).then_some(())?;
        let k = *axes.iter().find(|axis| nest.reduces(**axis))?;
        let input = |number: &usize| *number < nest.inputs.len();
        let binding = mapping.binding.plain()?;
        let [a, b] = binding.iter().copied().filter(input).collect::<Vec<_>>()[..] else {
            return None;
        };
        let other = |input: usize| {
            let own = |axis: &&usize| **axis != k && nest.inputs[input].uses(**axis);
            let mut found = axes.iter().filter(own);
            found.next().copied().filter(|_| found.next().is_none())
        };
        let axes = [other(a)?, other(b)?, k];
        Self::new(nest, Core::Matrix(mapping, binding), axes, [a, b], lanes)
    }

    fn on_lanes(
        nest: &Nest<'c>,
        instruction: &Instruction<'c>,
        binding: &[usize],
        n: usize,
        lanes: u64,
    ) -> Option<Self> {
        let b = (0..2).find(|&input| nest.inputs[input].uses(n))?;
        let a = 1 - b;
        // The largest axes are worth tiles.
        let largest = |suits: &dyn Fn(usize) -> bool| {
            let found = (0..nest.axes.len()).filter(|&axis| suits(axis));
            found.max_by_key(|&axis| (nest.axes[axis].extent, std::cmp::Reverse(axis)))
        };
        let uses = |input: usize, axis| nest.inputs[input].uses(axis);
        let m = largest(&|axis| !nest.reduces(axis) && uses(a, axis) && !uses(b, axis))?;
        let k = largest(&|axis| nest.reduces(axis) && uses(a, axis) && uses(b, axis))?;
        let core = Core::Lanes(instruction.clone(), binding.to_vec());
        Self::new(nest, core, [m, n, k], [a, b], lanes)
    }

    fn new(
        nest: &Nest<'c>,
        core: Core<'c>,
        axes: [usize; 3],
        inputs: [usize; 2],
        lanes: u64,
    ) -> Option<Self> {
        let [m, n, k] = axes;
        let (a, b, c) = (&nest.inputs[inputs[0]], &nest.inputs[inputs[1]], &nest.outputs[0]);
        let uses = |access: &Access<'_>| axes.map(|axis| access.uses(axis));
        let product = uses(a) == [true, false, true]
            && uses(b) == [false, true, true]
            && uses(c) == [true, true, false];
        let kinds = !nest.reduces(m) && !nest.reduces(n) && nest.reduces(k);
        // Zeros behind the end are neutral where both factors have them.
        let both = (0..nest.axes.len())
            .filter(|&axis| nest.reduces(axis))
            .all(|axis| a.uses(axis) || b.uses(axis));
        let forwards = [(a, m), (a, k), (b, n), (b, k), (c, m), (c, n)]
            .into_iter()
            .all(|(access, axis)| access.stride(nest.axes.len(), axis) > 0);
        if !product || !kinds || !both || !forwards {
            return None;
        }
        let mut block = Self { core, lanes, axes, inputs, tile: [1; 3], group: [1; 2] };
        let quanta = block.quanta();
        block.tile = quanta;
        block.group = [quanta[M], quanta[N]];
        Some(block)
    }

    /// What a tile program says; `None` where it is no block tile of this machine.
    pub fn of(machine: Machine<'c>, nest: &Nest<'c>, compute: &Compute<'c>) -> Option<Self> {
        let ([outer, inner], true) = (&compute.tiles[..], compute.layouts.is_some()) else {
            return None;
        };
        let instruction = machine.instruction(compute.instruction)?;
        let lanes = machine.memory(&inner.memory)?.lanes()?;
        let mut block = match (&compute.axes, compute.lanes) {
            (Some(axes), _) => Self::matrix(nest, mapping(&instruction, nest, axes)?, lanes)?,
            (None, Some(n)) => {
                let binding = bindings(&instruction, nest).into_iter().next()?;
                Self::on_lanes(nest, &instruction, &binding, n, lanes)?
            }
            (None, None) => return None,
        };
        block.tile = block.axes.map(|axis| outer.sizes[axis]);
        block.group = [M, N].map(|axis| inner.sizes[block.axes[axis]]);
        block.is_whole().then_some(block)
    }

    /// Whether tiles are whole instructions, and the block's whole tiles of groups.
    pub fn is_whole(&self) -> bool {
        let quanta = self.quanta();
        let groups = [M, N].into_iter().all(|axis| {
            self.group[axis].is_multiple_of(quanta[axis])
                && self.tile[axis].is_multiple_of(self.group[axis])
        });
        groups && self.tile[K].is_multiple_of(quanta[K])
    }

    /// The rTiles of the tile program: the block's and a group's.
    pub fn rtiles(&self, nest: &Nest<'_>, ways: &Ways<'_>) -> [RTile; 2] {
        let tile = |memory: &str, own: [u64; 3]| {
            let mut sizes = vec![1; nest.axes.len()];
            for (axis, size) in self.axes.into_iter().zip(own) {
                sizes[axis] = size;
            }
            RTile { memory: memory.to_owned(), sizes }
        };
        let [m, n] = self.group;
        let inner = tile(ways.registers.name, [m, n, self.quanta()[K]]);
        [tile(ways.near.name, self.tile), inner]
    }

    /// The instruction.
    pub fn instruction(&self) -> &Instruction<'c> {
        match &self.core {
            Core::Matrix(mapping, _) => &mapping.instruction,
            Core::Lanes(instruction, _) => instruction,
        }
    }

    /// The operand of the instruction that takes an input of the nest, or its output.
    pub fn operand(&self, bound: usize) -> usize {
        let binding = match &self.core {
            Core::Matrix(_, binding) | Core::Lanes(_, binding) => binding,
        };
        binding.iter().position(|own| *own == bound).expect("an operand is bound to each")
    }

    /// Points of the instruction along m, n and k.
    pub fn quanta(&self) -> [u64; 3] {
        match &self.core {
            Core::Matrix(mapping, _) => self.axes.map(|axis| {
                let own = mapping.axes.iter().position(|own| own.contains(&axis));
                own.map_or(1, |own| mapping.extents[own])
            }),
            Core::Lanes(..) => [1, self.lanes, 1],
        }
    }

    /// How many groups a block has along m and n.
    pub fn groups(&self) -> [u64; 2] {
        [M, N].map(|axis| self.tile[axis] / self.group[axis])
    }

    /// Instructions of a group along m and n.
    pub fn counts(&self) -> [u64; 2] {
        let quanta = self.quanta();
        [M, N].map(|axis| self.group[axis] / quanta[axis])
    }

    /// What a group holds of the input that moves along m or along n, for one instruction
    /// along k.
    pub fn held_input(&self, side: usize) -> Held {
        let (count, quanta) = (self.counts()[side], self.quanta());
        match &self.core {
            Core::Matrix(mapping, _) => {
                let operand = self.operand(self.inputs[side]);
                self.held_blocks(mapping, operand, &[(side, count, quanta[side])])
            }
            // One element of each row for all lanes, and neighbours in each lane.
            Core::Lanes(..) => {
                let own = if side == M { vec![1, 0] } else { vec![1, count as i64] };
                let mut along = [vec![0, 0], vec![0, 0], vec![0, 0]];
                along[side] = own;
                Held { sizes: vec![count, self.lanes], along }
            }
        }
    }

    /// What a group holds of the output; `output` is its number among the nest's operands.
    pub fn held_output(&self, output: usize) -> Held {
        let ([rows, columns], quanta) = (self.counts(), self.quanta());
        match &self.core {
            Core::Matrix(mapping, _) => {
                let counts = [(M, rows, quanta[M]), (N, columns, quanta[N])];
                self.held_blocks(mapping, self.operand(output), &counts)
            }
            Core::Lanes(..) => Held {
                sizes: vec![rows, columns, self.lanes],
                along: [vec![1, 0, 0], vec![0, 1, columns as i64], vec![0; 3]],
            },
        }
    }

    /// Whole operands of an instruction, `(axis, how many, how far apart)` of them.
    fn held_blocks(
        &self,
        mapping: &Mapping<'_>,
        operand: usize,
        counts: &[(usize, u64, u64)],
    ) -> Held {
        let mut held = Held { sizes: Vec::new(), along: [Vec::new(), Vec::new(), Vec::new()] };
        let mut side = |size: u64, axis: usize, step: u64| {
            held.sizes.push(size);
            for (own, steps) in held.along.iter_mut().enumerate() {
                steps.push(if own == axis { step as i64 } else { 0 });
            }
        };
        for &(axis, count, step) in counts {
            side(count, axis, step);
        }
        for &own in mapping.dims[operand].iter().flatten() {
            let axis = self.axes.iter().position(|axis| mapping.axes[own].contains(axis));
            side(mapping.extents[own], axis.expect("all three are mapped"), 1);
        }
        held
    }

    /// Rows and columns of an input's tile in the shared memory.
    pub fn rows_columns(&self, side: usize, inner: usize) -> (u64, u64) {
        let (own, k) = (self.tile[side], self.tile[K]);
        if inner == self.axes[K] { (own, k) } else { (k, own) }
    }

    /// Elements between neighbours along m, n and k where the tile of an input lies.
    pub fn apart(&self, side: usize, lying: &Lying) -> [i64; 3] {
        let pitch = lying.layout.pitch as i64;
        let (own, k) = if lying.inner == self.axes[K] { (pitch, 1) } else { (1, pitch) };
        let mut apart = [0; 3];
        (apart[side], apart[K]) = (own, k);
        apart
    }

    /// Elements that can be moved together between a tensor and its tile, and the side of
    /// the tile along which they lie: m or n, or k. Aligned for every block that begins at
    /// a whole tile.
    pub fn run(&self, nest: &Nest<'_>, access: &Access<'_>, sides: [usize; 2]) -> (u64, usize) {
        let address = access.address(nest.axes.len());
        let elem = ty::byte_size(access.elem()).unwrap_or(1);
        let along = sides.into_iter().find(|&side| address.coefficients[self.axes[side]] == 1);
        let Some(side) = along else { return (1, sides[1]) };
        let axis = self.axes[side];
        let others = address.coefficients.iter().enumerate().filter(|(own, _)| *own != axis);
        let numbers = others.map(|(_, step)| step.unsigned_abs()).chain([
            address.constant.unsigned_abs(),
            self.tile[side],
            nest.axes[axis].extent,
        ]);
        let aligned = numbers.fold(WIDEST_BYTES / elem.min(WIDEST_BYTES), power_of_two_in);
        (aligned, side)
    }
}

/// What a thread moves at once.
pub const WIDEST_BYTES: u64 = 16;

/// The greatest power of two up to `most` that divides a number.
pub fn power_of_two_in(most: u64, number: u64) -> u64 {
    if number == 0 { most } else { most.min(1 << number.trailing_zeros()) }
}

/// Whether an output starts as a copy of an input that the three axes move along forwards.
fn starts_plainly(nest: &Nest<'_>) -> bool {
    match &nest.starts[..] {
        [crate::nest::Start::From { inputs, .. }] => inputs.len() == 1,
        _ => true,
    }
}

/// A block tile that was chosen.
#[derive(Clone, Debug)]
pub struct Chosen<'c> {
    /// The tiles.
    pub block: Block<'c>,
    /// The memories.
    pub ways: Ways<'c>,
    /// How the inputs along m and along n lie, and the conflicts that saves.
    pub lying: [(Lying, Choice); 2],
    /// Predicted cycles until all units are done, times units.
    pub cycles: f64,
}

impl Chosen<'_> {
    /// One line for people.
    pub fn describe(&self) -> String {
        let ([bm, bn, bk], [wm, wn]) = (self.block.tile, self.block.group);
        let name = self.block.instruction().name;
        format!("@{name}, blocks of {bm}x{bn}x{bk}, groups of {wm}x{wn}")
    }

    /// How an input lies and what its accesses take, for people.
    pub fn conflicts(&self, side: usize) -> String {
        let (lying, choice) = &self.lying[side];
        let (_, columns) = self.block.rows_columns(side, lying.inner);
        let near = self.ways.near.name;
        let name = ["the input along m", "the input along n"][side];
        format!(
            "{name} in @{near}: {}, {} turns of banks a step (before {}, at least {})",
            lying.layout.describe(columns),
            choice.after.taken,
            choice.before.taken,
            choice.after.least,
        )
    }
}
