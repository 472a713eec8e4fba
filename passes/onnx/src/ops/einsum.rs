//! Einsum: a product of all operands, summed over the axes that the result does not name.

use weft_dialects::ir::Linear;
use weft_dialects::ir::payload::Axis;

use super::linear::zeros;
use super::{Operator, op};
use crate::error::Result;
use crate::node::{Node, Plan};
use crate::types::ElementType;

pub const OPERATORS: &[Operator] = &[op("Einsum", 12, 1, &["equation"], einsum).variadic()];

/// An axis: a letter, or the dimension of `...` counted from its last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    Ellipsis(usize),
    Letter(char),
}

/// The labels of a term of which `rank` dimensions are known; `None` if it cannot be read.
fn labels(term: &str, rank: usize) -> Option<Vec<Label>> {
    let letters = |part: &str| {
        let letter = |c: char| c.is_ascii_alphabetic().then_some(Label::Letter(c));
        part.chars().map(letter).collect::<Option<Vec<_>>>()
    };
    let Some((before, after)) = term.split_once("...") else {
        return letters(term).filter(|labels| labels.len() == rank);
    };
    let (before, after) = (letters(before)?, letters(after)?);
    let open = rank.checked_sub(before.len() + after.len())?;
    let open = (0..open).rev().map(Label::Ellipsis);
    Some(before.into_iter().chain(open).chain(after).collect())
}

/// The axes that are summed over, and the order of the others.
struct Reading {
    operands: Vec<Vec<Label>>,
    result: Vec<Label>,
}

fn read(node: &Node<'_>, ranks: &[usize]) -> Result<Reading> {
    let equation: String =
        node.string("equation", "")?.chars().filter(|c| !c.is_whitespace()).collect();
    let wrong = || {
        let ranks: Vec<_> = ranks.iter().map(ToString::to_string).collect();
        node.report(format!("has equation {equation:?}"))
            .note(format!("its operands have {} dimensions", ranks.join(" and ")))
            .help("terms such as \"bij,bjk->bik\": a letter for each dimension, \"...\" for others")
            .invalid()
    };
    let (left, right) = match equation.split_once("->") {
        Some((left, right)) => (left, Some(right)),
        None => (&equation[..], None),
    };
    let terms: Vec<_> = left.split(',').collect();
    if terms.len() != ranks.len() {
        return Err(wrong());
    }
    let operands: Option<Vec<_>> =
        terms.iter().zip(ranks).map(|(term, &rank)| labels(term, rank)).collect();
    let operands = operands.ok_or_else(wrong)?;
    let mut all: Vec<_> = operands.iter().flatten().copied().collect();
    all.sort_unstable();
    let open = all.iter().filter_map(|label| match label {
        Label::Ellipsis(at) => Some(at + 1),
        Label::Letter(_) => None,
    });
    let open = open.max().unwrap_or(0);
    let result = if let Some(right) = right {
        let dots = if right.contains("...") { open } else { 0 };
        let rank = right.replace("...", "").chars().count() + dots;
        labels(right, rank).ok_or_else(wrong)?
    } else {
        // Without a right side: what is open, then letters that stand once, by the alphabet.
        let once = |label: &&Label| all.iter().filter(|other| other == label).count() == 1;
        let letters = all.iter().filter(|label| matches!(label, Label::Letter(_))).filter(once);
        (0..open).rev().map(Label::Ellipsis).chain(letters.copied()).collect()
    };
    let known = |label: &Label| all.contains(label);
    let twice = (1..result.len()).any(|at| result[..at].contains(&result[at]));
    if twice || !result.iter().all(known) {
        return Err(wrong());
    }
    Ok(Reading { operands, result })
}

fn einsum(node: &Node<'_>) -> Result<Plan> {
    let operands = node.variadic()?;
    let element = operands[0].element();
    node.expect_element(operands[0], "Inputs", ElementType::NUMBERS)?;
    let ranks: Vec<_> = operands.iter().map(|operand| operand.rank()).collect();
    let reading = read(node, &ranks)?;
    // The axes of the nest: those of the result, then those that are summed over.
    let mut axes = reading.result.clone();
    for label in reading.operands.iter().flatten() {
        if !axes.contains(label) {
            axes.push(*label);
        }
    }
    let mut extents = vec![1; axes.len()];
    for (operand, labels) in operands.iter().zip(&reading.operands) {
        node.expect_same_element(operands[0], operand)?;
        for (&dim, label) in operand.dims().iter().zip(labels) {
            let axis = axes.iter().position(|axis| axis == label).expect("every label is an axis");
            if extents[axis] != dim && extents[axis] != 1 && dim != 1 {
                return Err(node
                    .report(format!("has an axis of both {} and {dim} elements", extents[axis]))
                    .help("equal extents for one letter, or 1")
                    .invalid());
            }
            if dim != 1 {
                extents[axis] = dim;
            }
        }
    }
    let kept = reading.result.len();
    let result = node.ty(element, extents[..kept].to_vec())?;
    let operands = operands.into_iter().cloned().collect();
    Ok(Plan::new(operands, vec![result.clone()], move |b, args| {
        let count = axes.len();
        let place = |label: &Label, dim: i64| {
            let axis = axes.iter().position(|axis| axis == label).expect("every label is an axis");
            match dim {
                1 if extents[axis] != 1 => Linear::constant(count, 0),
                _ => Linear::axis(count, axis),
            }
        };
        let inputs: Vec<_> = args
            .iter()
            .zip(&reading.operands)
            .map(|(arg, labels)| {
                let dims = labels.iter().zip(arg.dims());
                (arg, dims.map(|(label, &dim)| place(label, dim)).collect())
            })
            .collect();
        let mut kinds = vec![Axis::Parallel; kept];
        kinds.resize(count, Axis::Reduction);
        let start = zeros(b, element, result.dims());
        let target = (0..kept).map(|axis| Linear::axis(count, axis)).collect();
        let sums = b.nest(&kinds, &extents, &inputs, &[(&start, target)], |calc, given| {
            let (so_far, factors) = given.split_last().expect("a nest has an output");
            let product = factors.iter().copied().reduce(|product, x| calc.mul(product, x));
            vec![calc.add(*so_far, product.expect("there is an operand"))]
        });
        vec![b.cast(&sums[0], element)]
    }))
}
