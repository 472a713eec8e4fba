//! Operators that give an element another type.

use super::elementwise::{elementwise, fold_each};
use super::{Operator, op};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Plan};
use crate::payload::computed;
use crate::types::ElementType;

pub const OPERATORS: &[Operator] = &[
    op("Cast", 6, 1, &["to", "saturate", "round_mode"], cast),
    op("CastLike", 15, 2, &["saturate", "round_mode"], cast_like),
];

fn cast(node: &Node<'_>) -> Result<Plan> {
    let code = node.int("to")?.ok_or_else(|| node.invalid("lacks the attribute \"to\""))?;
    let code = i32::try_from(code).unwrap_or(-1);
    to(node, ElementType::from_onnx(code, &node.result_name())?)
}

fn cast_like(node: &Node<'_>) -> Result<Plan> {
    to(node, node.input(1, "target_type")?.element())
}

fn to(node: &Node<'_>, element: ElementType) -> Result<Plan> {
    let x = node.input(0, "input")?;
    let plan = elementwise(node, &[x], element, move |calc, x| calc.cast(x[0], computed(element)))?;
    Ok(fold_each(plan, &[x], move |x| match (x[0], element.integer_range()) {
        // To bool every number but zero is true, also one half.
        (x, _) if element == ElementType::Bool => Scalar::Int((x.as_f64() != 0.0).into()),
        (Scalar::Float(x), Some((least, most))) => Scalar::Int((x as i128).clamp(least, most)),
        (x, Some(_)) => x,
        (x, None) => Scalar::Float(x.as_f64()),
    }))
}
