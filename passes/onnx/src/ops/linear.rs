//! Products of matrices.

use weft_dialects::ir::Linear;
use weft_dialects::ir::payload::Axis;

use super::{Operator, op};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Build, Calc, Num, Tensor, broadcast, computed};
use crate::types::{ElementType, Shape};

pub const OPERATORS: &[Operator] = &[
    op("Gemm", 7, 3, &["alpha", "beta", "transA", "transB"], gemm).at_least(2),
    op("MatMul", 1, 2, &[], mat_mul),
];

const PRODUCTS: &[ElementType] = &[
    ElementType::I32,
    ElementType::I64,
    ElementType::U32,
    ElementType::U64,
    ElementType::F16,
    ElementType::BF16,
    ElementType::F32,
    ElementType::F64,
];

/// A tensor full of zeros, to sum in.
pub fn zeros<'c>(b: &mut Build<'_, 'c>, element: ElementType, dims: &[i64]) -> Tensor<'c> {
    b.fill(computed(element), dims, Scalar::Int(0))
}

/// Adds products of `x` and `y` to `start`, over a nest whose axes are those of `start` and then
/// the reduced ones.
pub fn accumulate<'c>(
    b: &mut Build<'_, 'c>,
    start: &Tensor<'c>,
    reduced: &[i64],
    x: (&Tensor<'c>, Vec<Linear>),
    y: (&Tensor<'c>, Vec<Linear>),
) -> Tensor<'c> {
    let free = start.dims().len();
    let axes = free + reduced.len();
    let kinds: Vec<_> =
        (0..axes).map(|axis| if axis < free { Axis::Parallel } else { Axis::Reduction }).collect();
    let extents = [start.dims(), reduced].concat();
    let target = (0..free).map(|axis| Linear::axis(axes, axis)).collect();
    let results = b.nest(&kinds, &extents, &[x, y], &[(start, target)], |calc, given| {
        let product = calc.mul(given[0], given[1]);
        vec![calc.add(given[2], product)]
    });
    results.into_iter().next().expect("one output gives one result")
}

/// Plans a product of matrices with a third one added.
pub fn gemm(node: &Node<'_>) -> Result<Plan> {
    let (a, b) = (node.typed(0, "A", PRODUCTS)?, node.input(1, "B")?);
    node.expect_same_element(a, b)?;
    let element = a.element();
    let (trans_a, trans_b) = (node.flag("transA", false)?, node.flag("transB", false)?);
    let (alpha, mut beta) = (node.float("alpha", 1.0)?, node.float("beta", 1.0)?);
    let (&[a0, a1], &[b0, b1]) = (a.dims(), b.dims()) else {
        return Err(node.invalid(format!("multiplies {} by {}; both are matrices", a.ty, b.ty)));
    };
    let (m, k) = if trans_a { (a1, a0) } else { (a0, a1) };
    let (k_too, n) = if trans_b { (b1, b0) } else { (b0, b1) };
    if k != k_too {
        return Err(node
            .report(format!("multiplies {} by {}", Shape(&[m, k]), Shape(&[k_too, n])))
            .note(format!("A is {}, transA is {}", a.ty, i32::from(trans_a)))
            .note(format!("B is {}, transB is {}", b.ty, i32::from(trans_b)))
            .help("as many columns on the left as rows on the right")
            .invalid());
    }
    if !element.is_float() && (alpha.fract() != 0.0 || beta.fract() != 0.0) {
        return Err(node.unsupported(format!("scales {element} by alpha {alpha} and beta {beta}")));
    }
    let mut operands = vec![a.clone(), b.clone()];
    let bias = node.optional(2).filter(|_| beta != 0.0);
    if let Some(c) = bias {
        node.expect_same_element(a, c)?;
        if node.broadcast([c.dims(), &[m, n]])? != [m, n] {
            return Err(node
                .report(format!("adds C of {}", c.ty))
                .help(format!("a shape that broadcasts to {}", Shape(&[m, n])))
                .invalid());
        }
        operands.push(c.clone());
    } else {
        beta = 0.0;
    }
    let result = node.ty(element, vec![m, n])?;
    Ok(Plan::new(operands, vec![result], move |b, args| {
        let (x, y, dims, sum) = (&args[0], &args[1], [m, n], computed(element));
        let at = |first, second| vec![Linear::axis(3, first), Linear::axis(3, second)];
        let left = if trans_a { at(2, 0) } else { at(0, 2) };
        let right = if trans_b { at(1, 2) } else { at(2, 1) };
        // The bias is where the sum begins, unless the product is scaled apart from it.
        let early = alpha == 1.0 && beta != 0.0;
        let start = if early {
            b.map(sum, &dims, &[&args[2]], |calc, c| scale(calc, c[0], beta))
        } else {
            zeros(b, element, &dims)
        };
        let product = accumulate(b, &start, &[k], (x, left), (y, right));
        if alpha == 1.0 {
            return vec![b.cast(&product, element)];
        }
        let mut inputs = vec![&product];
        inputs.extend(args.get(2));
        vec![b.map(element, &dims, &inputs, |calc, given| {
            let scaled = scale(calc, given[0], alpha);
            match given.get(1) {
                None => scaled,
                Some(&c) => {
                    let c = scale(calc, c, beta);
                    calc.add(scaled, c)
                }
            }
        })]
    }))
}

/// `x · factor`.
pub fn scale<'c>(calc: &mut Calc<'_, 'c>, x: Num<'c>, factor: f64) -> Num<'c> {
    if factor == 1.0 {
        return x;
    }
    let factor = calc.like(x, factor);
    calc.mul(x, factor)
}

/// The dimensions of a factor as (those before the matrix, rows, columns); a vector is one row on
/// the left and one column on the right.
fn matrix(operand: &Operand, left: bool) -> (&[i64], i64, i64) {
    match (operand.dims(), left) {
        (&[k], true) => (&[], 1, k),
        (&[k], false) => (&[], k, 1),
        (dims, _) => {
            let (batch, matrix) = dims.split_at(dims.len() - 2);
            (batch, matrix[0], matrix[1])
        }
    }
}

/// A product of two operands as MatMul defines it: batches broadcast, vectors are matrices.
pub struct Product {
    /// The extents of the result.
    pub dims: Vec<i64>,
    /// The extent that is summed over, the last axis of the nest.
    pub depth: i64,
    /// The index expressions of the factors.
    pub left: Vec<Linear>,
    pub right: Vec<Linear>,
}

/// The product of `a` and `b`.
pub fn product(node: &Node<'_>, a: &Operand, b: &Operand) -> Result<Product> {
    if a.rank() == 0 || b.rank() == 0 {
        return Err(node.invalid(format!("multiplies {} by {}; a scalar is no matrix", a.ty, b.ty)));
    }
    let ((batch_a, m, k), (batch_b, k_too, n)) = (matrix(a, true), matrix(b, false));
    if k != k_too {
        return Err(node
            .report(format!("multiplies {} by {}", a.ty, b.ty))
            .help("as many columns on the left as rows on the right")
            .invalid());
    }
    let batch = node.broadcast([batch_a, batch_b])?;
    let mut dims = batch.clone();
    let (vector_a, vector_b) = (a.rank() == 1, b.rank() == 1);
    if !vector_a {
        dims.push(m);
    }
    if !vector_b {
        dims.push(n);
    }
    let axes = dims.len() + 1;
    let inner = Linear::axis(axes, dims.len());
    let mut left = broadcast(batch_a, &batch, axes);
    if !vector_a {
        left.push(Linear::axis(axes, batch.len()));
    }
    left.push(inner.clone());
    let mut right = broadcast(batch_b, &batch, axes);
    right.push(inner);
    if !vector_b {
        right.push(Linear::axis(axes, dims.len() - 1));
    }
    Ok(Product { dims, depth: k, left, right })
}

fn mat_mul(node: &Node<'_>) -> Result<Plan> {
    let (a, b) = (node.typed(0, "A", PRODUCTS)?, node.input(1, "B")?);
    node.expect_same_element(a, b)?;
    let Product { dims, depth, left, right } = product(node, a, b)?;
    let element = a.element();
    let result = node.ty(element, dims.clone())?;
    Ok(Plan::new(vec![a.clone(), b.clone()], vec![result], move |b, args| {
        let start = zeros(b, element, &dims);
        let (x, y) = ((&args[0], left.clone()), (&args[1], right.clone()));
        let product = accumulate(b, &start, &[depth], x, y);
        vec![b.cast(&product, element)]
    }))
}
