//! Products of small integers that are made numbers again.
//!
//! ```text
//! MatMulIntegerToFloat   sum of (a - p) · (b - q) · scale of a · scale of b + bias
//! DynamicQuantizeMatMul  the same of numbers `a` that are made bytes first
//! QGemm                  (C + sum of (a - p) · (b - q)) · alpha · scale of a · scale of b, or that as
//!                        a small integer
//! ```

use super::super::integer::{BYTES, Grain, accumulate, grain, own_axes};
use super::super::linear::{Product, product};
use super::super::quantize::{dynamically, rounded};
use super::super::{Operator, microsoft};
use super::fused_matmul::{order, seen, unordered};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Access, Build, Calc, Num, Tensor, broadcast, identity};
use crate::types::{ElementType, Shape};

pub const OPERATORS: &[Operator] = &[
    microsoft("DynamicQuantizeMatMul", 5, &[], dynamic).at_least(3),
    microsoft("MatMulIntegerToFloat", 7, &[], to_float).at_least(4),
    microsoft("QGemm", 9, &["alpha", "transA", "transB"], gemm).at_least(6),
];

/// An operand among the arguments, and which element of a factor it belongs to.
type Placed = (usize, Grain);

/// A product of two factors that are the first two arguments.
struct Numbers {
    product: Product,
    zeros: [Option<Placed>; 2],
    scales: [Option<Placed>; 2],
    bias: Option<Placed>,
    /// A factor of all of them.
    alpha: f64,
}

/// Adds an optional operand to those of a node.
fn place<'n>(
    node: &'n Node<'_>,
    (at, name): (usize, &str),
    accepted: &[ElementType],
    (axis, dims): (Option<usize>, &[i64]),
    operands: &mut Vec<&'n Operand>,
) -> Result<Option<Placed>> {
    let Some(operand) = node.optional(at) else { return Ok(None) };
    node.expect_element(operand, name, accepted)?;
    operands.push(operand);
    Ok(Some((operands.len() - 1, grain(node, operand, name, axis, dims)?)))
}

/// Fails unless the operand that an operator requires is there.
fn required(node: &Node<'_>, (at, name): (usize, &str)) -> Result<()> {
    node.input(at, name).map(|_| ())
}

impl Numbers {
    /// Sums of the products, beginning at `start`.
    fn sums<'c>(
        &self,
        b: &mut Build<'_, 'c>,
        factors: [&Tensor<'c>; 2],
        zeros: [Option<(&Tensor<'c>, Grain)>; 2],
        start: Option<Tensor<'c>>,
    ) -> Tensor<'c> {
        let Product { dims, depth, left, right } = &self.product;
        let axes = dims.len() + 1;
        let start = match start {
            Some(start) => start,
            None => b.fill(ElementType::I32, dims, Scalar::Int(0)),
        };
        let factors = [(factors[0], left.clone()), (factors[1], right.clone())];
        let zeros =
            zeros.map(|zero| zero.map(|(zero, at)| (zero, at.access(zero.dims().len(), axes))));
        accumulate(b, &start, &[*depth], factors, zeros)
    }

    /// Scales, then the bias, beside a result of `rank` dimensions.
    fn beside<'t, 'c>(&self, args: &'t [Tensor<'c>], rank: usize) -> Vec<Access<'t, 'c>> {
        let all = self.scales.iter().chain([&self.bias]).flatten();
        let read = |&(at, grain): &Placed| (&args[at], grain.access(args[at].dims().len(), rank));
        all.map(read).collect()
    }

    /// A sum by the scales, `given` from `beside`; the bias is added.
    fn number<'c>(&self, calc: &mut Calc<'_, 'c>, sum: Num<'c>, given: &[Num<'c>]) -> Num<'c> {
        let number = ElementType::F32;
        let sum = calc.cast(sum, number);
        let count = self.scales.iter().flatten().count();
        let mut scale = given[0];
        for &other in &given[1..count] {
            scale = calc.mul(scale, other);
        }
        if self.alpha != 1.0 {
            let alpha = calc.like(scale, self.alpha);
            scale = calc.mul(scale, alpha);
        }
        let y = calc.mul(sum, scale);
        match self.bias {
            Some(_) => calc.add(y, given[count]),
            None => y,
        }
    }
}

/// The bias of a product, one number for each column.
fn bias<'n>(
    node: &'n Node<'_>,
    at: usize,
    element: ElementType,
    (column, dims): (Option<usize>, &[i64]),
    operands: &mut Vec<&'n Operand>,
) -> Result<Option<Placed>> {
    let Some(bias) = node.optional(at) else { return Ok(None) };
    node.expect_element(bias, "bias", &[element])?;
    match column {
        Some(axis) if bias.dims() == [dims[axis]] => {
            operands.push(bias);
            Ok(Some((operands.len() - 1, Grain::Axis(axis))))
        }
        _ => Err(node
            .report(format!("adds a bias of {}", bias.ty))
            .help("one number for each column")
            .invalid()),
    }
}

fn to_float(node: &Node<'_>) -> Result<Plan> {
    let (a, b) = (node.typed(0, "A", BYTES)?, node.typed(1, "B", BYTES)?);
    let floats = [ElementType::F16, ElementType::F32];
    let element = node.typed(2, "a_scale", &floats)?.element();
    required(node, (3, "b_scale"))?;
    let product = product(node, a, b)?;
    let [_, column] = own_axes(a, b, product.dims.len());
    let dims = product.dims.clone();
    let mut operands = vec![a, b];
    let mut add = |at, name, element: ElementType, axis| {
        place(node, (at, name), &[element], (axis, &dims), &mut operands)
    };
    let scales = [add(2, "a_scale", element, None)?, add(3, "b_scale", element, column)?];
    let zeros =
        [add(4, "a_zero_point", a.element(), None)?, add(5, "b_zero_point", b.element(), column)?];
    let bias = bias(node, 6, element, (column, &dims), &mut operands)?;
    let result = node.ty(element, dims.clone())?;
    node.ty(ElementType::I32, dims.clone())?;
    let numbers = Numbers { product, zeros, scales, bias, alpha: 1.0 };
    let operands = operands.into_iter().cloned().collect();
    Ok(Plan::new(operands, vec![result], move |b, args| {
        let zeros = numbers.zeros.map(|zero| zero.map(|(at, grain)| (&args[at], grain)));
        let sums = numbers.sums(b, [&args[0], &args[1]], zeros, None);
        let mut inputs = vec![(&sums, identity(dims.len()))];
        inputs.extend(numbers.beside(args, dims.len()));
        vec![b.map_at(element, &dims, &inputs, |calc, given| {
            numbers.number(calc, given[0], &given[1..])
        })]
    }))
}

fn dynamic(node: &Node<'_>) -> Result<Plan> {
    let number = ElementType::F32;
    let (a, b) = (node.typed(0, "A", &[number])?, node.typed(1, "B", BYTES)?);
    required(node, (2, "b_scale"))?;
    let product = product(node, a, b)?;
    let [_, column] = own_axes(a, b, product.dims.len());
    let dims = product.dims.clone();
    let mut operands = vec![a, b];
    let mut add = |at, name, element: ElementType| {
        place(node, (at, name), &[element], (column, &dims), &mut operands)
    };
    let scales = [None, add(2, "b_scale", number)?];
    let zeros = [None, add(3, "b_zero_point", b.element())?];
    let bias = bias(node, 4, number, (column, &dims), &mut operands)?;
    let result = node.ty(number, dims.clone())?;
    let numbers = Numbers { product, zeros, scales, bias, alpha: 1.0 };
    let operands = operands.into_iter().cloned().collect();
    Ok(Plan::new(operands, vec![result], move |b, args| {
        let [bytes, scale, zero] = dynamically(b, &args[0]);
        let zero_b = numbers.zeros[1].map(|(at, grain)| (&args[at], grain));
        let zeros = [Some((&zero, Grain::Tensor)), zero_b];
        let sums = numbers.sums(b, [&bytes, &args[1]], zeros, None);
        let mut inputs = vec![(&sums, identity(dims.len())), (&scale, vec![])];
        inputs.extend(numbers.beside(args, dims.len()));
        vec![b.map_at(number, &dims, &inputs, |calc, given| {
            let sum = calc.cast(given[0], number);
            let sum = calc.mul(sum, given[1]);
            numbers.number(calc, sum, &given[2..])
        })]
    }))
}

fn gemm(node: &Node<'_>) -> Result<Plan> {
    let (a, b) = (node.typed(0, "A", BYTES)?, node.typed(3, "B", BYTES)?);
    if a.rank() != 2 || b.rank() != 2 {
        return Err(node.invalid(format!("multiplies {} by {}; both are matrices", a.ty, b.ty)));
    }
    let order_a = order(2, node.flag("transA", false)?, false);
    let order_b = order(2, node.flag("transB", false)?, false);
    let mut product = product(node, &seen(node, a, &order_a)?, &seen(node, b, &order_b)?)?;
    product.left = unordered(product.left, &order_a);
    product.right = unordered(product.right, &order_b);
    let (dims, column) = (product.dims.clone(), Some(1));
    for required_input in [(1, "a_scale"), (2, "a_zero_point"), (4, "b_scale"), (5, "b_zero_point")]
    {
        required(node, required_input)?;
    }
    let mut operands = vec![a, b];
    let mut add = |at, name, element: ElementType, axis| {
        place(node, (at, name), &[element], (axis, &dims), &mut operands)
    };
    let number = ElementType::F32;
    let scales = [add(1, "a_scale", number, None)?, add(4, "b_scale", number, column)?];
    let zeros =
        [add(2, "a_zero_point", a.element(), None)?, add(5, "b_zero_point", b.element(), column)?];
    let own = add(7, "y_scale", number, None)?;
    let element = node.optional(8).map_or(number, Operand::element);
    if own.is_some() != node.optional(8).is_some() {
        return Err(node.invalid("has one of y_scale and y_zero_point"));
    }
    let own_zero = place(node, (8, "y_zero_point"), BYTES, (None, &dims), &mut operands)?;
    let start = match node.optional(6) {
        None => None,
        Some(c) => {
            node.expect_element(c, "C", &[ElementType::I32])?;
            if node.broadcast([c.dims(), &dims])? != dims {
                return Err(node
                    .report(format!("adds C of {}", c.ty))
                    .help(format!("a shape that broadcasts to {}", Shape(&dims)))
                    .invalid());
            }
            operands.push(c);
            Some(operands.len() - 1)
        }
    };
    let result = node.ty(element, dims.clone())?;
    node.ty(number, dims.clone())?;
    let alpha = node.float("alpha", 1.0)?;
    let numbers = Numbers { product, zeros, scales, bias: None, alpha };
    let operands = operands.into_iter().cloned().collect();
    Ok(Plan::new(operands, vec![result], move |b, args| {
        let start = start.map(|at| {
            let read = broadcast(args[at].dims(), &dims, 2);
            b.map_at(ElementType::I32, &dims, &[(&args[at], read)], |_, c| c[0])
        });
        let zeros = numbers.zeros.map(|zero| zero.map(|(at, grain)| (&args[at], grain)));
        let sums = numbers.sums(b, [&args[0], &args[1]], zeros, start);
        let mut inputs = vec![(&sums, identity(2))];
        inputs.extend(numbers.beside(args, 2));
        let own = [own, own_zero].into_iter().flatten();
        inputs.extend(own.map(|(at, grain)| (&args[at], grain.access(args[at].dims().len(), 2))));
        vec![b.map_at(element, &dims, &inputs, |calc, given| {
            let y = numbers.number(calc, given[0], &given[1..3]);
            let [scale, zero] = given[3..] else { return y };
            let share = calc.div(y, scale);
            let zero = calc.cast(zero, number);
            rounded(calc, share, Some(zero), element)
        })]
    }))
}
