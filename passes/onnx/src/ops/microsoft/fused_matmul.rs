//! FusedMatMul: MatMul of operands that are seen with their axes in another order, scaled.

use weft_dialects::ir::Linear;

use super::super::linear::{Product, accumulate, product, scale, zeros};
use super::super::{Operator, microsoft};
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::computed;
use crate::types::ElementType;

pub const OPERATORS: &[Operator] = &[microsoft(
    "FusedMatMul",
    2,
    &["alpha", "transA", "transB", "transBatchA", "transBatchB"],
    fused_mat_mul,
)];

/// The axes of an operand in the order in which MatMul sees them.
pub fn order(rank: usize, transposed: bool, batch_behind: bool) -> Vec<usize> {
    let mut order: Vec<_> = (0..rank).collect();
    if rank > 1 {
        if batch_behind {
            order[..rank - 1].rotate_left(1);
        }
        if transposed {
            order.swap(rank - 2, rank - 1);
        }
    }
    order
}

/// The operand with its axes in this order.
pub fn seen(node: &Node<'_>, operand: &Operand, order: &[usize]) -> Result<Operand> {
    let dims = order.iter().map(|&axis| operand.dims()[axis]).collect();
    let lengths = order.iter().map(|&axis| operand.length(axis).cloned()).collect();
    Ok(Operand { ty: node.ty(operand.element(), dims)?, lengths, ..operand.clone() })
}

/// The index expressions of the operand itself, of those in the order in which it is seen.
pub fn unordered(access: Vec<Linear>, order: &[usize]) -> Vec<Linear> {
    let mut own = access.clone();
    for (index, &axis) in access.into_iter().zip(order) {
        own[axis] = index;
    }
    own
}

fn fused_mat_mul(node: &Node<'_>) -> Result<Plan> {
    let (a, b) = (node.typed(0, "A", ElementType::FLOATS)?, node.input(1, "B")?);
    node.expect_same_element(a, b)?;
    let order_a = order(a.rank(), node.flag("transA", false)?, node.flag("transBatchA", false)?);
    let order_b = order(b.rank(), node.flag("transB", false)?, node.flag("transBatchB", false)?);
    let (seen_a, seen_b) = (seen(node, a, &order_a)?, seen(node, b, &order_b)?);
    let Product { dims, depth, left, right } = product(node, &seen_a, &seen_b)?;
    let (left, right) = (unordered(left, &order_a), unordered(right, &order_b));
    let alpha = node.float("alpha", 1.0)?;
    let element = a.element();
    let result = node.ty(element, dims.clone())?;
    node.ty(computed(element), dims.clone())?;
    Ok(Plan::new(vec![a.clone(), b.clone()], vec![result], move |b, args| {
        let start = zeros(b, element, &dims);
        let (x, y) = ((&args[0], left.clone()), (&args[1], right.clone()));
        let product = accumulate(b, &start, &[depth], x, y);
        if alpha == 1.0 {
            return vec![b.cast(&product, element)];
        }
        vec![b.map(element, &dims, &[&product], |calc, given| scale(calc, given[0], alpha))]
    }))
}
