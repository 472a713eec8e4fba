//! The work on a piece of a softmax in one pass: its scores, what becomes of rows by them, and what is added to the second
//! product's sums.

use weft_dialects::ir::{Builder, Val, attr, ty};

use super::block::Blocks;
use super::block_direct::HeldFactor;
use super::block_fold::{Fold, Part};
use super::index::{Sum, scf_if, unrolled};
use super::one_pass::Pass;
use super::one_pass_rows::Registers;
use super::transfer::wait;
use crate::tile::block::{K, M, N};

/// `arith.cmpi` by this predicate is not less, with signs.
const NOT_BELOW: i64 = 5;

/// The tiles of the inputs.
pub(super) struct Near<'c> {
    /// Near the groups, or in the registers of each.
    pub queries: Val<'c>,
    pub keys: Val<'c>,
    pub values: Val<'c>,
}

/// Where tiles begin: those of a block, and this group's of the first product.
pub(super) struct Starts<'s, 'c> {
    pub values: &'s [Sum<'c>],
    pub scores: Vec<Sum<'c>>,
    pub mine: Vec<Sum<'c>>,
    pub group: [Sum<'c>; 2],
}

/// What every piece works on.
pub(super) struct Work<'s, 'c> {
    pub starts: Starts<'s, 'c>,
    pub held: Registers<'c>,
    pub near: Near<'c>,
}

/// A piece: its number, and the room in which its keys and values are.
pub(super) struct Piece<'s, 'c> {
    pub step: &'s Sum<'c>,
    pub room: &'s Sum<'c>,
    pub masks: Masks<'c>,
    /// Whether rows end in it.
    pub ends: bool,
}

/// Which pieces the mask leaves out something of.
#[derive(Clone, Copy)]
pub(super) enum Masks<'c> {
    None,
    /// Those from this one on.
    From(Val<'c>),
    All,
}

impl<'c> Pass<'_, 'c> {
    /// Whether queries are held in registers.
    pub(super) fn has_queries(&self) -> bool {
        self.scores.lying(self.rows).is_held()
    }

    /// The work on a piece. Gives the token of what an engine still does of it.
    pub(super) fn piece(
        &self,
        b: &mut Builder<'c>,
        work: &Work<'_, 'c>,
        piece: &Piece<'_, 'c>,
    ) -> Option<Val<'c>> {
        self.score(b, work, piece);
        self.weigh(b, work, piece);
        self.add_values(b, work, piece)
    }

    /// Where rows and keys of a piece begin.
    fn place(&self, work: &Work<'_, 'c>, piece: &Piece<'_, 'c>) -> Vec<Sum<'c>> {
        let mut at = work.starts.mine.clone();
        let piece = Sum::default().plus(piece.step, self.values.block.tile[K] as i64);
        at[self.one_pass.along[0]] = piece;
        at
    }

    fn fold_of(&self, work: &Work<'_, 'c>, tiles: [Val<'c>; 2], sums: Val<'c>) -> Fold<'c> {
        Fold { group: work.starts.group.clone(), tiles, sums }
    }

    /// The first product of a piece.
    pub(super) fn score(&self, b: &mut Builder<'c>, work: &Work<'_, 'c>, piece: &Piece<'_, 'c>) {
        let (scores, room) = (&self.scores, piece.room);
        let Work { held, near, .. } = work;
        scores.start(b, held.sums, &self.place(work, piece));
        let mut tiles = [near.keys; 2];
        if !self.has_queries() {
            tiles[self.rows] = near.queries;
        }
        let first = self.fold_of(work, tiles, held.sums);
        match self.has_queries() {
            true => self.multiply(b, scores, near.queries, &first, room),
            false if scores.block.is_direct() => {
                let begun = scores.begin_instructions(b, (&first, None), room);
                wait(b, &Vec::from_iter(begun));
            }
            false => scores.fold(b, &first, room),
        }
    }

    /// What becomes of the scores of a piece, and they the factor of the second product.
    pub(super) fn weigh(&self, b: &mut Builder<'c>, work: &Work<'_, 'c>, piece: &Piece<'_, 'c>) {
        let &Piece { step, masks, ends, .. } = piece;
        let (scores, held, at) = (&self.scores, &work.held, self.place(work, piece));
        if !self.exponent.is_some_and(|own| own.unscaled) {
            scores.finish(b, [held.sums, held.stored], &at);
        }
        match masks {
            Masks::None => {}
            Masks::All => self.mask_places(b, held, &at),
            Masks::From(first) => {
                let step = step.emit(b);
                let predicate = [("predicate", attr::of_int(b.context(), NOT_BELOW))];
                let bit = ty::int(b.context(), 1);
                let masked =
                    b.op_with("arith.cmpi", &[step, first], &[bit], &predicate, 0).result(0);
                scf_if(b, masked, |b| self.mask_places(b, held, &at));
            }
        }
        if ends {
            self.mask_end(b, held, &at[self.one_pass.along[0]], self.keys());
        }
        self.exponentials(b, held);
        self.relabel(b, held);
    }

    /// The second product of a piece. Gives the token of what an engine still does of it.
    pub(super) fn add_values(
        &self,
        b: &mut Builder<'c>,
        work: &Work<'_, 'c>,
        piece: &Piece<'_, 'c>,
    ) -> Option<Val<'c>> {
        let (held, room) = (&work.held, piece.room);
        let last = self.fold_of(work, [work.near.values; 2], held.made);
        if self.values.block.is_direct() {
            let factor = HeldFactor { side: self.rows, memref: held.factor };
            return self.values.begin_instructions(b, (&last, Some(factor)), room);
        }
        self.multiply(b, &self.values, held.factor, &last, room);
        None
    }

    /// All of a piece's values that a group takes, in registers: for each step of the instruction along k, or for those that
    /// are brought at once.
    pub(super) fn load_values(
        &self,
        b: &mut Builder<'c>,
        work: &Work<'_, 'c>,
        piece: &Piece<'_, 'c>,
    ) -> Vec<Val<'c>> {
        let (own, block) = (self.own(), &self.values.block);
        let fold = self.fold_of(work, [work.near.values; 2], work.held.made);
        let load = |step: u64| {
            let at = Sum::number(block.step_begin(step) as i64);
            self.values.part(b, &fold, own, &at, piece.room)
        };
        (0..block.tile[K] / block.quanta()[K])
            .step_by(block.at_once(own) as usize)
            .map(load)
            .collect()
    }

    /// The second product of a piece, of values that are in registers.
    pub(super) fn add_loaded(&self, b: &mut Builder<'c>, work: &Work<'_, 'c>, loaded: &[Val<'c>]) {
        let (block, held) = (&self.values.block, &work.held);
        let at_once = block.at_once(self.own());
        for number in 0..block.tile[K] / block.quanta()[K] {
            let step = Sum::number(number as i64);
            let within = (at_once > 1).then(|| Sum::number((number % at_once) as i64));
            let part = loaded[(number / at_once) as usize];
            let parts = [M, N].map(|side| match side == self.rows {
                true => Part { memref: held.factor, step: Some(step.clone()) },
                false => Part { memref: part, step: within.clone() },
            });
            self.values.invoke(b, &parts, held.made);
        }
    }

    /// A factor in registers, for all steps of the instruction along k, times the tile of the other.
    fn multiply(
        &self,
        b: &mut Builder<'c>,
        blocks: &Blocks<'_, 'c>,
        factor: Val<'c>,
        fold: &Fold<'c>,
        room: &Sum<'c>,
    ) {
        let (own, block) = (self.own(), &blocks.block);
        let (quantum, deep) = (block.quanta()[K], block.deep());
        unrolled(b, block.tile[K] / quantum / deep, |b, round| {
            let begin = Sum::default().plus(&round, (deep * quantum) as i64);
            let whole =
                (block.at_once(own) == deep).then(|| blocks.part(b, fold, own, &begin, room));
            unrolled(b, deep, |b, step| {
                let at = begin.clone().plus(&step, block.step_apart() as i64);
                let number = Sum::default().plus(&round, deep as i64).plus(&step, 1);
                let mut parts = [M, N].map(|side| match (side == self.rows, whole) {
                    (true, _) => Part { memref: factor, step: Some(number.clone()) },
                    (_, Some(memref)) => Part { memref, step: (deep > 1).then(|| step.clone()) },
                    (_, None) => Part { memref: factor, step: None },
                });
                if whole.is_none() {
                    parts[own].memref = blocks.part(b, fold, own, &at, room);
                }
                blocks.invoke(b, &parts, fold.sums);
            });
        });
    }
}
