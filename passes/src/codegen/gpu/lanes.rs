//! `device.apply` and `device.combine`: each thread is a lane.

use weft_dialects::device::{Apply, Combine, Transfer, View};
use weft_dialects::ir::{Block, Builder, Diagnostics, Mapping, Op, Type, Val, attr};

use super::boxes::{choose, compare, is_zero, lane_place, when};
use super::later::{self, Later};
use super::layout::Layout;
use super::storage::{Storage, Thread, load, store};
use super::{rows, uniform};
use crate::math::POWER;

/// Puts the body, once, before the operation.
pub fn apply<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    apply: &Apply<'c>,
    diag: &mut Diagnostics,
) {
    let spread = |view: &View<'c>| match thread.storage(view) {
        Storage::Registers { layout, .. } if !layout.is_lanewise() => Some(layout),
        _ => None,
    };
    if let Some(layout) = apply.outputs.iter().find_map(spread) {
        by_slots(b, thread, apply, layout, diag);
        return;
    }
    let mut values = Vec::new();
    for input in &apply.inputs {
        let Some(value) = read(b, thread, apply.op, input, diag) else { return };
        values.push(value);
    }
    if apply.body.ops().iter().any(|op| op.attr("along").is_some()) {
        in_other_order(apply.op, diag);
        return;
    }
    // A thread beyond the last lane repeats that lane, so that it reads what is there.
    let lane = if apply.lanes < thread.lanes {
        let (index, last) = (Type::index(b.context()), b.index(apply.lanes as i64 - 1));
        b.op("arith.minui", &[thread.place.lane, last], &[index]).result(0)
    } else {
        thread.place.lane
    };
    let results = body(b, thread, apply.body, &values, Lane { number: lane, slot: None });
    for (result, output) in results.into_iter().zip(&apply.outputs) {
        write(b, thread, apply.op, (result, apply.lanes), output, diag);
    }
}

/// Puts the body for each slot that a thread has of an instruction's operand: every element is where
/// the instruction has it, so the body needs to know of none which it is.
fn by_slots<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    apply: &Apply<'c>,
    layout: &Layout<'c>,
    diag: &mut Diagnostics,
) {
    let whole = apply.lanes == layout.shape.iter().product::<u64>();
    let asks = apply.body.ops().iter().any(|op| op.is("device.lane") && op.attr("along").is_none());
    let alike = apply.inputs.iter().chain(&apply.outputs).all(|view| match thread.storage(view) {
        Storage::Memory { .. } => true,
        Storage::Registers { layout: own, .. } => own == layout,
    });
    if !whole || asks || !alike {
        in_other_order(apply.op, diag);
        return;
    }
    if let [sum] = &apply.outputs[..]
        && thread.sums_rows(sum.memref)
        && let Some(added) = uniform::added(apply, sum.memref)
    {
        rows::accumulate(b, thread, apply, (added, sum));
        return;
    }
    let waiting: Vec<Transfer<'c>> = (apply.inputs.iter())
        .filter_map(|view| Transfer::of(*thread.later.get(&view.memref)?))
        .collect();
    let waiting: Option<Vec<_>> =
        waiting.iter().map(|transfer| Later::of(b, thread, transfer, diag)).collect();
    let Some(waiting) = waiting else { return };
    let made = |view: &View<'c>, slot: u64| thread.held_slot(view.memref, slot) == slot;
    let slots: Vec<u64> = (0..layout.slots)
        .filter(|slot| apply.outputs.iter().any(|output| made(output, *slot)))
        .collect();
    for some in slots.chunks(later::AT_ONCE) {
        waiting.iter().for_each(|own| own.load(b, thread, some[0]));
        let rows: Vec<_> =
            some.iter().map(|slot| on_slot(b, thread, apply, layout, *slot)).collect();
        for (number, output) in apply.outputs.iter().enumerate() {
            let Storage::Registers { slots, .. } = thread.storage(output) else { continue };
            let mut results: Vec<_> = rows.iter().map(|row| row[number]).collect();
            // Else all are loaded first, for nothing needs the results yet.
            if !waiting.is_empty() {
                results = thread.isa.pinned(b, &results);
            }
            for (slot, result) in some.iter().zip(results) {
                let place = slot_place(b, thread, output, layout, *slot);
                store(b, result, *slots, &place);
            }
        }
    }
}

/// The body on what a thread has in one slot; what it yields.
fn on_slot<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    apply: &Apply<'c>,
    layout: &Layout<'c>,
    slot: u64,
) -> Vec<Val<'c>> {
    let value = |view: &View<'c>| match thread.storage(view) {
        Storage::Memory { .. } => thread.load(b, view).expect("a memory is loaded from"),
        Storage::Registers { slots, .. } => {
            let place = slot_place(b, thread, view, layout, slot);
            load(b, *slots, &place)
        }
    };
    let values: Vec<_> = apply.inputs.iter().map(value).collect();
    body(
        b,
        thread,
        apply.body,
        &values,
        Lane { number: thread.place.lane, slot: Some((layout, slot)) },
    )
}

/// Where a slot of a view's operand is in the registers of a thread.
pub fn slot_place<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    view: &View<'c>,
    layout: &Layout<'c>,
    slot: u64,
) -> Vec<Val<'c>> {
    let leading = view.indices.len() - layout.shape.len();
    let mut place = view.indices[..leading].to_vec();
    place.push(b.index(thread.held_slot(view.memref, slot) as i64));
    place
}

/// Puts a tree of shuffles before the operation.
pub fn combine<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    combine: &Combine<'c>,
    diag: &mut Diagnostics,
) {
    let (op, index) = (combine.op, Type::index(b.context()));
    let Some(mut value) = read(b, thread, op, &combine.input, diag) else { return };
    let mut lanes = combine.lanes;
    while lanes > 1 {
        // Lane `n` takes lane `n + half`; below `half` an odd one may be left over.
        let half = lanes.div_ceil(2);
        let by = b.index(half as i64);
        let from = b.op("arith.addi", &[thread.place.lane, by], &[index]).result(0);
        let other = thread.isa.shuffle(b, value, from);
        let pair = body(b, thread, combine.body, &[value, other], Lane::of(thread))[0];
        value = if lanes.is_multiple_of(2) {
            pair
        } else {
            let last = b.index(lanes as i64);
            let there = compare(b, "ult", from, last);
            choose(b, Some(there), pair, Some(value))
        };
        lanes = half;
    }
    let Some(held) = read(b, thread, op, &combine.output, diag) else { return };
    let value = body(b, thread, combine.body, &[value, held], Lane::of(thread))[0];
    match thread.storage(&combine.output) {
        Storage::Memory { flat, shape, .. } => {
            let one = b.index(1);
            let first = compare(b, "ult", thread.place.lane, one);
            let at = thread.linear(b, shape, &combine.output.indices);
            when(b, Some(first), |b| store(b, value, *flat, &[at]));
        }
        Storage::Registers { .. } => write(b, thread, op, (value, 1), &combine.output, diag),
    }
}

/// Where the elements are that a body works on.
#[derive(Clone, Copy)]
pub struct Lane<'l, 'c> {
    number: Val<'c>,
    /// The order of an instruction, and the slot of a thread.
    slot: Option<(&'l Layout<'c>, u64)>,
}

impl<'c> Lane<'_, 'c> {
    /// Those of a lane in any order.
    pub fn of(thread: &Thread<'c>) -> Self {
        Self { number: thread.place.lane, slot: None }
    }
}

/// A scalar body on the values of its arguments; what it yields.
pub fn body<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    body: Block<'c>,
    values: &[Val<'c>],
    lane: Lane<'_, 'c>,
) -> Vec<Val<'c>> {
    let mut map = Mapping::default();
    for (arg, value) in body.args().into_iter().zip(values) {
        map.set(arg, *value);
    }
    for op in body.ops() {
        if op.is("device.yield") {
            return op.operands().into_iter().map(|value| map.get(value)).collect();
        }
        if op.is("device.lane") {
            let along = op.attr("along").and_then(attr::int).map(|along| along as usize);
            let place = match along.zip(lane.slot) {
                Some((along, (layout, slot))) => layout.place(b, along, lane.number, slot),
                None => lane.number,
            };
            map.set(op.result(0), place);
        } else if op.is(POWER) && op.result(0).ty() == Type::float32(b.context()) {
            let power = thread.isa.power(b, map.get(op.operand(0)));
            map.set(op.result(0), power);
        } else if let Some(name) = native(op.name()) {
            // As an intrinsic it is one instruction; processors have none that ignores NaN.
            let operands: Vec<_> = op.operands().into_iter().map(|value| map.get(value)).collect();
            let results = [op.result(0).ty()];
            map.set(op.result(0), b.op(name, &operands, &results).result(0));
        } else {
            b.clone_op(op, &mut map);
        }
    }
    Vec::new()
}

/// What greatest and least numbers are called in the LLVM dialect.
fn native(name: &str) -> Option<&'static str> {
    match name {
        "arith.maxnumf" => Some("llvm.intr.maxnum"),
        "arith.minnumf" => Some("llvm.intr.minnum"),
        _ => None,
    }
}

/// This lane's element of a register, or the one element of a memory.
fn read<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    op: Op<'c>,
    view: &View<'c>,
    diag: &mut Diagnostics,
) -> Option<Val<'c>> {
    let slots = match thread.storage(view) {
        Storage::Memory { .. } => return thread.load(b, view),
        Storage::Registers { slots, layout, .. } if layout.is_lanewise() => *slots,
        Storage::Registers { .. } => {
            in_other_order(op, diag);
            return None;
        }
    };
    let place = lane_place(b, view);
    let value = load(b, slots, &place);
    Some(match view.indices.last() {
        Some(&begin) if !is_zero(begin) => {
            let from = moved(b, thread.place.lane, begin, "arith.addi");
            thread.isa.shuffle(b, value, from)
        }
        _ => value,
    })
}

/// Writes the first `lanes` lanes into a register from the view's element on.
fn write<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    op: Op<'c>,
    (value, lanes): (Val<'c>, u64),
    view: &View<'c>,
    diag: &mut Diagnostics,
) {
    let Storage::Registers { slots, shape, layout } = thread.storage(view) else {
        diag.error(op, "lanes write to registers only");
        return;
    };
    if !layout.is_lanewise() {
        in_other_order(op, diag);
        return;
    }
    let place = lane_place(b, view);
    let begin = view.indices.last().copied().filter(|&begin| !is_zero(begin));
    let Some(begin) = begin else {
        if lanes >= shape.last().copied().unwrap_or(1) {
            // Lanes beyond the register hold no element.
            store(b, value, *slots, &place);
            return;
        }
        let count = b.index(lanes as i64);
        let inside = compare(b, "ult", thread.place.lane, count);
        let kept = load(b, *slots, &place);
        let value = choose(b, Some(inside), value, Some(kept));
        store(b, value, *slots, &place);
        return;
    };
    let from = moved(b, thread.place.lane, begin, "arith.subi");
    let value = thread.isa.shuffle(b, value, from);
    let count = b.index(lanes as i64);
    let inside = compare(b, "ult", from, count);
    let kept = load(b, *slots, &place);
    let value = choose(b, Some(inside), value, Some(kept));
    store(b, value, *slots, &place);
}

fn moved<'c>(b: &mut Builder<'c>, lane: Val<'c>, by: Val<'c>, name: &str) -> Val<'c> {
    let index = Type::index(b.context());
    b.op(name, &[lane, by], &[index]).result(0)
}

fn in_other_order(op: Op<'_>, diag: &mut Diagnostics) {
    diag.error(op, "the register holds its elements in the order of an instruction, not by lanes")
        .help("store it to memory and load it lane by lane");
}
