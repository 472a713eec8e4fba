//! The steps of a block tile whose inputs an engine brings, each to a room of its own.
//!
//! ```text
//! begin steps 0 .. stages - 2; wait for step 0; barrier; parts of its first instructions
//! for i { fold the room of step i; beside its first instructions
//!           begin step i + stages - 1, in the room of step i - 1
//!         before its last ones
//!           wait for step i + 1; barrier; parts of the first instructions of that }
//! ```
//!
//! The barrier says that all groups' parts of step i + 1 are there, and that all have read step i.
//! Behind the last step the last one is brought again, for a branch would cost every step.

use std::cell::RefCell;

use weft_dialects::device::Move;
use weft_dialects::ir::Builder;

use super::block::Blocks;
use super::block_fold::{Beside, Fold};
use super::block_steps::Steps;
use super::index::{Sum, scf_for_carrying};
use super::transfer::wait;
use crate::tile::block::{M, N};

impl<'c> Blocks<'_, 'c> {
    /// Folds all steps of the reductions into the sums.
    pub(super) fn steps_by_engine(
        &self,
        b: &mut Builder<'c>,
        way: &Move<'c>,
        starts: &[Sum<'c>],
        fold: &Fold<'c>,
    ) {
        let stages = self.block.stages;
        let steps = Steps::of(self, starts);
        let count = steps.count();
        let bring = |b: &mut Builder<'c>, at: &[Sum<'c>], room: &Sum<'c>| {
            let tiles = fold.tiles;
            let tokens =
                [M, N].map(|side| self.bring(b, (way, side, None), at, (tiles[side], room)));
            tokens.concat()
        };
        let begun: Vec<_> = (0..stages - 1)
            .map(|step| {
                let at = steps.at(b, Sum::number(step.min(count - 1) as i64));
                bring(b, &at, &Sum::number(step as i64))
            })
            .collect();
        wait(b, &begun[0]);
        self.barrier(b);
        let first = self.first_parts(b, fold, &Sum::number(0));
        let (each, carried) = (begun[0].len(), begun[1..].concat());
        let ends = [Sum::number(0), Sum::number(count as i64)];
        let last = scf_for_carrying(b, &ends[0], &ends[1], 1, &carried, |b, step, carried| {
            let step = Sum::value(step);
            let later = step.clone().plus(&Sum::number(stages as i64 - 1), 1);
            let at = steps.at_or_last(b, &later);
            let rooms = [0, 1, stages as i64 - 1].map(|later| self.room_of(b, &step, later));
            let begun = RefCell::new(carried.to_vec());
            let beside = Beside {
                first: &|b| begun.borrow_mut().extend(bring(b, &at, &rooms[2])),
                last: &|b| {
                    wait(b, &begun.borrow()[..each]);
                    self.barrier(b);
                },
            };
            self.fold_rotated(b, fold, &first, [&rooms[0], &rooms[1]], &beside);
            begun.into_inner().split_off(each)
        });
        wait(b, &last);
    }
}
