//! Kinds of Gelu, with a bias that is added before.

use super::super::elementwise::elementwise;
use super::super::unary::{gelu_by_erf, gelu_by_tanh, sigmoid};
use super::super::{Operator, microsoft};
use crate::error::Result;
use crate::node::{Node, Plan};
use crate::payload::{Calc, Num, identity};
use crate::types::ElementType;

pub const OPERATORS: &[Operator] = &[
    microsoft("BiasGelu", 2, &[], |node| biased(node, gelu_by_erf)),
    microsoft("BiasSplitGelu", 2, &[], split),
    microsoft("FastGelu", 2, &[], |node| biased(node, gelu_by_tanh)).at_least(1),
    microsoft("Gelu", 1, &[], |node| biased(node, gelu_by_erf)),
    microsoft("QuickGelu", 1, &["alpha"], quick),
];

/// A function of `X`, or of `X + bias`, whose bias has one number for each place on the last axis.
fn biased(
    node: &Node<'_>,
    body: impl for<'c> Fn(&mut Calc<'_, 'c>, Num<'c>) -> Num<'c> + 'static,
) -> Result<Plan> {
    let x = node.typed(0, "X", ElementType::FLOATS)?;
    let mut operands = vec![x];
    if node.input_count() > 1 {
        let bias = node.input(1, "bias")?;
        super::skip_norm::expect_row(node, x, bias, "bias")?;
        operands.push(bias);
    }
    elementwise(node, &operands, x.element(), move |calc, given| {
        let x = given[1..].iter().fold(given[0], |sum, &bias| calc.add(sum, bias));
        body(calc, x)
    })
}

fn quick(node: &Node<'_>) -> Result<Plan> {
    let x = node.typed(0, "X", ElementType::FLOATS)?;
    let alpha = node.float("alpha", 1.702)?;
    elementwise(node, &[x], x.element(), move |calc, given| {
        let alpha = calc.like(given[0], alpha);
        let inner = calc.mul(given[0], alpha);
        let gate = sigmoid(calc, inner);
        calc.mul(given[0], gate)
    })
}

/// The first half of a row of `X + bias` by the Gelu of the second.
fn split(node: &Node<'_>) -> Result<Plan> {
    let (x, bias) = (node.typed(0, "X", ElementType::FLOATS)?, node.input(1, "bias")?);
    super::skip_norm::expect_row(node, x, bias, "bias")?;
    let mut dims = x.dims().to_vec();
    let half = dims.last().map_or(0, |width| width / 2);
    match dims.last_mut() {
        Some(width) if *width % 2 == 0 => *width = half,
        _ => return Err(node.invalid(format!("splits the rows of {} in two", x.ty))),
    }
    let result = node.ty(x.element(), dims.clone())?;
    Ok(Plan::new(vec![x.clone(), bias.clone()], vec![result], move |b, args| {
        let rank = dims.len();
        let mut behind = identity(rank);
        behind[rank - 1] = behind[rank - 1].clone().offset(half);
        let along = |access: &[_]| vec![weft_dialects::ir::Linear::clone(&access[rank - 1])];
        let inputs = [
            (&args[0], identity(rank)),
            (&args[1], along(&identity(rank))),
            (&args[0], behind.clone()),
            (&args[1], along(&behind)),
        ];
        vec![b.map_at(args[0].element(), &dims, &inputs, |calc, given| {
            let (left, right) = (calc.add(given[0], given[1]), calc.add(given[2], given[3]));
            let gate = gelu_by_erf(calc, right);
            calc.mul(left, gate)
        })]
    }))
}
