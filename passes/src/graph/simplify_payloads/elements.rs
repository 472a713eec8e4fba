//! Tensors of `i1` and of `index` are stored as `i8` (0 or 1) and as `i64`.
//!
//! ```text
//! generic ins(%k : tensor<8xi1>) { ^bb0(%b: i1): ... }
//!   ->  generic ins(%k : tensor<8xi8>) { ^bb0(%s: i8): %b = arith.trunci %s : i8 to i1; ... }
//! ```
//!
//! Memory has no bits, and an index is as wide as the machine that reads it. Numbers in bodies keep
//! their types; they change at loads and stores only. A logical operation between stored truths is
//! done to their bytes: reductions of masks have lanes then.

use std::collections::HashMap;

use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::payload::Scalar;
use weft_dialects::ir::{Block, Builder, Context, Op, Type, Val, attr, ty};

use super::refuse;
use crate::interpret::element_type;
use crate::nest::generic_inputs;

/// Returns the type that memory holds for elements of this type; `None` if it is the same.
pub(super) fn stored<'c>(context: &'c Context, elem: Type<'c>) -> Option<Type<'c>> {
    if ty::is_int(elem, 1) {
        Some(ty::int(context, 8))
    } else if ty::is_index(elem) {
        Some(ty::int(context, 64))
    } else {
        None
    }
}

fn stored_tensor<'c>(context: &'c Context, tensor: Type<'c>) -> Option<Type<'c>> {
    let elem = stored(context, ty::elem(tensor).filter(|_| ty::is_tensor(tensor))?)?;
    Some(ty::tensor(&ty::shape(tensor)?, elem))
}

/// Stores every tensor of a block in elements that memory holds.
pub(super) fn store<'c>(context: &'c Context, block: Block<'c>) -> Result<(), Failed> {
    for arg in block.args() {
        if let Some(ty) = stored_tensor(context, arg.ty()) {
            arg.set_ty(ty);
        }
    }
    for op in block.ops() {
        for value in op.results() {
            check(op, value)?;
        }
        match op.name() {
            "linalg.generic" => nest(context, op),
            "tensor.pad" => padding(context, op),
            "arith.constant" => literal(context, op)?,
            // The same elements elsewhere.
            "tensor.cast"
            | "tensor.collapse_shape"
            | "tensor.empty"
            | "tensor.expand_shape"
            | "tensor.extract_slice"
            | "tensor.insert_slice"
            | "tensor.reshape" => {}
            _ if op.results().iter().any(|value| stored_tensor(context, value.ty()).is_some()) => {
                let tensors = "a tensor of i1 or index made by";
                let help = "such tensors are made by nests, slices, reshapes and constants";
                return refuse(op, &format!("{tensors} {}", op.name()), help);
            }
            _ => {}
        }
        for value in op.results() {
            if let Some(ty) = stored_tensor(context, value.ty()) {
                value.set_ty(ty);
            }
        }
    }
    Ok(())
}

/// Refuses elements that have no meaning.
fn check(op: Op<'_>, value: Val<'_>) -> Result<(), Failed> {
    let Some(elem) = ty::elem(value.ty()).filter(|_| ty::is_tensor(value.ty())) else {
        return Ok(());
    };
    if element_type(elem).is_some() {
        return Ok(());
    }
    let help = "elements are i1, i8, i16, i32, i64, index, f16, bf16, f32 and f64";
    refuse(op, &format!("a tensor of {elem}"), help)
}

/// A literal of the stored type.
fn literal<'c>(context: &'c Context, op: Op<'c>) -> Result<(), Failed> {
    let value = op.result(0);
    let Some(ty) = stored_tensor(context, value.ty()) else { return Ok(()) };
    let Some(bytes) = op.attr("value").and_then(attr::dense_bytes) else {
        return refuse(op, "a literal without numbers in the text", "write it as dense<...>");
    };
    op.set_attr("value", attr::dense(ty, &bytes));
    Ok(())
}

/// Rewrites the element that surrounds a padded tensor.
fn padding<'c>(context: &'c Context, op: Op<'c>) {
    let end = op.body(0).and_then(Block::terminator);
    if let Some(end) = end
        && stored_tensor(context, op.result(0).ty()).is_some()
    {
        let value = end.operand(0);
        end.set_operand(0, to_memory(context, end, value));
    }
}

fn nest<'c>(context: &'c Context, op: Op<'c>) {
    let Some(body) = op.body(0) else { return };
    let Some(end) = body.terminator() else { return };
    // Numbers of bodies whose bytes in memory are known.
    let mut known: HashMap<Val<'c>, Val<'c>> = HashMap::new();
    for (arg, operand) in body.args().into_iter().zip(op.operands()) {
        let Some(ty) = stored(context, arg.ty()) else { continue };
        debug_assert_eq!(
            ty::elem(operand.ty()),
            Some(ty),
            "operands are stored before their users"
        );
        let (uses, number) = (arg.uses(), arg.ty());
        arg.set_ty(ty);
        if !uses.is_empty() {
            let first = body.iter().next().unwrap_or(end);
            let value = from_memory(Builder::before(context, first), arg, number);
            uses.into_iter().for_each(|(user, at)| user.set_operand(at, value));
            known.insert(value, arg);
        }
    }
    for op in body.ops().into_iter().filter(|op| op.is("tensor.extract")) {
        let (value, number) = (op.result(0), op.result(0).ty());
        let Some(ty) = ty::elem(op.operand(0).ty()).filter(|&ty| ty != number) else { continue };
        let uses = value.uses();
        value.set_ty(ty);
        let loaded = from_memory(Builder::after(context, op), value, number);
        uses.into_iter().for_each(|(user, at)| user.set_operand(at, loaded));
        known.insert(loaded, value);
    }
    logic(context, body, &mut known);
    let inputs = generic_inputs(op);
    for (at, value) in end.operands().into_iter().enumerate() {
        if stored(context, value.ty()).is_some() && body.arg(inputs + at).ty() != value.ty() {
            let bytes = known.get(&value).copied();
            let bytes = bytes.unwrap_or_else(|| to_memory(context, end, value));
            end.set_operand(at, bytes);
        }
    }
    for op in body.ops().into_iter().rev() {
        let unused = op.results().iter().all(|value| value.uses().is_empty());
        if unused && op.is("arith.trunci") {
            op.erase();
        }
    }
}

/// Does `and`, `or` and `xor` of stored truths to their bytes.
fn logic<'c>(context: &'c Context, body: Block<'c>, known: &mut HashMap<Val<'c>, Val<'c>>) {
    for op in body.ops() {
        if !["arith.andi", "arith.ori", "arith.xori"].contains(&op.name()) {
            continue;
        }
        let bytes: Option<Vec<_>> =
            op.operands().iter().map(|operand| known.get(operand).copied()).collect();
        let Some(bytes) = bytes.filter(|_| ty::is_int(op.result(0).ty(), 1)) else { continue };
        let mut scalar = Scalar::at(Builder::before(context, op));
        let both = scalar.same(op.name(), &bytes);
        let truth = scalar.truth(both);
        op.result(0).replace_with(truth);
        known.insert(truth, both);
        op.erase();
    }
}

/// The number that bytes of memory mean.
fn from_memory<'c>(b: Builder<'c>, bytes: Val<'c>, number: Type<'c>) -> Val<'c> {
    let mut scalar = Scalar::at(b);
    match ty::is_index(number) {
        true => scalar.op("arith.index_cast", &[bytes], number),
        false => scalar.truth(bytes),
    }
}

/// The bytes in memory of a number, computed in front of `user`.
fn to_memory<'c>(context: &'c Context, user: Op<'c>, value: Val<'c>) -> Val<'c> {
    let mut scalar = Scalar::at(Builder::before(context, user));
    let known = value.def().filter(|op| op.is("arith.constant")).and_then(|op| op.attr("value"));
    if let (Some(ty), Some(number)) = (stored(context, value.ty()), known.and_then(attr::int)) {
        // A constant stays a constant: true is -1 as a signed bit.
        return scalar.integer(ty, if ty::is_index(value.ty()) { number } else { number & 1 });
    }
    match stored(context, value.ty()) {
        Some(ty) if ty::is_index(value.ty()) => scalar.op("arith.index_cast", &[value], ty),
        Some(_) => scalar.stored(value),
        None => value,
    }
}
