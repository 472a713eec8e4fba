//! Sums and products of everything up to an element.
//!
//! Each pass joins every element with the one twice as far away, so `log2 n` passes are enough.

use super::{Operator, op};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Plan};
use crate::payload::{Build, Tensor, computed};
use crate::plan::Ends;
use crate::types::ElementType;

const ATTRIBUTES: &[&str] = &["exclusive", "reverse"];

pub const OPERATORS: &[Operator] = &[
    op("CumProd", 26, 2, ATTRIBUTES, |node| cumulative(node, true)),
    op("CumSum", 11, 2, ATTRIBUTES, |node| cumulative(node, false)),
];

fn cumulative(node: &Node<'_>, product: bool) -> Result<Plan> {
    let x = node.typed(0, "x", ElementType::NUMBERS)?;
    let axis = node.known(1, "axis")?.single();
    let axis = axis.ok_or_else(|| node.report("has not one axis").help("a scalar").invalid())?;
    let axis = node.axis(axis.as_int().try_into().unwrap_or(i64::MAX), x.rank())?;
    let (exclusive, reverse) = (node.flag("exclusive", false)?, node.flag("reverse", false)?);
    let mut padded = x.dims().to_vec();
    padded[axis] = padded[axis].saturating_mul(2);
    node.ty(computed(x.element()), padded)?;
    let element = x.element();
    let plan = Plan::new(vec![x.clone()], vec![x.ty.clone()], move |b, args| {
        let neutral = Scalar::Int(product.into());
        let mut y = b.cast(&args[0], computed(element));
        let extent = y.dims()[axis];
        if exclusive && extent > 0 {
            y = moved(b, &y, axis, 1, reverse, neutral);
        }
        let y = running(b, y, axis, reverse, product);
        vec![b.cast(&y, element)]
    });
    // What is added up from the beginning on knows nothing of what comes behind.
    let ends = x.has_lengths() && (!reverse || x.length(axis).is_none());
    Ok(plan.knowing_by(Ends::Ignored, ends.then(|| x.lengths.clone())))
}

/// Sums, or products, of everything up to an element along an axis, itself too; in reverse from it on.
pub fn running<'c>(
    b: &mut Build<'_, 'c>,
    mut y: Tensor<'c>,
    axis: usize,
    reverse: bool,
    product: bool,
) -> Tensor<'c> {
    let mut step = 1;
    while step < y.dims()[axis] {
        let before = moved(b, &y, axis, step, reverse, Scalar::Int(product.into()));
        y = b.map(y.element(), y.dims(), &[&y, &before], |calc, x| match product {
            true => calc.mul(x[0], x[1]),
            false => calc.add(x[0], x[1]),
        });
        step *= 2;
    }
    y
}

/// `x` moved `step` places along an axis, up or, in reverse, down; `neutral` comes in.
fn moved<'c>(
    b: &mut Build<'_, 'c>,
    x: &Tensor<'c>,
    axis: usize,
    step: i64,
    reverse: bool,
    neutral: Scalar,
) -> Tensor<'c> {
    let rank = x.dims().len();
    let (mut offsets, mut sizes) = (vec![0; rank], x.dims().to_vec());
    sizes[axis] -= step;
    let mut border = [vec![0; rank], vec![0; rank]];
    border[usize::from(reverse)][axis] = step;
    if reverse {
        offsets[axis] = step;
    }
    let kept = b.slice(x, &offsets, &sizes, &vec![1; rank]);
    b.pad(&kept, &border[0], &border[1], neutral)
}
