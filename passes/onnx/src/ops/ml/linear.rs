//! Linear models: scores that are products with coefficients, and what is made of scores.

use weft_dialects::ir::Linear;

use super::{FEATURES, ml, table};
use crate::elements::{Elements, Scalar};
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::ops::Operator;
use crate::ops::linear::accumulate;
use crate::ops::reduce::arg_along;
use crate::ops::softmax::{Nothing, shares};
use crate::ops::unary::sigmoid;
use crate::payload::{Build, Tensor};
use crate::types::ElementType;

pub const OPERATORS: &[Operator] = &[
    ml("LinearClassifier", 1, 1, CLASSIFIER, classifier).up_to(2),
    ml("LinearRegressor", 1, 1, REGRESSOR, regressor),
];

const CLASSIFIER: &[&str] = &[
    "classlabels_ints",
    "classlabels_strings",
    "coefficients",
    "intercepts",
    "multi_class",
    "post_transform",
];
const REGRESSOR: &[&str] = &["coefficients", "intercepts", "post_transform", "targets"];

/// What is made of the scores of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// Nothing.
    None,
    /// Their softmax.
    Softmax,
    /// A sigmoid of each.
    Logistic,
}

impl Finish {
    /// As an attribute names it.
    pub fn of(node: &Node<'_>) -> Result<Self> {
        match node.string("post_transform", "NONE")? {
            "NONE" => Ok(Self::None),
            "SOFTMAX" => Ok(Self::Softmax),
            "LOGISTIC" => Ok(Self::Logistic),
            other => Err(Self::refused(node, other)),
        }
    }

    /// The error that another is asked for.
    pub fn refused(node: &Node<'_>, other: &str) -> crate::ImportError {
        let report = node.report(format!("has post_transform {other:?}"));
        report.help("NONE, SOFTMAX or LOGISTIC").unsupported()
    }

    /// The scores `[batch, scores]` after it.
    pub fn apply<'c>(self, b: &mut Build<'_, 'c>, scores: &Tensor<'c>) -> Tensor<'c> {
        match self {
            Self::None => scores.clone(),
            Self::Softmax => shares(b, scores, 1, scores.element(), Nothing::Nan),
            Self::Logistic => {
                b.map(scores.element(), scores.dims(), &[scores], |calc, x| sigmoid(calc, x[0]))
            }
        }
    }
}

/// The operand of `[batch, features]`, and a row of coefficients for each score.
fn operands<'n>(node: &'n Node<'_>, scores: Option<i64>) -> Result<(&'n Operand, i64)> {
    let x = node.typed(0, "X", FEATURES)?;
    let coefficients = node.floats("coefficients")?.len() as i64;
    let features = x.dims().last().copied().unwrap_or(0);
    let scores = scores.unwrap_or(coefficients / features.max(1));
    let intercepts = node.floats("intercepts")?.len() as i64;
    let fits = x.rank() == 2 && scores > 0 && coefficients == scores * features;
    if !fits || (intercepts != 0 && intercepts != scores) {
        return Err(node
            .report(format!("has {coefficients} coefficients for {}", x.ty))
            .note(format!("and {intercepts} intercepts"))
            .help(format!("{features} for each of {scores} scores, and an intercept or none"))
            .invalid());
    }
    Ok((x, scores))
}

/// Scores `[batch, scores]` from features, of which the tables behind them are the coefficients and
/// the intercepts.
fn scores<'c>(b: &mut Build<'_, 'c>, args: &[Tensor<'c>], count: i64) -> Tensor<'c> {
    let x = b.cast(&args[0], ElementType::F32);
    let (batch, features) = (x.dims()[0], x.dims()[1]);
    let rows = b.reshape(&args[1], &[count, features]);
    let start = b.map_at(
        ElementType::F32,
        &[batch, count],
        &[(&args[2], vec![Linear::axis(2, 1)])],
        |_, x| x[0],
    );
    let at = |first, second| vec![Linear::axis(3, first), Linear::axis(3, second)];
    accumulate(b, &start, &[features], (&x, at(0, 2)), (&rows, at(1, 2)))
}

/// The tables of [`scores`].
fn tables(node: &Node<'_>, count: i64) -> Result<Vec<Elements>> {
    let intercepts = node.floats("intercepts")?;
    let none = vec![0.0; count as usize];
    let intercepts = if intercepts.is_empty() { &none } else { intercepts };
    Ok(vec![table(node.floats("coefficients")?), table(intercepts)])
}

fn regressor(node: &Node<'_>) -> Result<Plan> {
    let (x, count) = operands(node, Some(node.int("targets")?.unwrap_or(1)))?;
    let finish = Finish::of(node)?;
    let result = node.ty(ElementType::F32, vec![x.dims()[0], count])?;
    Ok(Plan::new(vec![x.clone()], vec![result], move |b, args| {
        let scores = scores(b, args, count);
        vec![finish.apply(b, &scores)]
    })
    .with(tables(node, count)?))
}

/// Labels that are integers, as a table.
pub fn labels(node: &Node<'_>, name: &str, texts: &str) -> Result<Vec<i64>> {
    if !node.strings(texts)?.is_empty() {
        return Err(node.report("has labels that are texts").help(name.to_owned()).unsupported());
    }
    let labels = node.ints(name)?.unwrap_or_default();
    if labels.len() < 2 {
        let report = node.report(format!("has {} labels", labels.len()));
        return Err(report.help("two or more integers").unsupported());
    }
    Ok(labels.to_vec())
}

/// The label of the greatest score of each row.
pub fn label<'c>(b: &mut Build<'_, 'c>, scores: &Tensor<'c>, labels: &Tensor<'c>) -> Tensor<'c> {
    let batch = scores.dims()[0];
    let best = arg_along(b, scores, 1, true, false);
    let best = b.reshape(&best, &[batch]);
    named(b, &best, labels)
}

/// The labels of classes, by their numbers.
pub fn named<'c>(b: &mut Build<'_, 'c>, best: &Tensor<'c>, labels: &Tensor<'c>) -> Tensor<'c> {
    let inputs = [(best, vec![Linear::axis(1, 0)])];
    b.move_at(ElementType::I64, best.dims(), &inputs, |calc, best| {
        let place = calc.coordinate(best[0]);
        calc.extract(labels, &[place])
    })
}

fn classifier(node: &Node<'_>) -> Result<Plan> {
    let (x, count) = operands(node, None)?;
    let labels = labels(node, "classlabels_ints", "classlabels_strings")?;
    let finish = Finish::of(node)?;
    let classes = labels.len() as i64;
    // One score of two classes is that of the second; the first has the opposite.
    let mirrored = count == 1 && classes == 2;
    if !mirrored && count != classes {
        return Err(node
            .report(format!("has {classes} labels for {count} scores"))
            .help("one for each, or two for one")
            .invalid());
    }
    if mirrored && finish != Finish::Logistic {
        return Err(node
            .report(format!("has one score for two classes, and post_transform {finish:?}"))
            .note("the standard does not say what the score of the first class is")
            .help("LOGISTIC, or a score for each class")
            .unsupported());
    }
    let batch = x.dims()[0];
    let mut results = vec![
        node.ty(ElementType::I64, vec![batch])?,
        node.ty(ElementType::F32, vec![batch, classes])?,
    ];
    results.truncate(node.outputs());
    let outputs = results.len();
    let mut all = tables(node, count)?;
    let ty = crate::TensorType::temporary(ElementType::I64, &[classes]);
    all.push(Elements::from_scalars(ty, labels.iter().map(|&label| Scalar::Int(label.into()))));
    Ok(Plan::new(vec![x.clone()], results, move |b, args| {
        let mut own = scores(b, args, count);
        if mirrored {
            let inputs = [(&own, vec![Linear::axis(2, 0), Linear::constant(2, 0)])];
            own = b.map_at(ElementType::F32, &[batch, 2], &inputs, |calc, x| {
                let (class, zero) = (calc.index(1), calc.at(0));
                let (first, minus) = (calc.eq(class, zero), calc.neg(x[0]));
                calc.select(first, minus, x[0])
            });
        }
        let own = finish.apply(b, &own);
        let label = label(b, &own, &args[3]);
        [label, own][..outputs].to_vec()
    })
    .with(all))
}
