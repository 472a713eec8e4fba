//! Writes bf16 as processors hold it: the upper half of an f32, in an integer.
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
const KEPT: [&str; 5] =
    ["arith.constant", "arith.extf", "arith.truncf", "arith.select", "arith.bitcast"];

/// Who rounds numbers to bf16.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rounds {
    /// Integer operations that are written here.
    Here,
    /// LLVM, which knows whether there is an instruction.
    Llvm,
}

/// Leaves no memref of bf16 in `func`, and no scalar but what LLVM rounds.
pub fn as_bits<'c>(context: &'c Context, func: Op<'c>, rounds: Rounds) {
    let bf16 = Bf16 { context, ty: Type::bfloat16(context), bits: ty::int(context, 16), rounds };
    for op in bf16.touching(func) {
        if op.name().starts_with("arith.") && !KEPT.contains(&op.name()) {
            bf16.through_f32(op);
        }
    }
    let conversions = bf16.touching(func);
    bf16.retype(func);
    for op in conversions {
        bf16.convert(op);
    }
}

/// The type that holds the bits of bf16; other types as they are.
pub fn bits_of<'c>(context: &'c Context, elem: Type<'c>) -> Type<'c> {
    if elem == Type::bfloat16(context) { ty::int(context, 16) } else { elem }
}

struct Bf16<'c> {
    context: &'c Context,
    ty: Type<'c>,
    bits: Type<'c>,
    rounds: Rounds,
}

impl<'c> Bf16<'c> {
    /// The operations of `func` that take or give bf16.
    fn touching(&self, func: Op<'c>) -> Vec<Op<'c>> {
        let mut ops = Vec::new();
        func.walk(&mut |op| {
            if op.operands().into_iter().chain(op.results()).any(|value| value.ty() == self.ty) {
                ops.push(op);
            }
        });
        ops
    }

    /// Does an operation on f32 and rounds its results.
    fn through_f32(&self, op: Op<'c>) {
        let wide = Type::float32(self.context);
        let mut b = Builder::before(self.context, op);
        let operands: Vec<_> = op
            .operands()
            .into_iter()
            .map(
                |x| if x.ty() == self.ty { b.op("arith.extf", &[x], &[wide]).result(0) } else { x },
            )
            .collect();
        let types: Vec<_> =
            op.results().iter().map(|y| if y.ty() == self.ty { wide } else { y.ty() }).collect();
        let done = b.op_with(op.name(), &operands, &types, &op.attrs(), 0);
        for (old, new) in op.results().into_iter().zip(done.results()) {
            let narrow = old.ty() == self.ty;
            let new = if narrow { b.op("arith.truncf", &[new], &[self.ty]).result(0) } else { new };
            old.replace_with(new);
        }
        op.erase();
    }

    /// Gives every value of bf16, and every memref of them, its integer type.
    fn retype(&self, func: Op<'c>) {
        func.walk(&mut |op| {
            let blocks = (0..op.region_count()).flat_map(|region| op.region(region).blocks());
            let values: Vec<_> = blocks.flat_map(Block::args).chain(op.results()).collect();
            for value in values {
                value.set_ty(self.retyped(value.ty()));
            }
        });
    }

    fn retyped(&self, old: Type<'c>) -> Type<'c> {
        if old == self.ty {
            return self.bits;
        }
        match (ty::is_memref(old), ty::elem(old), ty::shape(old)) {
            (true, Some(elem), Some(shape)) if elem == self.ty => {
                let memory = ty::memory(old).map(|name| attr::of_string(self.context, name));
                ty::memref(&shape, self.bits, memory)
            }
            _ => old,
        }
    }

    /// Writes a conversion in terms of the bits, whose types are integers already.
    fn convert(&self, op: Op<'c>) {
        let mut b = Builder::before(self.context, op);
        let result = match op.name() {
            "arith.extf" => self.widened(&mut b, op.operand(0), op.result(0).ty()),
            "arith.truncf" => self.rounded(&mut b, op.operand(0)),
            "arith.bitcast" => op.operand(0),
            "arith.constant" => {
                let value = op.attr("value").and_then(attr::float).unwrap_or(0.0) as f32;
                b.integer(self.bits, i64::from(value.to_bits() >> 16))
            }
            _ => return,
        };
        op.result(0).replace_with(result);
        op.erase();
    }

    /// The number as an f32, or as an f64.
    fn widened(&self, b: &mut Builder<'c>, bits: Val<'c>, to: Type<'c>) -> Val<'c> {
        let (long, float) = (ty::int(self.context, 32), Type::float32(self.context));
        let half = b.integer(long, 16);
        let bits = b.op("arith.extui", &[bits], &[long]).result(0);
        let bits = b.op("arith.shli", &[bits, half], &[long]).result(0);
        let number = b.op("arith.bitcast", &[bits], &[float]).result(0);
        if to == float { number } else { b.op("arith.extf", &[number], &[to]).result(0) }
    }

    /// The upper half of an f32, ties to even; NaN stays NaN, and quiet.
    fn rounded(&self, b: &mut Builder<'c>, number: Val<'c>) -> Val<'c> {
        if self.rounds == Rounds::Llvm {
            let narrow = b.op("arith.truncf", &[number], &[self.ty]).result(0);
            return b.op("arith.bitcast", &[narrow], &[self.bits]).result(0);
        }
        let long = ty::int(self.context, 32);
        let [half, one, below, quiet] = [16, 1, 0x7fff, 0x40].map(|value| b.integer(long, value));
        let bits = b.op("arith.bitcast", &[number], &[long]).result(0);
        let mut two = |name, x, y| b.op(name, &[x, y], &[long]).result(0);
        let upper = two("arith.shrui", bits, half);
        let last = two("arith.andi", upper, one);
        let up = two("arith.addi", last, below);
        let near = two("arith.addi", bits, up);
        let near = two("arith.shrui", near, half);
        let nan = two("arith.ori", upper, quiet);
        // "Unordered with itself", by its number in the dialect.
        let uno = [("predicate", attr::of_int(self.context, 14))];
        let is_nan =
            b.op_with("arith.cmpf", &[number, number], &[ty::int(self.context, 1)], &uno, 0);
        let bits = b.op("arith.select", &[is_nan.result(0), nan, near], &[long]).result(0);
        b.op("arith.trunci", &[bits], &[self.bits]).result(0)
    }
}
