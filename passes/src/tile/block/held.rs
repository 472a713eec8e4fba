//! What the registers of a group hold of a product's tensors: boxes, and how each of their sides
//! steps along m, n and k.

use super::interleave::Parts;
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

    /// One operand of the instruction in it, where so many sides count operands along m and n.
    pub fn one_operand(&self, counts: usize) -> Self {
        let along = [0, 1, 2].map(|axis: usize| self.along[axis][counts..].to_vec());
        Self { shape: self.shape[counts..].to_vec(), sizes: self.sizes[counts..].to_vec(), along }
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
    /// along k, or for each of those that it brings at once.
    pub fn held_input(&self, side: usize) -> Held {
        match &self.core {
            Core::Matrix(mapping, _) => {
                let operand = self.operand(self.inputs[side]);
                let mut counts = Vec::new();
                if self.at_once(side) > 1 {
                    counts.push((K, self.at_once(side), self.step_apart()));
                }
                counts.extend(self.counted(side));
                self.held_operands(mapping, operand, &counts)
            }
            // An element of each row for all lanes of it, and of each column for all of that.
            Core::Lanes(..) => {
                let step = |own| if own == side { self.neighbours(side) } else { 0 };
                self.held_lanes(&self.counted(side).collect::<Vec<_>>(), step)
            }
        }
    }

    /// Elements of an input that each lane of a group holds: lanes of some instructions hold the same.
    pub(super) fn held(&self, side: usize) -> u64 {
        match &self.core {
            Core::Matrix(..) if self.direct[side].is_some() => 0,
            Core::Matrix(..) => {
                let slots = self.slots(self.operand(self.inputs[side]));
                slots * self.counts()[side] * self.at_once(side)
            }
            Core::Lanes(..) => {
                self.held_input(side).sizes.iter().product::<u64>().div_ceil(self.lanes)
            }
        }
    }

    /// What a group holds of the output; `output` is its number among the nest's operands.
    pub fn held_output(&self, output: usize) -> Held {
        let counts: Vec<_> = [M, N].into_iter().flat_map(|own| self.counted(own)).collect();
        match &self.core {
            Core::Matrix(mapping, _) => self.held_operands(mapping, self.operand(output), &counts),
            Core::Lanes(..) => self.held_lanes(&counts, |own| self.neighbours(own)),
        }
    }

    /// The repeats along m or n, with the axis.
    fn counted(&self, side: usize) -> impl Iterator<Item = (usize, u64, u64)> {
        self.repeats(side).into_iter().map(move |(count, step)| (side, count, step))
    }

    /// Registers, `(axis, how many, how far apart)` of them, each with one element a lane; lanes
    /// along m and n are `step` points of it apart.
    fn held_lanes(&self, registers: &[(usize, u64, u64)], step: impl Fn(usize) -> u64) -> Held {
        let mut held = Held::empty();
        for &(axis, count, apart) in registers {
            held.shape.push(count);
            held.side(count, axis, apart);
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
            held.shape.push(count);
            held.side(count, axis, step);
        }
        for &own in mapping.dims[operand].iter().flatten() {
            let axis =
                [M, N, K].into_iter().find(|&axis| mapping.axes[own].contains(&self.axes[axis]));
            let axis = axis.expect("all three are mapped");
            held.shape.push(mapping.extents[own]);
            for (size, step) in self.sides_along(axis, mapping.extents[own]) {
                held.side(size, axis, step);
            }
        }
        held
    }

    /// The sides of an instruction's axis, slowest first, and their steps in the tile.
    pub(super) fn sides_along(&self, axis: usize, extent: u64) -> Vec<(u64, u64)> {
        match self.parts.filter(|_| axis == K && self.deep() > 1) {
            Some(Parts { high, lanes, run }) => {
                vec![(high, run), (lanes, self.deep() * high * run), (run, 1)]
            }
            None if axis == K => vec![(extent, 1)],
            None => vec![(extent, self.neighbours(axis))],
        }
    }
}
