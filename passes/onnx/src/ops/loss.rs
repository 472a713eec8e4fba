//! Losses: the distance of scores from the right classes.

use super::reduce::fold_axes;
use super::softmax::log_shares;
use super::{Operator, op};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Build, Calc, Num, Tensor, computed, identity};
use crate::types::{ElementType, Shape};

const ATTRIBUTES: &[&str] = &["ignore_index", "reduction"];

pub const OPERATORS: &[Operator] = &[
    op("NegativeLogLikelihoodLoss", 12, 3, ATTRIBUTES, |node| loss(node, false)).at_least(2),
    op("SoftmaxCrossEntropyLoss", 12, 3, ATTRIBUTES, |node| loss(node, true)).at_least(2).up_to(2),
];

/// The reduction of the losses of all places.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reduction {
    None,
    Sum,
    Mean,
}

fn operands<'n>(node: &'n Node<'_>) -> Result<(&'n Operand, &'n Operand, Option<&'n Operand>)> {
    let x = node.typed(0, "input", ElementType::FLOATS)?;
    let target = node.typed(1, "target", &[ElementType::I32, ElementType::I64])?;
    let fits = x.rank() >= 2
        && x.dims()[1] > 0
        && target.rank() + 1 == x.rank()
        && target.dims()[0] == x.dims()[0]
        && target.dims()[1..] == x.dims()[2..];
    if !fits {
        return Err(node
            .report(format!("compares {} with {}", x.ty, target.ty))
            .help("scores of batch, classes and any more dimensions; one class for all but classes")
            .invalid());
    }
    let weight = node.optional(2);
    if let Some(weight) = weight {
        node.expect_same_element(x, weight)?;
        if weight.dims() != &x.dims()[1..2] {
            return Err(node
                .report(format!("weighs classes by {}", weight.ty))
                .help(Shape(&x.dims()[1..2]).to_string())
                .invalid());
        }
    }
    Ok((x, target, weight))
}

fn loss(node: &Node<'_>, scores: bool) -> Result<Plan> {
    let (x, target, weight) = operands(node)?;
    let reduction = match node.string("reduction", "mean")? {
        "none" => Reduction::None,
        "sum" => Reduction::Sum,
        "mean" => Reduction::Mean,
        other => {
            return Err(node
                .report(format!("has reduction {other:?}"))
                .help("none, sum or mean")
                .invalid());
        }
    };
    let ignored = node.int("ignore_index")?;
    let element = x.element();
    let dims = if reduction == Reduction::None { target.dims().to_vec() } else { vec![] };
    let mut results = vec![node.ty(element, dims)?];
    node.ty(computed(element), x.dims().to_vec())?;
    if node.outputs() > 1 {
        results.push(x.ty.clone());
    }
    let outputs = results.len();
    let mut operands = vec![x.clone(), target.clone()];
    operands.extend(weight.cloned());
    Ok(Plan::new(operands, results, move |b, args| {
        let (target, weight) = (&args[1], args.get(2));
        let logs = match scores {
            true => log_shares(b, &args[0], 1, computed(element)),
            false => args[0].clone(),
        };
        let weights = weights(b, target, weight, element, ignored);
        let losses = losses(b, &logs, target, &weights);
        let loss = match reduction {
            Reduction::None => losses,
            Reduction::Sum => total(b, &losses),
            Reduction::Mean => {
                let (loss, weight) = (total(b, &losses), total(b, &weights));
                b.map(loss.element(), &[], &[&loss, &weight], |calc, x| calc.div(x[0], x[1]))
            }
        };
        let mut results = vec![b.cast(&loss, element)];
        if outputs > 1 {
            results.push(b.cast(&logs, element));
        }
        results
    }))
}

fn total<'c>(b: &mut Build<'_, 'c>, x: &Tensor<'c>) -> Tensor<'c> {
    let all: Vec<_> = (0..x.dims().len()).collect();
    let zero = (x.element(), Scalar::Int(0));
    fold_axes(b, x, &all, &[], zero, |calc, x, sum| calc.add(sum, x[0]))
}

/// Returns the weight of every place: that of its class, and 0 where the class is ignored.
fn weights<'c>(
    b: &mut Build<'_, 'c>,
    target: &Tensor<'c>,
    weight: Option<&Tensor<'c>>,
    element: ElementType,
    ignored: Option<i64>,
) -> Tensor<'c> {
    let (number, rank) = (computed(element), target.dims().len());
    b.map_at(number, target.dims(), &[(target, identity(rank))], |calc, given| {
        let (one, zero) =
            (calc.literal(element, Scalar::Int(1)), calc.literal(element, Scalar::Int(0)));
        let counted = match weight {
            None => one,
            Some(weight) => {
                let class = class(calc, given[0], weight.dims()[0]);
                let weight = calc.extract(weight, &[class]);
                calc.loaded(weight)
            }
        };
        match ignored {
            None => counted,
            Some(ignored) => {
                let ignored = calc.int_like(given[0], ignored.into());
                let none = calc.eq(given[0], ignored);
                calc.select(none, zero, counted)
            }
        }
    })
}

/// A class as a coordinate, kept in range: one that is ignored may be any number.
fn class<'c>(calc: &mut Calc<'_, 'c>, target: Num<'c>, classes: i64) -> Num<'c> {
    let target = calc.coordinate(target);
    let (zero, last) = (calc.at(0), calc.at(classes - 1));
    let target = calc.max(target, zero);
    calc.min(target, last)
}

/// `-weight · log` of the right class, at every place.
fn losses<'c>(
    b: &mut Build<'_, 'c>,
    logs: &Tensor<'c>,
    target: &Tensor<'c>,
    weights: &Tensor<'c>,
) -> Tensor<'c> {
    let rank = target.dims().len();
    let inputs = [(target, identity(rank)), (weights, identity(rank))];
    b.map_at(weights.element(), target.dims(), &inputs, |calc, given| {
        let mut place: Vec<_> = (0..rank).map(|axis| calc.index(axis)).collect();
        place.insert(1, class(calc, given[0], logs.dims()[1]));
        let log = calc.extract(logs, &place);
        let log = calc.loaded(log);
        let (zero, product) = (calc.like(log, 0.0), calc.mul(log, given[1]));
        calc.sub(zero, product)
    })
}
