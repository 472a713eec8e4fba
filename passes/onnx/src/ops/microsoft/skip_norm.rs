//! Norms of a sum: what comes from a block of a network and what was led past it.
//!
//! ```text
//! s = input + skip + bias
//! SkipLayerNormalization            (s - mean(s)) / sqrt(variance(s) + epsilon) · gamma + beta
//! SkipSimplifiedLayerNormalization  s / sqrt(mean(s²) + epsilon) · gamma
//! ```
//!
//! The mean and the deviation, outputs 1 and 2, are for training and are not made.

use weft_dialects::ir::Linear;

use super::super::normalize::{inverse_deviation, mean, normalized, rms_normalization, variance};
use super::super::{Operator, microsoft};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Build, Tensor, computed};
use crate::types::ElementType;

pub const OPERATORS: &[Operator] = &[
    microsoft("SimplifiedLayerNormalization", 2, &["axis", "epsilon", "stash_type"], |node| {
        rms_normalization(node)
    })
    .up_to(2),
    microsoft("SkipLayerNormalization", 5, &["epsilon"], |node| skip_norm(node, true))
        .at_least(3)
        .up_to(4),
    microsoft("SkipSimplifiedLayerNormalization", 4, &["epsilon"], |node| skip_norm(node, false))
        .at_least(3)
        .up_to(4),
];

const FLOATS: &[ElementType] = &[ElementType::F16, ElementType::BF16, ElementType::F32];

/// Fails unless there is one number for each place on the last axis of `x`.
pub fn expect_row(node: &Node<'_>, x: &Operand, operand: &Operand, name: &str) -> Result<()> {
    node.expect_same_element(x, operand)?;
    if x.dims().last().is_some_and(|&width| operand.dims() == [width]) {
        return Ok(());
    }
    Err(node
        .report(format!("reads {name:?} as {}", operand.ty))
        .help(format!("one number for each place on the last axis of {}", x.ty))
        .invalid())
}

/// The norm of the rows of `x`, with a mean to take off where it is centred.
pub fn norm_rows<'c>(
    b: &mut Build<'_, 'c>,
    x: &Tensor<'c>,
    epsilon: f64,
    centred: bool,
    affine: &[&Tensor<'c>],
) -> Tensor<'c> {
    let rank = x.dims().len();
    let axes = [rank - 1];
    let center = centred.then(|| mean(b, x, &axes));
    let spread = variance(b, x, &axes, center.as_ref());
    let factor = inverse_deviation(b, &spread, epsilon);
    let along = || vec![Linear::axis(rank, rank - 1)];
    let affine: Vec<_> = affine.iter().map(|&tensor| (tensor, along())).collect();
    normalized(b, x, &axes, center.as_ref(), &factor, &affine)
}

fn skip_norm(node: &Node<'_>, centred: bool) -> Result<Plan> {
    let (x, skip) = (node.typed(0, "input", FLOATS)?, node.input(1, "skip")?);
    node.expect_same_element(x, skip)?;
    let broadcasts = node.broadcast([x.dims(), skip.dims()]).is_ok_and(|dims| dims == x.dims());
    if x.rank() < 2 || !broadcasts || skip.rank() + 1 < x.rank() {
        return Err(node
            .report(format!("adds {} and {}", x.ty, skip.ty))
            .help("rows of one width; a skip of the same shape, or without the batch")
            .invalid());
    }
    if (1..3).any(|at| node.names_output(at)) {
        return Err(node
            .report("makes a mean or a deviation, which are for training")
            .help("outputs 0 and 3")
            .unsupported());
    }
    let epsilon = node.float("epsilon", 1e-12)?;
    let mut operands = vec![x, skip];
    let names = if centred { &["gamma", "beta", "bias"][..] } else { &["gamma", "bias"] };
    let mut places = [None; 3];
    for (at, name) in names.iter().enumerate() {
        let Some(operand) = node.optional(2 + at) else { continue };
        expect_row(node, x, operand, name)?;
        places[at] = Some(operands.len());
        operands.push(operand);
    }
    let [gamma, beta, bias] = match centred {
        true => places,
        false => [places[0], None, places[1]],
    };
    let gamma = gamma.ok_or_else(|| node.invalid("lacks its input 2, \"gamma\""))?;
    let element = x.element();
    let statistic = [&x.dims()[..x.rank() - 1], &[1]].concat();
    let statistic = node.ty(ElementType::F32, statistic)?;
    let mut results = vec![x.ty.clone(), statistic.clone(), statistic.clone(), x.ty.clone()];
    results.truncate(node.outputs());
    let count = results.len();
    node.ty(computed(element), x.dims().to_vec())?;
    let operands = operands.into_iter().cloned().collect();
    Ok(Plan::new(operands, results, move |b, args| {
        let mut parts = vec![&args[0], &args[1]];
        parts.extend(bias.map(|at| &args[at]));
        let sum = b.map(computed(element), args[0].dims(), &parts, |calc, parts| {
            parts[1..].iter().fold(parts[0], |sum, &part| calc.add(sum, part))
        });
        let mut affine = vec![&args[gamma]];
        affine.extend(beta.map(|at| &args[at]));
        let y = norm_rows(b, &sum, epsilon, centred, &affine);
        let mut results = vec![b.cast(&y, element)];
        if count > 1 {
            let none = b.fill(ElementType::F32, statistic.dims(), Scalar::Int(0));
            results.extend([none.clone(), none, b.cast(&sum, element)]);
            results.truncate(count);
        }
        results
    }))
}
