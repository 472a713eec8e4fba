//! Checks that everything a program uses is made earlier in the text (program C6).
//!
//! The region of a program is a graph, so that MLIR parses a wait for what comes later and the
//! report can name both ranges, and whether the two wait for each other.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Range;
use crate::ir::{Block, Op, Val};

/// A use before what is used is made.
pub(super) enum Finding<'c> {
    /// A statement uses what a later one makes.
    Early {
        /// The operation that uses it.
        user: Op<'c>,
        /// The operation that makes it.
        maker: Op<'c>,
    },
    /// The first waits for the second, and the second, perhaps by way of others, for the first.
    Circle {
        /// The one that comes first in the text.
        range: Op<'c>,
        /// The other.
        other: Op<'c>,
    },
}

/// Uses before makers, in the order of the text; no more than `limit`.
pub(super) fn findings<'c>(body: Block<'c>, limit: usize) -> Vec<Finding<'c>> {
    let ops = body.ops();
    let mut makers: FxHashMap<Val<'c>, usize> = FxHashMap::default();
    for (position, op) in ops.iter().enumerate() {
        makers.extend(op.results().into_iter().map(|result| (result, position)));
    }
    let mut found = Vec::new();
    for (position, &user) in ops.iter().enumerate() {
        let operands = user.operands();
        let makers_of = operands.iter().filter_map(|operand| makers.get(operand).copied());
        for maker in makers_of.filter(|&maker| maker >= position) {
            let maker = ops[maker];
            found.push(match comes_after(maker, user) {
                true => Finding::Circle { range: user, other: maker },
                false => Finding::Early { user, maker },
            });
            if found.len() >= limit {
                return found;
            }
        }
    }
    found
}

/// Returns whether `later` waits for `earlier`, by way of any number of ranges.
fn comes_after<'c>(later: Op<'c>, earlier: Op<'c>) -> bool {
    let mut seen: FxHashSet<Val<'c>> = FxHashSet::default();
    let waits = |op: Op<'c>| Range::of(op).map(|range| range.waits).unwrap_or_default();
    let mut stack = waits(later);
    if later == earlier {
        return true;
    }
    while let Some(token) = stack.pop() {
        let Some(op) = token.def().filter(|_| seen.insert(token)) else { continue };
        if op == earlier {
            return true;
        }
        stack.extend(waits(op));
    }
    false
}
