//! The steps of all reductions of a block tile as one loop, so that what is brought ahead goes on over
//! their borders.

use weft_dialects::ir::{Builder, Type};

use super::block::Blocks;
use super::index::Sum;
use crate::tile::block::K;

/// The steps of a block whose tile begins at `starts`.
pub(super) struct Steps<'s, 'c> {
    starts: &'s [Sum<'c>],
    /// The axes that reduce, outermost first: points of a step along each, and steps.
    counts: Vec<(usize, u64, u64)>,
}

impl<'s, 'c> Steps<'s, 'c> {
    pub fn of(blocks: &Blocks<'_, 'c>, starts: &'s [Sum<'c>]) -> Self {
        let (axes, block) = (&blocks.nest.axes, &blocks.block);
        let k = block.axes[K];
        let others = (0..axes.len()).filter(|&axis| blocks.nest.reduces(axis) && axis != k);
        let others = others.map(|axis| (axis, 1, axes[axis].extent));
        let last = (k, block.tile[K], axes[k].extent.div_ceil(block.tile[K]));
        Self { starts, counts: others.chain([last]).collect() }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.counts.iter().map(|(_, _, count)| count).product()
    }

    /// Where the step of a number begins.
    pub fn at(&self, b: &mut Builder<'c>, step: Sum<'c>) -> Vec<Sum<'c>> {
        let index = Type::index(b.context());
        let mut at = self.starts.to_vec();
        let mut rest = step;
        for (place, &(axis, points, count)) in self.counts.iter().enumerate().rev() {
            let digit = if place == 0 || rest.as_number() == Some(0) {
                rest.clone()
            } else {
                let (whole, count) = (rest.emit(b), b.index(count as i64));
                rest = Sum::value(b.op("arith.divui", &[whole, count], &[index]).result(0));
                Sum::value(b.op("arith.remui", &[whole, count], &[index]).result(0))
            };
            at[axis] = Sum::default().plus(&digit, points as i64);
        }
        at
    }

    /// Where the step of a number begins, or the last one where there is none of that number.
    pub fn at_or_last(&self, b: &mut Builder<'c>, step: &Sum<'c>) -> Vec<Sum<'c>> {
        let index = Type::index(b.context());
        let (step, last) = (step.emit(b), b.index(self.count() as i64 - 1));
        let step = b.op("arith.minui", &[step, last], &[index]).result(0);
        self.at(b, Sum::value(step))
    }
}
