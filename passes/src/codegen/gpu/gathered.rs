//! Boxes that go to registers by a move for which lanes give addresses of pieces, and get elements of others'
//! pieces (`gathers` of a `device.move`).
//!
//! ```text
//! slots   [a0 a1 | a2 a3 | a4 a5 | a6 a7]     one lowering of the move, of one address a lane
//! lane    address of piece (lane mod 8), matrix (lane / 8)
//! ```

use weft_dialects::device::{Gathering, Move};
use weft_dialects::ir::{Builder, Type, Val, attr, ty};

use super::super::lower::invoke;
use super::super::pointer::pointer;
use super::registers::{Registers, Slot, offsets};
use super::storage::Thread;
use super::together::End;
use crate::nest::emit_sum;
use crate::tile::gather;

/// Puts a box into the slots of registers; false, and nothing, where it is not whole pieces.
pub fn load<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    (way, gathering): (&Move<'c>, &Gathering),
    (registers, slots): (&Registers<'_, 'c>, &[Slot<'c>]),
    from: &End<'_, 'c>,
) -> bool {
    let elem = ty::elem(from.flat.ty()).expect("a load is of a memref");
    let alike = ty::byte_size(elem) == Some(gathering.elem_bytes);
    let kept = from.swizzle.is_none_or(|swizzle| 1 << swizzle.keep >= gathering.piece);
    let whole = slots.len().is_multiple_of(registers.layout.slots as usize);
    let found = gather::loads(gathering, &offsets(slots, from)).filter(|_| alike && kept && whole);
    let (Some(loads), Some(lowering)) = (found, way.lowering()) else { return false };
    for (pieces, own) in loads.into_iter().zip(slots.chunks(gathering.slots())) {
        let piece = of_lane(b, thread.place.lane, &pieces);
        let at = emit_sum(b, &[(from.base, 1), (piece, 1)], 0);
        let at = from.stored(b, at);
        let address = pointer(b, [from.flat, at], lowering.arg(0).ty());
        let got = invoke::written(b, lowering, &[address])[0];
        let got = invoke::cast(b, got, ty::vector(gathering.slots() as u64, elem));
        keep(b, got, registers, own);
    }
    true
}

/// Puts slots where they belong: those of an operand together, which is how instructions take them.
fn keep<'c>(b: &mut Builder<'c>, got: Val<'c>, registers: &Registers<'_, 'c>, slots: &[Slot<'c>]) {
    let elem = ty::elem(got.ty()).expect("slots are a vector");
    let together = (registers.layout.slots as usize).min(slots.len());
    for (number, own) in slots.chunks(together).enumerate() {
        let part = ty::vector(own.len() as u64, elem);
        let [offset, size, stride] = [number * together, own.len(), 1]
            .map(|number| attr::parse(b.context(), &format!("[{number}]")).expect("it is a list"));
        let attributes = [("offsets", offset), ("sizes", size), ("strides", stride)];
        let part =
            b.op_with("vector.extract_strided_slice", &[got], &[part], &attributes, 0).result(0);
        let operands: Vec<_> =
            [part, registers.slots].into_iter().chain(own[0].place.clone()).collect();
        b.op("vector.store", &operands, &[]);
    }
}

/// The number that stands for a lane in a list that is linear in the bits of its number.
fn of_lane<'c>(b: &mut Builder<'c>, lane: Val<'c>, numbers: &[i64]) -> Val<'c> {
    let index = Type::index(b.context());
    let mut terms = Vec::new();
    for digit in gather::digits(numbers).expect("those of a load are") {
        let [shift, size] = [digit.shift, digit.size].map(|number| b.index(number as i64));
        let own = b.op("arith.divui", &[lane, shift], &[index]).result(0);
        let own = b.op("arith.remui", &[own, size], &[index]).result(0);
        terms.push((own, digit.step));
    }
    emit_sum(b, &terms, numbers[0])
}
