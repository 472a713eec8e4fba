//! Loads to registers that wait until what takes them: an operand of a large instruction has as many slots
//! as a thread has registers, and those of an epilogue's inputs would be as many again.
//!
//! ```text
//! device.transfer %bias to %r          nothing
//! device.apply ins(%sums, %r)     ->   for every few slots: load those of %r; the body on them
//! ```

use rustc_hash::FxHashMap;
use weft_dialects::device::{Apply, Transfer};
use weft_dialects::ir::{Builder, Diagnostics, Op, Val};

use super::boxes::Steps;
use super::registers::{self, Registers, Sides, Slot};
use super::storage::{Storage, Thread};
use super::together::End;
use super::tokens::begun;

/// Slots that are loaded at once: some latency is hidden, and few registers are taken.
pub const AT_ONCE: usize = 16;

/// The transfers that can wait for a body on many slots, by the registers that they fill: nothing else uses
/// these, and nothing is written in between.
pub fn transfers<'c>(thread: &Thread<'c>, steps: &[Op<'c>]) -> FxHashMap<Val<'c>, Op<'c>> {
    let mut found = FxHashMap::default();
    for (place, op) in steps.iter().enumerate() {
        let Some(apply) = Apply::of(*op) else { continue };
        let inputs = apply.inputs.iter().map(|view| view.memref).filter(|memref| {
            let slots = match thread.storages.get(memref) {
                Some(Storage::Registers { layout, shape, .. })
                    if shape.len() == layout.shape.len() =>
                {
                    layout.slots
                }
                _ => 0,
            };
            slots > AT_ONCE as u64
        });
        for memref in inputs {
            let users: Vec<_> = memref.uses().into_iter().map(|(user, _)| user).collect();
            let before = steps[..place].iter().rev().take_while(|step| {
                let fills = Transfer::of(**step).is_some_and(|own| is_register(thread, &own));
                fills && step.block() == op.block()
            });
            let filled = before
                .copied()
                .find(|step| Transfer::of(*step).is_some_and(|own| own.target.memref == memref));
            if let Some(filled) = filled.filter(|_| users.len() == 2) {
                found.insert(memref, filled);
            }
        }
    }
    found
}

fn is_register<'c>(thread: &Thread<'c>, transfer: &Transfer<'c>) -> bool {
    begun(thread.machine, transfer.op).is_none()
        && matches!(thread.storages.get(&transfer.target.memref), Some(Storage::Registers { .. }))
        && !matches!(thread.storages.get(&transfer.source.memref), Some(Storage::Registers { .. }))
}

/// A transfer to registers whose slots are loaded when they are asked for.
pub struct Later<'a, 'c> {
    registers: Registers<'a, 'c>,
    slots: Vec<Slot<'c>>,
    from: End<'a, 'c>,
    moved: Steps<'a, 'c>,
}

impl<'a, 'c> Later<'a, 'c> {
    /// Writes where each slot is loaded from; `None` where that is reported.
    pub fn of(
        b: &mut Builder<'c>,
        thread: &'a Thread<'c>,
        transfer: &'a Transfer<'c>,
        diag: &mut Diagnostics,
    ) -> Option<Self> {
        let (target, moved) = (&transfer.target, Steps::of(transfer));
        let from = End::new(b, thread, &transfer.source, moved.from)?;
        let Storage::Registers { slots, shape, layout } = thread.storage(target) else {
            return None;
        };
        let registers = Registers { shape, layout, slots: *slots, view: target };
        let sides = Sides { sizes: moved.sizes, steps: moved.to };
        let slots = registers.slots(b, thread, transfer.op, sides, diag)?;
        Some(Self { registers, slots, from, moved })
    }

    /// Loads a part of the slots, from the first of them on.
    pub fn load(&self, b: &mut Builder<'c>, thread: &Thread<'c>, first: u64) {
        let (first, end) = (first as usize, first as usize + AT_ONCE);
        let all = self.slots.len();
        let own = &self.slots[first.min(all)..end.min(all)];
        registers::load(b, thread, &self.registers, own, &self.from, &self.moved);
    }
}
