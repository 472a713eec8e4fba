//! Words in the memory that a block shares at which threads arrive, and wait for a phase to end.

use melior::dialect::llvm::r#type as llvm;
use weft_dialects::ir::{Builder, Type, Val, ty};

use super::super::pointer::pointer;
use super::storage::Thread;

/// Bytes of a word.
pub const WORD_BYTES: u64 = 8;

/// Some of them, used in turn: number n is word n mod depth, and its phase n / depth.
#[derive(Clone, Copy)]
pub struct Words<'c> {
    /// `memref<count x i64>`.
    pub memref: Val<'c>,
    /// The first of them there.
    pub first: u64,
    pub depth: u64,
}

impl<'c> Words<'c> {
    /// The pointer to a number's word, and the parity of its phase, an `i32`; `from` is 1 where numbers begin at `depth`.
    pub fn of(&self, b: &mut Builder<'c>, number: Val<'c>, from: u64) -> [Val<'c>; 2] {
        let (index, int) = (Type::index(b.context()), ty::int(b.context(), 32));
        let (depth, two) = (b.index(self.depth as i64), b.index(2));
        let mut at = b.op("arith.remui", &[number, depth], &[index]).result(0);
        if self.first > 0 {
            let first = b.index(self.first as i64);
            at = b.op("arith.addi", &[at, first], &[index]).result(0);
        }
        let word = self.pointer(b, at);
        let mut phase = b.op("arith.divui", &[number, depth], &[index]).result(0);
        if from % 2 == 1 {
            let one = b.index(1);
            phase = b.op("arith.addi", &[phase, one], &[index]).result(0);
        }
        let phase = b.op("arith.remui", &[phase, two], &[index]).result(0);
        [word, b.op("arith.index_cast", &[phase], &[int]).result(0)]
    }

    /// Makes all of them words of so many arrivals.
    pub fn make(&self, b: &mut Builder<'c>, thread: &Thread<'c>, arrivals: u64) {
        for number in self.first..self.first + self.depth {
            let at = b.index(number as i64);
            let word = self.pointer(b, at);
            thread.isa.make_barrier(b, word, arrivals);
        }
    }

    fn pointer(&self, b: &mut Builder<'c>, at: Val<'c>) -> Val<'c> {
        pointer(b, [self.memref, at], llvm::pointer(b.context(), 3))
    }
}

/// Goes round until the phase of a word is over.
pub fn until_over<'c>(b: &mut Builder<'c>, thread: &Thread<'c>, [word, parity]: [Val<'c>; 2]) {
    let bit = ty::int(b.context(), 1);
    let round = b.op_with("scf.while", &[], &[], &[], 2);
    let block = b.block(round.region(0), &[]);
    let mut before = b.into_block(block);
    let done = thread.isa.is_phase_over(&mut before, word, parity);
    let one = before.integer(bit, 1);
    let goes_on = before.op("arith.xori", &[done, one], &[bit]).result(0);
    before.op("scf.condition", &[goes_on], &[]);
    let block = b.block(round.region(1), &[]);
    b.into_block(block).op("scf.yield", &[], &[]);
}
