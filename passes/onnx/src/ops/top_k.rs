//! TopK: every element counts those that come before it; the first `k` are where that is `0..k`.

use weft_dialects::ir::Linear;
use weft_dialects::ir::payload::Axis;

use super::{Operator, op};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Plan};
use crate::payload::{Build, Tensor};
use crate::types::ElementType;

pub const OPERATORS: &[Operator] =
    &[op("TopK", 11, 2, &["axis", "largest", "sorted"], top_k).up_to(2)];

fn top_k(node: &Node<'_>) -> Result<Plan> {
    let x = node.typed(0, "X", ElementType::NUMBERS)?;
    let axis = node.axis(node.int("axis")?.unwrap_or(-1), x.rank())?;
    let k = node.known(1, "K")?.single().map(|k| k.as_int());
    let extent = x.dims()[axis];
    let k = match k {
        Some(k) if (0..=i128::from(extent)).contains(&k) => k as i64,
        k => {
            return Err(node
                .report(format!("takes {k:?} of {extent}"))
                .help(format!("one number, 0 to {extent}"))
                .invalid());
        }
    };
    first(node, axis, k)
}

/// Plans the first `k` elements along an axis, of which there are as many.
pub fn first(node: &Node<'_>, axis: usize, k: i64) -> Result<Plan> {
    let x = node.typed(0, "X", ElementType::NUMBERS)?;
    let largest = node.flag("largest", true)?;
    // In any order is in order, too.
    node.flag("sorted", true)?;
    let mut dims = x.dims().to_vec();
    dims[axis] = k;
    let mut results = vec![node.ty(x.element(), dims.clone())?, node.ty(ElementType::I64, dims)?];
    node.ty(ElementType::I64, x.dims().to_vec())?;
    results.truncate(node.outputs());
    let outputs = results.len();
    let dims = results[0].dims().to_vec();
    Ok(Plan::new(vec![x.clone()], results, move |b, args| {
        let x = &args[0];
        let mut made = if dims.contains(&0) {
            vec![b.empty(x.element(), &dims), b.empty(ElementType::I64, &dims)]
        } else {
            let places = places(b, x, axis, largest);
            pick(b, x, &places, axis, &dims)
        };
        made.truncate(outputs);
        made
    }))
}

/// Returns the number of elements along the axis that come before each one; of equals the first.
fn places<'c>(b: &mut Build<'_, 'c>, x: &Tensor<'c>, axis: usize, largest: bool) -> Tensor<'c> {
    let rank = x.dims().len();
    let start = b.fill(ElementType::I64, x.dims(), Scalar::Int(0));
    let own: Vec<_> = (0..rank).map(|d| Linear::axis(rank + 1, d)).collect();
    let mut other = own.clone();
    other[axis] = Linear::axis(rank + 1, rank);
    let kinds = [vec![Axis::Parallel; rank], vec![Axis::Reduction]].concat();
    let extents = [x.dims(), &[x.dims()[axis]]].concat();
    let inputs = [(x, own.clone()), (x, other)];
    let counts = b.nest(&kinds, &extents, &inputs, &[(&start, own)], |calc, given| {
        let (own, other) = (given[0], given[1]);
        let better = if largest { calc.gt(other, own) } else { calc.lt(other, own) };
        let (equal, here, there) = (calc.eq(other, own), calc.index(axis), calc.index(rank));
        let first = calc.lt(there, here);
        let tie = calc.and(equal, first);
        let before = calc.or(better, tie);
        let one = calc.cast(before, ElementType::I64);
        vec![calc.add(given[2], one)]
    });
    counts.into_iter().next().expect("one output gives one result")
}

/// The elements that `places` puts first, and where they were.
fn pick<'c>(
    b: &mut Build<'_, 'c>,
    x: &Tensor<'c>,
    places: &Tensor<'c>,
    axis: usize,
    dims: &[i64],
) -> Vec<Tensor<'c>> {
    let rank = dims.len();
    let value = b.fill(x.element(), dims, Scalar::Int(0));
    let index = b.fill(ElementType::I64, dims, Scalar::Int(0));
    let target: Vec<_> = (0..rank).map(|d| Linear::axis(rank + 1, d)).collect();
    let mut read = target.clone();
    read[axis] = Linear::axis(rank + 1, rank);
    let kinds = [vec![Axis::Parallel; rank], vec![Axis::Reduction]].concat();
    let extents = [dims, &[x.dims()[axis]]].concat();
    let inputs = [(x, read.clone()), (places, read)];
    let outputs = [(&value, target.clone()), (&index, target)];
    b.nest(&kinds, &extents, &inputs, &outputs, |calc, given| {
        let (wanted, here) = (calc.index(axis), calc.index(rank));
        let wanted = calc.counted(wanted, ElementType::I64);
        let here = calc.counted(here, ElementType::I64);
        let hit = calc.eq(given[1], wanted);
        vec![calc.select(hit, given[0], given[2]), calc.select(hit, here, given[3])]
    })
}
