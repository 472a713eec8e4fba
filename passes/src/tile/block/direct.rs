//! Inputs that the instruction takes where they lie: it reads the memory that groups share, and lanes
//! hold the sums only.
//!
//! ```text
//! layouts([[64, 3, 3, 3], [64, 64, 3, 3, 3], unit])       of the instruction
//! A: rows of 64, of any number                            B: panels of 64 rows of 64
//! ```
//!
//! How a tile lies is the instruction's to say, and which way round: a move brings it as it lies in the
//! tensor, so the axis along which the tensor lies has to be the operand's last one.

use weft_dialects::device::Instruction;

use super::super::banks::{Access, Banks, Choice, Layout, Swizzle, count};
use super::{Block, Core, K, Lying, M, N, Ways};
use crate::nest::Nest;

/// How the tile of an input lies for the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Direct {
    /// The tile, whose pitch is that of a panel.
    pub lying: Lying,
    /// Rows of the tile, where an instruction takes several panels.
    pub rows: Option<u64>,
}

/// Whether an instruction takes some of its factors from the memory that groups share, the others from
/// registers that are spread over lanes, and has its sums in those.
pub(super) fn lies_near(instruction: &Instruction<'_>, ways: &Ways<'_>) -> bool {
    let (operands, layouts) = (instruction.operands(), instruction.layouts());
    let Some((registers, factors)) = operands.split_last() else { return false };
    let held = instruction.fragments();
    let suits = |factor: usize| match &layouts[factor] {
        Some(_) => factors[factor] == ways.near.name,
        None => factors[factor] == *registers && held[factor].is_some(),
    };
    layouts.iter().any(Option::is_some)
        && held.last().is_some_and(Option::is_some)
        && (0..factors.len()).all(suits)
}

impl<'c> Block<'c> {
    /// The same with what the instruction says of its factors; `None` where it takes them as the
    /// tensors do not lie.
    pub(super) fn with_layouts(mut self, nest: &Nest<'c>) -> Option<Self> {
        let Core::Matrix(mapping, _) = &self.core else { return Some(self) };
        let layouts = mapping.instruction.layouts();
        if layouts.iter().all(Option::is_none) {
            return Some(self);
        }
        let own = |side: usize| {
            let operand = self.operand(self.inputs[side]);
            let Some(layout) = layouts[operand].as_ref() else { return Some(None) };
            let last = *mapping.dims[operand].as_ref()?.last()?;
            let inner =
                *[side, K].iter().find(|own| mapping.axes[last].contains(&self.axes[**own]))?;
            let access = &nest.inputs[self.inputs[side]];
            let (_, along) = self.run(nest, access, [side, K]);
            // Operands begin at whole panels, or go into a panel several times.
            let (quantum, pitch, rows) = (self.quanta()[inner], layout.pitch, layout.rows);
            let whole = match inner {
                K => pitch.is_multiple_of(quantum),
                _ => quantum.is_multiple_of(pitch),
            };
            let [bits, keep, shift] = layout.swizzle;
            let layout = Layout { pitch, swizzle: Some(Swizzle { bits, keep, shift }) };
            let lying = Lying { inner: self.axes[inner], layout };
            (inner == along && whole).then_some(Some(Direct { lying, rows }))
        };
        self.direct = [own(M)?, own(N)?];
        self.along_k =
            self.direct.map(|own| own.is_some_and(|own| own.lying.inner == self.axes[K]));
        Some(self)
    }

    /// Whether the instruction takes some input where it lies.
    pub fn is_direct(&self) -> bool {
        self.direct.iter().any(Option::is_some)
    }

    /// Whether it takes one input where it lies and the other one from registers, where another product has left it.
    pub fn continues(&self) -> bool {
        self.is_direct() && self.direct.iter().any(Option::is_none)
    }

    /// An axis's extent in whole instructions and panels.
    pub(super) fn whole(&self, nest: &Nest<'_>, side: usize) -> u64 {
        let along = |own: &&Direct| own.lying.inner == self.axes[side];
        let panels = self.direct.iter().flatten().filter(along).map(|own| own.lying.layout.pitch);
        let step = panels.fold(self.quanta()[side], u64::max);
        self.extent(nest, side).next_multiple_of(step)
    }

    /// Whether tiles are whole panels for the instruction.
    pub(super) fn has_panels(&self) -> bool {
        [M, N].into_iter().all(|side| {
            let Some(Direct { lying, rows: wanted }) = self.direct[side] else { return true };
            let (rows, columns) = self.rows_columns(side, lying.inner);
            columns.is_multiple_of(lying.layout.pitch) && wanted.is_none_or(|own| own == rows)
        })
    }

    /// Panels, rows and columns of a panel of an input's tile that lies for the instruction.
    pub fn panels(&self, side: usize, lying: &Lying) -> [u64; 3] {
        let (rows, columns) = self.rows_columns(side, lying.inner);
        let pitch = lying.layout.pitch;
        [columns.div_ceil(pitch), rows, pitch]
    }

    /// Bytes of an input that instructions read in a step, all groups together.
    pub(super) fn read_by_instructions(&self, side: usize, elem_bytes: u64) -> u64 {
        let quanta = self.quanta();
        let [rows, columns] = self.counts();
        let groups: u64 = self.groups().iter().product();
        let instructions = groups * rows * columns * (self.tile[K] / quanta[K]);
        instructions * quanta[side] * quanta[K] * elem_bytes
    }
}

/// The turns of banks of a tile in panels, which is stored by these accesses.
pub(super) fn stored(
    banks: Banks,
    block: &Block<'_>,
    (side, lying): (usize, &Lying),
    accesses: &[Access],
    elem_bytes: u64,
) -> Choice {
    let in_panels = in_panels(block, side, lying, accesses);
    let turns = |layout: &Layout| count(banks, layout, &in_panels, elem_bytes);
    let plain = Layout::plain(lying.layout.pitch);
    Choice { layout: lying.layout, before: turns(&plain), after: turns(&lying.layout) }
}

/// The same accesses by the rows of all panels.
pub(super) fn in_panels(
    block: &Block<'_>,
    side: usize,
    lying: &Lying,
    accesses: &[Access],
) -> Vec<Access> {
    let [_, rows, pitch] = block.panels(side, lying);
    let place = |(row, column): (u64, u64)| (column / pitch * rows + row, column % pitch);
    let lanes = |own: &Access| own.lanes.iter().map(|lane| lane.map(place)).collect();
    accesses.iter().map(|own| Access { lanes: lanes(own), ..*own }).collect()
}
