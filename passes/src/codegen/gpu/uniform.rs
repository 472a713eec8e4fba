//! Registers that hold one number for a row of an operand, such as the greatest of its elements: a thread keeps
//! it once, not in each slot that it has of the row.
//!
//! ```text
//! device.combine along 1 ins(%s) outs(%m)     all slots of a row of %m become one number
//! device.apply ins(%m) outs(%n)               so do those of %n
//! device.apply ins(%s, %m) outs(%s)           a slot of %s takes the first slot of its row of %m
//! ```
//!
//! So it is with what only sums up rows: of the slots of a row it is the sum that counts.
//!
//! ```text
//! device.fill %l value 0
//! device.apply ins(%l, %m) outs(%l) mulf      the sums of a lane's slots are scaled
//! device.apply ins(%s, %l) outs(%l) addf      all slots of a row of %s go to the first one of %l
//! device.combine along 1 ins(%l) outs(%t)     the first ones of all lanes that have the row
//! ```

use rustc_hash::FxHashMap;
use weft_dialects::device::{Apply, Combine, Fill, View};
use weft_dialects::ir::{Block, Op, Val, attr, ty};

use super::super::index_sum::is_same;
use super::storage::{Storage, Thread};
use crate::tile::SpreadRows;

/// A number of each row of a register.
pub struct RowNumber {
    /// For each slot the one that holds it: the first one of its row.
    pub first: Vec<u64>,
    /// Whether it is a lane's part of a sum.
    pub is_sum: bool,
}

/// Registers of which each row is one number.
pub fn rows<'c>(thread: &Thread<'c>, steps: &[Op<'c>]) -> FxHashMap<Val<'c>, RowNumber> {
    let combines: Vec<_> = steps.iter().filter_map(|op| Combine::of(*op)).collect();
    let mut along: Vec<usize> = combines.iter().filter_map(|combine| combine.along).collect();
    along.sort_unstable();
    along.dedup();
    let [along] = along[..] else { return FxHashMap::default() };
    let applies: Vec<_> = steps.iter().filter_map(|op| Apply::of(*op)).collect();
    let known = |memref: Val<'c>| {
        memref.uses().into_iter().all(|(user, _)| {
            let writes = Combine::of(user).filter(|own| own.output.memref == memref);
            match writes {
                Some(combine) => combine.along == Some(along),
                None => {
                    user.is("device.combine") || user.is("device.apply") || Fill::of(user).is_some()
                }
            }
        })
    };
    let first = |memref: Val<'c>| {
        let Some(Storage::Registers { layout, .. }) = thread.storages.get(&memref) else {
            return None;
        };
        if layout.is_lanewise() || along >= layout.shape.len() {
            return None;
        }
        let places: Vec<_> = (0..layout.slots).map(|slot| layout.places(slot)).collect();
        let rows = SpreadRows::of(&places, along, layout.shape[along])?;
        let row = |slot: u64| rows.slots.iter().find(|row| row.contains(&slot)).map(|row| row[0]);
        (0..layout.slots).map(row).collect::<Option<Vec<u64>>>()
    };
    let mut found: FxHashMap<Val<'c>, RowNumber> = FxHashMap::default();
    let folded = combines.iter().map(|combine| combine.output.memref);
    let made = applies.iter().flat_map(|apply| &apply.outputs).map(|view| view.memref);
    for memref in folded.chain(made) {
        if found.contains_key(&memref) || !known(memref) {
            continue;
        }
        let own = first(memref).map(|first| RowNumber { first, is_sum: false });
        found.extend(own.map(|own| (memref, own)));
    }
    // What is made of others is so if these are.
    loop {
        let others = applies.iter().filter(|apply| {
            let asks = apply.body.ops().iter().any(|op| op.is("device.lane"));
            asks || apply.inputs.iter().any(|view| !found.contains_key(&view.memref))
        });
        let others: Vec<_> =
            others.flat_map(|apply| &apply.outputs).map(|own| own.memref).collect();
        let before = found.len();
        found.retain(|memref, _| !others.contains(memref));
        if found.len() == before {
            break;
        }
    }
    let sums = combines.iter().map(|combine| combine.input.memref);
    for memref in sums {
        if found.contains_key(&memref) || !is_sum(thread, memref, &found) {
            continue;
        }
        let own = first(memref).map(|first| RowNumber { first, is_sum: true });
        found.extend(own.map(|own| (memref, own)));
    }
    found
}

/// Whether a register only sums up rows: it begins as zero, is scaled by numbers of rows, added to, and folded at the end.
fn is_sum<'c>(thread: &Thread<'c>, memref: Val<'c>, known: &FxHashMap<Val<'c>, RowNumber>) -> bool {
    memref.uses().into_iter().all(|(user, _)| {
        if let Some(fill) = Fill::of(user) {
            let whole = fill.sizes.iter().product::<u64>() == ty::count(memref.ty()).unwrap_or(0);
            return whole && attr::float(fill.value) == Some(0.0);
        }
        if let Some(combine) = Combine::of(user) {
            let is_input = combine.input.memref == memref && combine.output.memref != memref;
            return is_input && only(combine.body, "arith.addf");
        }
        let Some(apply) = Apply::of(user) else { return false };
        let scale = || other(&apply, memref, "arith.mulf");
        let is_number = |view: &View<'c>| known.get(&view.memref).is_some_and(|own| !own.is_sum);
        // What is loaded when a body asks for it, or lies in memory, is another one's to read.
        let is_held = |view: &View<'c>| {
            let storage = thread.storages.get(&view.memref);
            let registers = matches!(storage, Some(Storage::Registers { .. }));
            registers && !thread.later.contains_key(&view.memref)
        };
        added(&apply, memref).is_some_and(is_held) || scale().is_some_and(is_number)
    })
}

/// What a body adds to a register that it works on.
pub fn added<'a, 'c>(apply: &'a Apply<'c>, memref: Val<'c>) -> Option<&'a View<'c>> {
    other(apply, memref, "arith.addf")
}

/// The other input of a body that does one operation on a place of a register and an input, to the same place.
fn other<'a, 'c>(apply: &'a Apply<'c>, memref: Val<'c>, name: &str) -> Option<&'a View<'c>> {
    let [output] = &apply.outputs[..] else { return None };
    let is_own = |view: &View<'c>| {
        let alike = || view.indices.iter().zip(&output.indices).all(|(x, y)| is_same(*x, *y));
        view.memref == memref && alike()
    };
    let other = match &apply.inputs[..] {
        [one, other] if is_own(one) => other,
        [other, one] if is_own(one) => other,
        _ => return None,
    };
    (output.memref == memref && other.memref != memref && only(apply.body, name)).then_some(other)
}

/// Whether a body is one operation on both of its arguments.
fn only(body: Block<'_>, name: &str) -> bool {
    let (args, ops) = (body.args(), body.ops());
    let [op, end] = ops[..] else { return false };
    let on_both = args.len() == 2 && args.iter().all(|arg| op.operands().contains(arg));
    op.is(name) && on_both && end.operands() == op.results()
}
