//! A byte that is dequantised and quantised by the same scale is itself.
//!
//! ```text
//! byte(round(s * (x - p) / s) + p)  ->  x        where that holds for each of the 256 bytes, which is tried
//! ```

use weft_dialects::ir::{Op, Val, ty};

use super::dequantised::{Dequantised, literal};
use super::known_divisors::Division;
use crate::nest::{generic_accesses, generic_inputs};

/// The bytes that an operator quantises to, where they are those that its operand was dequantised from.
pub(super) fn same_bytes<'c>(op: Op<'c>) -> Option<Val<'c>> {
    let division = Division::all(op).into_iter().next()?;
    let (payload, nest) = (op.body(0)?, division.nest());
    let plain = op.results().len() == 1
        && payload.terminator()?.operands() == nest.results()
        && payload.ops().iter().filter(|own| own.is("linalg.generic")).count() == 1;
    let body = nest.body(0)?;
    if body.terminator()?.operands() != [division.byte()] {
        return None;
    }
    let elements = generic_accesses(nest).ok()?;
    let in_order = [0, generic_inputs(nest)].into_iter().all(|at| {
        let index = elements.get(at).map(|own| &own.index[..]).unwrap_or_default();
        index.iter().enumerate().all(|(dim, index)| index.as_axis() == Some(dim))
    });
    let x = division.dividend();
    let given = nest.operand(0);
    let reads = x == body.arg(0) && given.def().is_none() && given.owner_block() == Some(payload);
    if !plain || !in_order || !reads {
        return None;
    }
    let source = Dequantised::of(op.operand(given.index())).filter(Dequantised::is_uniform)?;
    let (from, zero) = (literal(source.scale.0)?, source.known_zero()?);
    let [zero_there, low, high] = division.around()?;
    let signed = low < 0;
    let same_type = ty::elem(source.numbers.ty())? == ty::elem(op.result(0).ty())?;
    let shape = ty::shape(source.numbers.ty()) == ty::shape(op.result(0).ty());
    let zero = if source.signed { zero } else { zero & 0xff };
    let least = if source.signed { -128 } else { 0 };
    let same = (least..least + 256).all(|byte: i64| {
        let real = (byte - zero) as f32 * from;
        let back = (real / division.scale()).round_ties_even() + zero_there as f32;
        back.clamp(low as f32, high as f32) as i64 == byte
    });
    (same_type && shape && signed == source.signed && same).then_some(source.numbers)
}
