//! RotaryEmbedding of ONNX Runtime: positions come before the tables, and a single one is where the
//! sequence begins.

use weft_dialects::ir::Linear;

use super::super::rotary::{Turn, angles, expect_even, table};
use super::super::{Operator, microsoft};
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Build, Tensor};
use crate::types::{ElementType, Shape};

pub const OPERATORS: &[Operator] = &[microsoft(
    "RotaryEmbedding",
    4,
    &["interleaved", "is_packed_batching", "num_heads", "rotary_embedding_dim", "scale"],
    rotary,
)];

/// The heads of `x` beside each other, or an axis of their own; where their number is not said, a
/// head is as wide as the tables say.
fn turn(node: &Node<'_>, x: &Operand, pairs: i64) -> Result<Turn> {
    let part = node.int("rotary_embedding_dim")?.unwrap_or(0);
    let heads = node.int("num_heads")?.unwrap_or(0);
    let interleaved = node.flag("interleaved", false)?;
    let (dims, tokens) = match *x.dims() {
        [batch, heads, tokens, numbers] => ([batch, heads, tokens, numbers], 2),
        [batch, tokens, width] => {
            let numbers = match (part, heads) {
                (0, 0) => pairs.saturating_mul(2),
                (_, heads) if heads > 0 => width / heads,
                _ => 0,
            };
            if numbers <= 0 || width % numbers != 0 {
                return Err(node
                    .report(format!("turns {} of {heads} heads", x.ty))
                    .help("a num_heads that divides the last extent")
                    .invalid());
            }
            ([batch, tokens, width / numbers, numbers], 1)
        }
        _ => {
            return Err(node.report(format!("turns {}", x.ty)).help("3 or 4 dimensions").invalid());
        }
    };
    let turned = if part == 0 { dims[3] } else { part };
    expect_even(node, turned, dims[3])?;
    Ok(Turn { dims, tokens, turned, interleaved })
}

fn rotary(node: &Node<'_>) -> Result<Plan> {
    let x = node.typed(0, "input", &[ElementType::F16, ElementType::BF16, ElementType::F32])?;
    if node.flag("is_packed_batching", false)? {
        return Err(node
            .report("turns sequences of several lengths behind each other")
            .help("is_packed_batching 0")
            .unsupported());
    }
    if node.float("scale", 1.0)? != 1.0 {
        return Err(node.report("has another scale than 1").help("1").unsupported());
    }
    let pairs = node.input(2, "cos_cache")?.dims().last().copied().unwrap_or(0);
    let turn = turn(node, x, pairs)?;
    let cos = table(node, x, 2, "cos_cache", turn.turned)?;
    let sin = table(node, x, 3, "sin_cache", turn.turned)?;
    let ids = node.typed(1, "position_ids", &[ElementType::I64])?;
    let (batch, tokens) = (turn.dims[0], turn.dims[turn.tokens]);
    if ids.dims() != [1] && ids.dims() != [batch, tokens] {
        return Err(node
            .report(format!("reads \"position_ids\" as {}", ids.ty))
            .help(format!("{}, or the first position", Shape(&[batch, tokens])))
            .invalid());
    }
    node.ty(ElementType::I64, vec![batch, tokens])?;
    node.ty(ElementType::F32, vec![batch, tokens, turn.turned / 2])?;
    let operands = vec![x.clone(), ids.clone(), cos.clone(), sin.clone()];
    Ok(Plan::new(operands, vec![x.ty.clone()], move |b, args| {
        let ids = positions(b, &args[1], [batch, tokens]);
        let shape = [batch, tokens, turn.turned / 2];
        let [cos, sin] = [2, 3].map(|at| angles(b, &args[at], Some(&ids), &shape));
        vec![turn.build(b, &args[0], [&cos, &sin])]
    }))
}

/// The position of every token.
fn positions<'c>(b: &mut Build<'_, 'c>, ids: &Tensor<'c>, dims: [i64; 2]) -> Tensor<'c> {
    if ids.dims() == dims {
        return ids.clone();
    }
    b.map_at(ElementType::I64, &dims, &[(ids, vec![Linear::constant(2, 0)])], |calc, first| {
        let token = calc.index(1);
        let token = calc.counted(token, ElementType::I64);
        calc.add(first[0], token)
    })
}
