//! How many steps of a block have room for their inputs at once, and who brings them: what is compared.

use weft_dialects::device::Move;

use super::facts::steps;
use super::{Block, Core, Dealt, K, M, N, Ways};
use crate::nest::Nest;

/// Steps that an engine has room for.
const MOST_STAGES: u64 = 4;

/// The numbers of stages that are compared for a block of matrix instructions, and whether an
/// engine brings later ones: one, and more where there is a later step to bring ahead and a way
/// for it. For an instruction that takes tiles where they lie that is an engine; else registers where
/// groups share the tiles out evenly, for they turn and pack what they bring; and an engine where
/// nothing has to be packed, or they do not. Several blocks of lanes take turns in a unit.
pub(super) fn stages(nest: &Nest<'_>, block: &Block<'_>, ways: &Ways<'_>) -> Vec<(u64, bool)> {
    let mut found = vec![(1, false)];
    if steps(nest, block) > 1 && matches!(block.core, Core::Matrix(..)) {
        let both = |suits: &dyn Fn(usize, usize) -> bool| {
            [M, N].into_iter().all(|side| {
                let (_, along) = block.run(nest, &nest.inputs[block.inputs[side]], [side, K]);
                suits(side, block.axes[along])
            })
        };
        let by_engine = |way: &Move<'_>| {
            both(&|side, inner| block.comes_ahead(nest, side, inner, way.least_bytes()))
        };
        if block.is_direct() {
            if ways.ahead.as_ref().is_some_and(by_engine) {
                found.extend((3..=MOST_STAGES).map(|stages| (stages, true)));
            }
            return found;
        }
        let even = both(&|side, inner| Dealt::of(block, nest, side, inner).is_some());
        let packs = ![M, N].into_iter().all(|side| block.gathers_as_it_lies(nest, side));
        if !(even && packs) && ways.ahead.as_ref().is_some_and(by_engine) {
            found.extend((2..=MOST_STAGES.min(steps(nest, block))).map(|stages| (stages, true)));
        }
        if even && ways.put.is_some() {
            found.extend([(2, false), (3, false)]);
        }
    }
    found
}
