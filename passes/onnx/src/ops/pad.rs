//! Padding.

use weft_dialects::ir::Linear;

use super::{Operator, op};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Plan};
use crate::payload::{Build, Calc, Num, Tensor, identity};
use crate::types::ElementType;

pub const OPERATORS: &[Operator] = &[op("Pad", 11, 4, &["mode"], pad).at_least(2)];

/// The source of an element outside of the tensor.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Constant,
    Edge,
    Reflect,
    Wrap,
}

fn pad(node: &Node<'_>) -> Result<Plan> {
    let x = node.input(0, "data")?;
    let rank = x.rank();
    let mode = match node.string("mode", "constant")? {
        "constant" => Mode::Constant,
        "edge" => Mode::Edge,
        "reflect" => Mode::Reflect,
        "wrap" => Mode::Wrap,
        other => {
            return Err(node
                .report(format!("has mode {other:?}"))
                .help("constant, edge, reflect or wrap")
                .invalid());
        }
    };
    let pads = node.known_ints(1, "pads")?.unwrap_or_default();
    let axes = match node.known_ints(3, "axes")? {
        Some(axes) => node.axes(&axes, rank)?,
        None => (0..rank).collect(),
    };
    if pads.len() != 2 * axes.len() {
        return Err(node
            .report(format!("has {} pads for {} axes", pads.len(), axes.len()))
            .help("one before and one after each axis")
            .invalid());
    }
    let (mut before, mut after) = (vec![0; rank], vec![0; rank]);
    for (at, &d) in axes.iter().enumerate() {
        (before[d], after[d]) = (pads[at], pads[axes.len() + at]);
    }
    let mut dims = Vec::with_capacity(rank);
    for d in 0..rank {
        let sum = before[d].checked_add(x.dims()[d]).and_then(|n| n.checked_add(after[d]));
        match sum {
            Some(extent) if extent >= 0 => dims.push(extent),
            _ => {
                return Err(node
                    .report(format!("pads {} by {} and {} on axis {d}", x.ty, before[d], after[d]))
                    .help("what is cut off was there before")
                    .invalid());
            }
        }
        let left = x.dims()[d] + before[d].min(0) + after[d].min(0);
        if mode != Mode::Constant && left <= 0 && dims[d] > 0 {
            return Err(node.invalid(format!("repeats elements of {} that are not there", x.ty)));
        }
    }
    let result = node.ty(x.element(), dims)?;
    let mut operands = vec![x.clone()];
    let mut value = Some(Scalar::Int(0));
    if let Some(given) = node.optional(2).filter(|_| mode == Mode::Constant) {
        node.expect_same_element(x, given)?;
        if given.ty.elements() != 1 {
            return Err(
                node.invalid(format!("reads \"constant_value\" as {}; it is a scalar", given.ty))
            );
        }
        value = given.literal();
        if value.is_none() {
            operands.push(given.clone());
        }
    }
    Ok(Plan::new(operands, vec![result.clone()], move |b, args| {
        let x = &args[0];
        // Negative pads cut off first; then the rest lies within a border.
        let offsets: Vec<_> = before.iter().map(|&n| (-n).max(0)).collect();
        let sizes: Vec<_> =
            (0..x.dims().len()).map(|d| x.dims()[d] + before[d].min(0) + after[d].min(0)).collect();
        // More may be cut off than there is; then only the border is left.
        if result.dims().contains(&0) || sizes.iter().any(|&size| size < 0) {
            return vec![background(b, x.element(), result.dims(), value, args.get(1))];
        }
        let inner = b.slice(x, &offsets, &sizes, &vec![1; sizes.len()]);
        if inner.dims() == result.dims() {
            return vec![inner];
        }
        let place: Vec<_> = before.iter().map(|&n| n.max(0)).collect();
        if mode != Mode::Constant {
            return vec![repeat(b, &inner, result.dims(), &place, mode)];
        }
        let target = background(b, x.element(), result.dims(), value, args.get(1));
        vec![b.insert(&inner, &target, &place, &vec![1; sizes.len()])]
    }))
}

/// A tensor full of the value that is padded with, a literal or an operand.
fn background<'c>(
    b: &mut Build<'_, 'c>,
    element: ElementType,
    dims: &[i64],
    value: Option<Scalar>,
    operand: Option<&Tensor<'c>>,
) -> Tensor<'c> {
    match (value, operand) {
        (None, Some(operand)) => {
            let access = vec![Linear::constant(dims.len(), 0); operand.dims().len()];
            b.move_at(element, dims, &[(operand, access)], |_, x| x[0])
        }
        (value, _) => b.fill(element, dims, value.unwrap_or(Scalar::Int(0))),
    }
}

/// A tensor whose elements beyond the edge are found inside of it.
fn repeat<'c>(
    b: &mut Build<'_, 'c>,
    x: &Tensor<'c>,
    dims: &[i64],
    before: &[i64],
    mode: Mode,
) -> Tensor<'c> {
    b.move_at(x.element(), dims, &[], |calc, _| {
        let access = identity(dims.len());
        let indices: Vec<_> = (0..dims.len())
            .map(|d| {
                let place = calc.linear(&access[d].clone().offset(-before[d]));
                let extent = x.dims()[d];
                if before[d] == 0 && dims[d] == extent {
                    return place;
                }
                inside(calc, place, extent, mode)
            })
            .collect();
        calc.extract(x, &indices)
    })
}

/// The place in `0..extent` that stands for a place outside.
fn inside<'c>(calc: &mut Calc<'_, 'c>, place: Num<'c>, extent: i64, mode: Mode) -> Num<'c> {
    match mode {
        Mode::Constant => unreachable!("constants come from nowhere"),
        Mode::Edge => {
            let (first, last) = (calc.at(0), calc.at(extent - 1));
            let place = calc.max(place, first);
            calc.min(place, last)
        }
        Mode::Wrap => modulo(calc, place, extent),
        Mode::Reflect => {
            let period = 2 * (extent - 1);
            if period == 0 {
                return calc.at(0);
            }
            let place = modulo(calc, place, period);
            // The second half of a period runs backwards.
            let end = calc.at(period);
            let back = calc.sub(end, place);
            calc.min(place, back)
        }
    }
}

/// Returns the remainder of `x / by`, never negative.
fn modulo<'c>(calc: &mut Calc<'_, 'c>, x: Num<'c>, by: i64) -> Num<'c> {
    let (by, zero) = (calc.at(by), calc.at(0));
    let rest = calc.rem(x, by);
    let (below, moved) = (calc.lt(rest, zero), calc.add(rest, by));
    calc.select(below, moved, rest)
}
