//! The steps of a block tile whose instruction takes the inputs' tiles where they lie.
//!
//! ```text
//! one room     for i { barrier; bring step i; barrier; begin its instructions; wait for them }
//!
//! n rooms      begin to bring steps 0 .. n - 3
//!              for i { wait for what is brought for step i; barrier
//!                      by turns: begin to bring a piece of step i + n - 2, to the room of step i - 2;
//!                                begin an instruction of step i
//!                      wait for the instructions of step i - 1 }
//!
//! boxes        for i { wait for the boxes of step i
//!                      begin those of step i + n - 2, after all have arrived in round i - 1; instructions of step i
//!                      wait for the instructions of step i - 1; arrive }
//! ```
//!
//! The barrier says that all groups' parts of step i are there, and that no group's instructions still
//! read step i - 2. Those of step i - 1 go on meanwhile: an engine that does one after the other has
//! something to do until those of step i are begun. Of boxes each group knows by itself that they are there: only who asks
//! waits for others, and groups go on at their own pace. RTasks of a cluster meet at a barrier.

use weft_dialects::device::{Move, Scope, build};
use weft_dialects::ir::{Builder, Val};

use super::block::Blocks;
use super::block_fold::Fold;
use super::block_sides::Side;
use super::block_steps::Steps;
use super::index::{Sum, scf_for_carrying};
use super::transfer::{Boxed, Pending, Transfer, Within, at_place, first, ready, wait};
use super::view::View;
use crate::tile::block::{K, M, N, power_of_two_in};

/// A piece of a tile: rows and panels, and the first of both.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    sizes: [u64; 2],
    begin: [u64; 2],
}

/// The tokens of a step that are to be waited for: behind the last one all are there, where the engine does one after
/// the other.
fn awaited<'c>(way: &Move<'c>, tokens: Vec<Val<'c>>) -> Vec<Val<'c>> {
    let first = if way.boxes().is_some() { 0 } else { tokens.len().saturating_sub(1) };
    tokens[first..].to_vec()
}

/// A factor in registers: its side, and operands of the instruction for each step along k, and along the side.
#[derive(Clone, Copy)]
pub(super) struct HeldFactor<'c> {
    pub side: usize,
    pub memref: Val<'c>,
}

impl<'c> Blocks<'_, 'c> {
    /// Folds all steps of the reductions into the sums; `way` is the engine's that brings them ahead.
    pub(super) fn steps_direct(
        &self,
        b: &mut Builder<'c>,
        way: Option<&Move<'c>>,
        starts: &[Sum<'c>],
        fold: &Fold<'c>,
    ) {
        let Some(way) = way else {
            self.each_step(b, starts, &mut |b, at| {
                self.step(b, at, fold.tiles);
                let begun = self.begin_instructions(b, (fold, None), &Sum::number(0));
                wait(b, &Vec::from_iter(begun));
            });
            return;
        };
        let steps = Steps::of(self, starts);
        let (count, ahead) = (steps.count(), self.block.steps_ahead());
        let operands = self.operands();
        // As many pieces everywhere: waits count them.
        let between = self.pieces_between(way, operands.len() as u64);
        let all = between.concat();
        let mut carried: Vec<Val<'c>> = Vec::new();
        for step in 0..ahead {
            let at = steps.at(b, Sum::number(step.min(count - 1) as i64));
            let place = (&at[..], &Sum::number(step as i64));
            let begun = self.bring_pieces(b, (way, None), &all, place, fold);
            carried.extend(awaited(way, begun));
        }
        let each = carried.len() / ahead as usize;
        let asynchronous = self.block.instruction().engine().is_some();
        carried.extend(asynchronous.then(|| ready(b)));
        let arrives = self.arrives(way);
        carried.extend(arrives.then(|| ready(b)));
        let ends = [Sum::number(0), Sum::number(count as i64)];
        let last = scf_for_carrying(b, &ends[0], &ends[1], 1, &carried, |b, step, carried| {
            let step = Sum::value(step);
            let (brought, before) = carried.split_at(ahead as usize * each);
            let (before, arrived) = before.split_at(usize::from(asynchronous));
            wait(b, &brought[..each]);
            if !arrives {
                self.meet(b);
            }
            let later = step.clone().plus(&Sum::number(ahead as i64), 1);
            let at = steps.at_or_last(b, &later);
            let rooms = [0, ahead as i64].map(|later| self.room_of(b, &step, later));
            let (mut token, mut next) = (None, Vec::new());
            for (operand, pieces) in operands.iter().zip(&between) {
                let after = arrived.first().copied();
                next.extend(self.bring_pieces(b, (way, after), pieces, (&at, &rooms[1]), fold));
                token = self.begin_instruction(b, (fold, None), operand, &rooms[0]);
            }
            wait(b, before);
            let arrived = arrives.then(|| build::arrive(b, Scope::Core));
            let later = brought[each..].iter().copied().chain(awaited(way, next));
            later.chain(token).chain(arrived).collect()
        });
        let (brought, rest) = last.split_at(ahead as usize * each);
        wait(b, &rest[..usize::from(asynchronous)]);
        wait(b, brought);
    }

    /// Whether groups say that a room is free, and wait for boxes only.
    pub(super) fn arrives(&self, way: &Move<'c>) -> bool {
        let Some(boxes) = way.boxes() else { return false };
        self.block.cluster.is_none() && (self.groups() > 1 || boxes.producer.is_some())
    }

    /// The pieces of both tiles, dealt out between so many instructions: what brings them takes turns with
    /// these at the memory that groups share. Boxes are one piece.
    fn pieces_between(&self, way: &Move<'c>, instructions: u64) -> Vec<Vec<(usize, Piece)>> {
        let mut between = vec![Vec::new(); instructions as usize];
        let most = if way.boxes().is_some() { 1 } else { instructions };
        for side in [M, N] {
            let pieces = self.pieces(side, most);
            let count = pieces.len();
            for (number, piece) in pieces.into_iter().enumerate() {
                between[number * instructions as usize / count].push((side, piece));
            }
        }
        between
    }

    /// Begins to bring some pieces; gives their tokens.
    fn bring_pieces(
        &self,
        b: &mut Builder<'c>,
        (way, after): (&Move<'c>, Option<Val<'c>>),
        pieces: &[(usize, Piece)],
        (at, room): (&[Sum<'c>], &Sum<'c>),
        fold: &Fold<'c>,
    ) -> Vec<Val<'c>> {
        let bring = |(side, piece): &(usize, Piece)| {
            self.bring_piece(b, (way, *side, after), piece, at, (fold.tiles[*side], room))
        };
        pieces.iter().filter_map(bring).collect()
    }

    /// The tile of an input in equal pieces, so many at most: as many as do not take more rounds of all
    /// lanes than one piece does.
    pub(super) fn pieces(&self, side: usize, most: u64) -> Vec<Piece> {
        let [panels, rows, pitch] = self.block.panels(side, &self.lying(side));
        let (run, _) = self.block.run(self.nest, self.input(side), [side, K]);
        let lanes = self.groups() * self.block.lanes * run;
        let rounds = |parts: u64| (rows * panels * pitch / parts).div_ceil(lanes) * parts;
        let counts = |all: u64| (1..=all).filter(move |count| all.is_multiple_of(*count));
        let both = counts(rows).flat_map(|high| counts(panels).map(move |wide| [high, wide]));
        let fits =
            |[high, wide]: &[u64; 2]| high * wide <= most && rounds(high * wide) == rounds(1);
        let [high, wide] =
            both.filter(fits).max_by_key(|[high, wide]| high * wide).unwrap_or([1; 2]);
        let sizes = [rows / high, panels / wide];
        let piece =
            |row: u64, panel: u64| Piece { sizes, begin: [row * sizes[0], panel * sizes[1]] };
        (0..high).flat_map(|row| (0..wide).map(move |panel| piece(row, panel))).collect()
    }

    /// All groups together: a piece of an input's tile to its place in a room, row by row of its panels, so
    /// that a row is read as whole transactions.
    pub(super) fn bring_piece(
        &self,
        b: &mut Builder<'c>,
        (way, side, after): (&Move<'c>, usize, Option<Val<'c>>),
        piece: &Piece,
        at: &[Sum<'c>],
        (tile, room): (Val<'c>, &Sum<'c>),
    ) -> Option<Val<'c>> {
        let (access, lying) = (self.input(side), self.lying(side));
        let together = way.boxes().is_some() && self.block.shares(self.nest, side) > 1;
        let (run, along) = self.block.run(self.nest, access, [side, K]);
        let sides = [if along == K { side } else { K }, along];
        let [_, rows, pitch] = self.block.panels(side, &lying).map(|size| size as i64);
        let ([high, wide], [row, panel]) = (piece.sizes, piece.begin.map(|place| place as i64));
        let begin = [row, panel * pitch];
        let mut own = at.to_vec();
        for (side, begin) in sides.into_iter().zip(begin) {
            own = self.moved(b, &own, side, &Sum::number(begin));
        }
        let along = sides;
        let side = |own: usize, count: u64, step: i64, near: i64| Side {
            along: Some(along[own]),
            count,
            step: step as u64,
            near,
        };
        let sides = self.sides(&[
            side(0, high, 1, pitch),
            side(1, wide, pitch, rows * pitch),
            side(1, pitch as u64, 1, 1),
        ]);
        let from = Boxed { view: self.view(b, access, &own), strides: self.far(access, &sides) };
        let place = [panel, row, 0].map(|place| b.index(place));
        let to = Boxed { view: self.in_room(b, (tile, room), &place), strides: sides.near.clone() };
        let limits = self.limits(b, access, (&sides, along), &own);
        let run = power_of_two_in(run, pitch as u64);
        let within = Within { limits, pads: true, run, together, after };
        let mut pending = Pending::default();
        let moved = Transfer { from: &from, to: &to, sizes: &sides.sizes, within: &within };
        pending.transfer_within(b, way, moved);
        pending.take().pop()
    }

    /// Begins the instructions of this group on the tiles in a room, one after the other, perhaps with one factor
    /// in registers; gives the token of the last one, behind which all are done.
    pub(super) fn begin_instructions(
        &self,
        b: &mut Builder<'c>,
        factors: (&Fold<'c>, Option<HeldFactor<'c>>),
        room: &Sum<'c>,
    ) -> Option<Val<'c>> {
        let begin = |operand: &[u64; 3]| self.begin_instruction(b, factors, operand, room);
        self.operands().iter().map(begin).last().flatten()
    }

    /// For each instruction of a group in a step its number along m and n, and where it begins along k.
    fn operands(&self) -> Vec<[u64; 3]> {
        let (deep, [rows, columns]) = (self.block.quanta()[K], self.block.counts());
        let steps = (0..self.block.tile[K]).step_by(deep as usize);
        let each = |k: u64| (0..rows).flat_map(move |m| (0..columns).map(move |n| [m, n, k]));
        steps.flat_map(each).collect()
    }

    fn begin_instruction(
        &self,
        b: &mut Builder<'c>,
        (fold, held): (&Fold<'c>, Option<HeldFactor<'c>>),
        operand: &[u64; 3],
        room: &Sum<'c>,
    ) -> Option<Val<'c>> {
        let quanta = self.block.quanta();
        let mut views = vec![None; 3];
        for side in [M, N] {
            let view = match held.filter(|held| held.side == side) {
                Some(HeldFactor { memref, .. }) => {
                    let place = [operand[K] / quanta[K], operand[side]];
                    at_place(b, memref, &place.map(|number| Sum::number(number as i64)))
                }
                None => {
                    let place = [operand[side] * quanta[side], operand[K]];
                    self.operand_in_room(b, fold, side, place, room)
                }
            };
            views[self.block.operand(self.block.inputs[side])] = Some(view);
        }
        let mut sums = first(b, fold.sums);
        for (index, number) in sums.indices.iter_mut().zip(&operand[..K]) {
            *index = b.index(*number as i64);
        }
        views[self.block.operand(self.nest.inputs.len())] = Some(sums);
        let views: Vec<View<'c>> = views.into_iter().flatten().collect();
        let instruction = self.block.instruction();
        build::invoke(b, instruction.name, &views, instruction.engine().is_some())
    }

    /// Where an operand begins in a room: a place of this group's tile, and one along k.
    fn operand_in_room(
        &self,
        b: &mut Builder<'c>,
        fold: &Fold<'c>,
        side: usize,
        [own, k]: [u64; 2],
        room: &Sum<'c>,
    ) -> View<'c> {
        let lying = self.lying(side);
        let pitch = lying.layout.pitch;
        let group = self.block.group[side];
        let sum =
            |own: u64, group: u64| Sum::number(own as i64).plus(&fold.group[side], group as i64);
        let place = match lying.inner == self.block.axes[K] {
            true => {
                let panel = Sum::number((k / pitch) as i64);
                [panel, sum(own, group), Sum::number((k % pitch) as i64)]
            }
            // Groups and operands begin at whole panels.
            false => [sum(own / pitch, group / pitch), Sum::number(k as i64), Sum::number(0)],
        };
        let place = place.map(|place| place.emit(b));
        self.in_room(b, (fold.tiles[side], room), &place)
    }
}
