//! Arrivals: groups say that they have come to a place, and go on; who asks for boxes behind it waits.
//!
//! ```text
//! %f = device.arrive "core"                 n = count; count = n + 1
//!                                           a thread of each warp arrives at word n mod depth
//! %t = device.transfer ... after(%f)        thread 0, before it asks: until phase n / depth - 1 of that word is over
//! ```
//!
//! A token is the number of its arrival, counted from the number of words on, for 0 is that of `device.ready`: there is
//! nothing to wait for. A warp does not come to a word again before all have arrived there: in each round it waits for
//! boxes, which are asked for behind arrivals of all, and there are as many words as boxes that may be under way.

use rustc_hash::{FxHashMap, FxHashSet};
use weft_dialects::device::tokens::{Kind, begun};
use weft_dialects::device::{Copy, Fill, Machine, Scope, Transfer};
use weft_dialects::ir::{Builder, Op, Type, Val};

use super::boxes::{compare, when};
use super::storage::Thread;
use super::tensor_boxes::counted;
use super::words::{Words, until_over};

/// The arrivals of a function for one thread.
#[derive(Default)]
pub struct Arrivals<'c> {
    /// The number of each, an index.
    numbers: FxHashMap<Op<'c>, Val<'c>>,
    words: Option<Words<'c>>,
    /// Whether threads access what boxes are brought to, which engines are to see.
    shows: bool,
    /// Transfers behind another one that waited already.
    waited: FxHashSet<Op<'c>>,
}

impl<'c> Arrivals<'c> {
    /// Gives each arrival of a function a number in the place of its token; there will be so many words.
    pub fn take(thread: &Thread<'c>, func: Op<'c>, depth: u64) -> Self {
        let mut givers = Vec::new();
        func.walk(&mut |op| {
            if begun(thread.machine, op) == Some(Kind::Arrivals) {
                givers.push(op);
            }
        });
        let numbers = counted(thread, func, &givers, depth as i64);
        Self { numbers, words: None, shows: shows(thread.machine, func), waited: waited(func) }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Where they are counted.
    pub fn at(&mut self, words: Words<'c>) {
        self.words = Some(words);
    }

    /// A group arrives.
    pub fn arrive(&self, b: &mut Builder<'c>, thread: &Thread<'c>, op: Op<'c>) {
        let (Some(words), Some(number)) = (self.words, self.numbers.get(&op)) else { return };
        if thread.roles.only_counts(op) {
            return;
        }
        if self.shows {
            thread.isa.show_to_engines(b);
        }
        // All that a warp did is in front of its arrival.
        thread.isa.barrier(b, Scope::Warp, None);
        let [word, _] = words.of(b, *number, 0);
        let (index, warp) = (Type::index(b.context()), b.index(thread.isa.warp() as i64));
        let lane = b.op("arith.remui", &[thread.number(), warp], &[index]).result(0);
        let zero = b.index(0);
        let first = compare(b, "eq", lane, zero);
        when(b, Some(first), |b| thread.isa.arrive(b, word));
    }

    /// Waits until all groups have made the arrival that a transfer is after.
    pub fn wait(&self, b: &mut Builder<'c>, thread: &Thread<'c>, transfer: &Transfer<'c>) {
        let (Some(words), Some(number)) = (self.words, transfer.after) else { return };
        if self.waited.contains(&transfer.op) {
            return;
        }
        let depth = b.index(words.depth as i64);
        let made = compare(b, "sge", number, depth);
        when(b, Some(made), |b| {
            // Counted from the first phase behind that of 0.
            let word = words.of(b, number, 1);
            until_over(b, thread, word);
        });
    }
}

/// Whether threads access a buffer that boxes are brought to.
fn shows<'c>(machine: Machine<'c>, func: Op<'c>) -> bool {
    let (mut brought, mut accessed) = (Vec::new(), Vec::new());
    func.walk(&mut |op| {
        if let Some(transfer) = Transfer::of(op) {
            match begun(machine, op) {
                Some(Kind::Boxes) => brought.push(transfer.target.memref),
                _ => accessed.extend([transfer.source.memref, transfer.target.memref]),
            }
        } else if let Some(copy) = Copy::of(op) {
            accessed.extend([copy.source.memref, copy.target.memref]);
        } else if let Some(fill) = Fill::of(op) {
            accessed.push(fill.target.memref);
        } else if op.name().starts_with("device.") && begun(machine, op).is_none() {
            accessed.extend(op.operands());
        } else if op.is("memref.load") {
            accessed.push(op.operand(0));
        }
    });
    brought.iter().any(|memref| accessed.contains(memref))
}

/// The transfers in front of which another one of the same block is after the same arrival.
fn waited<'c>(func: Op<'c>) -> FxHashSet<Op<'c>> {
    let mut known: Vec<(Val<'c>, Op<'c>)> = Vec::new();
    let mut found = FxHashSet::default();
    func.walk(&mut |op| {
        let Some(after) = Transfer::of(op).and_then(|own| own.after) else { return };
        if known.iter().any(|(own, before)| *own == after && before.block() == op.block()) {
            found.insert(op);
        }
        known.push((after, op));
    });
    found
}
