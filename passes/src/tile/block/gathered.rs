//! Parts of a tile that lanes gather from each other's pieces, on their way to registers.
//!
//! ```text
//! A, rows along k      a lane holds 2 neighbours of each of 4 parts    one load of 16 bytes a lane for 4 of 4
//! B, rows along n      neighbours along k in two rows                  the turned move, and nothing is packed
//! ```
//!
//! A tile then lies as its tensor does, so any move may bring it.

use std::rc::Rc;

use weft_dialects::device::{Gathering, Machine, Move};
use weft_dialects::ir::ty;

use super::super::gather;
use super::{Block, Core, K, Lying, accesses, power_of_two_in};
use crate::nest::Nest;

/// A move by which lanes gather.
#[derive(Clone, Debug)]
pub struct Gather<'c> {
    /// The move.
    pub way: Move<'c>,
    /// What lanes get.
    pub gathering: Gathering,
}

impl<'c> Gather<'c> {
    pub(super) fn of(machine: Machine<'c>, way: &Move<'c>) -> Option<Self> {
        Some(Self { way: way.clone(), gathering: way.gathering(machine)? })
    }
}

impl<'c> Block<'c> {
    /// The move by which lanes gather what a group holds of an input whose tile lies along an axis of the
    /// nest, and the places of the pieces of each load in a tile of rows that are `pitch` apart.
    pub(super) fn gather(
        &self,
        side: usize,
        inner: usize,
        pitch: u64,
    ) -> Option<(&Gather<'c>, Rc<[Vec<i64>]>)> {
        let Core::Matrix(mapping, _) = &self.core else { return None };
        let operand =
            mapping.instruction.operand_types().get(self.operand(self.inputs[side])).copied()?;
        let bytes = ty::elem(operand).and_then(ty::byte_size)?;
        let suits = |own: &Gather<'_>| own.gathering.elem_bytes == bytes;
        if self.direct[side].is_some() || !self.gathers.iter().any(suits) {
            return None;
        }
        let boxes = accesses::held_boxes(self, side, inner, pitch);
        let (number, loads) = self.fragments.gathered(boxes, |boxes| {
            let places = accesses::places(self, boxes);
            let mut own = self.gathers.iter().enumerate().filter(|(_, own)| suits(own));
            own.find_map(|(number, own)| {
                Some((number, gather::loads(&own.gathering, &places)?.into()))
            })
        })?;
        Some((&self.gathers[number], loads))
    }

    /// Whether there is such a move.
    pub(super) fn gathers_along(&self, side: usize, inner: usize) -> bool {
        self.gather(side, inner, accesses::PITCH).is_some()
    }

    /// Whether there is one for a tile that lies as its tensor does.
    pub(super) fn gathers_as_it_lies(&self, nest: &Nest<'_>, side: usize) -> bool {
        let (_, along) = self.run(nest, &nest.inputs[self.inputs[side]], [side, K]);
        self.gathers_along(side, self.axes[along])
    }

    /// The same move for a tile in a layout that keeps its pieces whole.
    pub fn gathers(&self, side: usize, lying: &Lying) -> Option<&Gather<'c>> {
        let (own, _) = self.gather(side, lying.inner, lying.layout.pitch)?;
        let piece = own.gathering.piece;
        let kept = lying.layout.swizzle.is_none_or(|swizzle| 1 << swizzle.keep >= piece);
        (kept && power_of_two_in(piece, lying.layout.pitch) == piece).then_some(own)
    }
}
