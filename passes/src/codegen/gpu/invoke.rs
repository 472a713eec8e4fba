//! `device.invoke`: the instruction's lowering on what this thread holds.

use weft_dialects::device::{Invoke, View};
use weft_dialects::ir::{Builder, Diagnostics, Mapping, Type, Val, ty};

use super::super::lower::bf16::bits_of;
use super::room::{Room, Thread, store};

/// Puts the lowering before the operation.
pub fn expand<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    invoke: &Invoke<'c>,
    diag: &mut Diagnostics,
) {
    let instruction = thread.machine.instruction(invoke.instruction);
    let Some(lowering) = instruction.as_ref().and_then(|found| found.lowering()) else {
        diag.error(invoke.op, format!("the machine has no instruction @{}", invoke.instruction));
        return;
    };
    let mut map = Mapping::default();
    for (arg, view) in lowering.args().into_iter().zip(&invoke.views) {
        map.set(arg, read(b, thread, view, arg.ty()));
    }
    for op in lowering.ops() {
        if !op.is("device.yield") {
            b.clone_op(op, &mut map);
            continue;
        }
        let results = op.operands();
        let first = invoke.views.len() - results.len();
        for (result, view) in results.into_iter().zip(&invoke.views[first..]) {
            let value = map.get(result);
            let value = cast(b, value, in_memory(b, value.ty()));
            write(b, thread, value, view);
        }
    }
}

/// What the lowering gets of an operand: this thread's slots, an element, or an address.
fn read<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    view: &View<'c>,
    wanted: Type<'c>,
) -> Val<'c> {
    let index = Type::index(b.context());
    match thread.room(view) {
        Room::Memory { flat, shape, .. } => {
            let at = thread.linear(b, shape, &view.indices);
            if wanted == index {
                let size = ty::elem(flat.ty()).and_then(ty::byte_size).unwrap_or(1);
                let base =
                    b.op("memref.extract_aligned_pointer_as_index", &[*flat], &[index]).result(0);
                let size = b.index(size as i64);
                let bytes = b.op("arith.muli", &[at, size], &[index]).result(0);
                return b.op("arith.addi", &[base, bytes], &[index]).result(0);
            }
            load_as(b, *flat, &[at], wanted)
        }
        Room::Registers { slots, shape, layout } => {
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
    let (memref, place) = match thread.room(view) {
        Room::Memory { flat, shape, .. } => (*flat, vec![thread.linear(b, shape, &view.indices)]),
        Room::Registers { slots, shape, layout } => {
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

/// The type under which a memref holds a scalar or a vector.
fn in_memory<'c>(b: &Builder<'c>, ty: Type<'c>) -> Type<'c> {
    match (ty::shape(ty), ty::elem(ty)) {
        (Some(shape), Some(elem)) => Type::vector(&shape, bits_of(b.context(), elem)),
        _ => bits_of(b.context(), ty),
    }
}

fn cast<'c>(b: &mut Builder<'c>, value: Val<'c>, ty: Type<'c>) -> Val<'c> {
    if value.ty() == ty { value } else { b.op("arith.bitcast", &[value], &[ty]).result(0) }
}
