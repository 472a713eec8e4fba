//! An instruction as a part of a nest.
//!
//! ```text
//! c[m, n] += a[m, k] * b[k, n]                      the instruction, of 16 x 16 x 16
//! o[f, y, x] += w[f, c, r, s] * i[c, y + r, x + s]  the nest, of 64 x 7 x 7 x 64 x 3 x 3
//!   ->  m = f, n = (y, x), k = c; loops over r, s are around it
//!       one instruction does 16 of f, 2 of y, 7 of x, 16 of c: 14 of 16 columns
//! ```
//!
//! Several axes of the nest that are one of the instruction are fused in their order, the
//! last one the fastest. One instruction covers a box of them: its sides are chosen so that
//! it takes the fewest instructions. What the box leaves free of an axis stays unused.

use weft_dialects::device::Instruction;

use super::unify::{Binding, Bound};
use crate::nest::{Access, Nest};

/// An instruction of at least two axes, or of one that reduces, as a part of a nest.
#[derive(Clone, Debug)]
pub struct Mapping<'c> {
    /// The instruction.
    pub instruction: Instruction<'c>,
    /// What its operands are.
    pub binding: Binding,
    /// Points of each of its axes.
    pub extents: Vec<u64>,
    /// Whether each of them reduces.
    pub reduces: Vec<bool>,
    /// The nest's axes that each of them is, fused in their order; one point of it is used
    /// where there are none.
    pub axes: Vec<Vec<usize>>,
    /// How many points of each of those one instruction covers.
    pub box_sizes: Vec<Vec<u64>>,
    /// For each operand, its axes from the outermost dimension in; `None` where a dimension
    /// is a sum.
    pub dims: Vec<Option<Vec<usize>>>,
}

/// Points along one axis of the nest inside an operand of the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digit {
    /// The axis of the nest.
    pub axis: usize,
    /// Points of it.
    pub count: u64,
    /// Points of the instruction's axis between two of them.
    pub step: u64,
}

impl<'c> Mapping<'c> {
    /// Points of the nest that one instruction covers along an axis; 1 for one that it does
    /// not have.
    pub fn quantum(&self, axis: usize) -> u64 {
        let own = self.axes.iter().zip(&self.box_sizes);
        let sides = own.flat_map(|(axes, sizes)| axes.iter().zip(sizes));
        sides.filter(|(mapped, _)| **mapped == axis).map(|(_, size)| size).product()
    }

    /// The points of an axis of the instruction, by axes of the nest, the slowest first.
    pub fn digits(&self, own: usize) -> Vec<Digit> {
        let mut step = self.box_sizes[own].iter().product::<u64>();
        let sides = self.axes[own].iter().zip(&self.box_sizes[own]);
        sides
            .map(|(&axis, &count)| {
                step /= count.max(1);
                Digit { axis, count, step }
            })
            .collect()
    }

    /// Points of an axis of the instruction that are points of the nest.
    pub fn used(&self, own: usize) -> u64 {
        self.box_sizes[own].iter().product()
    }

    /// Whether an axis of the instruction has points that are none of the nest, where
    /// `sizes` points of each axis are to be done.
    pub fn is_ragged(&self, sizes: &[u64], own: usize) -> bool {
        let part = |(&axis, &side): (&usize, &u64)| !sizes[axis].is_multiple_of(side);
        self.used(own) < self.extents[own]
            || self.axes[own].iter().zip(&self.box_sizes[own]).any(part)
    }

    /// Whether an operand moves along an axis of the instruction.
    pub fn moves(&self, operand: usize, own: usize) -> bool {
        self.dims[operand].as_ref().is_some_and(|dims| dims.contains(&own))
    }

    /// The axes of the nest that an operand moves along and the instruction has, in the
    /// order of the operand's dimensions.
    pub fn inside(&self, operand: usize) -> Vec<usize> {
        let mut found = Vec::new();
        for &own in self.dims[operand].iter().flatten() {
            for &axis in &self.axes[own] {
                if !found.contains(&axis) {
                    found.push(axis);
                }
            }
        }
        found
    }

    /// The access of the nest that an operand is.
    pub fn access<'n>(&self, nest: &'n Nest<'c>, operand: usize) -> Option<&'n Access<'c>> {
        match self.binding.operands[operand] {
            Bound::Operand(number) => nest.inputs.iter().chain(&nest.outputs).nth(number),
            Bound::One => None,
        }
    }

    /// Whether an operand is the result.
    pub fn is_result(&self, nest: &Nest<'_>, operand: usize) -> bool {
        matches!(self.binding.operands[operand], Bound::Operand(number) if number >= nest.inputs.len())
    }

    /// The number of the accumulator among the operands.
    pub fn result(&self, nest: &Nest<'_>) -> Option<usize> {
        (0..self.binding.operands.len()).find(|&operand| self.is_result(nest, operand))
    }

    /// The axes of the nest that an operand moves along and the instruction does not have.
    pub fn around(&self, nest: &Nest<'c>, operand: usize) -> Vec<usize> {
        let inside = self.axes.concat();
        let access = self.access(nest, operand);
        let used = |axis: &usize| access.is_some_and(|access| access.uses(*axis));
        (0..nest.axes.len()).filter(|axis| used(axis) && !inside.contains(axis)).collect()
    }

    /// How many instructions `sizes` points take.
    pub fn instructions(&self, sizes: &[u64]) -> u64 {
        let along = |(axis, &size): (usize, &u64)| size.div_ceil(self.quantum(axis).max(1));
        sizes.iter().enumerate().map(along).product()
    }

    /// Which part of its points an instruction computes for the nest, from 0 to 1.
    pub fn filled(&self, nest: &Nest<'_>) -> f64 {
        let points: u64 = self.extents.iter().product();
        let all = self.instructions(&nest.extents()) * points;
        nest.points() as f64 / all.max(1) as f64
    }

    /// `@mac, d0 = axis 0, d1 = axes 1, 2` by the numbers of the axes, for people.
    pub fn describe(&self) -> String {
        let one = |(own, axes): (usize, &Vec<usize>)| match &axes[..] {
            [] => format!("one point of d{own}"),
            [axis] => format!("d{own} = axis {axis}"),
            axes => {
                let axes: Vec<_> = axes.iter().map(ToString::to_string).collect();
                format!("d{own} = axes {}", axes.join(", "))
            }
        };
        let axes: Vec<_> = self.axes.iter().enumerate().map(one).collect();
        format!("@{}, {}", self.instruction.name, axes.join(", "))
    }
}

/// The sides of the box of an instruction of `extent` points: of all boxes that hold no more,
/// the one that needs the fewest to cover axes of `extents`; of those, the one whose last
/// axes are longest, for what lies side by side is brought at once.
pub(super) fn box_sizes(extent: u64, extents: &[u64]) -> Vec<u64> {
    let Some((&last, before)) = extents.split_last() else { return Vec::new() };
    if before.is_empty() {
        return vec![extent.min(last).max(1)];
    }
    let boxes = |sizes: &[u64]| -> u64 {
        extents.iter().zip(sizes).map(|(extent, size)| extent.div_ceil(*size)).product()
    };
    let candidates = (1..=extent.min(last).max(1)).rev().map(|size| {
        let mut sizes = box_sizes(extent / size, before);
        sizes.push(size);
        sizes
    });
    candidates.min_by_key(|sizes| boxes(sizes)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::box_sizes;

    #[test]
    fn a_box_covers_with_the_fewest() {
        assert_eq!(box_sizes(16, &[100]), [16]);
        assert_eq!(box_sizes(16, &[5]), [5]);
        assert_eq!(box_sizes(16, &[2, 2]), [2, 2]);
        // 7 x 7: rows of 7, two at a time.
        assert_eq!(box_sizes(16, &[7, 7]), [2, 7]);
        assert_eq!(box_sizes(16, &[14, 14]), [1, 14]);
        // 5 squares cover it; rows of 16 and 1 would take 8 boxes.
        assert_eq!(box_sizes(16, &[4, 17]), [4, 4]);
        assert_eq!(box_sizes(16, &[3, 3, 64]), [1, 1, 16]);
        assert_eq!(box_sizes(16, &[3, 7, 7]), [1, 2, 7]);
        assert_eq!(box_sizes(4, &[1, 0]), [1, 1]);
    }
}
