//! Reading and writing views, a scalar or a vector at a time.

use weft_dialects::device::View;
use weft_dialects::ir::{Builder, Context, Type, Val, attr, ty};

use super::bf16::bits_of;

/// The memref type in the one memory that native code sees.
pub fn plain<'c>(context: &'c Context, memref: Type<'c>) -> Type<'c> {
    match (ty::shape(memref), ty::elem(memref)) {
        (Some(shape), Some(elem)) => ty::memref(&shape, bits_of(context, elem), None),
        _ => memref,
    }
}

/// `lanes` elements: a vector, or the scalar itself where it is one.
pub fn lanes_of(elem: Type<'_>, lanes: u64) -> Type<'_> {
    if lanes == 1 { elem } else { ty::vector(lanes, elem) }
}

/// The element type of a view.
pub fn elem<'c>(view: &View<'c>) -> Type<'c> {
    ty::elem(view.memref.ty()).expect("a view is of a memref")
}

/// The extent of the last dimension; one for a single element.
pub fn last_extent(view: &View<'_>) -> u64 {
    ty::shape(view.memref.ty()).and_then(|shape| shape.last().copied()).unwrap_or(1)
}

/// Reads `lanes` elements side by side.
pub fn load<'c>(b: &mut Builder<'c>, view: &View<'c>, lanes: u64) -> Val<'c> {
    let name = if lanes == 1 { "memref.load" } else { "vector.load" };
    let result = lanes_of(elem(view), lanes);
    b.op(name, &operands(&[], view), &[result]).result(0)
}

/// Writes a scalar or a vector side by side.
pub fn store<'c>(b: &mut Builder<'c>, value: Val<'c>, view: &View<'c>) {
    let name = if ty::is_vector(value.ty()) { "vector.store" } else { "memref.store" };
    b.op(name, &operands(&[value], view), &[]);
}

/// Writes a vector past the caches, to a multiple of its size.
pub fn store_past_caches<'c>(b: &mut Builder<'c>, value: Val<'c>, view: &View<'c>) {
    let bytes = ty::elem(value.ty()).and_then(ty::byte_size).unwrap_or(1);
    let bytes = bytes * ty::count(value.ty()).unwrap_or(1);
    let context = b.context();
    let yes = attr::parse(context, "true").expect("a boolean");
    let attributes = [("nontemporal", yes), ("alignment", attr::of_int(context, bytes as i64))];
    b.op_with("vector.store", &operands(&[value], view), &[], &attributes, 0);
}

/// Reads the first `lanes` elements under a mask of the first `count`, zeros elsewhere.
pub fn load_masked<'c>(b: &mut Builder<'c>, view: &View<'c>, lanes: u64, count: u64) -> Val<'c> {
    let vector = ty::vector(lanes, elem(view));
    let (mask, zero) = (first_lanes(b, lanes, count), zeros(b, elem(view), lanes));
    let operands: Vec<_> = operands(&[], view).into_iter().chain([mask, zero]).collect();
    b.op("vector.maskedload", &operands, &[vector]).result(0)
}

/// Writes the first `count` lanes of a vector.
pub fn store_masked<'c>(b: &mut Builder<'c>, value: Val<'c>, view: &View<'c>, count: u64) {
    let mask = first_lanes(b, ty::count(value.ty()).unwrap_or(1), count);
    let operands: Vec<_> = operands(&[], view).into_iter().chain([mask, value]).collect();
    b.op("vector.maskedstore", &operands, &[]);
}

/// The view that begins `by` elements further along a dimension.
pub fn shifted<'c>(b: &mut Builder<'c>, view: &View<'c>, dim: usize, by: u64) -> View<'c> {
    let mut view = view.clone();
    if by > 0 {
        let by = b.index(by as i64);
        let index = Type::index(b.context());
        view.indices[dim] = b.op("arith.addi", &[view.indices[dim], by], &[index]).result(0);
    }
    view
}

/// A vector of zeros, or a zero.
pub fn zeros<'c>(b: &mut Builder<'c>, elem: Type<'c>, lanes: u64) -> Val<'c> {
    let zero = b.number(elem, 0.0);
    splat(b, zero, lanes)
}

/// Writes a scalar to every lane.
pub fn splat<'c>(b: &mut Builder<'c>, scalar: Val<'c>, lanes: u64) -> Val<'c> {
    if lanes == 1 {
        return scalar;
    }
    let vector = ty::vector(lanes, scalar.ty());
    b.op("vector.broadcast", &[scalar], &[vector]).result(0)
}

/// Lanes of two vectors of one type, counted through both; `-1` where none matters.
pub fn shuffle<'c>(b: &mut Builder<'c>, low: Val<'c>, high: Val<'c>, lanes: &[i64]) -> Val<'c> {
    let elem = ty::elem(low.ty()).expect("a shuffle is of vectors");
    let mask = attr::of_ints(b.context(), lanes);
    let vector = ty::vector(lanes.len() as u64, elem);
    b.op_with("vector.shuffle", &[low, high], &[vector], &[("mask", mask)], 0).result(0)
}

/// One lane of a vector.
pub fn lane<'c>(b: &mut Builder<'c>, vector: Val<'c>, lane: u64) -> Val<'c> {
    let elem = ty::elem(vector.ty()).expect("a lane is of a vector");
    let position = attr::of_ints(b.context(), &[lane as i64]);
    b.op_with("vector.extract", &[vector], &[elem], &[("static_position", position)], 0).result(0)
}

/// A vector of scalars, or the scalar itself where it is one.
pub fn from_lanes<'c>(b: &mut Builder<'c>, lanes: &[Val<'c>]) -> Val<'c> {
    let vector = ty::vector(lanes.len() as u64, lanes[0].ty());
    match lanes {
        [one] => *one,
        _ => b.op("vector.from_elements", lanes, &[vector]).result(0),
    }
}

fn first_lanes<'c>(b: &mut Builder<'c>, lanes: u64, count: u64) -> Val<'c> {
    let mask = ty::vector(lanes, ty::int(b.context(), 1));
    let set: Vec<_> = (0..lanes).map(|lane| u8::from(lane < count)).collect();
    constant(b, mask, &set)
}

/// The number of each lane, as indices.
pub fn lane_numbers<'c>(b: &mut Builder<'c>, lanes: u64) -> Val<'c> {
    let numbers: Vec<_> = (0..lanes).flat_map(u64::to_le_bytes).collect();
    let vector = ty::vector(lanes, Type::index(b.context()));
    constant(b, vector, &numbers)
}

/// A vector of little-endian numbers.
fn constant<'c>(b: &mut Builder<'c>, vector: Type<'c>, bytes: &[u8]) -> Val<'c> {
    let value = attr::dense(vector, bytes);
    b.op_with("arith.constant", &[], &[vector], &[("value", value)], 0).result(0)
}

fn operands<'c>(before: &[Val<'c>], view: &View<'c>) -> Vec<Val<'c>> {
    before.iter().copied().chain([view.memref]).chain(view.indices.iter().copied()).collect()
}
