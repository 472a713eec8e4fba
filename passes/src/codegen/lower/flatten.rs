//! Writes every access of a function with one index.
//!
//! ```text
//! vector.load %x[%i, %j] : memref<4x8xf32>  ->  %at = affine.apply (d0 * 8 + d1) (%i, %j)
//!                                               vector.load %x[%at] : memref<32xf32>
//! ```
//!
//! Once register loops are unrolled a kernel has thousands of accesses. MLIR's lowering writes a
//! product and a sum for each index of each of them; here the constants are one number.

use weft_dialects::ir::{Builder, Context, Op, Type, Val, attr, ty};

use super::super::index_sum::IndexSum;

/// Gives every memref of `func` one dimension.
pub fn memrefs<'c>(context: &'c Context, func: Op<'c>) {
    let Some(entry) = func.body(0) else { return };
    let mut memrefs = entry.args();
    func.walk(&mut |op| memrefs.extend(op.results()));
    for memref in memrefs {
        let old = memref.ty();
        let (Some(shape), Some(elem)) = (ty::shape(old), ty::elem(old)) else { continue };
        if !ty::is_memref(old) || shape.len() < 2 {
            continue;
        }
        memref.set_ty(ty::memref(&[shape.iter().product()], elem, None));
        for (user, place) in memref.uses() {
            one_index(context, user, place, &shape);
        }
    }
    let inputs: Vec<_> = entry.args().into_iter().map(Val::ty).collect();
    func.set_attr("function_type", attr::of_type(ty::of_function(context, &inputs, &[])));
}

/// Puts one index in the place of those behind the memref at `place`, which had `shape`. Who has no
/// indices there asks for the memref's address, which is the same.
fn one_index<'c>(context: &'c Context, user: Op<'c>, place: usize, shape: &[u64]) {
    let mut operands = user.operands();
    let indices = place + 1..place + 1 + shape.len();
    let Some(old) = operands.get(indices.clone()) else { return };
    if old.iter().any(|index| index.ty() != Type::index(context)) {
        return;
    }
    let mut b = Builder::before(context, user);
    let sum = IndexSum::row_major(old, shape);
    operands.splice(indices, [sum.write(&mut b)]);
    user.set_operands(&operands);
}
