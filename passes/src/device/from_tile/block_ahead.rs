//! The steps of a block tile whose inputs are brought a step ahead, through registers.
//!
//! ```text
//! one room     fetch step 0 to registers
//!              for i { barrier; put the registers into the shared memory; barrier
//!                      fetch step i + 1 to registers
//!                      fold the shared memory }
//!
//! two rooms    fetch and put step 0; fetch step 1; barrier; parts of step 0's first instructions
//!              for i { fold the room of step i; beside its first instructions
//!                        put the registers into the other room; fetch step i + 2 to registers
//!                      before its last instructions
//!                        barrier; parts of the first instructions of step i + 1 }
//! ```
//!
//! What was fetched is waited for where it is put, when a step is computed. More stages have more steps on
//! their way, each in registers of its own, which have names: so many steps are written out in a round of
//! the loop. The last steps fetch the last one again, for a branch would cost every step.

use weft_dialects::device::{Move, Scope, build};
use weft_dialects::ir::{Builder, Type, Val};

use super::block::Blocks;
use super::block_fold::{Beside, Fold};
use super::block_sides::Side;
use super::block_steps::Steps;
use super::index::{Sum, scf_for};
use super::transfer::{Boxed, Pending, Transfer, Within, alloc, first};
use crate::tile::block::{Dealt, M, N, power_of_two_in};

/// An input's tile in the registers of the groups.
pub(super) struct Ahead<'c> {
    side: usize,
    dealt: Dealt,
    registers: Val<'c>,
}

impl<'c> Blocks<'_, 'c> {
    /// How the tile of an input goes through registers; `None` where groups would not have as
    /// much each.
    fn dealt(&self, side: usize) -> Option<Dealt> {
        Dealt::of(&self.block, self.nest, side, self.lying(side).inner)
    }

    /// Folds all steps of the reductions into the sums, by way of `put` and one room.
    pub(super) fn steps_ahead(
        &self,
        b: &mut Builder<'c>,
        put: &Move<'c>,
        starts: &[Sum<'c>],
        fold: &Fold<'c>,
    ) {
        let steps = Steps::of(self, starts);
        let held = [M, N].map(|side| self.ahead(b, side));
        let begin = steps.at(b, Sum::number(0));
        self.fetch(b, &held, &begin);
        let room = Sum::number(0);
        scf_for(b, &Sum::number(0), &Sum::number(steps.count() as i64), 1, |b, step| {
            self.barrier(b);
            self.put(b, put, &held, (fold.tiles, &room));
            self.barrier(b);
            let at = steps.at_or_last(b, &Sum::value(step).plus(&Sum::number(1), 1));
            self.fetch(b, &held, &at);
            // Else the code generator moves these to where they are used.
            build::barrier(b, Scope::Thread);
            self.fold(b, fold, &room);
        });
    }

    /// The same with two rooms: while one is folded, the other is filled.
    pub(super) fn steps_in_rooms(
        &self,
        b: &mut Builder<'c>,
        put: &Move<'c>,
        starts: &[Sum<'c>],
        fold: &Fold<'c>,
    ) {
        let steps = Steps::of(self, starts);
        let ways = self.block.on_the_way();
        let held: Vec<_> = (0..ways).map(|_| [M, N].map(|side| self.ahead(b, side))).collect();
        let of_step = |step: u64| &held[(step % ways) as usize];
        let room = Sum::number(0);
        let begin = steps.at(b, Sum::number(0));
        self.fetch(b, of_step(0), &begin);
        self.put(b, put, of_step(0), (fold.tiles, &room));
        for step in 1..=ways {
            let at = steps.at_or_last(b, &Sum::number(step as i64));
            self.fetch(b, of_step(step), &at);
        }
        self.barrier(b);
        let first = self.first_parts(b, fold, &room);
        let count = Sum::number(steps.count() as i64);
        scf_for(b, &Sum::number(0), &count, ways as i64, |b, round| {
            for own in 0..ways {
                let step = Sum::value(round).plus(&Sum::number(own as i64), 1);
                let rooms = [0, 1].map(|later| self.room_of(b, &step, later));
                let at = steps.at_or_last(b, &step.plus(&Sum::number(1 + ways as i64), 1));
                let beside = Beside {
                    first: &|b| {
                        let held = of_step(own + 1);
                        self.put(b, put, held, (fold.tiles, &rooms[1]));
                        self.fetch(b, held, &at);
                    },
                    last: &|b| self.barrier(b),
                };
                self.fold_rotated(b, fold, &first, [&rooms[0], &rooms[1]], &beside);
            }
        });
    }

    /// Registers for this group's part of an input's tile.
    pub(super) fn ahead(&self, b: &mut Builder<'c>, side: usize) -> Ahead<'c> {
        let dealt = self.dealt(side).expect("it was checked");
        let elem = self.input(side).elem();
        let registers = alloc(b, &dealt.shape(), elem, self.ways.registers.name);
        Ahead { side, dealt, registers }
    }

    /// Where this group's part of a tile begins, across and along.
    fn begin(&self, b: &mut Builder<'c>, dealt: &Dealt) -> [Sum<'c>; 2] {
        let index = Type::index(self.context);
        let groups: u64 = self.block.groups().iter().product();
        let group = match groups {
            1 => Sum::number(0),
            _ => Sum::value(build::group(b)),
        };
        let place = match dealt.columns {
            1 => [group, Sum::number(0)],
            columns if columns >= groups => [Sum::number(0), group],
            columns => {
                let (group, columns) = (group.emit(b), b.index(columns as i64));
                ["arith.divui", "arith.remui"]
                    .map(|name| Sum::value(b.op(name, &[group, columns], &[index]).result(0)))
            }
        };
        let [row, column] = place;
        let [across, along] = dealt.apart();
        [(row, across), (column, along)]
            .map(|(place, apart)| Sum::default().plus(&place, apart as i64))
    }

    /// This group's part of the inputs' tiles to its registers.
    fn fetch(&self, b: &mut Builder<'c>, held: &[Ahead<'c>; 2], at: &[Sum<'c>]) {
        for own in held {
            self.fetch_one(b, own, at);
        }
    }

    /// That of one input, zeros behind the end.
    pub(super) fn fetch_one(&self, b: &mut Builder<'c>, own: &Ahead<'c>, at: &[Sum<'c>]) {
        let (dealt, access) = (own.dealt, self.input(own.side));
        let sides = [dealt.across, dealt.along];
        let mut at = at.to_vec();
        for (side, begin) in sides.into_iter().zip(self.begin(b, &dealt)) {
            at = self.moved(b, &at, side, &begin);
        }
        let all = dealt.steps().into_iter().zip(dealt.sizes()).zip(dealt.in_registers());
        let along = sides;
        let all = all.map(|(((own, step), count), near)| Side {
            along: Some(along[own]),
            count,
            step,
            near,
        });
        let sides = self.sides(&all.collect::<Vec<_>>());
        let from = Boxed { view: self.view(b, access, &at), strides: self.far(access, &sides) };
        let to = Boxed { view: first(b, own.registers), strides: sides.near.clone() };
        let limits = self.limits(b, access, (&sides, along), &at);
        let within = Within { limits, pads: true, run: dealt.run, ..Within::default() };
        let moved = Transfer { from: &from, to: &to, sizes: &sides.sizes, within: &within };
        Pending::default().transfer_within(b, &self.ways.fetch, moved);
    }

    /// What was fetched to where all groups read it.
    fn put(
        &self,
        b: &mut Builder<'c>,
        way: &Move<'c>,
        held: &[Ahead<'c>; 2],
        (tiles, room): ([Val<'c>; 2], &Sum<'c>),
    ) {
        for own in held {
            self.put_one(b, way, own, (tiles[own.side], room));
        }
    }

    pub(super) fn put_one(
        &self,
        b: &mut Builder<'c>,
        way: &Move<'c>,
        own: &Ahead<'c>,
        (tile, room): (Val<'c>, &Sum<'c>),
    ) {
        let (dealt, lying) = (own.dealt, self.lying(own.side));
        let sides = [dealt.across, dealt.along];
        let near = self.block.apart(own.side, &lying);
        let mut place = self.begin(b, &dealt).map(|begin| begin.emit(b));
        if lying.inner != self.block.axes[dealt.along] {
            place.reverse();
        }
        let view = self.in_room(b, (tile, room), &place);
        let from = Boxed { view: first(b, own.registers), strides: dealt.in_registers() };
        let strides = dealt.steps().map(|(own, step)| step as i64 * near[sides[own]]).to_vec();
        let to = Boxed { view, strides };
        let run = power_of_two_in(dealt.wide(), lying.layout.pitch);
        let within = Within { run, ..Within::default() };
        let sizes = dealt.sizes();
        let moved = Transfer { from: &from, to: &to, sizes: &sizes, within: &within };
        Pending::default().transfer_within(b, way, moved);
    }
}
