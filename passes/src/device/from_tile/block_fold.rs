//! What a group does with the tiles near it: parts of them to its registers, and the instruction on
//! every pair of these.
//!
//! ```text
//! plain:     for (steps) { parts of the step; fold them }
//! rotated:   parts of step 0                          before the first tile is folded
//!            for (steps) { parts of the next step; fold this one's }
//! ```
//!
//! In the rotated order the next step of the last one is the first of the tile in the next room: what
//! groups wait for until that is there, and the parts on their way, are hidden behind the last
//! step's instructions.

use weft_dialects::device::{Scope, build};
use weft_dialects::ir::{Builder, Val, ty};

use super::block::Blocks;
use super::index::{Sum, unrolled};
use super::transfer::{Boxed, Pending, Transfer, Within, alloc, at_place, first};
use super::view::View;
use crate::nest::row_major;
use crate::tile::block::{K, M, N, near_run, power_of_two_in};

/// What a group holds of an input, and which of its steps along k where it holds several.
pub(super) struct Part<'c> {
    pub memref: Val<'c>,
    pub step: Option<Sum<'c>>,
}

/// Where a group finds its parts, and its sums.
pub(super) struct Fold<'c> {
    /// Which group of the block it is, along m and n.
    pub group: [Sum<'c>; 2],
    /// The tiles of the inputs.
    pub tiles: [Val<'c>; 2],
    pub sums: Val<'c>,
}

/// Registers for the parts of both inputs in the rotated order: those of the first steps, and two more
/// that later ones have by turns.
pub(super) struct PartRegisters<'c>([Vec<Val<'c>>; 2]);

/// What is done while a tile is folded: beside its first instructions, and before its last ones, where
/// the tile in the next room is waited for.
pub(super) struct Beside<'b, 'c> {
    pub first: &'b dyn Fn(&mut Builder<'c>),
    pub last: &'b dyn Fn(&mut Builder<'c>),
}

impl<'c> Blocks<'_, 'c> {
    /// Folds the tiles near the lanes, those in a room, into the sums of this group.
    pub(super) fn fold(&self, b: &mut Builder<'c>, fold: &Fold<'c>, room: &Sum<'c>) {
        let (quantum, deep) = (self.block.quanta()[K], self.block.deep());
        unrolled(b, self.block.tile[K] / quantum / deep, |b, round| {
            let begin = Sum::default().plus(&round, (deep * quantum) as i64);
            // What lies side by side for several steps is brought for all of them.
            let whole = [M, N].map(|side| {
                (self.block.at_once(side) == deep).then(|| self.part(b, fold, side, &begin, room))
            });
            unrolled(b, deep, |b, step| {
                let at = begin.clone().plus(&step, self.block.step_apart() as i64);
                let parts = [M, N].map(|side| match whole[side] {
                    Some(memref) => Part { memref, step: (deep > 1).then(|| step.clone()) },
                    None => Part { memref: self.part(b, fold, side, &at, room), step: None },
                });
                self.invoke(b, &parts, fold.sums);
            });
        });
    }

    /// Registers for the rotated order, with the parts for the first step of the tile in a room.
    pub(super) fn first_parts(
        &self,
        b: &mut Builder<'c>,
        fold: &Fold<'c>,
        room: &Sum<'c>,
    ) -> PartRegisters<'c> {
        let count = self.block.tile[K] / self.block.quanta()[K];
        PartRegisters([M, N].map(|side| {
            // The first parts of the next tile are brought while the last ones of this are in use.
            let most = (count / self.block.at_once(side)).min(3);
            let own: Vec<_> = (0..most).map(|_| self.registers_of(b, side)).collect();
            self.bring_part(b, fold, side, (&Sum::number(0), room), own[0]);
            own
        }))
    }

    /// Folds the tiles in one room, whose first parts are there, and brings those of the tiles in the
    /// next one.
    pub(super) fn fold_rotated(
        &self,
        b: &mut Builder<'c>,
        fold: &Fold<'c>,
        held: &PartRegisters<'c>,
        rooms: [&Sum<'c>; 2],
        beside: &Beside<'_, 'c>,
    ) {
        let part = |side: usize, step: u64| {
            let at_once = self.block.at_once(side);
            let memref = match step / at_once {
                0 => held.0[side][0],
                later => held.0[side][2 - (later % 2) as usize],
            };
            Part { memref, step: (at_once > 1).then(|| Sum::number((step % at_once) as i64)) }
        };
        let count = self.block.tile[K] / self.block.quanta()[K];
        for step in 1..count {
            for side in [M, N].into_iter().filter(|&s| step.is_multiple_of(self.block.at_once(s))) {
                let at = Sum::number(self.block.step_begin(step) as i64);
                self.bring_part(b, fold, side, (&at, rooms[0]), part(side, step).memref);
            }
            if step == 1 {
                build::barrier(b, Scope::Thread);
                (beside.first)(b);
            }
            self.invoke(b, &[M, N].map(|side| part(side, step - 1)), fold.sums);
            // Else the code generator moves parts to where they are used.
            if step.is_multiple_of(self.block.deep()) {
                build::barrier(b, Scope::Thread);
            }
        }
        if count == 1 {
            (beside.first)(b);
        }
        (beside.last)(b);
        let bring = |b: &mut Builder<'c>| {
            for side in [M, N] {
                self.bring_part(b, fold, side, (&Sum::number(0), rooms[1]), held.0[side][0]);
            }
        };
        let parts = [M, N].map(|side| part(side, count - 1));
        // Where the first parts are the last ones, too, they are in use until these are folded.
        match self.block.rotates() {
            true => {
                bring(b);
                self.invoke(b, &parts, fold.sums);
                build::barrier(b, Scope::Thread);
            }
            false => {
                self.invoke(b, &parts, fold.sums);
                bring(b);
            }
        }
    }

    /// This group's part of an input from the place `k` of the tile on, for one instruction along k
    /// or for those that are brought at once.
    pub(super) fn part(
        &self,
        b: &mut Builder<'c>,
        fold: &Fold<'c>,
        side: usize,
        k: &Sum<'c>,
        room: &Sum<'c>,
    ) -> Val<'c> {
        let part = self.registers_of(b, side);
        self.bring_part(b, fold, side, (k, room), part);
        part
    }

    /// Registers for a part of an input.
    fn registers_of(&self, b: &mut Builder<'c>, side: usize) -> Val<'c> {
        let held = self.block.held_input(side);
        alloc(b, &held.shape, self.input(side).elem(), self.ways.registers.name)
    }

    /// The same to registers that are there.
    fn bring_part(
        &self,
        b: &mut Builder<'c>,
        fold: &Fold<'c>,
        side: usize,
        (k, room): (&Sum<'c>, &Sum<'c>),
        part: Val<'c>,
    ) {
        let (held, lying) = (self.block.held_input(side), self.lying(side));
        let elem = self.input(side).elem();
        let own = Sum::default().plus(&fold.group[side], self.block.group[side] as i64);
        let along_k = lying.inner == self.block.axes[K];
        let [row, column] = if along_k { [own, k.clone()] } else { [k.clone(), own] };
        let place = [row.emit(b), column.emit(b)];
        let view = self.in_room(b, (fold.tiles[side], room), &place);
        let strides = held.strides(self.block.apart(side, &lying));
        let from = Boxed { view, strides };
        let to = Boxed { view: first(b, part), strides: row_major(&held.sizes) };
        let run = near_run(&self.block, side, lying.inner, ty::byte_size(elem).unwrap_or(1));
        let run = power_of_two_in(run, lying.layout.pitch);
        let within = Within { run, ..Within::default() };
        let mut pending = Pending::default();
        let moved = Transfer { from: &from, to: &to, sizes: &held.sizes, within: &within };
        let gathered = self.block.gathers(side, &lying).map(|own| &own.way);
        let load = gathered.or(self.ways.load.as_ref());
        pending.transfer_within(b, load.expect("what takes parts in registers loads them"), moved);
    }

    /// The instruction on every pair of operands.
    pub(super) fn invoke(&self, b: &mut Builder<'c>, parts: &[Part<'c>; 2], sums: Val<'c>) {
        let output = self.nest.inputs.len();
        self.each_operand(b, &mut |b, places| {
            let mut views = vec![None; 3];
            let mut put = |b: &mut Builder<'c>, bound: usize, memref, place: Vec<&Sum<'c>>| {
                views[self.block.operand(bound)] = Some(at_place(b, memref, place));
            };
            for side in [M, N] {
                let Part { memref, step } = &parts[side];
                let place = step.iter().chain(&places[side]).collect();
                put(b, self.block.inputs[side], *memref, place);
            }
            put(b, output, sums, places.iter().flatten().collect());
            let views: Vec<View<'c>> = views.into_iter().flatten().collect();
            build::invoke(b, self.block.instruction().name, &views, false);
        });
    }

    /// `body` for each operand of the instruction that a group's sums are: its place along m and
    /// along n, which are written out.
    pub(super) fn each_operand(
        &self,
        b: &mut Builder<'c>,
        body: &mut dyn FnMut(&mut Builder<'c>, &[Vec<Sum<'c>>; 2]),
    ) {
        let sides = [M, N].into_iter();
        let counts: Vec<(usize, u64)> = sides
            .flat_map(|side| self.block.repeats(side).into_iter().map(move |(n, _)| (side, n)))
            .collect();
        each_place(b, &counts, &mut [Vec::new(), Vec::new()], body);
    }
}

/// `body` for every place of `counts`, each along m or n.
fn each_place<'c>(
    b: &mut Builder<'c>,
    counts: &[(usize, u64)],
    places: &mut [Vec<Sum<'c>>; 2],
    body: &mut dyn FnMut(&mut Builder<'c>, &[Vec<Sum<'c>>; 2]),
) {
    let Some((&(side, count), rest)) = counts.split_first() else {
        body(b, places);
        return;
    };
    unrolled(b, count, |b, place| {
        places[side].push(place);
        each_place(b, rest, places, body);
        places[side].pop();
    });
}
