//! How many steps of a block have room for their inputs at once, and who brings them: what is compared.

use super::facts::steps;
use super::{Block, Core, Dealt, K, M, N, Supply, Ways};
use crate::nest::Nest;

/// Steps that an engine has room for.
const MOST_STAGES: u64 = 4;

/// The numbers of stages that are compared for a block of matrix instructions, and how an
/// engine brings later ones: one, and more where there is a later step to bring ahead and a way
/// for it. For an instruction that takes tiles where they lie that is an engine; else registers where
/// groups share the tiles out evenly, for they turn and pack what they bring; and an engine where
/// nothing has to be packed, or they do not. Several blocks of lanes take turns in a unit.
pub(super) fn stages<'c>(
    nest: &Nest<'c>,
    block: &Block<'c>,
    ways: &Ways<'c>,
) -> Vec<(u64, Option<Supply>)> {
    let mut found = vec![(1, None)];
    if steps(nest, block) > 1 && matches!(block.core, Core::Matrix(..)) {
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
            found.extend((2..=MOST_STAGES.min(steps(nest, block))).map(|stages| (stages, ahead)));
        }
        if even && ways.put.is_some() {
            found.extend([(2, None), (3, None)]);
        }
    }
    found
}
