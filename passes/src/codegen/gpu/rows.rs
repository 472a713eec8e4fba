//! `device.combine` along a dimension of an instruction's operand, whose elements lie where the instruction
//! has them.
//!
//! ```text
//! sums of 16 x 8: lane l has (l / 4, 2 (l % 4)), the one beside it, and both of row l / 4 + 8
//! along 1         two slots of a row are one value; then lanes l and l ^ 1; then l and l ^ 2
//! ```

use weft_dialects::device::{Apply, Combine, View};
use weft_dialects::ir::{Builder, Diagnostics, Type, Val};

use super::lanes::{Lane, body, slot_place};
use super::storage::{Storage, Thread, load, store};
use crate::tile::SpreadRows;

/// Puts the shuffles before the operation.
pub fn combine<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    combine: &Combine<'c>,
    along: usize,
    diag: &mut Diagnostics,
) {
    let spread = |view: &View<'c>| match thread.storage(view) {
        Storage::Registers { slots, layout, .. } if !layout.is_lanewise() => Some((*slots, layout)),
        _ => None,
    };
    let (input, output) = (&combine.input, &combine.output);
    let alike = spread(input).zip(spread(output)).filter(|((_, own), (_, other))| own == other);
    let rows = alike.and_then(|((_, own), _)| {
        let slots: Vec<_> = (0..own.slots).map(|slot| own.places(slot)).collect();
        let rows = SpreadRows::of(&slots, along, own.shape[along])?;
        rows.bits.iter().all(|bit| *bit < thread.isa.warp()).then_some(rows)
    });
    let (Some(((from, layout), (to, _))), Some(rows)) = (alike, rows) else {
        diag.error(combine.op, format!("lanes cannot combine this operand along dimension {along}"))
            .help("both registers are operands of one instruction, each element in one lane, and the lanes of a row differ in some bits of their number");
        return;
    };
    let pair = |b: &mut Builder<'c>, one: Val<'c>, other: Val<'c>| {
        body(b, thread, combine.body, &[one, other], Lane::of(thread))[0]
    };
    let sums = thread.sums_rows(input.memref);
    for row in &rows.slots {
        let element = |b: &mut Builder<'c>, slot: u64| {
            let place = slot_place(b, thread, input, layout, slot);
            load(b, from, &place)
        };
        // A part of a sum is there once.
        let own =
            row.iter().filter(|slot| !sums || thread.held_slot(input.memref, **slot) == **slot);
        let values: Vec<_> = own.map(|&slot| element(b, slot)).collect();
        let mut value = in_pairs(values, &mut |one, other| pair(b, one, other));
        for &bit in &rows.bits {
            let (index, bit) = (Type::index(b.context()), b.index(bit as i64));
            let from = b.op("arith.xori", &[thread.place.lane, bit], &[index]).result(0);
            let other = thread.isa.shuffle(b, value, from);
            value = pair(b, value, other);
        }
        for &slot in row.iter().filter(|slot| thread.held_slot(output.memref, **slot) == **slot) {
            let place = slot_place(b, thread, output, layout, slot);
            let held = load(b, to, &place);
            let value = pair(b, value, held);
            store(b, value, to, &place);
        }
    }
}

/// Folds values: neighbours first, then pairs of these, for lanes issue one beside the other.
fn in_pairs<'c>(
    mut values: Vec<Val<'c>>,
    pair: &mut dyn FnMut(Val<'c>, Val<'c>) -> Val<'c>,
) -> Val<'c> {
    while values.len() > 1 {
        let pairs = values.chunks(2);
        values = pairs
            .map(|own| if let [one, other] = *own { pair(one, other) } else { own[0] })
            .collect();
    }
    values[0]
}

/// Adds what a lane has of each row of an operand to its part of the row's sum.
pub fn accumulate<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    apply: &Apply<'c>,
    (added, sum): (&View<'c>, &View<'c>),
) {
    let (Storage::Registers { slots: from, .. }, Storage::Registers { slots: to, layout, .. }) =
        (thread.storage(added), thread.storage(sum))
    else {
        unreachable!("what is added to a sum is held in registers");
    };
    let pair = |b: &mut Builder<'c>, own: [Val<'c>; 2]| {
        body(b, thread, apply.body, &own, Lane::of(thread))[0]
    };
    let first = |slot: &u64| thread.held_slot(sum.memref, *slot);
    for row in (0..layout.slots).filter(|slot| first(slot) == *slot) {
        let own = (0..layout.slots).filter(|slot| first(slot) == row);
        let values: Vec<_> = own
            .map(|slot| {
                let place = slot_place(b, thread, added, layout, slot);
                load(b, *from, &place)
            })
            .collect();
        let value = in_pairs(values, &mut |one, other| pair(b, [one, other]));
        let place = slot_place(b, thread, sum, layout, row);
        let held = load(b, *to, &place);
        let value = pair(b, [value, held]);
        store(b, value, *to, &place);
    }
}
