//! Operators that weigh the elements along an axis against each other.

use weft_dialects::ir::Linear;

use super::pool::{exponent, least, raised, root};
use super::reduce::{arg_along, fold_axes, kept_access};
use super::{Operator, op};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Build, Tensor, computed, identity};
use crate::types::ElementType;

pub const OPERATORS: &[Operator] = &[
    op("Hardmax", 13, 1, &["axis"], hardmax),
    op("LogSoftmax", 13, 1, &["axis"], |node| softmax(node, true)),
    op("LpNormalization", 1, 1, &["axis", "p"], lp_normalization),
    op("Softmax", 13, 1, &["axis"], |node| softmax(node, false)),
];

fn operand<'n>(node: &'n Node<'_>) -> Result<(&'n Operand, usize)> {
    let x = node.typed(0, "input", ElementType::FLOATS)?;
    let axis = node.axis(node.int("axis")?.unwrap_or(-1), x.rank())?;
    Ok((x, axis))
}

fn softmax(node: &Node<'_>, logarithm: bool) -> Result<Plan> {
    let (x, axis) = operand(node)?;
    Ok(softmax_along(x, axis, logarithm))
}

/// The softmax along an axis, or its logarithm.
pub fn softmax_along(x: &Operand, axis: usize, logarithm: bool) -> Plan {
    Plan::new(vec![x.clone()], vec![x.ty.clone()], move |b, args| {
        vec![match logarithm {
            true => log_shares(b, &args[0], axis, args[0].element()),
            false => shares(b, &args[0], axis, args[0].element(), Nothing::Nan),
        }]
    })
}

/// What the elements of a row are given of which none counts: all are `-inf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nothing {
    /// Zero of zero.
    Nan,
    /// Nothing.
    Zero,
}

/// The softmax of `x` along an axis, stored as `element`.
pub fn shares<'c>(
    b: &mut Build<'_, 'c>,
    x: &Tensor<'c>,
    axis: usize,
    element: ElementType,
    nothing: Nothing,
) -> Tensor<'c> {
    let number = computed(x.element());
    let (full, beside) = (identity(x.dims().len()), kept_access(x.dims().len(), &[axis]));
    // What is `-inf` is then below the greatest element, and counts for nothing.
    let start = match (nothing, number) {
        (Nothing::Nan, _) => least(number),
        (Nothing::Zero, ElementType::F64) => Scalar::Float(f64::MIN),
        (Nothing::Zero, _) => Scalar::Float(f32::MIN.into()),
    };
    let top = greatest(b, x, axis, start);
    let exp =
        b.map_at(number, x.dims(), &[(x, full.clone()), (&top, beside.clone())], |calc, x| {
            let below = calc.sub(x[0], x[1]);
            calc.math("exp", below)
        });
    let zero = (number, Scalar::Int(0));
    let sum = fold_axes(b, &exp, &[axis], &[], zero, |calc, x, sum| calc.add(sum, x[0]));
    // One division a row: a sum is at least 1, so its reciprocal is exact to half a unit of the last
    // place, and so is the product with it.
    let share = b.map(number, sum.dims(), &[&sum], |calc, sum| {
        let one = calc.like(sum[0], 1.0);
        let sum = match nothing {
            Nothing::Nan => sum[0],
            Nothing::Zero => calc.max(sum[0], one),
        };
        calc.div(one, sum)
    });
    let inputs = [(&exp, full), (&share, beside)];
    b.map_at(element, x.dims(), &inputs, |calc, x| calc.mul(x[0], x[1]))
}

/// The logarithm of [`shares`].
pub fn log_shares<'c>(
    b: &mut Build<'_, 'c>,
    x: &Tensor<'c>,
    axis: usize,
    element: ElementType,
) -> Tensor<'c> {
    let number = computed(x.element());
    let beside = || kept_access(x.dims().len(), &[axis]);
    let top = greatest(b, x, axis, least(number));
    let zero = (number, Scalar::Int(0));
    let sum = fold_axes(b, x, &[axis], &[&top], zero, |calc, x, sum| {
        let below = calc.sub(x[0], x[1]);
        let exp = calc.math("exp", below);
        calc.add(sum, exp)
    });
    let log = b.map(number, sum.dims(), &[&sum], |calc, sum| calc.math("log", sum[0]));
    let inputs = [(x, identity(x.dims().len())), (&top, beside()), (&log, beside())];
    b.map_at(element, x.dims(), &inputs, |calc, x| {
        let below = calc.sub(x[0], x[1]);
        calc.sub(below, x[2])
    })
}

/// The greatest element along an axis, or `start`.
fn greatest<'c>(b: &mut Build<'_, 'c>, x: &Tensor<'c>, axis: usize, start: Scalar) -> Tensor<'c> {
    let start = (computed(x.element()), start);
    fold_axes(b, x, &[axis], &[], start, |calc, x, best| calc.max(best, x[0]))
}

fn hardmax(node: &Node<'_>) -> Result<Plan> {
    let (x, axis) = operand(node)?;
    Ok(hardmax_along(x, axis))
}

/// 1 where the greatest element along an axis is, the first of several, and 0 elsewhere.
pub fn hardmax_along(x: &Operand, axis: usize) -> Plan {
    Plan::new(vec![x.clone()], vec![x.ty.clone()], move |b, args| {
        let x = &args[0];
        let place = arg_along(b, x, axis, true, false);
        let inputs = [(&place, kept_access(x.dims().len(), &[axis]))];
        vec![b.map_at(x.element(), x.dims(), &inputs, |calc, place| {
            let here = calc.index(axis);
            let here = calc.counted(here, ElementType::I64);
            let hit = calc.eq(here, place[0]);
            calc.cast(hit, computed(x.element()))
        })]
    })
}

fn lp_normalization(node: &Node<'_>) -> Result<Plan> {
    let (x, axis) = operand(node)?;
    let p = exponent(node)?;
    Ok(Plan::new(vec![x.clone()], vec![x.ty.clone()], move |b, args| {
        let x = &args[0];
        let number = computed(x.element());
        let sum = fold_axes(b, x, &[axis], &[], (number, Scalar::Int(0)), |calc, x, sum| {
            let power = raised(calc, x[0], p);
            calc.add(sum, power)
        });
        let norm = b.map(number, sum.dims(), &[&sum], |calc, sum| root(calc, sum[0], p));
        vec![divide_by(b, x, &norm, kept_access(x.dims().len(), &[axis]))]
    }))
}

/// `x / norm`, and 0 where the norm is 0.
fn divide_by<'c>(
    b: &mut Build<'_, 'c>,
    x: &Tensor<'c>,
    norm: &Tensor<'c>,
    beside: Vec<Linear>,
) -> Tensor<'c> {
    let inputs = [(x, identity(x.dims().len())), (norm, beside)];
    b.map_at(x.element(), x.dims(), &inputs, |calc, x| {
        let zero = calc.like(x[0], 0.0);
        let (none, quotient) = (calc.eq(x[1], zero), calc.div(x[0], x[1]));
        calc.select(none, zero, quotient)
    })
}
