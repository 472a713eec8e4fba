//! QuantizeLinear and DequantizeLinear, which mean what the standard operators mean.

use super::super::{Operator, microsoft, newest};
use crate::error::Result;
use crate::node::{Node, Plan};

pub const OPERATORS: &[Operator] = &[
    microsoft("DequantizeLinear", 3, &["axis"], |node| standard(node, "DequantizeLinear"))
        .at_least(2),
    microsoft("QuantizeLinear", 3, &["axis"], |node| standard(node, "QuantizeLinear")).at_least(2),
];

/// Plans a node as the standard operator of that name.
fn standard(node: &Node<'_>, name: &str) -> Result<Plan> {
    let operator = newest(name).expect("the standard has it");
    (operator.plan)(&node.renewed(operator, node.inputs().to_vec()))
}
