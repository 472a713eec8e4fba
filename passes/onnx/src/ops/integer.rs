//! Products of small integers, summed in 32 bits.

use weft_dialects::ir::Linear;
use weft_dialects::ir::payload::Axis;

use super::linear::{Product, product};
use super::quantize::rounded;
use super::{Operator, op};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Access, Build, Calc, Num, Tensor, identity};
use crate::types::ElementType;

/// The small integers.
pub const BYTES: &[ElementType] = &[ElementType::I8, ElementType::U8];

pub const OPERATORS: &[Operator] = &[
    op("MatMulInteger", 10, 4, &[], mat_mul_integer).at_least(2),
    op("QLinearMatMul", 10, 8, &[], quantized_mat_mul),
];

/// Which element of a factor a zero point or a scale belongs to.
#[derive(Clone, Copy)]
pub enum Grain {
    Tensor,
    /// One for each row of the left factor or column of the right, an axis of the nest.
    Axis(usize),
}

/// The grain of an operand beside the factor whose own axis is `axis` of the nest's.
pub fn grain(
    node: &Node<'_>,
    operand: &Operand,
    name: &str,
    axis: Option<usize>,
    dims: &[i64],
) -> Result<Grain> {
    if operand.ty.elements() == 1 && operand.rank() <= 1 {
        return Ok(Grain::Tensor);
    }
    match axis {
        Some(axis) if operand.dims() == [dims[axis]] => Ok(Grain::Axis(axis)),
        _ => Err(node
            .report(format!("reads {name:?} as {}", operand.ty))
            .help("one number, or one for each row on the left or column on the right")
            .unsupported()),
    }
}

impl Grain {
    /// The access to a tensor of it, of `rank` dimensions, in a nest of `axes` axes.
    pub fn access(self, rank: usize, axes: usize) -> Vec<Linear> {
        match self {
            Self::Tensor => vec![Linear::constant(axes, 0); rank],
            Self::Axis(axis) => vec![Linear::axis(axes, axis)],
        }
    }
}

/// The axes of the result that are rows of `a` and columns of `b`.
pub fn own_axes(a: &Operand, b: &Operand, rank: usize) -> [Option<usize>; 2] {
    let column = (b.rank() > 1).then(|| rank - 1);
    let row = (a.rank() > 1).then(|| rank - 1 - usize::from(column.is_some()));
    [row, column]
}

/// Adds products of two factors, each less its zero point where it has one, to 32-bit integers
/// `start`, over a nest whose axes are those of `start` and then the `reduced` ones.
pub fn accumulate<'c>(
    b: &mut Build<'_, 'c>,
    start: &Tensor<'c>,
    reduced: &[i64],
    factors: [Access<'_, 'c>; 2],
    zeros: [Option<Access<'_, 'c>>; 2],
) -> Tensor<'c> {
    let free = start.dims().len();
    let axes = free + reduced.len();
    let mut kinds = vec![Axis::Parallel; free];
    kinds.resize(axes, Axis::Reduction);
    let extents = [start.dims(), reduced].concat();
    let given_zeros = [zeros[0].is_some(), zeros[1].is_some()];
    let mut inputs = factors.to_vec();
    inputs.extend(zeros.into_iter().flatten());
    let target = (0..free).map(|axis| Linear::axis(axes, axis)).collect();
    let sums = b.nest(&kinds, &extents, &inputs, &[(start, target)], |calc, given| {
        let (so_far, given) = given.split_last().expect("a nest has an output");
        let mut zeros = given[2..].iter();
        let mut factor = |calc: &mut Calc<'_, 'c>, x: Num<'c>, has_zero: bool| {
            let x = calc.cast(x, ElementType::I32);
            if !has_zero {
                return x;
            }
            let zero = calc.cast(*zeros.next().expect("its zero is read"), ElementType::I32);
            calc.sub(x, zero)
        };
        let left = factor(calc, given[0], given_zeros[0]);
        let right = factor(calc, given[1], given_zeros[1]);
        let product = calc.mul(left, right);
        vec![calc.add(*so_far, product)]
    });
    sums.into_iter().next().expect("one output gives one result")
}

/// The sum of products of two factors of matrices, each less its zero point.
fn sum<'c>(
    b: &mut Build<'_, 'c>,
    product: &Product,
    factors: [&Tensor<'c>; 2],
    zeros: [Option<(&Tensor<'c>, Grain)>; 2],
) -> Tensor<'c> {
    let axes = product.dims.len() + 1;
    let start = b.fill(ElementType::I32, &product.dims, Scalar::Int(0));
    let factors = [(factors[0], product.left.clone()), (factors[1], product.right.clone())];
    let zeros =
        zeros.map(|zero| zero.map(|(zero, grain)| (zero, grain.access(zero.dims().len(), axes))));
    accumulate(b, &start, &[product.depth], factors, zeros)
}

/// `sum · left · right / own` as a small integer around `zero`.
pub fn requantized<'c>(
    calc: &mut Calc<'_, 'c>,
    sum: Num<'c>,
    scales: &[Num<'c>],
    zero: Num<'c>,
    element: ElementType,
) -> Num<'c> {
    let number = ElementType::F32;
    let [left, right, own] = [0, 1, 2].map(|at| calc.cast(scales[at], number));
    let scale = calc.mul(left, right);
    let scale = calc.div(scale, own);
    let (sum, zero) = (calc.cast(sum, number), calc.cast(zero, number));
    let scaled = calc.mul(sum, scale);
    rounded(calc, scaled, Some(zero), element)
}

fn mat_mul_integer(node: &Node<'_>) -> Result<Plan> {
    let (a, b) = (node.typed(0, "A", BYTES)?, node.typed(1, "B", BYTES)?);
    let product = product(node, a, b)?;
    let result = node.ty(ElementType::I32, product.dims.clone())?;
    let own = own_axes(a, b, product.dims.len());
    let mut operands = vec![a.clone(), b.clone()];
    let mut grains = [None, None];
    for (at, (name, factor)) in [("a_zero_point", a), ("b_zero_point", b)].into_iter().enumerate() {
        if let Some(zero) = node.optional(2 + at) {
            node.expect_same_element(factor, zero)?;
            let grain = grain(node, zero, name, own[at], &product.dims)?;
            if !node.is_zero(2 + at)? {
                grains[at] = Some((operands.len(), grain));
                operands.push(zero.clone());
            }
        }
    }
    Ok(Plan::new(operands, vec![result], move |b, args| {
        let zeros = grains.map(|grain| grain.map(|(at, grain)| (&args[at], grain)));
        vec![sum(b, &product, [&args[0], &args[1]], zeros)]
    }))
}

fn quantized_mat_mul(node: &Node<'_>) -> Result<Plan> {
    let (a, b) = (node.typed(0, "a", BYTES)?, node.typed(3, "b", BYTES)?);
    let product = product(node, a, b)?;
    let own = own_axes(a, b, product.dims.len());
    let places = [(1, "a_scale", own[0]), (4, "b_scale", own[1]), (6, "y_scale", None)];
    let mut operands = vec![a.clone(), b.clone()];
    let mut scales = Vec::new();
    for (at, name, axis) in places {
        let scale = node.typed(at, name, ElementType::FLOATS)?;
        scales.push(grain(node, scale, name, axis, &product.dims)?);
        operands.push(scale.clone());
    }
    let zero = node.typed(7, "y_zero_point", BYTES)?;
    let mut zeros = Vec::new();
    let places = [
        (2, "a_zero_point", own[0], a.element()),
        (5, "b_zero_point", own[1], b.element()),
        (7, "y_zero_point", None, zero.element()),
    ];
    for (at, name, axis, element) in places {
        let zero = node.typed(at, name, &[element])?;
        zeros.push(grain(node, zero, name, axis, &product.dims)?);
        operands.push(zero.clone());
    }
    let element = zero.element();
    let result = node.ty(element, product.dims.clone())?;
    Ok(Plan::new(operands, vec![result], move |b, args| {
        let factor_zeros = [Some((&args[5], zeros[0])), Some((&args[6], zeros[1]))];
        let sums = sum(b, &product, [&args[0], &args[1]], factor_zeros);
        let rank = sums.dims().len();
        let mut inputs = vec![(&sums, identity(rank))];
        for (at, grain) in scales.iter().enumerate() {
            let scale = &args[2 + at];
            inputs.push((scale, grain.access(scale.dims().len(), rank)));
        }
        inputs.push((&args[7], zeros[2].access(args[7].dims().len(), rank)));
        vec![b.map_at(element, &product.dims, &inputs, |calc, given| {
            requantized(calc, given[0], &given[1..4], given[4], element)
        })]
    }))
}
