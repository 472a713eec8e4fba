//! The axes of an instruction, and which operands move along which axes: the third step of
//! ISA Mapper, section 5.2.

use weft_dialects::device::Instruction;
use weft_dialects::ir::Linear;
use weft_dialects::ir::payload::Axis;

use super::boolean::Bits;
use super::unify::{Binding, Bound, the_generic};
use crate::nest::{Nest, generic_accesses, generic_axes};

/// The axes of an instruction.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Extent and kind of each.
    pub axes: Vec<(u64, Axis)>,
    /// For each operand, one expression of the axes per dimension.
    pub index: Vec<Vec<Linear>>,
}

impl Signature {
    /// That of an instruction whose meaning is one nest.
    pub fn of(instruction: &Instruction<'_>) -> Option<Self> {
        let generic = the_generic(instruction)?;
        let axes = generic_axes(generic).ok()?;
        let axes = axes.into_iter().map(|axis| (axis.extent, axis.kind)).collect();
        let accesses = generic_accesses(generic).ok()?;
        let index = accesses.into_iter().map(|access| access.index).collect();
        Some(Self { axes, index })
    }

    /// For each operand its axes from the outermost dimension in; `None` where a dimension is
    /// a sum of axes.
    pub fn dims(&self, operand: usize) -> Option<Vec<usize>> {
        self.index[operand].iter().map(Linear::as_axis).collect()
    }

    /// Whether an operand moves along an axis.
    pub fn moves(&self, operand: usize, own: usize) -> bool {
        self.index[operand].iter().any(|index| index.coefficients[own] != 0)
    }

    /// Operand by axis of the instruction. What is one everywhere moves along none.
    pub fn bits(&self, binding: &Binding) -> Bits {
        Bits::of(self.index.len(), self.axes.len(), |operand, own| {
            binding.operands[operand] != Bound::One && self.moves(operand, own)
        })
    }

    /// Whether some operand adds two axes up, so that both together are one.
    pub fn adds_up(&self, one: usize, other: usize) -> bool {
        self.index
            .iter()
            .flatten()
            .any(|index| index.coefficients[one] != 0 && index.coefficients[other] != 0)
    }
}

/// Operand by axis of a nest, in the order of the instruction's operands.
pub fn nest_bits(nest: &Nest<'_>, binding: &Binding) -> Bits {
    let accesses: Vec<_> = nest.inputs.iter().chain(&nest.outputs).collect();
    Bits::of(binding.operands.len(), nest.axes.len(), |operand, axis| {
        match binding.operands[operand] {
            Bound::Operand(number) => accesses[number].uses(axis),
            Bound::One => false,
        }
    })
}

/// The axes with the operands that move along them, as `d0 ac, d1 bc`; `+` marks a sum.
pub fn describe(bits: &Bits, reduces: &[bool], name: &str) -> String {
    let letters = |column: Vec<bool>| -> String {
        let operands = ('a'..='z').zip(column).filter(|(_, moves)| *moves);
        operands.map(|(letter, _)| letter).collect()
    };
    let one = |(axis, reduces): (usize, &bool)| {
        let sum = if *reduces { "+" } else { "" };
        format!("{name}{axis} {}{sum}", letters(bits.column(axis)))
    };
    reduces.iter().enumerate().map(one).collect::<Vec<_>>().join(", ")
}
