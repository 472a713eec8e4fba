//! Operators on one tensor, element by element.

use super::elementwise::{elementwise, fold_each};
use super::{Operator, op};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Plan};
use crate::payload::{Calc, Num};
use crate::types::ElementType;

pub const OPERATORS: &[Operator] = &[
    op("Abs", 1, 1, &[], abs),
    op("Acos", 7, 1, &[], |node| math(node, "acos")),
    op("Acosh", 9, 1, &[], |node| math(node, "acosh")),
    op("Asin", 7, 1, &[], |node| math(node, "asin")),
    op("Asinh", 9, 1, &[], |node| math(node, "asinh")),
    op("Atan", 7, 1, &[], |node| math(node, "atan")),
    op("Atanh", 9, 1, &[], |node| math(node, "atanh")),
    op("BitwiseNot", 18, 1, &[], bitwise_not),
    op("Ceil", 1, 1, &[], |node| rounded(node, "ceil", f64::ceil)),
    op("Celu", 12, 1, &["alpha"], celu),
    op("Cos", 7, 1, &[], |node| math(node, "cos")),
    op("Cosh", 9, 1, &[], |node| math(node, "cosh")),
    op("Elu", 1, 1, &["alpha"], elu),
    op("Erf", 9, 1, &[], |node| math(node, "erf")),
    op("Exp", 1, 1, &[], |node| math(node, "exp")),
    op("Floor", 1, 1, &[], |node| rounded(node, "floor", f64::floor)),
    op("Gelu", 20, 1, &["approximate"], gelu),
    op("HardSigmoid", 1, 1, &["alpha", "beta"], hard_sigmoid),
    op("HardSwish", 14, 1, &[], hard_swish),
    op("IsInf", 10, 1, &["detect_negative", "detect_positive"], is_inf),
    op("IsNaN", 9, 1, &[], |node| test(node, |calc, x| calc.is_nan(x))),
    op("LeakyRelu", 1, 1, &["alpha"], leaky_relu),
    op("Log", 1, 1, &[], |node| math(node, "log")),
    op("Mish", 18, 1, &[], mish),
    op("Neg", 1, 1, &[], neg),
    op("Not", 1, 1, &[], not),
    op("Reciprocal", 1, 1, &[], |node| float(node, inverse)),
    op("Relu", 1, 1, &[], relu),
    op("Round", 11, 1, &[], |node| rounded(node, "roundeven", f64::round_ties_even)),
    op("Selu", 6, 1, &["alpha", "gamma"], selu),
    op("Shrink", 9, 1, &["bias", "lambd"], shrink),
    op("Sigmoid", 1, 1, &[], |node| float(node, sigmoid)),
    op("Sign", 9, 1, &[], sign),
    op("Sin", 7, 1, &[], |node| math(node, "sin")),
    op("Sinh", 9, 1, &[], |node| math(node, "sinh")),
    op("Softplus", 1, 1, &[], |node| float(node, softplus)),
    op("Softsign", 1, 1, &[], softsign),
    op("Sqrt", 1, 1, &[], sqrt),
    op("Swish", 24, 1, &["alpha"], |node| {
        let alpha = node.float("alpha", 1.0)?;
        float(node, move |calc, x| swish(calc, x, alpha))
    }),
    op("Tan", 7, 1, &[], |node| math(node, "tan")),
    op("Tanh", 1, 1, &[], |node| math(node, "tanh")),
    op("ThresholdedRelu", 10, 1, &["alpha"], thresholded_relu),
];

/// Plans an operator of one operand whose result has its type.
fn unary(
    node: &Node<'_>,
    accepted: &[ElementType],
    body: impl for<'c> Fn(&mut Calc<'_, 'c>, Num<'c>) -> Num<'c> + 'static,
) -> Result<Plan> {
    let x = node.typed(0, "X", accepted)?;
    elementwise(node, &[x], x.element(), move |calc, given| body(calc, given[0]))
}

fn float(
    node: &Node<'_>,
    body: impl for<'c> Fn(&mut Calc<'_, 'c>, Num<'c>) -> Num<'c> + 'static,
) -> Result<Plan> {
    unary(node, ElementType::FLOATS, body)
}

fn math(node: &Node<'_>, name: &'static str) -> Result<Plan> {
    float(node, move |calc, x| calc.math(name, x))
}

/// A test of a float.
fn test(
    node: &Node<'_>,
    body: impl for<'c> Fn(&mut Calc<'_, 'c>, Num<'c>) -> Num<'c> + 'static,
) -> Result<Plan> {
    let x = node.typed(0, "X", ElementType::FLOATS)?;
    elementwise(node, &[x], ElementType::Bool, move |calc, given| body(calc, given[0]))
}

/// Adds a fold to an operator of one operand.
fn folded(node: &Node<'_>, plan: Plan, fold: impl Fn(Scalar) -> Scalar + 'static) -> Result<Plan> {
    Ok(fold_each(plan, &[node.input(0, "X")?], move |x| fold(x[0])))
}

fn abs(node: &Node<'_>) -> Result<Plan> {
    let plan = unary(node, ElementType::NUMBERS, |calc, x| calc.abs(x))?;
    folded(node, plan, |x| match x {
        Scalar::Int(i) => Scalar::Int(i.abs()),
        Scalar::Float(x) => Scalar::Float(x.abs()),
    })
}

fn neg(node: &Node<'_>) -> Result<Plan> {
    const SIGNED: &[ElementType] = &[
        ElementType::I8,
        ElementType::I16,
        ElementType::I32,
        ElementType::I64,
        ElementType::F16,
        ElementType::BF16,
        ElementType::F32,
        ElementType::F64,
    ];
    let plan = unary(node, SIGNED, |calc, x| calc.neg(x))?;
    folded(node, plan, |x| match x {
        Scalar::Int(i) => Scalar::Int(-i),
        Scalar::Float(x) => Scalar::Float(-x),
    })
}

fn sqrt(node: &Node<'_>) -> Result<Plan> {
    folded(node, math(node, "sqrt")?, |x| Scalar::Float(x.as_f64().sqrt()))
}

fn rounded(node: &Node<'_>, name: &'static str, fold: fn(f64) -> f64) -> Result<Plan> {
    folded(node, math(node, name)?, move |x| Scalar::Float(fold(x.as_f64())))
}

fn not(node: &Node<'_>) -> Result<Plan> {
    let plan = unary(node, &[ElementType::Bool], |calc, x| calc.not(x))?;
    folded(node, plan, |x| Scalar::Int((x.as_int() == 0).into()))
}

fn bitwise_not(node: &Node<'_>) -> Result<Plan> {
    unary(node, ElementType::INTEGERS, |calc, x| calc.not(x))
}

fn sign(node: &Node<'_>) -> Result<Plan> {
    let plan = unary(node, ElementType::NUMBERS, |calc, x| {
        let (zero, one, minus) = (calc.like(x, 0.0), calc.like(x, 1.0), calc.like(x, -1.0));
        let (above, below) = (calc.gt(x, zero), calc.lt(x, zero));
        // Neither above nor below: zero, or NaN, which stays.
        let rest = calc.select(below, minus, x);
        calc.select(above, one, rest)
    })?;
    folded(node, plan, |x| match x {
        Scalar::Int(i) => Scalar::Int(i.signum()),
        Scalar::Float(x) if x > 0.0 => Scalar::Float(1.0),
        Scalar::Float(x) if x < 0.0 => Scalar::Float(-1.0),
        rest => rest,
    })
}

fn relu(node: &Node<'_>) -> Result<Plan> {
    let plan = unary(node, ElementType::NUMBERS, |calc, x| {
        let zero = calc.like(x, 0.0);
        // Not the greater of both, so that NaN stays at no cost.
        let below = calc.lt(x, zero);
        calc.select(below, zero, x)
    })?;
    folded(node, plan, |x| match x {
        Scalar::Int(i) => Scalar::Int(i.max(0)),
        Scalar::Float(x) => Scalar::Float(if x < 0.0 { 0.0 } else { x }),
    })
}

fn leaky_relu(node: &Node<'_>) -> Result<Plan> {
    let alpha = node.float("alpha", 0.01)?;
    float(node, move |calc, x| {
        let (zero, alpha) = (calc.like(x, 0.0), calc.like(x, alpha));
        let (below, scaled) = (calc.lt(x, zero), calc.mul(alpha, x));
        calc.select(below, scaled, x)
    })
}

fn thresholded_relu(node: &Node<'_>) -> Result<Plan> {
    let alpha = node.float("alpha", 1.0)?;
    float(node, move |calc, x| {
        let (zero, alpha) = (calc.like(x, 0.0), calc.like(x, alpha));
        let above = calc.gt(x, alpha);
        calc.select(above, x, zero)
    })
}

/// `scale · (exp(x / stretch) - 1)` below zero, `slope · x` elsewhere.
fn exponential(node: &Node<'_>, scale: f64, stretch: f64, slope: f64) -> Result<Plan> {
    float(node, move |calc, x| {
        let (zero, one) = (calc.like(x, 0.0), calc.like(x, 1.0));
        let narrow = scaled(calc, x, 1.0 / stretch);
        let exp = calc.math("exp", narrow);
        let less = calc.sub(exp, one);
        let (low, high) = (scaled(calc, less, scale), scaled(calc, x, slope));
        let below = calc.lt(x, zero);
        calc.select(below, low, high)
    })
}

fn scaled<'c>(calc: &mut Calc<'_, 'c>, x: Num<'c>, factor: f64) -> Num<'c> {
    if factor == 1.0 {
        return x;
    }
    let factor = calc.like(x, factor);
    calc.mul(x, factor)
}

fn elu(node: &Node<'_>) -> Result<Plan> {
    exponential(node, node.float("alpha", 1.0)?, 1.0, 1.0)
}

fn celu(node: &Node<'_>) -> Result<Plan> {
    let alpha = node.float("alpha", 1.0)?;
    if alpha == 0.0 {
        return Err(node.invalid("has alpha 0, by which it divides"));
    }
    exponential(node, alpha, alpha, 1.0)
}

fn selu(node: &Node<'_>) -> Result<Plan> {
    let alpha = node.float("alpha", 1.673_263_2)?;
    let gamma = node.float("gamma", 1.050_701)?;
    exponential(node, gamma * alpha, 1.0, gamma)
}

/// `1 / x`.
pub fn inverse<'c>(calc: &mut Calc<'_, 'c>, x: Num<'c>) -> Num<'c> {
    let one = calc.like(x, 1.0);
    calc.div(one, x)
}

/// `1 / (1 + exp(-x))`.
pub fn sigmoid<'c>(calc: &mut Calc<'_, 'c>, x: Num<'c>) -> Num<'c> {
    let (one, minus) = (calc.like(x, 1.0), calc.neg(x));
    let exp = calc.math("exp", minus);
    let sum = calc.add(one, exp);
    calc.div(one, sum)
}

/// `log(1 + exp(x))`, written so that nothing overflows.
fn softplus<'c>(calc: &mut Calc<'_, 'c>, x: Num<'c>) -> Num<'c> {
    let (zero, size) = (calc.like(x, 0.0), calc.abs(x));
    let minus = calc.neg(size);
    let exp = calc.math("exp", minus);
    let log = calc.math("log1p", exp);
    let above = calc.max(x, zero);
    calc.add(above, log)
}

fn softsign(node: &Node<'_>) -> Result<Plan> {
    float(node, |calc, x| {
        let (one, size) = (calc.like(x, 1.0), calc.abs(x));
        let sum = calc.add(one, size);
        calc.div(x, sum)
    })
}

fn mish(node: &Node<'_>) -> Result<Plan> {
    float(node, |calc, x| {
        let soft = softplus(calc, x);
        let tanh = calc.math("tanh", soft);
        calc.mul(x, tanh)
    })
}

/// `x · sigmoid(alpha · x)`.
pub fn swish<'c>(calc: &mut Calc<'_, 'c>, x: Num<'c>, alpha: f64) -> Num<'c> {
    let inner = scaled(calc, x, alpha);
    let gate = sigmoid(calc, inner);
    calc.mul(x, gate)
}

/// `min(max(alpha · x + beta, 0), 1)`.
pub fn ramp<'c>(calc: &mut Calc<'_, 'c>, x: Num<'c>, alpha: f64, beta: f64) -> Num<'c> {
    let (alpha, beta) = (calc.like(x, alpha), calc.like(x, beta));
    let (zero, one) = (calc.like(x, 0.0), calc.like(x, 1.0));
    let scaled = calc.mul(x, alpha);
    let line = calc.add(scaled, beta);
    let below = calc.lt(line, zero);
    let line = calc.select(below, zero, line);
    let above = calc.gt(line, one);
    calc.select(above, one, line)
}

fn hard_sigmoid(node: &Node<'_>) -> Result<Plan> {
    let (alpha, beta) = (node.float("alpha", 0.2)?, node.float("beta", 0.5)?);
    float(node, move |calc, x| ramp(calc, x, alpha, beta))
}

fn hard_swish(node: &Node<'_>) -> Result<Plan> {
    float(node, |calc, x| {
        let gate = ramp(calc, x, 1.0 / 6.0, 0.5);
        calc.mul(x, gate)
    })
}

/// `x / 2 · (1 + erf(x / sqrt(2)))`.
pub fn gelu_by_erf<'c>(calc: &mut Calc<'_, 'c>, x: Num<'c>) -> Num<'c> {
    let inner = scaled(calc, x, std::f64::consts::FRAC_1_SQRT_2);
    let curve = calc.math("erf", inner);
    half_of(calc, x, curve)
}

/// `x / 2 · (1 + tanh(sqrt(2 / pi) · (x + 0.044715 · x³)))`.
pub fn gelu_by_tanh<'c>(calc: &mut Calc<'_, 'c>, x: Num<'c>) -> Num<'c> {
    let square = calc.mul(x, x);
    let (c, one) = (calc.like(x, 0.044_715), calc.like(x, 1.0));
    let cubic = calc.mul(square, c);
    let factor = calc.add(cubic, one);
    let stretched = calc.mul(x, factor);
    let inner = scaled(calc, stretched, (2.0 / std::f64::consts::PI).sqrt());
    let curve = calc.math("tanh", inner);
    half_of(calc, x, curve)
}

fn gelu(node: &Node<'_>) -> Result<Plan> {
    match node.string("approximate", "none")? {
        "none" => float(node, gelu_by_erf),
        "tanh" => float(node, gelu_by_tanh),
        other => Err(node
            .report(format!("has approximate {other:?}"))
            .help("\"none\" or \"tanh\"")
            .invalid()),
    }
}

/// `x / 2 · (1 + curve)`.
fn half_of<'c>(calc: &mut Calc<'_, 'c>, x: Num<'c>, curve: Num<'c>) -> Num<'c> {
    let one = calc.like(x, 1.0);
    let (sum, half) = (calc.add(one, curve), scaled(calc, x, 0.5));
    calc.mul(half, sum)
}

fn shrink(node: &Node<'_>) -> Result<Plan> {
    let (bias, lambd) = (node.float("bias", 0.0)?, node.float("lambd", 0.5)?);
    float(node, move |calc, x| {
        let (zero, bias) = (calc.like(x, 0.0), calc.like(x, bias));
        let (low, high) = (calc.like(x, -lambd), calc.like(x, lambd));
        let (below, above) = (calc.lt(x, low), calc.gt(x, high));
        let (up, down) = (calc.add(x, bias), calc.sub(x, bias));
        let rest = calc.select(above, down, zero);
        calc.select(below, up, rest)
    })
}

fn is_inf(node: &Node<'_>) -> Result<Plan> {
    let negative = node.flag("detect_negative", true)?;
    let positive = node.flag("detect_positive", true)?;
    test(node, move |calc, x| {
        let (low, high) = (calc.like(x, f64::NEG_INFINITY), calc.like(x, f64::INFINITY));
        match (negative, positive) {
            (true, true) => {
                let size = calc.abs(x);
                calc.eq(size, high)
            }
            (true, false) => calc.eq(x, low),
            (false, true) => calc.eq(x, high),
            (false, false) => calc.literal(ElementType::Bool, Scalar::Int(0)),
        }
    })
}
