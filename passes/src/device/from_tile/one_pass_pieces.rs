//! The pieces of a softmax in one pass, and how they come to the groups.
//!
//! ```text
//! one room     for i { barrier; bring piece i; barrier; work on it }
//! registers    piece 0 near; barrier
//!              for i { fetch piece i + 1 to registers; work on piece i; put the registers to the other room; barrier }
//! turns        the same with the keys of piece i + 1 near behind the scores of piece i, its values behind the second
//!              product, and a barrier behind each product and behind the rows
//! an engine    begin to bring piece 0
//!              for i { wait for piece i; barrier; begin to bring piece i + 1 to the other room; work on piece i }
//! boxes        for i { wait for piece i; begin piece i + 1, after all have arrived in round i - 1; work on i; arrive }
//! n rooms      the same, n - 2 pieces ahead: an engine is at the second product of piece i - 1 until the first
//!              one of piece i is done
//! ```

use weft_dialects::device::{Move, Scope, build};
use weft_dialects::ir::{Builder, Type, Val};

use super::block_ahead::Ahead;
use super::index::{Sum, scf_for, scf_for_carrying, unrolled};
use super::one_pass::Pass;
use super::one_pass_piece::{Masks, Near, Piece, Starts, Work};
use super::transfer::{Boxed, Pending, Transfer, Within, alloc, at_place, ready, wait};
use crate::tile::block::{K, power_of_two_in};
use crate::tile::row_mask::RowMask;

impl<'c> Pass<'_, 'c> {
    /// The code of one block, whose tile begins at `starts`.
    pub(super) fn write(&self, b: &mut Builder<'c>, starts: &[Sum<'c>]) {
        let (scores, values, rows, own) = (&self.scores, &self.values, self.rows, self.own());
        let group = values.group(b);
        let begin = Sum::default().plus(&group[rows], values.block.group[rows] as i64);
        let mut first = vec![Sum::number(0); scores.nest.axes.len()];
        for &[own, read] in &self.one_pass.rows {
            first[own] = starts[read].clone();
        }
        for &(own, step) in &self.one_pass.others {
            first[own] = self.digit(b, starts, step, scores.nest.axes[own].extent);
        }
        let end = values.moved(b, starts, rows, &begin);
        let mine = scores.moved(b, &first, rows, &begin);
        let starts = Starts { values: starts, scores: first, mine, group };
        let held = self.registers(b);
        values.start(b, held.made, &end);
        self.begin_rows(b, &held);
        let rooms = values.block.rooms();
        let near = Near {
            queries: self.queries(b, &starts),
            keys: scores.rooms_of(b, own, rooms),
            values: values.rooms_of(b, own, rooms),
        };
        let work = Work { starts, held, near };
        let ahead = values.ways.brings(values.block.ahead);
        let put = values.ways.put.as_ref().filter(|_| values.block.stages > 1);
        match (ahead, put) {
            (Some(way), _) => self.by_engine(b, way, &work),
            (_, Some(way)) => self.by_registers(b, way, &work),
            _ => self.one_by_one(b, &work),
        }
        self.finish(b, &work.held, &end);
    }

    /// The place along an axis of rows that the other product does not have, from where its tile begins in
    /// the tensor between.
    fn digit(&self, b: &mut Builder<'c>, starts: &[Sum<'c>], step: i64, extent: u64) -> Sum<'c> {
        let index = Type::index(b.context());
        let steps = self.one_pass.steps.iter();
        let place = steps.fold(Sum::default(), |sum, &(axis, step)| sum.plus(&starts[axis], step));
        let (place, step, extent) = (place.emit(b), b.index(step), b.index(extent as i64));
        let rest = b.op("arith.divui", &[place, step], &[index]).result(0);
        Sum::value(b.op("arith.remui", &[rest, extent], &[index]).result(0))
    }

    /// Each piece is brought when the one before is done.
    fn one_by_one(&self, b: &mut Builder<'c>, work: &Work<'_, 'c>) {
        let way = &self.values.ways.stage;
        let own = self.own();
        let (end, masks) = self.rounds(b, work);
        let one = |b: &mut Builder<'c>, step: &Sum<'c>, ends: bool| {
            let zero = Sum::number(0);
            let [keys, values] = self.begins(&work.starts, step);
            self.values.barrier(b);
            self.scores.bring(b, (way, own, None), &keys, (work.near.keys, &zero));
            self.values.bring(b, (way, own, None), &values, (work.near.values, &zero));
            self.values.barrier(b);
            let begun = self.piece(b, work, &Piece { step, room: &zero, masks, ends });
            wait(b, &Vec::from_iter(begun));
        };
        scf_for(b, &Sum::number(0), &end, 1, |b, step| one(b, &Sum::value(step), false));
        if let Some(last) = self.last_piece() {
            one(b, &Sum::number(last as i64), true);
        }
    }

    /// The next piece is in registers while one is worked on. What one group puts near others take behind as many barriers
    /// as there are turns.
    fn by_registers(&self, b: &mut Builder<'c>, way: &Move<'c>, work: &Work<'_, 'c>) {
        let (own, turns) = (self.own(), self.values.block.turns);
        let ahead = [self.scores.ahead(b, own), self.values.ahead(b, own)];
        let zero = Sum::number(0);
        self.fetch(b, &ahead, work, &zero);
        self.put(b, way, &ahead, work, &zero);
        (0..turns).for_each(|_| self.values.barrier(b));
        let (end, masks) = self.rounds(b, work);
        scf_for(b, &zero, &end, 1, |b, step| {
            let step = &Sum::value(step);
            let next = self.next(b, step, 1);
            self.fetch(b, &ahead, work, &next);
            // Else the code generator moves these to where they are used.
            build::barrier(b, Scope::Thread);
            let rooms = [0, 1].map(|later| self.values.room_of(b, step, later));
            let piece = Piece { step, room: &rooms[0], masks, ends: false };
            if turns > 1 {
                self.in_turns(b, way, &ahead, work, (&piece, &rooms[1]));
            } else {
                self.piece(b, work, &piece);
                self.put(b, way, &ahead, work, &rooms[1]);
            }
            self.values.barrier(b);
        });
        if self.last_piece().is_some() {
            (1..turns).for_each(|_| self.values.barrier(b));
        }
        self.last(b, work);
    }

    /// A piece, and the next one to the other room, by groups of which some multiply while others fold rows.
    fn in_turns(
        &self,
        b: &mut Builder<'c>,
        way: &Move<'c>,
        [keys, values]: &[Ahead<'c>; 2],
        work: &Work<'_, 'c>,
        (piece, other): (&Piece<'_, 'c>, &Sum<'c>),
    ) {
        self.score(b, work, piece);
        // The others multiply, too: lanes have time.
        self.scores.put_one(b, way, keys, (work.near.keys, other));
        self.values.barrier(b);
        self.weigh(b, work, piece);
        // Else groups would wait for them in front of the first instruction.
        let loaded = self.load_values(b, work, piece);
        self.values.barrier(b);
        self.add_loaded(b, work, &loaded);
        self.values.put_one(b, way, values, (work.near.values, other));
    }

    fn fetch(
        &self,
        b: &mut Builder<'c>,
        ahead: &[Ahead<'c>; 2],
        work: &Work<'_, 'c>,
        step: &Sum<'c>,
    ) {
        let [keys, values] = self.begins(&work.starts, step);
        self.scores.fetch_one(b, &ahead[0], &keys);
        self.values.fetch_one(b, &ahead[1], &values);
    }

    fn put(
        &self,
        b: &mut Builder<'c>,
        way: &Move<'c>,
        ahead: &[Ahead<'c>; 2],
        work: &Work<'_, 'c>,
        room: &Sum<'c>,
    ) {
        self.scores.put_one(b, way, &ahead[0], (work.near.keys, room));
        self.values.put_one(b, way, &ahead[1], (work.near.values, room));
    }

    /// An engine brings later pieces while one is worked on. Where there is a room more, an engine's instructions
    /// of the second product go on while the next piece is begun.
    fn by_engine(&self, b: &mut Builder<'c>, way: &Move<'c>, work: &Work<'_, 'c>) {
        let own = self.own();
        let bring =
            |b: &mut Builder<'c>, after: Option<Val<'c>>, step: &Sum<'c>, room: &Sum<'c>| {
                let ([keys, values], way) = (self.begins(&work.starts, step), (way, own, after));
                let mut tokens = self.scores.bring(b, way, &keys, (work.near.keys, room));
                tokens.extend(self.values.bring(b, way, &values, (work.near.values, room)));
                tokens
            };
        let ahead = self.values.block.steps_ahead();
        let goes_on = self.values.block.rooms() > ahead + 1;
        let mut begun: Vec<Val<'c>> = Vec::new();
        for step in 0..ahead {
            let [step, room] = [step.min(self.pieces() - 1), step].map(|n| Sum::number(n as i64));
            begun.extend(bring(b, None, &step, &room));
        }
        let tokens = begun.len() / ahead as usize;
        begun.extend(goes_on.then(|| ready(b)));
        // Behind all others.
        let arrives = self.values.arrives(way);
        begun.extend(arrives.then(|| ready(b)));
        if arrives {
            // Queries are there; what follows waits for boxes only.
            self.values.barrier(b);
        }
        let (end, masks) = self.rounds(b, work);
        let last = scf_for_carrying(b, &Sum::number(0), &end, 1, &begun, |b, step, begun| {
            let step = &Sum::value(step);
            let rooms = [0, ahead as i64].map(|later| self.values.room_of(b, step, later));
            let (arrived, begun) = match begun.split_last() {
                Some((arrived, rest)) if arrives => (Some(*arrived), rest),
                _ => (None, begun),
            };
            let (first, later) = begun.split_at(tokens);
            // All groups' parts of this piece are there, and all have read the one whose room is filled; of boxes only
            // who asks for them waits for that.
            wait(b, first);
            if !arrives {
                self.values.barrier(b);
            }
            let next = self.next(b, step, ahead);
            let brought = bring(b, arrived, &next, &rooms[1]);
            let piece = Piece { step, room: &rooms[0], masks, ends: false };
            let instructions = Vec::from_iter(self.piece(b, work, &piece));
            // Behind those of the next piece's first product these are done, too.
            let kept = if goes_on { later.len() - 1 } else { later.len() };
            let mut carried = [&later[..kept], &brought].concat();
            match goes_on {
                true => carried.extend(instructions),
                false => wait(b, &instructions),
            }
            carried.extend(arrives.then(|| build::arrive(b, Scope::Core)));
            carried
        });
        let last = &last[..last.len() - usize::from(arrives)];
        match self.last_piece() {
            // Instructions are waited for with its own.
            Some(_) => {
                wait(b, &last[..tokens * ahead as usize]);
                // Of boxes each group knows that they are there; of pieces only those that it asked for.
                if way.boxes().is_none() {
                    self.values.barrier(b);
                }
            }
            None => wait(b, last),
        }
        self.last(b, work);
    }

    /// The last piece, where rows end in it, which is in its room.
    fn last(&self, b: &mut Builder<'c>, work: &Work<'_, 'c>) {
        if let Some(last) = self.last_piece() {
            let room = Sum::number((last % self.values.block.rooms()) as i64);
            let step = &Sum::number(last as i64);
            let masks = self.masks();
            let begun = self.piece(b, work, &Piece { step, room: &room, masks, ends: true });
            wait(b, &Vec::from_iter(begun));
        }
    }

    /// The end of the whole pieces, and which of them are masked. Where rows see what is in front of a place that goes
    /// up with them, they end where the last row of the block sees no more, and are masked from where its first row
    /// does not see all.
    fn rounds(&self, b: &mut Builder<'c>, work: &Work<'_, 'c>) -> (Sum<'c>, Masks<'c>) {
        let whole = Sum::number(self.whole_pieces() as i64);
        let mask = self.one_pass.mask.as_ref();
        let (block, axis) = (&self.scores.block, self.scores.block.axes[self.rows]);
        let (high, extent) = (block.tile[self.rows], self.scores.nest.axes[axis].extent);
        let numbered = |mask: &RowMask| {
            let period = mask.period().filter(|period| *period < extent);
            Some((mask.sees?, period)).filter(|_| period.is_none_or(|own| own.is_multiple_of(high)))
        };
        let sees = mask.and_then(numbered).filter(|_| self.last_piece().is_none());
        let Some((sees, period)) = sees else {
            return (whole, self.masks());
        };
        let index = [Type::index(b.context())];
        let mut row = work.starts.scores[axis].emit(b);
        if let Some(period) = period {
            let period = b.index(period as i64);
            row = b.op("arith.remui", &[row, period], &index).result(0);
        }
        let (zero, one, whole) = (b.index(0), b.index(1), whole.emit(b));
        let piece = b.index(self.values.block.tile[K] as i64);
        // So many keys all rows of the block see, and so many the last one.
        let mut pieces = |keys: i64, round: &str, least: Val<'c>| {
            let seen = Sum::value(row).plus(&Sum::number(keys), 1).emit(b);
            let seen = b.op("arith.maxsi", &[seen, zero], &index).result(0);
            let count = b.op(round, &[seen, piece], &index).result(0);
            let count = b.op("arith.minui", &[count, whole], &index).result(0);
            b.op("arith.maxui", &[count, least], &index).result(0)
        };
        let first = pieces(sees + 1, "arith.divui", zero);
        let last = pieces(sees + high as i64, "arith.ceildivui", one);
        (Sum::value(last), Masks::From(first))
    }

    /// Which pieces are masked where that is not known better.
    fn masks(&self) -> Masks<'c> {
        if self.one_pass.mask.is_some() { Masks::All } else { Masks::None }
    }

    /// How many pieces there are.
    fn pieces(&self) -> u64 {
        self.keys().div_ceil(self.values.block.tile[K])
    }

    /// How long rows are.
    pub(super) fn keys(&self) -> u64 {
        self.scores.nest.axes[self.one_pass.along[0]].extent
    }

    /// How many pieces there are before the end of rows.
    fn whole_pieces(&self) -> u64 {
        self.keys() / self.values.block.tile[K]
    }

    /// The piece in which rows end, if they do not end behind one.
    fn last_piece(&self) -> Option<u64> {
        (!self.keys().is_multiple_of(self.values.block.tile[K])).then(|| self.whole_pieces())
    }

    /// The piece so many behind another; behind the last one it comes again, for a branch would cost every step.
    fn next(&self, b: &mut Builder<'c>, step: &Sum<'c>, ahead: u64) -> Sum<'c> {
        let index = Type::index(b.context());
        let next = step.clone().plus(&Sum::number(ahead as i64), 1).emit(b);
        let most = b.index(self.pieces() as i64 - 1);
        Sum::value(b.op("arith.minui", &[next, most], &[index]).result(0))
    }

    /// Where the keys and the values of a piece begin.
    fn begins(&self, starts: &Starts<'_, 'c>, step: &Sum<'c>) -> [Vec<Sum<'c>>; 2] {
        let at = Sum::default().plus(step, self.values.block.tile[K] as i64);
        let (mut scores, mut values) = (starts.scores.clone(), starts.values.to_vec());
        scores[self.one_pass.along[0]] = at.clone();
        values[self.one_pass.along[1]] = at;
        [scores, values]
    }

    /// The queries near all groups, or this group's in its registers.
    fn queries(&self, b: &mut Builder<'c>, starts: &Starts<'_, 'c>) -> Val<'c> {
        let (scores, rows) = (&self.scores, self.rows);
        if !self.has_queries() {
            let queries = scores.rooms_of(b, rows, 1);
            let place = (queries, &Sum::number(0));
            scores.bring(b, (&scores.ways.stage, rows, None), &starts.scores, place);
            return queries;
        }
        let held = scores.block.held_input(rows);
        let (quantum, deep) = (scores.block.quanta()[K], scores.block.deep());
        let steps = scores.block.tile[K] / quantum;
        let shape: Vec<u64> = [steps].into_iter().chain(held.shape.iter().copied()).collect();
        let access = scores.input(rows);
        let queries = alloc(b, &shape, access.elem(), scores.ways.registers.name);
        let (run, along) = scores.block.run(scores.nest, access, [rows, K]);
        let run = if along == K { power_of_two_in(run, scores.block.step_apart()) } else { 1 };
        unrolled(b, steps / deep, |b, round| {
            unrolled(b, deep, |b, step| {
                let k = Sum::default()
                    .plus(&round, (deep * quantum) as i64)
                    .plus(&step, scores.block.step_apart() as i64);
                let at = scores.moved(b, &starts.mine, K, &k);
                let sides = scores.held_sides(&held);
                let number = Sum::default().plus(&round, deep as i64).plus(&step, 1);
                let to =
                    Boxed { view: at_place(b, queries, &[number]), strides: sides.near.clone() };
                let from = Boxed {
                    view: scores.view(b, access, &at),
                    strides: scores.far(access, &sides),
                };
                let limits = scores.limits(b, access, (&sides, [rows, K]), &at);
                let within = Within { limits, pads: true, run, ..Within::default() };
                let moved = Transfer { from: &from, to: &to, sizes: &sides.sizes, within: &within };
                Pending::default().transfer_within(b, &scores.ways.fetch, moved);
            });
        });
        queries
    }
}
