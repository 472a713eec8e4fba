//! What the registers of a group hold of a product's tensors: boxes, and how each of their sides
//! steps along m, n and k.

use super::{Block, Core, K, M, N};
use crate::tile::isa::Mapping;

/// A box of registers: its sides, and how far each steps along the three axes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Extents of the register memref: whole operands of the instruction, then one of these.
    pub shape: Vec<u64>,
    /// The same elements by sides along one axis each.
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

    /// One operand of the instruction in it: two sides count operands along m and n.
    pub fn one_operand(&self) -> Self {
        let along = [0, 1, 2].map(|axis: usize| self.along[axis][2..].to_vec());
        Self { shape: self.shape[2..].to_vec(), sizes: self.sizes[2..].to_vec(), along }
    }

    fn empty() -> Self {
        let along = [Vec::new(), Vec::new(), Vec::new()];
        Self { shape: Vec::new(), sizes: Vec::new(), along }
    }

    fn side(&mut self, size: u64, axis: usize, step: u64) {
        self.sizes.push(size);
        for (own, steps) in self.along.iter_mut().enumerate() {
            steps.push(if own == axis { step as i64 } else { 0 });
        }
    }
}

impl Block<'_> {
    /// What a group holds of the input that moves along m or along n, for one instruction
    /// along k.
    pub fn held_input(&self, side: usize) -> Held {
        let (count, quanta) = (self.counts()[side], self.quanta());
        match &self.core {
            Core::Matrix(mapping, _) => {
                let operand = self.operand(self.inputs[side]);
                self.held_operands(mapping, operand, &[(side, count, quanta[side])])
            }
            // An element of each row for all lanes of it, and of each column for all of that.
            Core::Lanes(..) => {
                self.held_lanes(&[(side, count)], |own| if own == side { count } else { 0 })
            }
        }
    }

    /// What a group holds of the output; `output` is its number among the nest's operands.
    pub fn held_output(&self, output: usize) -> Held {
        let (counts, quanta) = (self.counts(), self.quanta());
        match &self.core {
            Core::Matrix(mapping, _) => {
                let sides = [M, N].map(|own| (own, counts[own], quanta[own]));
                self.held_operands(mapping, self.operand(output), &sides)
            }
            Core::Lanes(..) => {
                self.held_lanes(&[M, N].map(|own| (own, counts[own])), |own| counts[own])
            }
        }
    }

    /// Registers of `(axis, how many)` neighbours, each with one element a lane; lanes along m
    /// and n are `step` points of it apart.
    fn held_lanes(&self, registers: &[(usize, u64)], step: impl Fn(usize) -> u64) -> Held {
        let mut held = Held::empty();
        for &(axis, count) in registers {
            held.shape.push(count);
            held.side(count, axis, 1);
        }
        held.shape.push(self.lanes);
        for (axis, size) in self.lane_sides() {
            held.side(size, axis, step(axis));
        }
        held
    }

    /// The axes that lanes run along, and how many along each: the last one the fastest.
    pub(super) fn lane_sides(&self) -> Vec<(usize, u64)> {
        let quanta = self.quanta();
        let more = [M, N].into_iter().filter(|&own| own == N || quanta[own] > 1);
        more.map(|own| (own, quanta[own])).collect()
    }

    /// Whole operands of an instruction, `(axis, how many, how far apart)` of them.
    fn held_operands(
        &self,
        mapping: &Mapping<'_>,
        operand: usize,
        counts: &[(usize, u64, u64)],
    ) -> Held {
        let mut held = Held::empty();
        for &(axis, count, step) in counts {
            held.side(count, axis, step);
        }
        for &own in mapping.dims[operand].iter().flatten() {
            let axis =
                [M, N, K].into_iter().find(|&axis| mapping.axes[own].contains(&self.axes[axis]));
            held.side(mapping.extents[own], axis.expect("all three are mapped"), 1);
        }
        held.shape.clone_from(&held.sizes);
        held
    }
}
