//! `device.invoke`: the instruction's lowering on what this thread holds.

use weft_dialects::device::{Invoke, View};
use weft_dialects::ir::{Builder, Diagnostics, Type, Val, ty};

use super::super::lower::invoke::{cast, in_memory, inline};
use super::storage::{Storage, Thread, store, swizzled};

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
