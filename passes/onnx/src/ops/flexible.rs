//! The parts of an attention between which a model may put graphs of its own.

use weft_dialects::ir::Linear;

use super::linear::{accumulate, zeros};
use super::softmax;
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::computed;
use crate::types::ElementType;

/// The operands, whose heads of Q share those of K and V, and their group.
fn operands<'n>(node: &'n Node<'_>) -> Result<([&'n Operand; 3], i64)> {
    let q = node.typed(0, "Q", ElementType::FLOATS)?;
    let (k, v) = (node.input(1, "K")?, node.input(2, "V")?);
    node.expect_same_element(q, k)?;
    node.expect_same_element(q, v)?;
    let fits = match (q.dims(), k.dims(), v.dims()) {
        (&[batch, heads, _, width], &[own, shared, keys, wide], &[other, same, values, _]) => {
            let batches = own == batch && other == batch && shared == same && shared > 0;
            batches && heads % shared == 0 && width == wide && keys == values && width > 0
        }
        _ => false,
    };
    if !fits {
        return Err(node
            .report(format!("attends {}, {} and {}", q.ty, k.ty, v.ty))
            .help("batch, heads, positions and width each; as many keys as values, and heads of Q a multiple of theirs")
            .invalid());
    }
    Ok(([q, k, v], q.dims()[1] / k.dims()[1]))
}

/// The scaled products of Q and K, `[batch, heads, tokens, keys]`.
pub fn product(node: &Node<'_>, precision: ElementType) -> Result<Plan> {
    if !ElementType::FLOATS.contains(&precision) {
        let report = node.report(format!("has a softmax of {precision}"));
        return Err(report.help("a float of 16 bits or more").invalid());
    }
    let ([q, k, _], group) = operands(node)?;
    let scale = node.float("scale", 0.0)?;
    let width = q.dims()[3];
    // Without an attribute by the width; one that is zero counts.
    let given = node.has("scale");
    let scale = if given { scale } else { (width as f64).powf(-0.5) };
    let (batch, shared, tokens, keys) = (q.dims()[0], k.dims()[1], q.dims()[2], k.dims()[2]);
    let result = node.ty(precision, vec![batch, shared * group, tokens, keys])?;
    let element = q.element();
    node.ty(computed(element), result.dims().to_vec())?;
    Ok(Plan::new(vec![q.clone(), k.clone()], vec![result.clone()], move |b, args| {
        let q = b.reshape(&args[0], &[batch, shared, group, tokens, width]);
        let axes = |order: &[usize]| order.iter().map(|&at| Linear::axis(6, at)).collect();
        let start = zeros(b, element, &[batch, shared, group, tokens, keys]);
        let left = (&q, axes(&[0, 1, 2, 3, 5]));
        let sum = accumulate(b, &start, &[width], left, (&args[1], axes(&[0, 1, 4, 5])));
        let sum = b.reshape(&sum, result.dims());
        vec![b.map(precision, result.dims(), &[&sum], |calc, x| {
            let scale = calc.like(x[0], scale);
            let scaled = calc.mul(x[0], scale);
            calc.cast(scaled, computed(precision))
        })]
    }))
}

/// The softmax of scores over their keys.
pub fn shares(scores: &Operand) -> Plan {
    softmax::softmax_along(scores, 3, false)
}

/// The values, weighed by shares `[batch, heads, tokens, keys]`.
pub fn weighed(node: &Node<'_>, shares: &Operand) -> Result<Plan> {
    let ([q, k, v], group) = operands(node)?;
    let (batch, shared, tokens, keys) = (q.dims()[0], k.dims()[1], q.dims()[2], k.dims()[2]);
    let (width, element) = (v.dims()[3], v.element());
    let result = node.ty(element, vec![batch, shared * group, tokens, width])?;
    let number = computed(shares.element());
    Ok(Plan::new(vec![shares.clone(), v.clone()], vec![result.clone()], move |b, args| {
        let all = b.reshape(&args[0], &[batch, shared, group, tokens, keys]);
        let axes = |order: &[usize]| order.iter().map(|&at| Linear::axis(6, at)).collect();
        let start = zeros(b, number, &[batch, shared, group, tokens, width]);
        let values = match computed(element) == number {
            true => args[1].clone(),
            false => b.map(number, args[1].dims(), &[&args[1]], |calc, x| calc.cast(x[0], number)),
        };
        let left = (&all, axes(&[0, 1, 2, 3, 5]));
        let sum = accumulate(b, &start, &[keys], left, (&values, axes(&[0, 1, 5, 4])));
        let sum = b.reshape(&sum, result.dims());
        vec![b.map(element, result.dims(), &[&sum], |calc, x| calc.cast(x[0], computed(element)))]
    }))
}
