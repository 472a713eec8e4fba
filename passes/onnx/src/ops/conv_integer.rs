//! Convolutions of small integers, summed in 32 bits.
//!
//! ```text
//! ConvInteger(x, w, p, q)   = sum of (x - p) · (w - q)
//! QLinearConv(x, w, …, b)   = (b + that sum) · scale of x · scale of w / scale of y, as a small integer
//! ```
//!
//! What lies in the border counts for nothing: it is as if it held the zero point.

use weft_dialects::ir::Linear;

use super::conv::{Convolution, Reads};
use super::integer::{BYTES, accumulate, requantized};
use super::{Operator, op};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Build, Tensor, identity};
use crate::types::ElementType;

const WINDOW: &[&str] = &["auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"];

pub const OPERATORS: &[Operator] = &[
    op("ConvInteger", 10, 4, WINDOW, conv_integer).at_least(2),
    op("QLinearConv", 10, 9, WINDOW, quantized_conv).at_least(8),
];

/// Fails unless `operand` is one number.
fn expect_one(node: &Node<'_>, operand: &Operand, name: &str) -> Result<()> {
    if operand.ty.elements() == 1 && operand.rank() <= 1 {
        return Ok(());
    }
    Err(node.report(format!("reads {name:?} as {}", operand.ty)).help("one number").invalid())
}

/// Fails unless `operand` is one number, or one for each filter.
fn expect_filters(node: &Node<'_>, operand: &Operand, name: &str, filters: i64) -> Result<()> {
    let one = operand.ty.elements() == 1 && operand.rank() <= 1;
    if one || operand.dims() == [filters] {
        return Ok(());
    }
    Err(node
        .report(format!("reads {name:?} as {}", operand.ty))
        .help(format!("one number, or one for each of its {filters} filters"))
        .invalid())
}

/// The sums of a convolution.
struct Sums {
    convolution: Convolution,
    /// The zero point of the tensor, where it is part of the model; that of an absent one is 0.
    border: Option<Scalar>,
}

impl Sums {
    /// # Errors
    /// Extents that do not fit.
    fn of(node: &Node<'_>, x: &Operand, w: &Operand, zero: Option<&Operand>) -> Result<Self> {
        let convolution = Convolution::of(node, x, w)?;
        let border = zero.map_or(Some(Scalar::Int(0)), Operand::literal);
        Ok(Self { convolution, border })
    }

    /// Numbers beside the result: one, or one for each filter.
    fn beside<'c>(
        &self,
        b: &mut Build<'_, 'c>,
        numbers: &Tensor<'c>,
        axes: usize,
    ) -> (Tensor<'c>, Vec<Linear>) {
        match numbers.dims().iter().product() {
            1 => (b.reshape(numbers, &[]), vec![]),
            _ => self.convolution.beside(b, numbers, axes),
        }
    }

    /// The sums, which begin at a bias where there is one, with the axes of groups.
    fn build<'c>(
        &self,
        b: &mut Build<'_, 'c>,
        factors: [&Tensor<'c>; 2],
        zeros: [Option<&Tensor<'c>>; 2],
        bias: Option<&Tensor<'c>>,
    ) -> Tensor<'c> {
        let [x, w] = factors;
        let [mut zero_x, zero_w] = zeros;
        let window = &self.convolution.window;
        let padded = match (self.border, zero_x.take()) {
            (Some(border), zero) => {
                zero_x = zero;
                window.pad(b, x, border)
            }
            // The border is only known when the elements are: they are moved by it before.
            (None, zero) => {
                let zero = zero.expect("an absent zero point is known");
                let zero = b.reshape(zero, &[]);
                let moved = b.map(ElementType::I32, x.dims(), &[x, &zero], |calc, x| {
                    let [x, zero] = [x[0], x[1]].map(|x| calc.cast(x, ElementType::I32));
                    calc.sub(x, zero)
                });
                window.pad(b, &moved, Scalar::Int(0))
            }
        };
        let start = self.convolution.start(b, ElementType::I32, bias);
        let Reads { x, w, reduced } = self.convolution.reads(b, &padded, w);
        let axes = start.dims().len() + reduced.len();
        let zeros = [zero_x, zero_w].map(|zero| zero.map(|zero| self.beside(b, zero, axes)));
        let zeros = zeros.each_ref().map(|zero| zero.as_ref().map(|(zero, at)| (zero, at.clone())));
        accumulate(b, &start, &reduced, [(&x.0, x.1), (&w.0, w.1)], zeros)
    }
}

fn conv_integer(node: &Node<'_>) -> Result<Plan> {
    let (x, w) = (node.typed(0, "x", BYTES)?, node.typed(1, "w", BYTES)?);
    let sums = Sums::of(node, x, w, node.optional(2))?;
    let mut operands = vec![x.clone(), w.clone()];
    let mut places = [None, None];
    if let Some(zero) = node.optional(2) {
        node.expect_same_element(x, zero)?;
        expect_one(node, zero, "x_zero_point")?;
        if !node.is_zero(2)? {
            places[0] = Some(operands.len());
            operands.push(zero.clone());
        }
    }
    if let Some(zero) = node.optional(3) {
        node.expect_same_element(w, zero)?;
        expect_filters(node, zero, "w_zero_point", sums.convolution.filters)?;
        if !node.is_zero(3)? {
            places[1] = Some(operands.len());
            operands.push(zero.clone());
        }
    }
    let dims = sums.convolution.dims();
    let result = node.ty(ElementType::I32, dims.clone())?;
    Ok(Plan::new(operands, vec![result], move |b, args| {
        let zeros = places.map(|place| place.map(|at| &args[at]));
        let y = sums.build(b, [&args[0], &args[1]], zeros, None);
        vec![b.reshape(&y, &dims)]
    }))
}

fn quantized_conv(node: &Node<'_>) -> Result<Plan> {
    let (x, w) = (node.typed(0, "x", BYTES)?, node.typed(3, "w", BYTES)?);
    let zero_y = node.typed(7, "y_zero_point", BYTES)?;
    let zero_x = node.typed(2, "x_zero_point", &[x.element()])?;
    let zero_w = node.typed(5, "w_zero_point", &[w.element()])?;
    let sums = Sums::of(node, x, w, Some(zero_x))?;
    let filters = sums.convolution.filters;
    let mut operands = vec![x, w, zero_x, zero_w];
    for (at, name) in [(1, "x_scale"), (4, "w_scale"), (6, "y_scale")] {
        let scale = node.typed(at, name, &[ElementType::F32])?;
        match at {
            4 => expect_filters(node, scale, name, filters)?,
            _ => expect_one(node, scale, name)?,
        }
        operands.push(scale);
    }
    operands.push(zero_y);
    expect_one(node, zero_x, "x_zero_point")?;
    expect_one(node, zero_y, "y_zero_point")?;
    expect_filters(node, zero_w, "w_zero_point", filters)?;
    if let Some(bias) = node.optional(8) {
        node.expect_element(bias, "B", &[ElementType::I32])?;
        sums.convolution.expect_bias(node, bias)?;
        operands.push(bias);
    }
    let element = zero_y.element();
    let dims = sums.convolution.dims();
    let result = node.ty(element, dims.clone())?;
    node.ty(ElementType::I32, dims.clone())?;
    let operands = operands.into_iter().cloned().collect();
    Ok(Plan::new(operands, vec![result], move |b, args| {
        let zeros = [Some(&args[2]), Some(&args[3])];
        let total = sums.build(b, [&args[0], &args[1]], zeros, args.get(8));
        let rank = total.dims().len();
        let beside: Vec<_> =
            args[4..8].iter().map(|numbers| sums.beside(b, numbers, rank)).collect();
        let mut inputs = vec![(&total, identity(rank))];
        inputs.extend(beside.iter().map(|(numbers, read)| (numbers, read.clone())));
        let y = b.map_at(element, total.dims(), &inputs, |calc, given| {
            requantized(calc, given[0], &given[1..4], given[4], element)
        });
        vec![b.reshape(&y, &dims)]
    }))
}
