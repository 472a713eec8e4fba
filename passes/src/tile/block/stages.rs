//! How many steps of a block have room for their inputs at once, and who brings them: what is compared.

use super::{Block, Core, Dealt, K, M, N, Supply, Ways};
use crate::nest::Nest;

/// Steps that an engine has room for.
const MOST_STAGES: u64 = 4;

/// The numbers of stages that are compared for a block of matrix instructions, and how an
/// engine brings later ones: one, and more where there is a later step to bring ahead and a way
/// for it. For an instruction that takes tiles where they lie that is an engine; else registers where
/// groups share the tiles out evenly, for they turn and pack what they bring, of two steps where these come in
/// pairs; and an engine where nothing has to be packed, or they do not. Several blocks of lanes take turns in a unit.
pub(super) fn stages<'c>(
    nest: &Nest<'c>,
    block: &Block<'c>,
    ways: &Ways<'c>,
) -> Vec<(u64, Option<Supply>)> {
    let mut found = vec![(1, None)];
    if block.steps(nest) > 1 && matches!(block.core, Core::Matrix(..)) {
        let both = |suits: &dyn Fn(usize, usize) -> bool| {
            [M, N].into_iter().all(|side| {
                let (_, along) = block.run(nest, &nest.inputs[block.inputs[side]], [side, K]);
                suits(side, block.axes[along])
            })
        };
        let ahead = ways.ahead_for(&block.as_they_lie(nest));
        if block.is_direct() {
            if ahead.is_some() {
                found.extend((3..=MOST_STAGES).map(|stages| (stages, ahead)));
            }
            return found;
        }
        let even = both(&|side, inner| Dealt::of(block, nest, side, inner).is_some());
        let packs = ![M, N].into_iter().all(|side| block.gathers_as_it_lies(nest, side));
        if !(even && packs) && ahead.is_some() {
            found.extend((2..=MOST_STAGES.min(block.steps(nest))).map(|stages| (stages, ahead)));
        }
        if even && ways.put.is_some() {
            found.extend([(2, None), (3, None)]);
            found.extend(block.steps(nest).is_multiple_of(2).then_some((4, None)));
        }
    }
    found
}

impl Block<'_> {
    /// Steps of all reductions.
    pub fn steps(&self, nest: &Nest<'_>) -> u64 {
        let own = (0..nest.axes.len()).filter(|&axis| nest.reduces(axis));
        let size = |axis: usize| if axis == self.axes[K] { self.tile[K] } else { 1 };
        own.map(|axis| nest.axes[axis].extent.div_ceil(size(axis))).product()
    }

    /// Rooms that the tile of an input has near the groups: one for each stage by an engine, else two where
    /// there are stages for more than one.
    pub fn rooms(&self) -> u64 {
        if self.is_brought() { self.stages } else { self.stages.clamp(2, 3) - 1 }
    }

    /// Steps whose inputs are in registers on their way to a room: the stages that no room is for.
    pub fn on_the_way(&self) -> u64 {
        if self.is_brought() { 0 } else { self.stages - self.rooms() }
    }

    /// Steps whose inputs are brought ahead of the one that is computed: one less than there are rooms, two
    /// where the instruction may still read another step's room than the one that it is begun on.
    pub fn steps_ahead(&self) -> u64 {
        let kept = if self.is_direct() && self.rooms() > 2 { 2 } else { 1 };
        self.rooms() - kept
    }

    /// Whether the first parts of the next tile can be brought while the last of this one are folded.
    pub fn rotates(&self) -> bool {
        if self.is_direct() {
            return false;
        }
        let at_once = [M, N].map(|side| self.at_once(side));
        self.rooms() > 1 && self.tile[K] / self.quanta()[K] > at_once[M].max(at_once[N])
    }
}
