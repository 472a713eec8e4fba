//! Registers that hold one number for a row of an operand, such as the greatest of its elements: a thread keeps
//! it once, not in each slot that it has of the row.
//!
//! ```text
//! device.combine along 1 ins(%s) outs(%m)     all slots of a row of %m become one number
//! device.apply ins(%m) outs(%n)               so do those of %n
//! device.apply ins(%s, %m) outs(%s)           a slot of %s takes the first slot of its row of %m
//! ```

use rustc_hash::FxHashMap;
use weft_dialects::device::{Apply, Combine, Fill};
use weft_dialects::ir::{Op, Val};

use super::storage::{Storage, Thread};
use crate::tile::SpreadRows;

/// Registers of which each row is one number, with the slot that holds it for each of their slots: the first one of
/// its row.
pub fn slots<'c>(thread: &Thread<'c>, steps: &[Op<'c>]) -> FxHashMap<Val<'c>, Vec<u64>> {
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
    let mut found = FxHashMap::default();
    let folded = combines.iter().map(|combine| combine.output.memref);
    let made = applies.iter().flat_map(|apply| &apply.outputs).map(|view| view.memref);
    for memref in folded.chain(made) {
        let Some(Storage::Registers { layout, .. }) = thread.storages.get(&memref) else {
            continue;
        };
        let apart = layout.is_lanewise() || along >= layout.shape.len();
        if apart || found.contains_key(&memref) || !known(memref) {
            continue;
        }
        let places: Vec<_> = (0..layout.slots).map(|slot| layout.places(slot)).collect();
        let Some(rows) = SpreadRows::of(&places, along, layout.shape[along]) else { continue };
        let row = |slot: u64| rows.slots.iter().find(|row| row.contains(&slot)).map(|row| row[0]);
        let first: Option<Vec<u64>> = (0..layout.slots).map(row).collect();
        found.extend(first.map(|first| (memref, first)));
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
            return found;
        }
    }
}
