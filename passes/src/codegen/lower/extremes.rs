//! Write maxima and minima of floats as LLVM's, without a sign of zero.
//!
//! ```text
//! %m = arith.maximumf %a, %b : f32   ->   %m = llvm.intr.maximum(%a, %b) {nsz}
//! ```
//!
//! NaN comes out as MLIR says: one instruction against a constant, three
//! otherwise. Of two zeros either may come out, for telling them apart would double
//! the cost of every pooling and every softmax. Comparisons and choices, which
//! upstream writes instead, are put together by LLVM into something slower.

use weft_dialects::ir::{Builder, Context, Op, Type, attr, ty};

/// Rewrites every maximum and minimum in `func`.
pub fn as_intrinsics<'c>(context: &'c Context, func: Op<'c>) {
    let mut ops = Vec::new();
    func.walk(&mut |op| ops.push(op));
    for op in ops {
        match op.name() {
            "arith.maximumf" => rewrite(context, op, "llvm.intr.maximum"),
            "arith.minimumf" => rewrite(context, op, "llvm.intr.minimum"),
            _ => {}
        }
    }
}

fn rewrite<'c>(context: &'c Context, op: Op<'c>, name: &str) {
    let ty = op.result(0).ty();
    let narrow = ty::bits(ty::elem(ty).unwrap_or(ty)).is_some_and(|bits| bits < 32);
    let float = Type::float32(context);
    let wide = match ty::shape(ty) {
        _ if !narrow => ty,
        Some(shape) => Type::vector(&shape, float),
        None => float,
    };
    let mut b = Builder::before(context, op);
    let mut cast = |name, x, to| if narrow { b.op(name, &[x], &[to]).result(0) } else { x };
    let operands = [0, 1].map(|place| cast("arith.extf", op.operand(place), wide));
    let flags = attr::parse(context, "#llvm.fastmath<nsz>").expect("LLVM has the flag");
    let done = b.op_with(name, &operands, &[wide], &[("fastmathFlags", flags)], 0).result(0);
    let done = if narrow { b.op("arith.truncf", &[done], &[ty]).result(0) } else { done };
    op.result(0).replace_with(done);
    op.erase();
}
