//! `device.invoke`: the instruction's lowering on what this thread holds.
//!
//! What an engine does is begun only, and its registers are not to be touched until a wait. So a wait
//! takes the registers of all such instructions and gives them back: what uses them stays behind it.

use weft_dialects::device::{Invoke, Machine, Scope, View};
use weft_dialects::ir::{Builder, Diagnostics, Op, Type, Val, ty};

use super::super::lower::invoke::{cast, in_memory, inline};
use super::super::lower::record;
use super::storage::{Storage, Thread, store, swizzled};
use super::tokens::{self, Kind};

/// Puts the lowering before the operation.
pub fn expand<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    invoke: &Invoke<'c>,
    diag: &mut Diagnostics,
) {
    let read = |b: &mut Builder<'c>, view: &View<'c>, wanted| read(b, thread, view, wanted);
    let write = |b: &mut Builder<'c>, value, view: &View<'c>| write(b, thread, value, view);
    inline(b, thread.machine, invoke, diag, &read, &write);
}

/// Whether an engine reads memory that threads write, be it by copies that they only begin, or writes over it.
pub fn has_readers<'c>(machine: Machine<'c>, func: Op<'c>) -> bool {
    let near = |view: &View<'c>| {
        let memory = machine.memory_of(view.memref.ty());
        memory.is_some_and(|own| own.scope() == Scope::Core && !own.is_registers())
    };
    let mut found = false;
    func.walk(&mut |op| {
        if tokens::begun(machine, op) == Some(Kind::Boxes) {
            found = true;
        } else if tokens::begun(machine, op) == Some(Kind::Instructions) {
            found |= Invoke::of(op).is_some_and(|invoke| invoke.views.iter().any(near));
        }
    });
    found
}

/// Waits until at most so many instructions, the last ones, are under way, which leave their `results` in
/// some registers.
pub fn wait<'c>(b: &mut Builder<'c>, thread: &Thread<'c>, count: u64, results: &[Val<'c>]) {
    thread.isa.wait_for_instructions(b, count);
    for memref in results {
        let Some(Storage::Registers { slots, shape, layout }) = thread.storages.get(memref) else {
            continue;
        };
        let lead = &shape[..shape.len() - layout.shape.len()];
        let elem = ty::elem(slots.ty()).expect("slots are a memref");
        let vector = ty::vector(layout.slots, elem);
        for number in 0..lead.iter().product() {
            let mut rest: u64 = number;
            let mut place = vec![b.index(0)];
            for size in lead.iter().rev() {
                place.insert(0, b.index((rest % size) as i64));
                rest /= size;
            }
            let held = load_as(b, *slots, &place, vector);
            let elements = record::elements(b, held);
            let elements = thread.isa.pinned(b, &elements);
            let held = b.op("vector.from_elements", &elements, &[vector]).result(0);
            let operands: Vec<_> = [held, *slots].into_iter().chain(place).collect();
            b.op("vector.store", &operands, &[]);
        }
    }
}

/// Returns the operand as the lowering takes it: this thread's slots, an element, or an address.
fn read<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    view: &View<'c>,
    wanted: Type<'c>,
) -> Val<'c> {
    let index = Type::index(b.context());
    match thread.storage(view) {
        Storage::Memory { flat, shape, swizzle, .. } => {
            let at = thread.linear(b, shape, &view.indices);
            if wanted == index {
                let size = ty::elem(flat.ty()).and_then(ty::byte_size).unwrap_or(1);
                let base =
                    b.op("memref.extract_aligned_pointer_as_index", &[*flat], &[index]).result(0);
                let size = b.index(size as i64);
                let bytes = b.op("arith.muli", &[at, size], &[index]).result(0);
                return b.op("arith.addi", &[base, bytes], &[index]).result(0);
            }
            let at = swizzled(b, at, *swizzle);
            load_as(b, *flat, &[at], wanted)
        }
        Storage::Registers { slots, shape, layout } => {
            let lead = shape.len() - layout.shape.len();
            let mut place = view.indices[..lead].to_vec();
            place.push(b.index(0));
            load_as(b, *slots, &place, wanted)
        }
    }
}

fn load_as<'c>(
    b: &mut Builder<'c>,
    memref: Val<'c>,
    place: &[Val<'c>],
    wanted: Type<'c>,
) -> Val<'c> {
    let held = in_memory(b, wanted);
    let name = if ty::is_vector(held) { "vector.load" } else { "memref.load" };
    let operands: Vec<_> = std::iter::once(memref).chain(place.iter().copied()).collect();
    let value = b.op(name, &operands, &[held]).result(0);
    cast(b, value, wanted)
}

fn write<'c>(b: &mut Builder<'c>, thread: &Thread<'c>, value: Val<'c>, view: &View<'c>) {
    let (memref, place) = match thread.storage(view) {
        Storage::Memory { flat, shape, .. } => {
            (*flat, vec![thread.linear(b, shape, &view.indices)])
        }
        Storage::Registers { slots, shape, layout } => {
            let lead = shape.len() - layout.shape.len();
            let mut place = view.indices[..lead].to_vec();
            place.push(b.index(0));
            (*slots, place)
        }
    };
    if ty::is_vector(value.ty()) {
        let operands: Vec<_> = [value, memref].into_iter().chain(place).collect();
        b.op("vector.store", &operands, &[]);
    } else {
        store(b, value, memref, &place);
    }
}
