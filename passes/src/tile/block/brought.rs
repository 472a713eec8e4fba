//! Which of an engine's moves brings the inputs of later steps: pieces that each thread asks for, or boxes.
//!
//! ```text
//! 128 rows of 64 of A[m,k]            one box, rows along m, 64 elements along k
//! 64 rows of 256 of B[k,n]            four boxes of 64 along n, one for each panel
//! 2 images, 8 lines, 8 pixels of 64   one box along four dimensions of the tensor
//! ```

use weft_dialects::device::{Boxes, Machine, Move, Parts, TensorBox};
use weft_dialects::ir::ty;
use weft_dialects::tile::Schedule;

use super::{Block, K, M, N, TasksAlong, Ways};
use crate::nest::{Access, Nest};

/// Which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supply {
    /// A move whose pieces all threads of a block ask for.
    Pieces,
    /// A move that brings boxes by coordinates.
    Boxes,
    /// The same, for which a group of its own asks.
    BoxesApart,
}

impl Supply {
    /// Whether it is boxes that come.
    pub fn is_boxes(self) -> bool {
        self != Self::Pieces
    }
}

impl<'c> Ways<'c> {
    /// The move that brings later steps so.
    pub fn brings(&self, ahead: Option<Supply>) -> Option<&Move<'c>> {
        match ahead? {
            Supply::Pieces => self.ahead.as_ref(),
            Supply::Boxes => self.boxes.as_ref(),
            Supply::BoxesApart => self.boxes_apart.as_ref(),
        }
    }

    /// How the move of a name brings them.
    pub fn of_name(&self, name: &str) -> Option<Supply> {
        [Supply::Boxes, Supply::Pieces, Supply::BoxesApart]
            .into_iter()
            .find(|own| self.brings(Some(*own)).is_some_and(|way| way.name == name))
    }

    /// How an engine brings the tiles of some sides of a block that lie so: by boxes where it can. An engine's
    /// instructions take longer than it takes a group to ask for them beside it.
    pub fn ahead_for<'n>(
        &self,
        sides: &[(&'n Block<'c>, &'n Nest<'c>, usize, usize)],
    ) -> Option<Supply> {
        [Supply::Boxes, Supply::Pieces].into_iter().find(|own| self.can_bring(*own, sides))
    }

    /// Whether a move brings the tiles of some sides: block, nest, side and the axis that is fastest in the tile.
    pub fn can_bring<'n>(
        &self,
        ahead: Supply,
        sides: &[(&'n Block<'c>, &'n Nest<'c>, usize, usize)],
    ) -> bool {
        let Some(way) = self.brings(Some(ahead)) else { return false };
        sides.iter().all(|&(block, nest, side, inner)| match way.boxes() {
            Some(boxes) => block.comes_in_boxes(nest, side, &boxes),
            None => block.comes_ahead(nest, side, inner, way.least_bytes()),
        })
    }
}

impl<'c> Block<'c> {
    /// Whether an engine brings the tiles of later steps.
    pub fn is_brought(&self) -> bool {
        self.ahead.is_some()
    }

    /// Takes from a schedule how steps are brought, and which rTasks are beside each other.
    pub(super) fn take_steps(&mut self, machine: Machine<'c>, schedule: &Schedule) {
        (self.stages, self.turns, self.resident) =
            (schedule.stages, schedule.turns, schedule.resident);
        self.cluster = TasksAlong::of(&schedule.cluster);
        self.bands = TasksAlong::of(&schedule.bands);
        let registers = self.instruction().operands().last().copied();
        let ways = registers.and_then(|own| Ways::of(machine, own));
        let named = schedule.ahead.as_deref().zip(ways);
        self.ahead = named.and_then(|(name, ways)| ways.of_name(name));
    }

    /// Both sides as the instruction, or the tensors, have them lie.
    pub(super) fn as_they_lie<'n>(
        &'n self,
        nest: &'n Nest<'c>,
    ) -> [(&'n Self, &'n Nest<'c>, usize, usize); 2] {
        [M, N].map(|side| {
            let (_, along) = self.run(nest, &nest.inputs[self.inputs[side]], [side, K]);
            (self, nest, side, self.axes[along])
        })
    }

    /// Whether an engine can bring the tile of an input that the instruction takes where it lies in boxes: all rows of all
    /// its panels, as `block_direct.rs` asks for them.
    pub fn comes_in_boxes(&self, nest: &Nest<'_>, side: usize, boxes: &Boxes) -> bool {
        let access = &nest.inputs[self.inputs[side]];
        let Some(lying) = self.direct[side].map(|own| own.lying) else { return false };
        let Some(elem_bytes) = ty::byte_size(access.elem()) else { return false };
        let [panels, rows, pitch] = self.panels(side, &lying);
        let own = [side, K].into_iter().find(|own| self.axes[*own] == lying.inner);
        let (Some(own), axes) = (own, nest.axes.len()) else { return false };
        let across = if own == K { side } else { K };
        let sides =
            [(across, rows, 1, pitch), (own, panels, pitch, rows * pitch), (own, pitch, 1, 1)];
        let (mut sizes, mut from, mut to) = (Vec::new(), Vec::new(), Vec::new());
        for (along, count, step, near) in sides {
            for digit in self.digits(along, count, step) {
                sizes.push(digit.count);
                from.push(digit.apart as i64 * access.stride(axes, digit.axis));
                to.push((near * (digit.step / step)) as i64);
            }
        }
        let swizzle = lying.layout.swizzle.map(|own| [own.bits, own.keep, own.shift]);
        let moved = Parts {
            shape: &access.shape,
            elem_bytes,
            sizes: &sizes,
            from: &from,
            to: &to,
            swizzle,
            shares: self.shares(nest, side),
        };
        let along = [side, K].into_iter().flat_map(|side| self.axes_along(side));
        let mut along = along.map(|(axis, _)| axis).filter(|axis| access.uses(*axis));
        swizzle.is_some()
            && access.shape == access.shape_in_memory()
            && along.all(|axis| self.has_dim(nest, access, axis))
            && TensorBox::read(&moved, boxes).is_ok()
    }

    /// Whether a dimension of a tensor is an axis of a tile, which ends where the tensor does if tiles pass its end.
    fn has_dim(&self, nest: &Nest<'_>, access: &Access<'_>, axis: usize) -> bool {
        let uses = |dim: &usize| access.index[*dim].coefficients[axis] != 0;
        let mut dims = (0..access.shape.len()).filter(uses);
        let (Some(dim), None) = (dims.next(), dims.next()) else { return false };
        let (index, extent) = (&access.index[dim], nest.axes[axis].extent);
        let others =
            index.coefficients.iter().enumerate().any(|(own, step)| own != axis && *step != 0);
        let whole = self.points_along(axis).is_some_and(|points| extent.is_multiple_of(points));
        let ends = !others && index.constant == 0 && access.shape[dim] == extent;
        index.coefficients[axis] == 1 && (whole || ends)
    }
}
