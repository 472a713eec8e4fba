//! Writes every access of a function with one index.
//!
//! ```text
//! vector.load %x[%i, %j] : memref<4x8xf32>  ->  %at = affine.apply (d0 * 8 + d1) (%i, %j)
//!                                               vector.load %x[%at] : memref<32xf32>
//! ```
//!
//! Once register loops are unrolled a kernel has thousands of accesses. MLIR's lowering writes a
//! product and a sum for each index of each of them; here the constants are one number.

use weft_dialects::ir::{Block, Builder, Context, Linear, Op, Type, Val, affine, attr, ty};

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

/// Puts one index in the place of those behind the memref at `place`, which had `shape`.
fn one_index<'c>(context: &'c Context, user: Op<'c>, place: usize, shape: &[u64]) {
    let mut operands = user.operands();
    let indices = place + 1..place + 1 + shape.len();
    let Some(old) = operands.get(indices.clone()) else { return };
    if old.iter().any(|index| index.ty() != Type::index(context)) {
        return;
    }
    let mut b = Builder::before(context, user);
    let mut sum = Sum::default();
    let mut stride = 1;
    for (&index, &extent) in old.iter().zip(shape).rev() {
        sum.add(index, stride);
        stride *= extent as i64;
    }
    operands.splice(indices, [sum.write(&mut b)]);
    user.set_operands(&operands);
}

/// `constant + Σ factor · value`.
#[derive(Default)]
struct Sum<'c> {
    terms: Vec<(Val<'c>, i64)>,
    constant: i64,
}

impl<'c> Sum<'c> {
    fn add(&mut self, value: Val<'c>, factor: i64) {
        let def = value.def();
        if let Some(number) = def.and_then(constant) {
            self.constant += number * factor;
        } else if let Some((map, operands)) = def.and_then(applied) {
            self.constant += map.constant * factor;
            for (operand, coefficient) in operands.into_iter().zip(map.coefficients) {
                self.add(operand, coefficient * factor);
            }
        } else if let Some(sum) = def.filter(|op| op.is("arith.addi")) {
            sum.operands().into_iter().for_each(|operand| self.add(operand, factor));
        } else if let Some(term) = self.terms.iter_mut().find(|(own, _)| *own == value) {
            term.1 += factor;
        } else {
            self.terms.push((value, factor));
        }
    }

    fn write(self, b: &mut Builder<'c>) -> Val<'c> {
        // The outermost index first, so that inner loops add to what outer ones have computed;
        // constants last, so that the accesses of an unrolled loop share the rest.
        let terms = self.terms.into_iter().rev().filter(|(_, factor)| *factor != 0);
        let (constants, others): (Vec<_>, Vec<_>) = terms.partition(|(value, _)| unrolled(*value));
        let (values, coefficients): (Vec<_>, Vec<_>) = others.into_iter().chain(constants).unzip();
        let sum = Linear { coefficients, constant: self.constant };
        if values.is_empty() {
            return b.index(sum.constant);
        }
        if let Some(only) = sum.as_axis() {
            return values[only];
        }
        let map = affine::map(b.context(), values.len(), &[sum]);
        let index = Type::index(b.context());
        b.op_with("affine.apply", &values, &[index], &[("map", map)], 0).result(0)
    }
}

/// Returns whether a value is the index of a register loop, and so a constant before long.
fn unrolled(value: Val<'_>) -> bool {
    value.owner_block().and_then(Block::parent).is_some_and(|op| op.is("affine.for"))
}

fn constant(op: Op<'_>) -> Option<i64> {
    op.is("arith.constant").then(|| op.attr("value").and_then(attr::int)).flatten()
}

/// The expression of an `affine.apply` that is linear, and its operands.
fn applied<'c>(op: Op<'c>) -> Option<(Linear, Vec<Val<'c>>)> {
    let map = op.is("affine.apply").then(|| op.attr("map")).flatten()?;
    Some((affine::linear(map)?.pop()?, op.operands()))
}
