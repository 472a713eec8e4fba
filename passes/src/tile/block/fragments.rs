//! What lanes hold of an instruction's operands, point by point: a map is evaluated once for all blocks.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use rustc_hash::FxHashMap;
use weft_dialects::device::Instruction;
use weft_dialects::ir::{affine, ty};

use super::Block;

/// The points of an operand that lanes hold.
#[derive(Debug)]
pub(super) struct Fragment {
    /// Elements of a lane.
    pub(super) slots: u64,
    lanes: u64,
    dims: usize,
    /// One number for each dimension, of each lane, lanes of slot 0 first.
    places: Vec<i64>,
}

impl Fragment {
    /// `None` for an operand that lanes do not hold.
    fn of(instruction: &Instruction<'_>, lanes: u64, operand: usize) -> Option<Self> {
        let points = affine::Points::of((*instruction.fragments().get(operand)?)?)?;
        let lowering = instruction.lowering();
        let said = lowering.and_then(|own| ty::count(own.args().get(operand)?.ty()));
        // Lanes may hold some elements twice, and an instruction that is emulated says no types.
        let share = ty::count(*instruction.operand_types().get(operand)?)?.div_ceil(lanes);
        let slots = said.unwrap_or(1).max(share);
        let mut places = Vec::new();
        for slot in 0..slots as i64 {
            for lane in 0..lanes as i64 {
                places.extend(points.at(&[lane, slot])?);
            }
        }
        Some(Self { slots, lanes, dims: points.dims(), places })
    }

    /// The place along each dimension of what a lane holds in a slot.
    pub(super) fn at(&self, lane: u64, slot: u64) -> &[i64] {
        let first = (slot * self.lanes + lane) as usize * self.dims;
        &self.places[first..first + self.dims]
    }
}

/// Those of all operands of one instruction, each when it is asked for.
#[derive(Clone, Debug)]
pub(super) struct Fragments {
    all: Rc<[OnceCell<Option<Fragment>>]>,
    gathered: Rc<RefCell<FxHashMap<Boxes, Option<Gathered>>>>,
}

/// Operands of an instruction side by side in a tile.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Boxes {
    pub(super) operand: usize,
    /// Steps of the instruction along k that are interleaved.
    pub(super) deep: u64,
    /// The sizes of all sides, those between operands first, and how far each steps.
    pub(super) sizes: Vec<u64>,
    pub(super) strides: Vec<i64>,
}

/// The number of a move by which lanes gather, and the places of the pieces of each load.
pub(super) type Gathered = (usize, Rc<[Vec<i64>]>);

impl Fragments {
    pub(super) fn of(instruction: &Instruction<'_>) -> Self {
        let all = instruction.operands().iter().map(|_| OnceCell::new()).collect();
        Self { all, gathered: Rc::default() }
    }

    /// How lanes gather such operands, found once.
    pub(super) fn gathered(
        &self,
        boxes: Boxes,
        find: impl FnOnce(&Boxes) -> Option<Gathered>,
    ) -> Option<Gathered> {
        if let Some(known) = self.gathered.borrow().get(&boxes) {
            return known.clone();
        }
        let found = find(&boxes);
        self.gathered.borrow_mut().insert(boxes, found.clone());
        found
    }
}

impl Block<'_> {
    /// What lanes hold of an operand; `None` where they hold none of it.
    pub(super) fn fragment(&self, operand: usize) -> Option<&Fragment> {
        let own = self.fragments.all.get(operand)?;
        own.get_or_init(|| Fragment::of(self.instruction(), self.lanes, operand)).as_ref()
    }
}
