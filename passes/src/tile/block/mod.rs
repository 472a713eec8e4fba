//! Block tiles: what several groups of lanes compute together out of a memory they share.
//!
//! ```text
//! block tile  [BM, BN, BK]   inputs lie in the shared memory of a core, brought by all groups
//! group tile  [WM, WN]       sums lie in the registers of one group
//! instruction [qm, qn, qk]   a matrix instruction, or a rectangle of lanes: [8, 4, 1]
//! ```
//!
//! Rows or columns may be several axes of the nest: pixels of images (`sides.rs`).
//!
//! One description serves the construction (`tiles.rs`), the choice (`choose.rs`, `facts.rs`), the count of bank conflicts
//! (`accesses.rs`) and the device stage: which element each side of a box of registers steps along is said in `held.rs`, too.

mod accesses;
mod bands;
mod brought;
mod choose;
mod chosen;
mod cluster;
mod dealt;
mod direct;
mod epilogue;
mod facts;
mod far;
mod fragments;
mod gathered;
mod held;
mod interleave;
mod kept;
mod lanes;
mod lying;
mod pair;
mod pair_choice;
mod pair_way;
mod repacked;
mod sides;
mod stages;
mod tiles;
mod ways;

use std::rc::Rc;
use std::sync::Arc;

use weft_dialects::device::{Instruction, Machine};
use weft_dialects::ir::{Val, ty};
use weft_dialects::tile::{Compute, RTile, Schedule};

use super::instruction::bindings;
use super::isa::{Begin, Filter, Mapping, begin, factors, has_axes, mapping_of, mappings};
use crate::nest::Nest;
use fragments::Fragments;
use gathered::Gather;
use lanes::Lanes;
use ways::Takers;

pub use accesses::{near_run, turns};
pub use brought::Supply;
pub(super) use choose::choose;
pub use choose::{Alone, cost, may_share, shares};
pub use chosen::Chosen;
pub use cluster::TasksAlong;
pub use dealt::Dealt;
pub use direct::Direct;
pub use epilogue::{bodies, computed_start, lane_unit};
pub use held::Held;
pub use interleave::Parts;
pub use kept::Kept;
pub use lying::{Lying, of_numbers, to_numbers};
pub use pair::Pair;
pub use pair_choice::ChosenPair;
pub(super) use pair_choice::choose_pair;
pub use repacked::Repacked;
pub use sides::Digit;
pub use ways::Ways;

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
    Matrix(Rc<Mapping<'c>>, Rc<[usize]>),
    /// An instruction of lanes, as many along m and along n, and its operands.
    Lanes(Rc<Instruction<'c>>, Rc<[usize]>, [u64; 2]),
}

/// A nest as a product of two inputs in block tiles.
#[derive(Clone, Debug)]
pub struct Block<'c> {
    /// Who computes.
    pub core: Core<'c>,
    /// Lanes of a group.
    pub lanes: u64,
    /// Moves to its registers by which lanes gather pieces of others.
    gathers: Arc<[Gather<'c>]>,
    /// What lanes hold of each operand of the instruction.
    fragments: Fragments,
    /// Bytes that a lane moves at once, and those of a transaction of the memory behind.
    access_bytes: u64,
    transaction_bytes: u64,
    /// The axes of the nest that are m, n and k, the fastest where there are several.
    pub axes: [usize; 3],
    /// The slower axes of m and of n, the slowest first, with the points of the tile along each.
    slower: [Vec<(usize, u64)>; 2],
    /// The nest's inputs that move along m and along n.
    pub inputs: [usize; 2],
    /// What a block does at once, along m, n and k.
    pub tile: [u64; 3],
    /// What a group does of it, along m and n.
    pub group: [u64; 2],
    /// Steps along k whose inputs are there at once: with 2 the next one's wait in registers, with 3 each has a room.
    pub stages: u64,
    /// How an engine brings those of later steps, to rooms of their own; `None` if groups do.
    pub ahead: Option<Supply>,
    /// RTasks that bring a tile together.
    pub cluster: Option<TasksAlong>,
    /// RTasks that are begun before the next ones behind them.
    pub bands: Option<TasksAlong>,
    /// Turns of groups, each a barrier behind the ones before.
    pub turns: u64,
    /// RTasks that are in a unit at the same time.
    pub resident: u64,
    /// Which of m, n and k are interleaved: see `interleave.rs`.
    pub interleaved: [bool; 3],
    /// For each input whether its tile lies along k.
    pub along_k: [bool; 2],
    /// How the tiles of the inputs lie that the instruction takes where they lie.
    pub direct: [Option<Direct>; 2],
    /// Bytes of an element of the inputs.
    elem_bytes: u64,
    /// What a lane holds of an instruction's points along k.
    parts: Option<Parts>,
}

impl<'c> Block<'c> {
    /// How a nest can be done in blocks, with tiles that are still one instruction; by each
    /// instruction of the machine that can.
    pub fn all(machine: Machine<'c>, nest: &Nest<'c>) -> Vec<Self> {
        let found = Self::all_in_pairs(machine, nest).into_iter();
        found.filter(|block| !block.continues()).collect()
    }

    /// The same, and by those that take what another product leaves in registers.
    pub(super) fn all_in_pairs(machine: Machine<'c>, nest: &Nest<'c>) -> Vec<Self> {
        let suits = nest.outputs.len() == 1
            && nest.inputs.len() == 2
            && nest.captures.is_empty()
            && factors(nest).is_some_and(|factors| factors.len() == 2);
        if !suits {
            return Vec::new();
        }
        // An operand is bound to one of its own type.
        let elems: Vec<_> = nest.body.args().into_iter().map(Val::ty).collect();
        let mut takers = Takers::of(machine);
        let instructions = machine.instructions().into_iter().filter(|instruction| {
            let own = instruction.operand_types();
            own.into_iter().all(|ty| ty::elem(ty).is_some_and(|elem| elems.contains(&elem)))
                && takers.take(instruction)
        });
        let blocks = instructions.flat_map(|found| Self::by(machine, nest, found));
        blocks.filter(|block| epilogue::is_applied(machine, nest, block)).collect()
    }

    /// By an instruction that takes tiles.
    fn by(machine: Machine<'c>, nest: &Nest<'c>, instruction: Instruction<'c>) -> Vec<Self> {
        let Some(lanes) = Lanes::of(machine, &instruction) else { return Vec::new() };
        if has_axes(&instruction) {
            let found = mappings(&instruction, nest, Filter::Signature).unwrap_or_default();
            let all: Vec<_> = found
                .into_iter()
                .filter_map(|mapping| Self::matrix(nest, mapping, lanes.clone()))
                .collect();
            let extents = nest.extents();
            let worth = |own: &&Self| !all.iter().any(|other| own.is_less_than(other, &extents));
            return all.iter().filter(worth).cloned().collect();
        }
        let whole = |ty| ty::count(ty) == Some(lanes.count);
        if !instruction.operand_types().into_iter().all(whole) {
            return Vec::new();
        }
        let Some(binding) = bindings(&instruction, nest, &[]).into_iter().next() else {
            return Vec::new();
        };
        // Lanes run along what lies side by side in the output.
        let axes = nest.axes.len();
        let along = (0..axes).find(|&axis| nest.outputs[0].stride(axes, axis) == 1);
        let spread = [1, lanes.count];
        let on_lanes = |axis| Self::on_lanes(nest, (&instruction, &binding), axis, spread, lanes);
        along.and_then(on_lanes).into_iter().collect()
    }

    fn matrix(nest: &Nest<'c>, mapping: Mapping<'c>, lanes: Lanes<'c>) -> Option<Self> {
        let [_, _, _] = mapping.axes[..] else { return None };
        let axes: Vec<usize> =
            mapping.axes.iter().map(|axes| axes.last().copied()).collect::<Option<_>>()?;
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
        let slower = |axis: usize| -> Vec<(usize, u64)> {
            let all = mapping.axes.iter().find(|all| all.last() == Some(&axis));
            let (_, slower) = all.and_then(|all| all.split_last()).expect("it is the last of one");
            slower.iter().map(|&axis| (axis, 1)).collect()
        };
        // Steps along k are those of one axis.
        let [m, n, k] = axes.map(slower);
        if !k.is_empty() {
            return None;
        }
        let core = Core::Matrix(Rc::new(mapping), binding.into());
        Self::new(nest, core, (axes, [m, n]), [a, b], lanes)?.with_layouts(nest)
    }

    fn on_lanes(
        nest: &Nest<'c>,
        (instruction, binding): (&Instruction<'c>, &[usize]),
        n: usize,
        spread: [u64; 2],
        lanes: Lanes<'c>,
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
        let core = Core::Lanes(Rc::new(instruction.clone()), binding.into(), spread);
        Self::new(nest, core, ([m, n, k], [Vec::new(), Vec::new()]), [a, b], lanes)
    }

    fn new(
        nest: &Nest<'c>,
        core: Core<'c>,
        (axes, slower): ([usize; 3], [Vec<(usize, u64)>; 2]),
        inputs: [usize; 2],
        lanes: Lanes<'c>,
    ) -> Option<Self> {
        let k = axes[K];
        let side = |side: usize| -> Vec<usize> {
            slower[side].iter().map(|(axis, _)| *axis).chain([axes[side]]).collect()
        };
        let (ms, ns) = (side(M), side(N));
        let (a, b, c) = (&nest.inputs[inputs[0]], &nest.inputs[inputs[1]], &nest.outputs[0]);
        let uses = |axis: usize| [a, b, c].map(|access| access.uses(axis));
        let product = ms.iter().all(|&axis| uses(axis) == [true, false, true])
            && ns.iter().all(|&axis| uses(axis) == [false, true, true])
            && uses(k) == [true, true, false];
        let kinds = ms.iter().chain(&ns).all(|&axis| !nest.reduces(axis)) && nest.reduces(k);
        // Zeros behind the end are neutral where both factors have them.
        let both = (0..nest.axes.len())
            .filter(|&axis| nest.reduces(axis))
            .all(|axis| a.uses(axis) || b.uses(axis));
        let forwards = [&ms[..], &ns, &[k]].concat().into_iter().all(|axis| {
            let moving = [a, b, c].into_iter().filter(|access| access.uses(axis));
            moving.into_iter().all(|access| access.stride(nest.axes.len(), axis) > 0)
        });
        if !product || !kinds || !both || !forwards {
            return None;
        }
        let Lanes { count: lanes, access_bytes, transaction_bytes, gathers, fragments } = lanes;
        let (tile, group) = ([1; 3], [1; 2]);
        let elem_bytes = interleave::elem_bytes(nest, inputs);
        let (interleaved, along_k) = ([false; 3], [false; 2]);
        let mut block = Self {
            core,
            lanes,
            gathers,
            fragments,
            access_bytes,
            transaction_bytes,
            axes,
            slower,
            inputs,
            tile,
            group,
            stages: 1,
            ahead: None,
            cluster: None,
            bands: None,
            turns: 1,
            resident: 1,
            interleaved,
            along_k,
            direct: [None; 2],
            elem_bytes,
            parts: None,
        };
        block.parts = block.find_parts();
        let quanta = block.quanta();
        block.tile = quanta;
        block.group = [quanta[M], quanta[N]];
        Some(block)
    }

    /// What a tile program says; `None` where it is no block tile of this machine.
    pub fn of_compute(
        machine: Machine<'c>,
        nest: &Nest<'c>,
        compute: &Compute<'c>,
    ) -> Option<Self> {
        Self::of(machine, nest, compute, &compute.schedule)
    }

    /// The same with another schedule.
    pub fn of(
        machine: Machine<'c>,
        nest: &Nest<'c>,
        compute: &Compute<'c>,
        schedule: &Schedule,
    ) -> Option<Self> {
        let ([outer, inner], true) = (&compute.tiles[..], compute.layouts.is_some()) else {
            return None;
        };
        let instruction = machine.instruction(compute.instruction)?;
        let own = instruction.operands().last() == Some(&inner.memory.as_str());
        (own && Takers::of(machine).take(&instruction)).then_some(())?;
        let lanes = Lanes::of(machine, &instruction)?;
        let mut block = match (&compute.axes, compute.lanes) {
            (Some(_), _) => Self::matrix(nest, mapping_of(machine, nest, compute)?, lanes)?,
            (None, Some(n)) => {
                let named = &schedule.operands;
                let binding = bindings(&instruction, nest, named).into_iter().next()?;
                let mut block =
                    Self::on_lanes(nest, (&instruction, &binding), n, [1, lanes.count], lanes)?;
                let spread = &schedule.spread;
                if !spread.is_empty() {
                    block = block.with_spread([M, N].map(|own| spread[block.axes[own]]))?;
                }
                block
            }
            (None, None) => return None,
        };
        block.tile = block.axes.map(|axis| outer.sizes[axis]);
        block.group = [M, N].map(|axis| inner.sizes[block.axes[axis]]);
        for side in [M, N] {
            for (axis, points) in &mut block.slower[side] {
                *points = outer.sizes[*axis];
                block.tile[side] *= outer.sizes[*axis];
                block.group[side] *= inner.sizes[*axis];
            }
        }
        block.take_steps(machine, schedule);
        let layouts = compute.layouts.as_ref()?;
        for side in [M, N] {
            let lying = layouts.get(block.inputs[side]).and_then(|own| of_numbers(own));
            block.along_k[side] = lying.is_some_and(|lying| lying.inner == block.axes[K]);
        }
        let block = block.with_interleaved(&schedule.interleave)?;
        let said = [outer, inner].map(|tile| &tile.sizes[..]);
        (block.is_whole() && block.sizes(nest).each_ref().map(Vec::as_slice) == said)
            .then_some(block)
    }

    /// The same with as many lanes along m and along n; `None` where those are not all, or an
    /// instruction has axes of its own.
    pub fn with_spread(&self, lanes: [u64; 2]) -> Option<Self> {
        let mut block = self.clone();
        let Core::Lanes(_, _, spread) = &mut block.core else { return None };
        *spread = lanes;
        (lanes[M] * lanes[N] == block.lanes).then_some(block)
    }

    /// The lanes along each axis of the nest; `None` where all are along n, or the instruction has
    /// axes of its own.
    pub fn spread(&self, nest: &Nest<'_>) -> Option<Vec<u64>> {
        let Core::Lanes(_, _, spread) = &self.core else { return None };
        let mut along = vec![1; nest.axes.len()];
        for own in [M, N] {
            along[self.axes[own]] = spread[own];
        }
        (spread[M] > 1).then_some(along)
    }

    /// Whether tiles are whole instructions, and the block's whole tiles of groups.
    pub fn is_whole(&self) -> bool {
        let quanta = self.quanta();
        let groups = [M, N].into_iter().all(|axis| {
            self.group[axis].is_multiple_of(quanta[axis])
                && self.tile[axis].is_multiple_of(self.group[axis])
        });
        groups && self.tile[K].is_multiple_of(quanta[K]) && self.has_panels() && self.is_box()
    }

    /// The rTiles of the tile program: the block's and a group's.
    pub fn rtiles(&self, nest: &Nest<'_>, ways: &Ways<'_>) -> [RTile; 2] {
        let [tile, group] = self.sizes(nest);
        [(ways.near.name, tile), (ways.registers.name, group)]
            .map(|(memory, sizes)| RTile { memory: memory.to_owned(), sizes })
    }

    /// Points of the block's tile and of a group's along each axis of the nest.
    fn sizes(&self, nest: &Nest<'_>) -> [Vec<u64>; 2] {
        let [m, n] = self.group;
        [self.tile, [m, n, self.quanta()[K]]].map(|own| {
            let mut sizes = vec![1; nest.axes.len()];
            for (side, count) in own.into_iter().enumerate() {
                for digit in self.digits(side, count, 1) {
                    sizes[digit.axis] = digit.count;
                }
            }
            sizes
        })
    }

    /// The instruction.
    pub fn instruction(&self) -> &Instruction<'c> {
        match &self.core {
            Core::Matrix(mapping, _) => &mapping.instruction,
            Core::Lanes(instruction, ..) => instruction,
        }
    }

    /// The operand of the instruction that takes an input of the nest, or its output.
    pub fn operand(&self, bound: usize) -> usize {
        let binding = match &self.core {
            Core::Matrix(_, binding) | Core::Lanes(_, binding, _) => binding,
        };
        binding.iter().position(|own| *own == bound).expect("an operand is bound to each")
    }

    /// The dimension of the sums' operand that is a side.
    pub fn sum_dim(&self, side: usize) -> Option<usize> {
        self.dim(self.output(), side)
    }

    /// The dimension of an operand of the instruction that is a side.
    fn dim(&self, operand: usize, side: usize) -> Option<usize> {
        let Core::Matrix(mapping, _) = &self.core else { return None };
        let dims = mapping.dims[operand].as_ref()?;
        dims.iter().position(|&own| mapping.axes[own].contains(&self.axes[side]))
    }

    /// The operand of the instruction that its sums are.
    pub(super) fn output(&self) -> usize {
        // Behind the nest's two inputs.
        self.operand(2)
    }

    /// Points of the instruction along m, n and k.
    pub fn quanta(&self) -> [u64; 3] {
        match &self.core {
            Core::Matrix(mapping, _) => self.axes.map(|axis| {
                let own = mapping.axes.iter().position(|own| own.contains(&axis));
                own.map_or(1, |own| mapping.extents[own])
            }),
            &Core::Lanes(_, _, [m, n]) => [m, n, 1],
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
}

/// The greatest power of two up to `most` that divides a number.
pub fn power_of_two_in(most: u64, number: u64) -> u64 {
    if number == 0 { most } else { most.min(1 << number.trailing_zeros()) }
}
