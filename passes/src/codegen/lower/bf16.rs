//! Write bf16 as what it is to a processor: the upper half of an f32, in an integer.
//!
//! ```text
//! %r = arith.addf %a, %b : bf16   ->   %x = %a << 16, %y = %b << 16 (as f32)
//!                                      %s = arith.addf %x, %y : f32
//!                                      %r = the upper half of %s, rounded to even : i16
//! ```
//!
//! LLVM takes bf16 values apart lane by lane and calls helpers that are not there.

use weft_dialects::ir::{Block, Builder, Context, Op, Type, Val, attr, ty};

/// Operations that only pass a value on, or say themselves how it is converted.
const KEPT: [&str; 5] = ["arith.constant", "arith.extf", "arith.truncf", "arith.select", "arith.bitcast"];

/// Whether the type is bf16.
pub fn is_bf16(ty: Type<'_>) -> bool {
    ty == Type::bfloat16(&ty.context())
}

/// Leaves no scalar and no memref of bf16 in `func`.
pub fn as_bits<'c>(context: &'c Context, func: Op<'c>) {
    for op in all(func) {
        if op.name().starts_with("arith.") && !KEPT.contains(&op.name()) && touches(op) {
            through_f32(context, op);
        }
    }
    let conversions: Vec<_> = all(func).into_iter().filter(|op| KEPT.contains(&op.name()) && touches(*op)).collect();
    retype(func);
    for op in conversions {
        convert(context, op);
    }
}

fn all<'c>(func: Op<'c>) -> Vec<Op<'c>> {
    let mut ops = Vec::new();
    func.walk(&mut |op| ops.push(op));
    ops
}

fn touches(op: Op<'_>) -> bool {
    op.operands().into_iter().chain(op.results()).any(|value| is_bf16(value.ty()))
}

/// Does an operation on f32 and rounds its results.
fn through_f32<'c>(context: &'c Context, op: Op<'c>) {
    let wide = |ty| if is_bf16(ty) { Type::float32(context) } else { ty };
    let mut b = Builder::before(context, op);
    let operands: Vec<_> = op
        .operands()
        .into_iter()
        .map(|operand| match is_bf16(operand.ty()) {
            true => b.op("arith.extf", &[operand], &[Type::float32(context)]).result(0),
            false => operand,
        })
        .collect();
    let types: Vec<_> = op.results().iter().map(|result| wide(result.ty())).collect();
    let done = b.op_with(op.name(), &operands, &types, &op.attrs(), 0);
    for (old, new) in op.results().into_iter().zip(done.results()) {
        let result = if is_bf16(old.ty()) { b.op("arith.truncf", &[new], &[old.ty()]).result(0) } else { new };
        old.replace_with(result);
    }
    op.erase();
}

/// Gives every value of bf16, and every memref of them, its integer type.
fn retype(func: Op<'_>) {
    for op in all(func) {
        let blocks = (0..op.region_count()).flat_map(|region| op.region(region).blocks());
        let values = blocks.flat_map(Block::args).chain(op.results());
        for value in values {
            value.set_ty(bits_type(value.ty()));
        }
    }
}

/// The type that holds the bits of bf16, for scalars and memrefs; other types as they are.
pub fn bits_type(ty: Type<'_>) -> Type<'_> {
    match (ty::is_memref(ty), ty::shape(ty), ty::elem(ty)) {
        (true, Some(shape), Some(elem)) if is_bf16(elem) => {
            ty::memref(&shape, bits_type(elem), ty::memory_space(ty))
        }
        _ if is_bf16(ty) => Type::parse(&ty.context(), "i16").unwrap_or(ty),
        _ => ty,
    }
}

/// Writes a conversion in terms of the bits, whose types are integers already.
fn convert<'c>(context: &'c Context, op: Op<'c>) {
    let mut b = Builder::before(context, op);
    let result = match op.name() {
        "arith.extf" => widened(&mut b, op.operand(0), op.result(0).ty()),
        "arith.truncf" => rounded(&mut b, op.operand(0)),
        "arith.bitcast" => op.operand(0),
        "arith.constant" => {
            let value = op.attr("value").and_then(attr::float).unwrap_or(0.0);
            b.integer(ty::int(context, 16), i64::from(bits_of(value)))
        }
        _ => return,
    };
    op.result(0).replace_with(result);
    op.erase();
}
