//! The steps of a block tile whose inputs an engine brings, each to a room of its own.
//!
//! ```text
//! begin steps 0 .. stages - 1
//! for i { wait for step i; barrier
//!         begin step i + stages - 1, in the room of step i - 1
//!         fold the room of step i }
//! ```
//!
//! The barrier says that all groups' parts of step i are there, and that all have read step i - 1.
//! Behind the last step the last one is brought again, for a branch would cost every step.

use weft_dialects::device::Move;
use weft_dialects::ir::{Builder, Type, Val};

use super::block::Blocks;
use super::block_steps::Steps;
use super::index::{Sum, scf_for_carrying};
use super::transfer::wait;
use crate::tile::block::{M, N};

impl<'c> Blocks<'_, 'c> {
    /// Folds all steps of the reductions into the sums, `fold` those of one room.
    pub(super) fn steps_by_engine(
        &self,
        b: &mut Builder<'c>,
        way: &Move<'c>,
        starts: &[Sum<'c>],
        tiles: [Val<'c>; 2],
        fold: impl FnOnce(&mut Builder<'c>, &Sum<'c>),
    ) {
        let index = Type::index(self.context);
        let stages = self.block.stages;
        let steps = Steps::of(self, starts);
        let count = steps.count();
        let bring = |b: &mut Builder<'c>, at: &[Sum<'c>], room: &Sum<'c>| {
            let tokens = [M, N].map(|side| self.bring(b, (way, side), at, (tiles[side], room)));
            tokens.concat()
        };
        let mut carried = Vec::new();
        for step in 0..stages - 1 {
            let at = steps.at(b, Sum::number(step.min(count - 1) as i64));
            carried.extend(bring(b, &at, &Sum::number(step as i64)));
        }
        let each = carried.len() / (stages as usize - 1);
        let ends = [Sum::number(0), Sum::number(count as i64)];
        let last = scf_for_carrying(b, &ends[0], &ends[1], 1, &carried, |b, step, carried| {
            let (loaded, later) = carried.split_at(each);
            wait(b, loaded);
            self.barrier(b);
            let rooms = b.index(stages as i64);
            let next = Sum::value(step).plus(&Sum::number(stages as i64 - 1), 1);
            let [own, other] = [step, next.emit(b)]
                .map(|step| b.op("arith.remui", &[step, rooms], &[index]).result(0));
            let at = steps.at_or_last(b, &next);
            let next = bring(b, &at, &Sum::value(other));
            fold(b, &Sum::value(own));
            later.iter().copied().chain(next).collect()
        });
        wait(b, &last);
    }
}
