//! Operators that give an element another type.

use super::elementwise::{elementwise, fold_each};
use super::{Operator, op};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Plan};
use crate::payload::{computed, identity};
use crate::types::ElementType;

pub const OPERATORS: &[Operator] = &[
    op("BitCast", 26, 1, &["to"], bit_cast),
    op("Cast", 6, 1, &["to", "saturate", "round_mode"], cast),
    op("CastLike", 15, 2, &["saturate", "round_mode"], cast_like),
];

/// The type that the attribute `to` names.
fn target(node: &Node<'_>) -> Result<ElementType> {
    let code = node.int("to")?.ok_or_else(|| node.invalid("lacks the attribute \"to\""))?;
    ElementType::from_onnx(i32::try_from(code).unwrap_or(-1), &node.result_name())
}

fn cast(node: &Node<'_>) -> Result<Plan> {
    to(node, target(node)?)
}

/// Plans the same bytes as another type.
fn bit_cast(node: &Node<'_>) -> Result<Plan> {
    let (x, element) = (node.input(0, "input")?, target(node)?);
    if x.element().bytes() != element.bytes() || element == ElementType::Bool {
        return Err(node
            .report(format!("takes the bits of {} for {element}", x.ty))
            .help("a number of the same width")
            .invalid());
    }
    let result = node.ty(element, x.dims().to_vec())?;
    Ok(Plan::new(vec![x.clone()], vec![result.clone()], move |b, args| {
        let inputs = [(&args[0], identity(result.rank()))];
        vec![b.move_at(element, result.dims(), &inputs, |calc, x| calc.bits_as(x[0], element))]
    }))
}

fn cast_like(node: &Node<'_>) -> Result<Plan> {
    to(node, node.input(1, "target_type")?.element())
}

fn to(node: &Node<'_>, element: ElementType) -> Result<Plan> {
    let x = node.input(0, "input")?;
    let plan = elementwise(node, &[x], element, move |calc, x| calc.cast(x[0], computed(element)))?;
    Ok(fold_each(plan, &[x], move |x| {
        match (x[0], element.integer_range()) {
            // To bool every number but zero is true, also one half.
            (x, _) if element == ElementType::Bool => Scalar::Int((x.as_f64() != 0.0).into()),
            (Scalar::Float(x), Some((least, most))) => Scalar::Int((x as i128).clamp(least, most)),
            (x, Some(_)) => x,
            (x, None) => Scalar::Float(x.as_f64()),
        }
    }))
}
