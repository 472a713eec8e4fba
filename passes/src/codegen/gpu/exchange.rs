//! Lanes that exchange pieces, so that each stores a long one.
//!
//! ```text
//! four lanes of a fragment hold words of one row, of four blocks of columns     lane 0 stores block 0, lane 1 block 1, ...
//!   lane 0   a0 b0 c0 d0                                                          a0 a1 a2 a3
//!   lane 1   a1 b1 c1 d1                                                    ->    b0 b1 b2 b3
//!   lane 2   a2 b2 c2 d2                                                          c0 c1 c2 c3
//!   lane 3   a3 b3 c3 d3                                                          d0 d1 d2 d3
//! ```
//!
//! Each would store words that lie four apart; together they write as much by a quarter of the accesses,
//! each of which touches whole transactions of the memory.

use weft_dialects::ir::{Builder, Type, Val, ty};

use super::boxes::{Steps, choose, compare, when};
use super::registers::{Registers, Slot};
use super::storage::{self, Thread};
use super::together::{End, elements, wide_store};
use crate::nest::emit_sum;

/// Lanes that exchange.
const LANES: usize = 4;
/// Bytes of what one shuffle moves.
const WORD: u64 = 4;

/// Pieces of neighbouring lanes that become long ones.
pub struct Exchange<'s, 'c> {
    /// The slots of each piece, of the first block to the last.
    pieces: Vec<&'s [&'s Slot<'c>]>,
    /// The side of the box along which pieces lie.
    side: usize,
    /// Points along each side from a block to the next.
    apart: Vec<i64>,
}

impl<'s, 'c> Exchange<'s, 'c> {
    /// The first pieces, where four lanes hold neighbours of each and one of them can store all of a block.
    pub fn of(
        thread: &Thread<'c>,
        pieces: &'s [Vec<&'s Slot<'c>>],
        to: &End<'_, 'c>,
        moved: &Steps<'_, 'c>,
    ) -> Option<Self> {
        let bytes = ty::elem(to.flat.ty()).and_then(ty::byte_size)?;
        let pieces: Vec<&[&Slot<'c>]> = pieces.get(..LANES)?.iter().map(Vec::as_slice).collect();
        let run = pieces[0].len();
        let long = (LANES * run) as u64;
        let fits = run as u64 * bytes == WORD && long <= moved.run.min(thread.widest(bytes));
        if !fits || to.swizzle.is_some() || pieces.iter().any(|own| own.len() != run) {
            return None;
        }
        let points: Option<Vec<&Vec<Vec<i64>>>> = pieces
            .iter()
            .map(|own| own[0].points.as_ref().filter(|_| own[0].condition.is_none()))
            .collect();
        let points = points?;
        let side = to.steps.iter().rposition(|&step| step == 1)?;
        let (first, second) = (points[0].first()?, points[1].first()?);
        let apart: Vec<i64> = first.iter().zip(second).map(|(one, other)| other - one).collect();
        // Where a lane's own point is, seen from the first lane's of the first block.
        let is_expected = |block: usize, lane: usize, point: &[i64]| {
            let begin = &points[0][lane - lane % LANES];
            let piece = (lane % LANES * run) as i64;
            let mut sides = point.iter().zip(begin).zip(&apart).enumerate();
            sides.all(|(own, ((at, begin), apart))| {
                *at == begin + block as i64 * apart + if own == side { piece } else { 0 }
            })
        };
        let address =
            |point: &[i64]| point.iter().zip(to.steps).map(|(at, step)| at * step).sum::<i64>();
        let aligned = |point: &[i64]| address(point).rem_euclid(long as i64) == 0;
        let alike = points.iter().enumerate().all(|(block, own)| {
            own.iter().enumerate().all(|(lane, point)| is_expected(block, lane, point))
        });
        let begin = points[0].iter().step_by(LANES).all(|point| aligned(point));
        (alike && begin && aligned(&apart)).then_some(Self { pieces, side, apart })
    }

    /// Pieces that are stored.
    pub fn count(&self) -> usize {
        LANES
    }

    /// Exchanges, and stores one block of each lane.
    pub fn store(
        &self,
        b: &mut Builder<'c>,
        thread: &Thread<'c>,
        registers: &Registers<'_, 'c>,
        to: &End<'_, 'c>,
        moved: &Steps<'_, 'c>,
    ) {
        let (index, run) = (Type::index(b.context()), self.pieces[0].len());
        let mask = b.index(LANES as i64 - 1);
        let own = b.op("arith.andi", &[thread.place.lane, mask], &[index]).result(0);
        let bits = [1, 2].map(|bit| {
            let bit = b.index(bit);
            let found = b.op("arith.andi", &[own, bit], &[index]).result(0);
            let zero = b.index(0);
            compare(b, "ne", found, zero)
        });
        let mut words: Vec<Val<'c>> =
            self.pieces.iter().map(|piece| packed(b, registers, piece)).collect();
        // Word `t` becomes that of block `lane ^ t`, goes to that lane, and is its piece `lane ^ t`.
        turned(b, bits, &mut words);
        for (number, word) in words.iter_mut().enumerate().skip(1) {
            let by = b.index(number as i64);
            let from = b.op("arith.xori", &[thread.place.lane, by], &[index]).result(0);
            *word = thread.isa.shuffle(b, *word, from);
        }
        turned(b, bits, &mut words);
        // From the lane's own piece of the first block to the begin of the lane's block.
        let first = self.pieces[0][0].point.iter().zip(&self.apart).enumerate();
        let point: Vec<Val<'c>> = first
            .map(|(side, (&at, &apart))| {
                let by = apart - if side == self.side { run as i64 } else { 0 };
                if by == 0 { at } else { emit_sum(b, &[(at, 1), (own, by)], 0) }
            })
            .collect();
        let inside = moved.inside(b, &point);
        when(b, inside, |b| {
            let elem = ty::elem(to.flat.ty()).expect("a store is to a memref");
            let pieces: Vec<Val<'c>> =
                words.iter().flat_map(|&word| unpacked(b, word, elem, run as u64)).collect();
            let vector = ty::vector(pieces.len() as u64, elem);
            let value = b.op("vector.from_elements", &pieces, &[vector]).result(0);
            let at = to.place(b, &point);
            wide_store(b, value, to.flat, at, pieces.len() as u64);
        });
    }
}

/// Puts at each place `n` the word that was at `n ^ lane`, for the two lowest bits of the lane.
fn turned<'c>(b: &mut Builder<'c>, bits: [Val<'c>; 2], words: &mut [Val<'c>]) {
    for (bit, set) in [1, 2].into_iter().zip(bits) {
        let before = words.to_vec();
        for (number, word) in words.iter_mut().enumerate() {
            *word = choose(b, Some(set), before[number ^ bit], Some(before[number]));
        }
    }
}

/// A piece as one word.
fn packed<'c>(b: &mut Builder<'c>, registers: &Registers<'_, 'c>, piece: &[&Slot<'c>]) -> Val<'c> {
    let values: Vec<_> =
        piece.iter().map(|slot| storage::load(b, registers.slots, &slot.place)).collect();
    let vector = ty::vector(values.len() as u64, values[0].ty());
    let value = b.op("vector.from_elements", &values, &[vector]).result(0);
    let word = ty::vector(1, ty::int(b.context(), 8 * WORD as u32));
    let word = b.op("vector.bitcast", &[value], &[word]).result(0);
    elements_of(b, word)
}

fn elements_of<'c>(b: &mut Builder<'c>, word: Val<'c>) -> Val<'c> {
    let elem = ty::elem(word.ty()).expect("it is a vector");
    b.op("vector.to_elements", &[word], &[elem]).result(0)
}

/// The elements of a word.
fn unpacked<'c>(b: &mut Builder<'c>, word: Val<'c>, elem: Type<'c>, run: u64) -> Vec<Val<'c>> {
    let one = ty::vector(1, word.ty());
    let vector = b.op("vector.from_elements", &[word], &[one]).result(0);
    let piece = b.op("vector.bitcast", &[vector], &[ty::vector(run, elem)]).result(0);
    if run == 1 {
        return vec![elements_of(b, piece)];
    }
    elements(b, piece, run)
}
