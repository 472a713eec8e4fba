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

use weft_dialects::device::{Instruction, Machine};

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

/// Whether an instruction takes its factors from the memory that groups share, and has its sums in
/// registers that are spread over lanes.
pub(super) fn is_direct<'c>(machine: Machine<'c>, instruction: &Instruction<'c>) -> bool {
    let (operands, layouts) = (instruction.operands(), instruction.layouts());
    let Some((registers, factors)) = operands.split_last() else { return false };
    let Some(ways) = Ways::of(machine, registers) else { return false };
    let laid = layouts.iter().take(factors.len()).all(Option::is_some);
    laid && instruction.fragments().last().is_some_and(Option::is_some)
        && factors.iter().all(|memory| *memory == ways.near.name)
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
            let layout = layouts[operand].as_ref()?;
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
            (inner == along && whole).then_some(Direct { lying, rows })
        };
        let both = [own(M)?, own(N)?];
        self.direct = Some(both);
        self.along_k = both.map(|own| own.lying.inner == self.axes[K]);
        Some(self)
    }

    /// Whether tiles are whole panels for the instruction.
    pub(super) fn has_panels(&self) -> bool {
        let Some(direct) = self.direct else { return true };
        [M, N].into_iter().all(|side| {
            let Direct { lying, rows: wanted } = direct[side];
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
