//! Operators on two or more tensors that broadcast to each other, element by element.

use super::elementwise::{elementwise, fold_each};
use super::unary::{inverse, swish};
use super::{Operator, op};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Calc, Num, computed};
use crate::types::ElementType;

pub const OPERATORS: &[Operator] = &[
    op("Add", 7, 2, &[], |node| arithmetic(node, |calc, x, y| calc.add(x, y), add)),
    op("And", 7, 2, &[], |node| logic(node, |calc, x, y| calc.and(x, y), |x, y| x & y)),
    op("BitShift", 11, 2, &["direction"], bit_shift),
    op("BitwiseAnd", 18, 2, &[], |node| bitwise(node, |calc, x, y| calc.and(x, y))),
    op("BitwiseOr", 18, 2, &[], |node| bitwise(node, |calc, x, y| calc.or(x, y))),
    op("BitwiseXor", 18, 2, &[], |node| bitwise(node, |calc, x, y| calc.xor(x, y))),
    op("Clip", 11, 3, &[], clip).at_least(1),
    op("Div", 7, 2, &[], |node| arithmetic(node, quotient, divide)),
    op("Equal", 7, 2, &[], equal),
    op("Greater", 7, 2, &[], |node| compare(node, |calc, x, y| calc.gt(x, y), |x, y| x > y)),
    op("GreaterOrEqual", 12, 2, &[], |node| {
        compare(node, |calc, x, y| calc.ge(x, y), |x, y| x >= y)
    }),
    op("Less", 7, 2, &[], |node| compare(node, |calc, x, y| calc.lt(x, y), |x, y| x < y)),
    op("LessOrEqual", 12, 2, &[], |node| compare(node, |calc, x, y| calc.le(x, y), |x, y| x <= y)),
    op("Max", 8, 1, &[], |node| extreme(node, |calc, x, y| calc.max(x, y), false)).variadic(),
    op("Mean", 8, 1, &[], |node| sum(node, true)).variadic(),
    op("Min", 8, 1, &[], |node| extreme(node, |calc, x, y| calc.min(x, y), true)).variadic(),
    op("Mod", 10, 2, &["fmod"], modulo),
    op("Mul", 7, 2, &[], |node| arithmetic(node, |calc, x, y| calc.mul(x, y), multiply)),
    op("Or", 7, 2, &[], |node| logic(node, |calc, x, y| calc.or(x, y), |x, y| x | y)),
    op("PRelu", 7, 2, &[], p_relu),
    op("Pow", 7, 2, &[], pow),
    op("Sub", 7, 2, &[], |node| arithmetic(node, |calc, x, y| calc.sub(x, y), subtract)),
    op("SwiGLU", 28, 2, &["alpha"], gated_swish),
    op("Sum", 8, 1, &[], |node| sum(node, false)).variadic(),
    op("Where", 9, 3, &[], choose),
    op("Xor", 7, 2, &[], |node| logic(node, |calc, x, y| calc.xor(x, y), |x, y| x ^ y)),
];

/// The two operands, of one type.
fn pair<'n>(node: &'n Node<'_>, accepted: &[ElementType]) -> Result<[&'n Operand; 2]> {
    let (a, b) = (node.typed(0, "A", accepted)?, node.input(1, "B")?);
    node.expect_same_element(a, b)?;
    Ok([a, b])
}

fn binary(
    node: &Node<'_>,
    operands: [&Operand; 2],
    element: ElementType,
    body: impl for<'c> Fn(&mut Calc<'_, 'c>, Num<'c>, Num<'c>) -> Num<'c> + 'static,
) -> Result<Plan> {
    elementwise(node, &operands, element, move |calc, x| body(calc, x[0], x[1]))
}

fn arithmetic(
    node: &Node<'_>,
    body: impl for<'c> Fn(&mut Calc<'_, 'c>, Num<'c>, Num<'c>) -> Num<'c> + 'static,
    fold: fn(Scalar, Scalar) -> Scalar,
) -> Result<Plan> {
    let operands = pair(node, ElementType::NUMBERS)?;
    let plan = binary(node, operands, operands[0].element(), body)?;
    Ok(fold_each(plan, &operands, move |x| fold(x[0], x[1])))
}

fn add(x: Scalar, y: Scalar) -> Scalar {
    combine(x, y, |x, y| x.wrapping_add(y), |x, y| x + y)
}

fn subtract(x: Scalar, y: Scalar) -> Scalar {
    combine(x, y, |x, y| x.wrapping_sub(y), |x, y| x - y)
}

fn multiply(x: Scalar, y: Scalar) -> Scalar {
    combine(x, y, |x, y| x.wrapping_mul(y), |x, y| x * y)
}

/// As [`quotient`].
fn divide(x: Scalar, y: Scalar) -> Scalar {
    combine(x, y, |x, y| x.checked_div(y).unwrap_or(0), |x, y| x / y)
}

/// Integers stay exact; of floats, one operation in `f64` rounds to `f32` as one in `f32` does.
fn combine(
    x: Scalar,
    y: Scalar,
    int: fn(i128, i128) -> i128,
    float: fn(f64, f64) -> f64,
) -> Scalar {
    match (x, y) {
        (Scalar::Int(x), Scalar::Int(y)) => Scalar::Int(int(x, y)),
        (x, y) => Scalar::Float(float(x.as_f64(), y.as_f64())),
    }
}

/// `x / y`. Integers go toward zero and never stop the machine: a quotient by 0 is 0, and the
/// least integer by -1 wraps.
fn quotient<'c>(calc: &mut Calc<'_, 'c>, x: Num<'c>, y: Num<'c>) -> Num<'c> {
    guarded(calc, x, y, |calc, x, y| calc.div(x, y), |calc, x| calc.neg(x))
}

/// Returns the remainder of `x / y`, with the sign of `x`; 0 where `y` is 0.
fn remainder<'c>(calc: &mut Calc<'_, 'c>, x: Num<'c>, y: Num<'c>) -> Num<'c> {
    guarded(calc, x, y, |calc, x, y| calc.rem(x, y), |calc, x| calc.int_like(x, 0))
}

fn guarded<'c>(
    calc: &mut Calc<'_, 'c>,
    x: Num<'c>,
    y: Num<'c>,
    divide: impl Fn(&mut Calc<'_, 'c>, Num<'c>, Num<'c>) -> Num<'c>,
    by_minus_one: impl Fn(&mut Calc<'_, 'c>, Num<'c>) -> Num<'c>,
) -> Num<'c> {
    if calc.is_float(y) {
        return divide(calc, x, y);
    }
    if let Some(known) = calc.known(y)
        && known != 0
        && known != -1
    {
        return divide(calc, x, y);
    }
    let (zero, one) = (calc.int_like(y, 0), calc.int_like(y, 1));
    let none = calc.eq(y, zero);
    let mut trap = none;
    let mut special = zero;
    if !calc.is_unsigned(y) {
        let minus = calc.int_like(y, -1);
        let flips = calc.eq(y, minus);
        let flipped = by_minus_one(calc, x);
        special = calc.select(flips, flipped, zero);
        trap = calc.or(none, flips);
    }
    let safe = calc.select(trap, one, y);
    let result = divide(calc, x, safe);
    calc.select(trap, special, result)
}

fn modulo(node: &Node<'_>) -> Result<Plan> {
    let operands = pair(node, ElementType::NUMBERS)?;
    let element = operands[0].element();
    if node.flag("fmod", false)? {
        let plan = binary(node, operands, element, remainder)?;
        return Ok(fold_each(plan, &operands, |x| {
            combine(x[0], x[1], |x, y| x.checked_rem(y).unwrap_or(0), |x, y| x % y)
        }));
    }
    let plan = binary(node, operands, element, |calc, x, y| {
        let rest = remainder(calc, x, y);
        if calc.is_unsigned(rest) {
            return rest;
        }
        // The sign of the divisor.
        let zero = calc.like(rest, 0.0);
        let (below, above) = (calc.lt(rest, zero), calc.gt(rest, zero));
        let (divisor_below, divisor_above) = (calc.lt(y, zero), calc.gt(y, zero));
        let (one, other) = (calc.and(below, divisor_above), calc.and(above, divisor_below));
        let (differ, moved) = (calc.or(one, other), calc.add(rest, y));
        let result = calc.select(differ, moved, rest);
        if !calc.is_float(rest) {
            return result;
        }
        let minus = calc.like(rest, -0.0);
        let (nothing, zero) = (calc.eq(rest, zero), calc.select(divisor_below, minus, zero));
        calc.select(nothing, zero, result)
    })?;
    Ok(fold_each(plan, &operands, |x| {
        let whole = |x: i128, y: i128| {
            let rest = x.checked_rem(y).unwrap_or(0);
            if rest != 0 && (rest < 0) != (y < 0) { rest + y } else { rest }
        };
        combine(x[0], x[1], whole, |x, y| match x % y {
            0.0 => 0f64.copysign(y),
            rest if (rest < 0.0) != (y < 0.0) => rest + y,
            rest => rest,
        })
    }))
}

fn pow(node: &Node<'_>) -> Result<Plan> {
    const BASES: &[ElementType] = &[
        ElementType::I32,
        ElementType::I64,
        ElementType::F16,
        ElementType::BF16,
        ElementType::F32,
        ElementType::F64,
    ];
    let (x, y) = (node.typed(0, "X", BASES)?, node.typed(1, "Y", ElementType::NUMBERS)?);
    let (base, exponent) = (x.element(), y.element());
    if let Some(power) = y.literal().map(Scalar::as_f64)
        && (base.is_float() || power == 1.0 || power == 2.0 || power == 3.0)
        && [-1.0, -0.5, 0.5, 1.0, 2.0, 3.0].contains(&power)
    {
        return binary(node, [x, y], base, move |calc, x, _| by_number(calc, x, power));
    }
    binary(node, [x, y], base, move |calc, x, y| match (base.is_float(), exponent.is_float()) {
        (true, _) => {
            let y = calc.cast(y, computed(base));
            calc.powf(x, y)
        }
        (false, false) => {
            let (y, bits) = (calc.cast(y, ElementType::I64), exponent.bits().min(63));
            whole_power(calc, x, y, bits)
        }
        (false, true) => {
            let (x, y) = (calc.cast(x, ElementType::F64), calc.cast(y, ElementType::F64));
            let power = calc.powf(x, y);
            calc.cast(power, base)
        }
    })
}

/// An integer to the power of another, of so many bits: by squares. Where the exponent is negative,
/// only powers of 1 and -1 are not zero.
fn whole_power<'c>(calc: &mut Calc<'_, 'c>, x: Num<'c>, y: Num<'c>, bits: u32) -> Num<'c> {
    let (zero, one, minus) = (calc.int_like(x, 0), calc.int_like(x, 1), calc.int_like(x, -1));
    let (none, unit) = (calc.int_like(y, 0), calc.int_like(y, 1));
    let odd_of = |calc: &mut Calc<'_, 'c>, y| {
        let low = calc.and(y, unit);
        calc.ne(low, none)
    };
    let odd = odd_of(calc, y);
    let (mut power, mut square, mut rest) = (one, x, y);
    for bit in 0..bits {
        let (set, more) = (odd_of(calc, rest), calc.mul(power, square));
        power = calc.select(set, more, power);
        if bit + 1 < bits {
            square = calc.mul(square, square);
            rest = calc.shr_signed(rest, unit);
        }
    }
    let negative = calc.lt(y, none);
    let (is_one, is_minus) = (calc.eq(x, one), calc.eq(x, minus));
    let sign = calc.select(odd, minus, one);
    let inverse = calc.select(is_minus, sign, zero);
    let inverse = calc.select(is_one, one, inverse);
    calc.select(negative, inverse, power)
}

/// `x` to one of the powers that need no logarithm.
fn by_number<'c>(calc: &mut Calc<'_, 'c>, x: Num<'c>, power: f64) -> Num<'c> {
    match power {
        -1.0 => inverse(calc, x),
        -0.5 => {
            let root = calc.math("sqrt", x);
            inverse(calc, root)
        }
        0.5 => calc.math("sqrt", x),
        2.0 => calc.mul(x, x),
        3.0 => {
            let square = calc.mul(x, x);
            calc.mul(square, x)
        }
        _ => x,
    }
}

fn compare(
    node: &Node<'_>,
    body: impl for<'c> Fn(&mut Calc<'_, 'c>, Num<'c>, Num<'c>) -> Num<'c> + 'static,
    fold: fn(Scalar, Scalar) -> bool,
) -> Result<Plan> {
    let operands = pair(node, ElementType::NUMBERS)?;
    let plan = binary(node, operands, ElementType::Bool, body)?;
    Ok(fold_each(plan, &operands, move |x| Scalar::Int(fold(x[0], x[1]).into())))
}

fn equal(node: &Node<'_>) -> Result<Plan> {
    let operands = pair(node, ElementType::COMPARED)?;
    let plan = binary(node, operands, ElementType::Bool, |calc, x, y| calc.eq(x, y))?;
    Ok(fold_each(plan, &operands, |x| Scalar::Int((x[0] == x[1]).into())))
}

fn logic(
    node: &Node<'_>,
    body: impl for<'c> Fn(&mut Calc<'_, 'c>, Num<'c>, Num<'c>) -> Num<'c> + 'static,
    fold: fn(i128, i128) -> i128,
) -> Result<Plan> {
    let operands = pair(node, &[ElementType::Bool])?;
    let plan = binary(node, operands, ElementType::Bool, body)?;
    Ok(fold_each(plan, &operands, move |x| Scalar::Int(fold(x[0].as_int(), x[1].as_int()))))
}

fn bitwise(
    node: &Node<'_>,
    body: impl for<'c> Fn(&mut Calc<'_, 'c>, Num<'c>, Num<'c>) -> Num<'c> + 'static,
) -> Result<Plan> {
    let operands = pair(node, ElementType::INTEGERS)?;
    binary(node, operands, operands[0].element(), body)
}

fn bit_shift(node: &Node<'_>) -> Result<Plan> {
    let operands = pair(node, ElementType::INTEGERS)?;
    let left = match node.string("direction", "")? {
        "LEFT" => true,
        "RIGHT" => false,
        other => {
            return Err(node
                .report(format!("has direction {other:?}"))
                .help("\"LEFT\" or \"RIGHT\"")
                .invalid());
        }
    };
    let element = operands[0].element();
    binary(node, operands, element, move |calc, x, y| {
        let (zero, bits) = (calc.int_like(x, 0), calc.int_like(x, element.bits().into()));
        let (above, below) = (calc.ge(y, bits), calc.lt(y, zero));
        let far = calc.or(above, below);
        let near = calc.select(far, zero, y);
        if left {
            let moved = calc.shl(x, near);
            return calc.select(far, zero, moved);
        }
        // What is moved out leaves copies of the sign.
        let negative = calc.lt(x, zero);
        let minus = calc.int_like(x, -1);
        let rest = calc.select(negative, minus, zero);
        let moved = calc.shr_signed(x, near);
        calc.select(far, rest, moved)
    })
}

fn gated_swish(node: &Node<'_>) -> Result<Plan> {
    let operands = pair(node, ElementType::FLOATS)?;
    let [gate, value] = operands;
    if gate.dims() != value.dims() {
        return Err(node
            .report(format!("has a gate {} for {}", gate.ty, value.ty))
            .help("one shape of both")
            .invalid());
    }
    let alpha = node.float("alpha", 1.0)?;
    binary(node, operands, gate.element(), move |calc, gate, value| {
        let gate = swish(calc, gate, alpha);
        calc.mul(gate, value)
    })
}

/// All operands, of one type.
fn several<'n>(node: &'n Node<'_>, accepted: &[ElementType]) -> Result<Vec<&'n Operand>> {
    let operands = node.variadic()?;
    node.expect_element(operands[0], "data_0", accepted)?;
    for operand in &operands {
        node.expect_same_element(operands[0], operand)?;
    }
    Ok(operands)
}

fn extreme(
    node: &Node<'_>,
    body: impl for<'c> Fn(&mut Calc<'_, 'c>, Num<'c>, Num<'c>) -> Num<'c> + 'static,
    least: bool,
) -> Result<Plan> {
    let operands = several(node, ElementType::NUMBERS)?;
    let plan = elementwise(node, &operands, operands[0].element(), move |calc, x| {
        x[1..].iter().fold(x[0], |best, &next| body(calc, best, next))
    })?;
    Ok(fold_each(plan, &operands, move |x| {
        let better = |a: Scalar, b: Scalar| match (a, b) {
            (Scalar::Float(a), _) if a.is_nan() => false,
            (_, Scalar::Float(b)) if b.is_nan() => true,
            _ => (b < a) == least && a != b,
        };
        x[1..].iter().fold(x[0], |best, &next| if better(best, next) { next } else { best })
    }))
}

fn sum(node: &Node<'_>, mean: bool) -> Result<Plan> {
    let operands = several(node, ElementType::FLOATS)?;
    let count = operands.len() as f64;
    elementwise(node, &operands, operands[0].element(), move |calc, x| {
        let total = x[1..].iter().fold(x[0], |total, &next| calc.add(total, next));
        if !mean {
            return total;
        }
        let count = calc.like(total, count);
        calc.div(total, count)
    })
}

fn p_relu(node: &Node<'_>) -> Result<Plan> {
    let operands = pair(node, ElementType::NUMBERS)?;
    let [x, slope] = operands;
    if node.broadcast([x.dims(), slope.dims()])? != x.dims() {
        return Err(node
            .report(format!("has a slope of {} for {}", slope.ty, x.ty))
            .help("a slope that broadcasts to the shape of X")
            .invalid());
    }
    binary(node, operands, x.element(), |calc, x, slope| {
        let zero = calc.like(x, 0.0);
        let (below, scaled) = (calc.lt(x, zero), calc.mul(slope, x));
        calc.select(below, scaled, x)
    })
}

fn clip(node: &Node<'_>) -> Result<Plan> {
    let x = node.typed(0, "input", ElementType::NUMBERS)?;
    let mut operands = vec![x];
    let mut bounds = [None, None];
    for (at, name) in [(1, "min"), (2, "max")] {
        let Some(bound) = node.optional(at) else {
            continue;
        };
        node.expect_same_element(x, bound)?;
        if bound.ty.elements() != 1 || bound.rank() > x.rank() {
            return Err(node
                .report(format!("reads {name:?} as {}", bound.ty))
                .help("a scalar")
                .invalid());
        }
        bounds[at - 1] = Some(operands.len());
        operands.push(bound);
    }
    let [min, max] = bounds;
    let plan = elementwise(node, &operands, x.element(), move |calc, given| {
        let mut x = given[0];
        // Comparisons, so that NaN stays at no cost; the upper bound has the last word.
        if let Some(min) = min {
            let below = calc.lt(x, given[min]);
            x = calc.select(below, given[min], x);
        }
        if let Some(max) = max {
            let above = calc.gt(x, given[max]);
            x = calc.select(above, given[max], x);
        }
        x
    })?;
    Ok(fold_each(plan, &operands, move |given| {
        let x =
            min.map_or(given[0], |min| if given[0] < given[min] { given[min] } else { given[0] });
        max.map_or(x, |max| if x > given[max] { given[max] } else { x })
    }))
}

fn choose(node: &Node<'_>) -> Result<Plan> {
    let condition = node.typed(0, "condition", &[ElementType::Bool])?;
    let (x, y) = (node.input(1, "X")?, node.input(2, "Y")?);
    node.expect_same_element(x, y)?;
    let operands = [condition, x, y];
    let plan = elementwise(node, &operands, x.element(), |calc, given| {
        calc.select(given[0], given[1], given[2])
    })?;
    Ok(fold_each(plan, &operands, |given| if given[0].as_int() != 0 { given[1] } else { given[2] }))
}
