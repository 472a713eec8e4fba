//! Averages of numbers kept as small integers.

use super::super::integer::BYTES;
use super::super::pool::Average;
use super::super::quantize::rounded;
use super::super::reduce::fold_axes;
use super::super::{Operator, microsoft};
use super::qlinear::{Code, integer, real};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::identity;
use crate::types::ElementType;

pub const OPERATORS: &[Operator] = &[
    microsoft(
        "QLinearAveragePool",
        5,
        &[
            "auto_pad",
            "ceil_mode",
            "channels_last",
            "count_include_pad",
            "dilations",
            "kernel_shape",
            "pads",
            "strides",
        ],
        average,
    )
    .at_least(4),
    microsoft("QLinearGlobalAveragePool", 5, &["channels_last"], global),
];

/// The tensor, and the scales of it and of the result.
fn operands<'n>(node: &'n Node<'_>) -> Result<(Vec<&'n Operand>, [Code; 2])> {
    let x = node.typed(0, "X", BYTES)?;
    let mut operands = vec![x];
    let from = Code::of(node, 1, x.element(), &mut operands)?;
    let to = Code::of(node, 3, x.element(), &mut operands)?;
    Ok((operands, [from, to]))
}

fn average(node: &Node<'_>) -> Result<Plan> {
    let (operands, [from, to]) = operands(node)?;
    let x = operands[0];
    if node.flag("channels_last", false)? {
        return Err(node
            .report("has channels behind the extents")
            .help("channels_last 0")
            .unsupported());
    }
    let average = Average::of(node, x)?;
    let (element, number) = (x.element(), ElementType::F32);
    let dims = average.dims(x);
    let result = node.ty(element, dims.clone())?;
    node.ty(number, dims.clone())?;
    let operands = operands.into_iter().cloned().collect();
    Ok(Plan::new(operands, vec![result], move |b, args| {
        let (x, rank) = (&args[0], args[0].dims().len());
        let mut inputs = vec![(x, identity(rank))];
        inputs.extend(from.reads(args, rank));
        let reals = b.map_at(number, x.dims(), &inputs, |calc, given| {
            let code = from.take(calc, &mut given[1..].iter().copied());
            real(calc, given[0], code)
        });
        let y = average.build(b, &reals);
        let mut inputs = vec![(&y, identity(rank))];
        inputs.extend(to.reads(args, rank));
        vec![b.map_at(element, &dims, &inputs, |calc, given| {
            let code = to.take(calc, &mut given[1..].iter().copied());
            integer(calc, given[0], code, element)
        })]
    }))
}

/// The mean of every channel: integers are summed as they are.
fn global(node: &Node<'_>) -> Result<Plan> {
    let (operands, [from, to]) = operands(node)?;
    let x = operands[0];
    if x.rank() < 3 {
        return Err(node.invalid(format!("pools {}; it needs batch, channels and more", x.ty)));
    }
    let axes: Vec<_> = match node.flag("channels_last", false)? {
        true => (1..x.rank() - 1).collect(),
        false => (2..x.rank()).collect(),
    };
    let count: i64 = axes.iter().map(|&axis| x.dims()[axis]).product();
    if count == 0 {
        return Err(node.invalid(format!("averages no element of {}", x.ty)));
    }
    let dims: Vec<_> =
        (0..x.rank()).map(|d| if axes.contains(&d) { 1 } else { x.dims()[d] }).collect();
    let element = x.element();
    let result = node.ty(element, dims.clone())?;
    let operands = operands.into_iter().cloned().collect();
    Ok(Plan::new(operands, vec![result], move |b, args| {
        let zero = (ElementType::I32, Scalar::Int(0));
        let sum = fold_axes(b, &args[0], &axes, &[], zero, |calc, x, sum| {
            let x = calc.cast(x[0], ElementType::I32);
            calc.add(sum, x)
        });
        let rank = sum.dims().len();
        let mut inputs = vec![(&sum, identity(rank))];
        inputs.extend(from.reads(args, rank));
        inputs.extend(to.reads(args, rank));
        let y = b.map_at(element, sum.dims(), &inputs, |calc, given| {
            let mut rest = given[1..].iter().copied();
            let (from, to) = (from.take(calc, &mut rest), to.take(calc, &mut rest));
            let mut sum = given[0];
            if let Some(zero) = from.1 {
                let (zero, size) =
                    (calc.cast(zero, ElementType::I32), calc.int_like(sum, count.into()));
                let zeros = calc.mul(zero, size);
                sum = calc.sub(sum, zeros);
            }
            let sum = calc.cast(sum, ElementType::F32);
            let size = calc.like(sum, count as f64);
            let whole = calc.mul(to.0, size);
            let scale = calc.div(from.0, whole);
            let mean = calc.mul(sum, scale);
            rounded(calc, mean, to.1, element)
        });
        vec![b.reshape(&y, &dims)]
    }))
}
