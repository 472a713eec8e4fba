//! Operators with others behind them in one node, and those of images whose channels come last, as
//! ONNX Runtime's optimiser writes them.

use weft_dialects::ir::Linear;

use super::super::conv::conv;
use super::super::linear::gemm;
use super::super::normalize::{inverse_deviation, mean, normalized, variance};
use super::super::unary::{ramp, sigmoid, swish};
use super::super::{Operator, microsoft};
use super::skip_norm::expect_row;
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Build, Calc, Num, Tensor, computed};
use crate::types::ElementType;

pub const OPERATORS: &[Operator] = &[
    microsoft("BiasAdd", 3, &[], bias_add),
    microsoft("FusedConv", 4, CONV, fused_conv).at_least(2),
    microsoft("FusedGemm", 3, GEMM, fused_gemm).at_least(2),
    microsoft("GroupNorm", 3, GROUP_NORM, group_norm),
    microsoft("NhwcConv", 3, CONV, nhwc_conv).at_least(2),
];

const CONV: &[&str] = &[
    "activation",
    "activation_params",
    "auto_pad",
    "dilations",
    "group",
    "kernel_shape",
    "pads",
    "strides",
];

const GEMM: &[&str] = &[
    "activation",
    "activation_alpha",
    "activation_beta",
    "activation_gamma",
    "alpha",
    "beta",
    "transA",
    "transB",
];

const GROUP_NORM: &[&str] = &["activation", "channels_last", "epsilon", "groups"];

/// A function behind a product, with its numbers.
#[derive(Clone, Copy)]
enum Activation {
    Identity,
    Relu,
    Sigmoid,
    Tanh,
    LeakyRelu(f64),
    HardSigmoid(f64, f64),
    Clip(f64, f64),
}

impl Activation {
    /// The function that an attribute names.
    fn of(node: &Node<'_>, numbers: &[f64]) -> Result<Self> {
        let number = |at: usize, none: f64| numbers.get(at).copied().unwrap_or(none);
        Ok(match node.string("activation", "")? {
            "" => Self::Identity,
            "Relu" => Self::Relu,
            "Sigmoid" => Self::Sigmoid,
            "Tanh" => Self::Tanh,
            "LeakyRelu" => Self::LeakyRelu(number(0, 0.01)),
            "HardSigmoid" => Self::HardSigmoid(number(0, 0.2), number(1, 0.5)),
            "Clip" => Self::Clip(number(0, f64::NEG_INFINITY), number(1, f64::INFINITY)),
            other => {
                let report = node.report(format!("has activation {other:?}"));
                let help = "Clip, HardSigmoid, LeakyRelu, Relu, Sigmoid or Tanh";
                return Err(report.help(help).unsupported());
            }
        })
    }

    fn apply<'c>(self, calc: &mut Calc<'_, 'c>, x: Num<'c>) -> Num<'c> {
        let zero = calc.like(x, 0.0);
        match self {
            Self::Identity => x,
            Self::Relu => {
                let below = calc.lt(x, zero);
                calc.select(below, zero, x)
            }
            Self::Sigmoid => sigmoid(calc, x),
            Self::Tanh => calc.math("tanh", x),
            Self::LeakyRelu(alpha) => {
                let alpha = calc.like(x, alpha);
                let (below, scaled) = (calc.lt(x, zero), calc.mul(x, alpha));
                calc.select(below, scaled, x)
            }
            Self::HardSigmoid(alpha, beta) => ramp(calc, x, alpha, beta),
            Self::Clip(low, high) => {
                let (low, high) = (calc.like(x, low), calc.like(x, high));
                let x = calc.max(x, low);
                calc.min(x, high)
            }
        }
    }
}

/// A plan with a summand and a function behind it.
fn finished(plan: Plan, summand: Option<&Operand>, activation: Activation) -> Plan {
    let Plan { mut operands, results, payload, .. } = plan;
    let own = operands.len();
    operands.extend(summand.cloned());
    Plan::new(operands, results, move |b, args| {
        let made = payload(b, &args[..own]);
        let all: Vec<_> = made.iter().chain(&args[own..]).collect();
        vec![b.map(made[0].element(), made[0].dims(), &all, |calc, x| {
            let sum = x[1..].iter().fold(x[0], |sum, &more| calc.add(sum, more));
            activation.apply(calc, sum)
        })]
    })
}

fn fused_conv(node: &Node<'_>) -> Result<Plan> {
    let numbers: Vec<_> = node.floats("activation_params")?.iter().map(|&x| x.into()).collect();
    let activation = Activation::of(node, &numbers)?;
    let plan = conv(node)?;
    let summand = node.optional(3);
    if let Some(summand) = summand
        && summand.ty != plan.results[0]
    {
        let report = node.report(format!("adds {} to a convolution", summand.ty));
        return Err(report.help(plan.results[0].to_string()).invalid());
    }
    Ok(finished(plan, summand, activation))
}

fn fused_gemm(node: &Node<'_>) -> Result<Plan> {
    let none = [("activation_alpha", f32::NAN), ("activation_beta", f32::NAN)];
    let numbers = none.map(|(name, none)| node.float(name, none));
    let [alpha, beta] = numbers;
    let given: Vec<_> = [alpha?, beta?].into_iter().take_while(|x| !x.is_nan()).collect();
    let activation = Activation::of(node, &given)?;
    Ok(finished(gemm(node)?, None, activation))
}

/// `X + bias + skip`.
fn bias_add(node: &Node<'_>) -> Result<Plan> {
    let x = node.typed(0, "X", ElementType::FLOATS)?;
    let (bias, skip) = (node.input(1, "bias")?, node.input(2, "skip")?);
    expect_row(node, x, bias, "bias")?;
    if skip.ty != x.ty {
        let report = node.report(format!("adds {} and {}", x.ty, skip.ty));
        return Err(report.help("two tensors of one type").invalid());
    }
    let operands = vec![x.clone(), bias.clone(), skip.clone()];
    Ok(Plan::new(operands, vec![x.ty.clone()], |b, args| {
        let all: Vec<_> = args.iter().collect();
        vec![b.map(args[0].element(), args[0].dims(), &all, |calc, x| {
            let sum = calc.add(x[0], x[1]);
            calc.add(sum, x[2])
        })]
    }))
}

/// Extents with the last one behind the first.
fn channels_first(dims: &[i64]) -> Vec<i64> {
    let mut dims = dims.to_vec();
    dims[1..].rotate_right(1);
    dims
}

/// A tensor with its last axis behind the first, or back again.
fn turned<'c>(b: &mut Build<'_, 'c>, x: &Tensor<'c>, first: bool) -> Tensor<'c> {
    let rank = x.dims().len();
    let mut order: Vec<_> = (0..rank).collect();
    if first {
        order[1..].rotate_right(1)
    } else {
        order[1..].rotate_left(1)
    };
    let dims: Vec<_> = order.iter().map(|&axis| x.dims()[axis]).collect();
    let mut access = vec![Linear::constant(rank, 0); rank];
    for (at, &axis) in order.iter().enumerate() {
        access[axis] = Linear::axis(rank, at);
    }
    b.move_at(x.element(), &dims, &[(x, access)], |_, x| x[0])
}

/// A convolution of `[batch, extents ..., channels]` with `[filters, extents ..., channels]`.
fn nhwc_conv(node: &Node<'_>) -> Result<Plan> {
    let (x, w) = (node.typed(0, "X", ElementType::FLOATS)?, node.input(1, "W")?);
    if x.rank() < 3 || w.rank() != x.rank() {
        let report = node.report(format!("convolves {} with {}", x.ty, w.ty));
        return Err(report.help("batch, extents and channels; filters of as many").invalid());
    }
    let seen = [x, w].map(|own| {
        let ty = node.ty(own.element(), channels_first(own.dims()))?;
        Ok(Operand { ty, known: None, lengths: Vec::new(), ..own.clone() })
    });
    let [seen_x, seen_w] = seen;
    let mut inputs = vec![Some(seen_x?), Some(seen_w?)];
    inputs.extend(node.optional(2).cloned().map(Some));
    let plan = conv(&node.with_inputs(inputs))?;
    let Plan { mut operands, results, payload, .. } = plan;
    (operands[0], operands[1]) = (x.clone(), w.clone());
    let mut dims = results[0].dims().to_vec();
    dims[1..].rotate_left(1);
    let result = node.ty(x.element(), dims)?;
    Ok(Plan::new(operands, vec![result], move |b, args| {
        let mut all = args.to_vec();
        all[0] = turned(b, &args[0], true);
        all[1] = turned(b, &args[1], true);
        let made = payload(b, &all);
        vec![turned(b, &made[0], false)]
    }))
}

/// The norm of each group of channels, with a Swish behind it where that is asked for.
fn group_norm(node: &Node<'_>) -> Result<Plan> {
    let x = node.typed(0, "X", ElementType::FLOATS)?;
    let (gamma, beta) = (node.input(1, "gamma")?, node.input(2, "beta")?);
    let last = node.flag("channels_last", true)?;
    let swishes = node.flag("activation", false)?;
    let epsilon = node.float("epsilon", 1e-5)?;
    let groups = node.int("groups")?.unwrap_or(0);
    let seen = if last && x.rank() > 1 { channels_first(x.dims()) } else { x.dims().to_vec() };
    let channels = seen.get(1).copied().unwrap_or(0);
    let rows = [gamma, beta].iter().all(|own| own.dims() == [channels]);
    if x.rank() < 3 || groups < 1 || channels % groups != 0 || channels == 0 || !rows {
        return Err(node
            .report(format!("norms {groups} groups of {} by {} and {}", x.ty, gamma.ty, beta.ty))
            .help("groups that divide the channels, and a number for each channel")
            .invalid());
    }
    for (operand, name) in [(gamma, "gamma"), (beta, "beta")] {
        node.expect_element(operand, name, ElementType::FLOATS)?;
    }
    let element = x.element();
    let operands = vec![x.clone(), gamma.clone(), beta.clone()];
    Ok(Plan::new(operands, vec![x.ty.clone()], move |b, args| {
        let x = if last { turned(b, &args[0], true) } else { args[0].clone() };
        let split = [&[seen[0], groups, channels / groups], &seen[2..]].concat();
        let x = b.reshape(&x, &split);
        let axes: Vec<_> = (2..split.len()).collect();
        let center = mean(b, &x, &axes);
        let spread = variance(b, &x, &axes, Some(&center));
        let factor = inverse_deviation(b, &spread, epsilon);
        let rows = [1, 2].map(|at| {
            let row = b.reshape(&args[at], &[groups, channels / groups]);
            b.map(computed(element), &[groups, channels / groups], &[&row], |calc, x| {
                calc.cast(x[0], computed(element))
            })
        });
        let access = vec![Linear::axis(split.len(), 1), Linear::axis(split.len(), 2)];
        let affine = [(&rows[0], access.clone()), (&rows[1], access)];
        let mut y = normalized(b, &x, &axes, Some(&center), &factor, &affine);
        if swishes {
            y = b.map(element, &split, &[&y], |calc, x| swish(calc, x[0], 1.0));
        }
        let y = b.reshape(&y, &seen);
        vec![if last { turned(b, &y, false) } else { y }]
    }))
}
