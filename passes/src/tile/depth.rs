//! Instructions whose lanes each add up a few neighbours of a reduction: pairs or quads of narrow
//! numbers in the place of one wide one.
//!
//! ```text
//! c[n] += sum over k of a[k] * b[n, k]      k = 4: `a` for all lanes, `b` fills a register
//! C[i, j] += A[i, ko, ki] * B[ko, j, ki]    lanes along j, depth along ki
//! ```
//!
//! The axis of the depth lies innermost in what is read, so that an operand is one access.
//! `pack_depth.rs` lays tensors out so.

use weft_dialects::device::{Instruction, Machine};
use weft_dialects::ir::payload::Axis;

use super::isa::Signature;
use crate::nest::Nest;

/// What an instruction of lanes adds up.
pub struct Depth {
    /// Neighbours in each lane.
    pub points: u64,
    /// Lanes of a register of sums.
    pub lanes: u64,
    /// For each operand, whether it has lanes.
    pub has_lanes: Vec<bool>,
    /// For each operand, whether it has the depth.
    pub is_deep: Vec<bool>,
}

impl Depth {
    /// Of an instruction with one axis along the lanes of registers and one that is added up, whose operands
    /// have both, in this order, or one of them; `None` for others.
    pub fn of(instruction: &Instruction<'_>) -> Option<Self> {
        let signature = Signature::of(instruction)?;
        let at = |kind: Axis| signature.axes.iter().position(|axis| axis.1 == kind);
        let (along, deep) = (at(Axis::Parallel)?, at(Axis::Reduction)?);
        if signature.axes.len() != 2 {
            return None;
        }
        let all = 0..signature.index.len();
        let dims: Vec<_> = all.map(|operand| signature.dims(operand)).collect::<Option<_>>()?;
        let plain = |own: &Vec<usize>| [&[along, deep][..], &[along], &[deep]].contains(&&own[..]);
        // What lies elsewhere is mapped by its axes.
        let machine = instruction.meaning()?.parent().and_then(Machine::of)?;
        let in_registers = |memory: &&str| {
            machine.memory(memory).is_some_and(|own| own.is_registers() && own.lanes().is_none())
        };
        let lie = dims.iter().zip(instruction.operands());
        let mut lie = lie.filter(|(own, _)| own.contains(&along));
        (dims.iter().all(plain) && lie.all(|(_, memory)| in_registers(memory))).then(|| Self {
            points: signature.axes[deep].0,
            lanes: signature.axes[along].0,
            has_lanes: dims.iter().map(|own| own.contains(&along)).collect(),
            is_deep: dims.iter().map(|own| own.contains(&deep)).collect(),
        })
    }

    /// What operands are laid out for: the depth of an instruction of lanes, or of one on tiles.
    pub fn laid_out(instruction: &Instruction<'_>) -> Option<Self> {
        Self::of(instruction).or_else(|| Self::of_tiles(instruction))
    }

    /// Of an instruction on tiles, whose two factors have a reduction innermost: its points, and those beside it in the
    /// second factor, along which the first does not move.
    ///
    /// ```text
    /// c[m, n] += sum over k, q of a[m, k, q] * b[k, n, q]      q = 4: quads, beside 16 columns n
    /// ```
    fn of_tiles(instruction: &Instruction<'_>) -> Option<Self> {
        let signature = Signature::of(instruction)?;
        let machine = instruction.meaning()?.parent().and_then(Machine::of)?;
        let mut memories = instruction.operands().iter();
        let tiles = |name: &&str| machine.memory(name).is_some_and(|memory| memory.holds_tiles());
        let all = 0..signature.index.len();
        let dims: Vec<_> = all.map(|operand| signature.dims(operand)).collect::<Option<_>>()?;
        let [first, second, _] = &dims[..] else { return None };
        let (&deep, &[.., along, last]) = (first.last()?, &second[..]) else { return None };
        let fits = deep == last
            && signature.axes[deep].1 == Axis::Reduction
            && signature.axes[along].1 == Axis::Parallel
            && !first.contains(&along);
        (fits && memories.all(tiles)).then(|| Self {
            points: signature.axes[deep].0,
            lanes: signature.axes[along].0,
            has_lanes: dims.iter().map(|own| own.contains(&along)).collect(),
            is_deep: dims.iter().map(|own| own.contains(&deep)).collect(),
        })
    }

    /// The axis of a nest that is the depth where operands are bound so: a reduction of as many points, whose
    /// neighbours are neighbours in what is read.
    pub fn axis(&self, nest: &Nest<'_>, binding: &[usize]) -> Option<usize> {
        let axes = nest.axes.len();
        let fits = |&axis: &usize| {
            let lies = |(&own, &deep): (&usize, &bool)| match nest.inputs.get(own) {
                Some(access) if deep => access.stride(axes, axis) == 1,
                Some(access) => !access.uses(axis),
                None => true,
            };
            nest.reduces(axis)
                && nest.axes[axis].extent == self.points
                && binding.iter().zip(&self.is_deep).all(lies)
        };
        (0..axes).find(fits)
    }
}
