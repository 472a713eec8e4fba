//! Writes loops out that the code generator unrolls.

use weft_dialects::ir::{Block, Builder, Context, Mapping, Op, affine};

/// Instructions of a block that is written out, at most.
const MOST: usize = 2048;

/// Writes the `affine.for`s of a block out, those inside first; `plain` says what they may hold.
pub(super) fn unroll<'c>(context: &'c Context, block: Block<'c>, plain: &dyn Fn(Op<'c>) -> bool) {
    for op in block.ops().into_iter().filter(|op| op.is("affine.for")) {
        let Some(body) = op.first_block(0) else { continue };
        unroll(context, body, plain);
        let Some(rounds) = affine::rounds(op) else { continue };
        let Some((_, inner)) = body.ops().split_last().map(|(end, inner)| (*end, inner.to_vec()))
        else {
            continue;
        };
        let size = block.ops().len() + inner.len() * rounds.len();
        if size > MOST || !op.results().is_empty() || !inner.iter().all(|&own| plain(own)) {
            continue;
        }
        let mut b = Builder::before(context, op).with_location(op.location());
        for round in rounds {
            let mut map = Mapping::default();
            map.set(body.arg(0), b.index(round));
            inner.iter().for_each(|&own| {
                b.clone_op(own, &mut map);
            });
        }
        op.erase();
    }
}
