//! Tensor operations of many forms become nests, slices and reshapes.
//!
//! ```text
//! tensor.concat                  ->  slices inserted into an empty tensor, one after the other
//! tensor.extract_slice, insert_slice that change the rank  ->  a slice and a reshape
//! tensor.pad with negative amounts, or with computed numbers  ->  a slice inserted into a nest
//! tensor.generate, splat, from_elements, insert  ->  a nest over the tensor
//! tensor.cast to the same type   ->  its operand
//! ```

use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::payload::{Axis, Payload, Scalar};
use weft_dialects::ir::{Block, Context, Linear, Mapping, Op, Type, Val, attr, ty};

use super::refuse;

/// The most elements of a `tensor.from_elements`: each point of its nest compares with all places.
const MOST_ELEMENTS: usize = 64;

/// Rewrites the operations of `block`.
pub(super) fn simplify<'c>(context: &'c Context, block: Block<'c>) -> Result<(), Failed> {
    for op in block.ops().into_iter().filter(|op| is_rewritten(*op)) {
        if op.results().iter().any(|result| ty::shape(result.ty()).is_none()) {
            let what = format!("{} of a shape that is not static", op.name());
            return refuse(op, &what, "give every extent in the type");
        }
        let mut payload = Payload::before(context, op);
        let result = match op.name() {
            "tensor.concat" => concat(&mut payload, op)?,
            "tensor.extract_slice" => extract_slice(&mut payload, op)?,
            "tensor.insert_slice" => insert_slice(&mut payload, op)?,
            "tensor.pad" => pad(&mut payload, op)?,
            "tensor.generate" => filled(&mut payload, op)?,
            "tensor.splat" => splat(&mut payload, op)?,
            "tensor.from_elements" => elements(&mut payload, op)?,
            "tensor.insert" => insert(&mut payload, op)?,
            _ => op.operand(0),
        };
        op.result(0).replace_with(result);
        op.erase();
    }
    Ok(())
}

/// Returns whether an operation is written anew here.
pub(super) fn is_rewritten(op: Op<'_>) -> bool {
    let rank = |value: Val<'_>| ty::shape(value.ty()).map(|shape| shape.len());
    match op.name() {
        "tensor.concat"
        | "tensor.from_elements"
        | "tensor.generate"
        | "tensor.insert"
        | "tensor.splat" => true,
        "tensor.cast" => op.operand(0).ty() == op.result(0).ty(),
        "tensor.extract_slice" => {
            is_static(op, 1) && rank(op.result(0)) != Some(ints(op, "static_sizes").len())
        }
        "tensor.insert_slice" => {
            is_static(op, 2) && rank(op.operand(0)) != Some(ints(op, "static_sizes").len())
        }
        "tensor.pad" => is_static(op, 1) && !pads_with_constant(op),
        _ => false,
    }
}

/// Returns whether all positions are numbers in the text: no operand behind the `tensors`.
fn is_static(op: Op<'_>, tensors: usize) -> bool {
    op.operands().len() == tensors
}

fn ints(op: Op<'_>, name: &str) -> Vec<i64> {
    op.attr(name).and_then(attr::ints).unwrap_or_default()
}

fn shape_of(value: Val<'_>) -> Result<Vec<u64>, Failed> {
    ty::shape(value.ty()).ok_or(Failed)
}

fn pads_with_constant(op: Op<'_>) -> bool {
    let value = op.body(0).and_then(Block::terminator).map(|end| end.operand(0));
    let constant = value.and_then(Val::def).is_some_and(|op| op.is("arith.constant"));
    let amounts = [ints(op, "static_low"), ints(op, "static_high")].concat();
    constant && amounts.iter().all(|&amount| amount >= 0)
}

fn concat<'c>(payload: &mut Payload<'c>, op: Op<'c>) -> Result<Val<'c>, Failed> {
    let (ty, axis) = (op.result(0).ty(), op.attr("dim").and_then(attr::int).ok_or(Failed)?);
    let shape = shape_of(op.result(0))?;
    let mut whole = payload.empty(&shape, ty::elem(ty).ok_or(Failed)?);
    let mut offsets = vec![0; shape.len()];
    for part in op.operands() {
        whole = payload.insert(part, whole, &offsets, &vec![1; shape.len()]);
        offsets[axis as usize] += shape_of(part)?[axis as usize] as i64;
    }
    Ok(whole)
}

fn extract_slice<'c>(payload: &mut Payload<'c>, op: Op<'c>) -> Result<Val<'c>, Failed> {
    let [offsets, sizes, strides] =
        ["static_offsets", "static_sizes", "static_strides"].map(|name| ints(op, name));
    let slice = payload.slice(op.operand(0), &offsets, &sizes, &strides);
    Ok(payload.reshape(slice, &shape_of(op.result(0))?))
}

fn insert_slice<'c>(payload: &mut Payload<'c>, op: Op<'c>) -> Result<Val<'c>, Failed> {
    let [offsets, sizes, strides] =
        ["static_offsets", "static_sizes", "static_strides"].map(|name| ints(op, name));
    let sizes: Vec<u64> = sizes.iter().map(|&size| size as u64).collect();
    let source = payload.reshape(op.operand(0), &sizes);
    Ok(payload.insert(source, op.operand(1), &offsets, &strides))
}

/// Rewrites a pad as an insertion of the source into a tensor filled with the padding.
fn pad<'c>(payload: &mut Payload<'c>, op: Op<'c>) -> Result<Val<'c>, Failed> {
    let (low, high) = (ints(op, "static_low"), ints(op, "static_high"));
    let shape = shape_of(op.operand(0))?;
    let rank = shape.len();
    // A negative amount cuts off.
    let cut: Vec<i64> = low.iter().map(|low| (-low).max(0)).collect();
    let sizes: Vec<i64> = (0..rank)
        .map(|dim| (shape[dim] as i64 + low[dim].min(0) + high[dim].min(0)).max(0))
        .collect();
    let surrounding = filled(payload, op)?;
    if sizes.contains(&0) {
        return Ok(surrounding);
    }
    let kept = payload.slice(op.operand(0), &cut, &sizes, &vec![1; rank]);
    let places: Vec<i64> = low.iter().map(|low| (*low).max(0)).collect();
    Ok(payload.insert(kept, surrounding, &places, &vec![1; rank]))
}

/// A nest over the result of `op`, whose body gives the element at the indices it takes.
fn filled<'c>(payload: &mut Payload<'c>, op: Op<'c>) -> Result<Val<'c>, Failed> {
    let body = op.body(0).ok_or(Failed)?;
    each(payload, op.result(0).ty(), |scalar| {
        let mut map = Mapping::default();
        for (axis, arg) in body.args().into_iter().enumerate() {
            let index = scalar.index(axis);
            map.set(arg, index);
        }
        for inner in body.ops() {
            if inner.is("tensor.yield") {
                return map.get(inner.operand(0));
            }
            scalar.builder().clone_op(inner, &mut map);
        }
        unreachable!("a verified body ends in tensor.yield")
    })
}

/// A tensor of this type whose elements `body` computes, point by point.
fn each<'c>(
    payload: &mut Payload<'c>,
    tensor: Type<'c>,
    body: impl FnOnce(&mut Scalar<'c>) -> Val<'c>,
) -> Result<Val<'c>, Failed> {
    let shape = ty::shape(tensor).ok_or(Failed)?;
    let (rank, elem) = (shape.len(), ty::elem(tensor).ok_or(Failed)?);
    let identity: Vec<_> = (0..rank).map(|axis| Linear::axis(rank, axis)).collect();
    let empty = payload.empty(&shape, elem);
    let axes = vec![Axis::Parallel; rank];
    Ok(payload.generic(&axes, &[], &[(empty, identity)], |scalar, _| vec![body(scalar)])[0])
}

fn splat<'c>(payload: &mut Payload<'c>, op: Op<'c>) -> Result<Val<'c>, Failed> {
    each(payload, op.result(0).ty(), |_| op.operand(0))
}

/// The element of the number that a point has in row-major order.
fn elements<'c>(payload: &mut Payload<'c>, op: Op<'c>) -> Result<Val<'c>, Failed> {
    let (values, shape) = (op.operands(), shape_of(op.result(0))?);
    if values.len() > MOST_ELEMENTS {
        let what = format!("a tensor.from_elements of {} computed numbers", values.len());
        return refuse(op, &what, &format!("up to {MOST_ELEMENTS}; more as a nest or a constant"));
    }
    if values.is_empty() {
        return Ok(payload.empty(&shape, ty::elem(op.result(0).ty()).ok_or(Failed)?));
    }
    let context = payload.context();
    each(payload, op.result(0).ty(), |scalar| {
        let index = Type::index(context);
        let mut place = scalar.integer(index, 0);
        for (axis, &extent) in shape.iter().enumerate() {
            let (extent, own) = (scalar.integer(index, extent as i64), scalar.index(axis));
            let before = scalar.mul(place, extent);
            place = scalar.add(before, own);
        }
        let last = values[values.len() - 1];
        values[..values.len() - 1].iter().enumerate().fold(last, |other, (number, &value)| {
            let number = scalar.integer(index, number as i64);
            let here = scalar.cmpi("eq", place, number);
            scalar.select(here, value, other)
        })
    })
}

/// The tensor with one element replaced.
fn insert<'c>(payload: &mut Payload<'c>, op: Op<'c>) -> Result<Val<'c>, Failed> {
    let (value, tensor, at) = (op.operand(0), op.operand(1), op.operands().split_off(2));
    let shape = shape_of(tensor)?;
    let (rank, elem) = (shape.len(), ty::elem(tensor.ty()).ok_or(Failed)?);
    let identity: Vec<_> = (0..rank).map(|axis| Linear::axis(rank, axis)).collect();
    let empty = payload.empty(&shape, elem);
    let axes = vec![Axis::Parallel; rank];
    let inputs = [(tensor, identity.clone())];
    let results = payload.generic(&axes, &inputs, &[(empty, identity)], |scalar, args| {
        let mut here = None;
        for (axis, &wanted) in at.iter().enumerate() {
            let own = scalar.index(axis);
            let same = scalar.cmpi("eq", own, wanted);
            here = Some(here.map_or(same, |others| scalar.same("arith.andi", &[others, same])));
        }
        vec![here.map_or(value, |here| scalar.select(here, value, args[0]))]
    });
    Ok(results[0])
}
