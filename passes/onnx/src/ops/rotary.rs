//! RotaryEmbedding: pairs of numbers are turned by an angle that grows with their position.

use weft_dialects::ir::Linear;

use super::{Operator, op};
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Build, Tensor, computed, identity};
use crate::types::{ElementType, Shape};

pub const OPERATORS: &[Operator] =
    &[op("RotaryEmbedding", 23, 4, &["interleaved", "num_heads", "rotary_embedding_dim"], rotary)
        .at_least(3)];

/// The order of batch, heads, tokens and numbers: `[batch, tokens, heads, numbers]` of three
/// dimensions, `[batch, heads, tokens, numbers]` of four.
struct Layout {
    dims: [i64; 4],
    tokens: usize,
}

fn layout(node: &Node<'_>, x: &Operand) -> Result<Layout> {
    let heads = node.int("num_heads")?.unwrap_or(0);
    match *x.dims() {
        [batch, heads, tokens, numbers] => {
            Ok(Layout { dims: [batch, heads, tokens, numbers], tokens: 2 })
        }
        [batch, tokens, width] if heads > 0 && width % heads == 0 => {
            Ok(Layout { dims: [batch, tokens, heads, width / heads], tokens: 1 })
        }
        _ => Err(node
            .report(format!("turns {} of {heads} heads", x.ty))
            .help("four dimensions, or three and a num_heads that divides the last")
            .invalid()),
    }
}

fn rotary(node: &Node<'_>) -> Result<Plan> {
    let x = node.typed(0, "X", ElementType::FLOATS)?;
    let layout = layout(node, x)?;
    let numbers = layout.dims[3];
    let turned = match node.int("rotary_embedding_dim")?.unwrap_or(0) {
        0 => numbers,
        turned => turned,
    };
    if turned < 2 || turned % 2 != 0 || turned > numbers {
        return Err(node
            .report(format!("turns {turned} of {numbers} numbers"))
            .help("an even number of them")
            .invalid());
    }
    let interleaved = node.flag("interleaved", false)?;
    let (batch, tokens) = (layout.dims[0], layout.dims[layout.tokens]);
    let mut operands = vec![x.clone()];
    let ids = node.optional(3);
    for (at, name) in [(1, "cos_cache"), (2, "sin_cache")] {
        let cache = node.input(at, name)?;
        node.expect_same_element(x, cache)?;
        let fits = match ids {
            Some(_) => cache.rank() == 2 && cache.dims()[0] > 0 && cache.dims()[1] == turned / 2,
            None => cache.dims() == [batch, tokens, turned / 2],
        };
        if !fits {
            return Err(node
                .report(format!("reads {name:?} as {}", cache.ty))
                .help(format!("{} numbers for each position", turned / 2))
                .invalid());
        }
        operands.push(cache.clone());
    }
    if let Some(ids) = ids {
        node.expect_element(ids, "position_ids", &[ElementType::I64])?;
        if ids.dims() != [batch, tokens] {
            return Err(node
                .report(format!("reads \"position_ids\" as {}", ids.ty))
                .help(Shape(&[batch, tokens]).to_string())
                .invalid());
        }
        operands.push(ids.clone());
    }
    let element = x.element();
    Ok(Plan::new(operands, vec![x.ty.clone()], move |b, args| {
        let x = b.reshape(&args[0], &layout.dims);
        if layout.dims.contains(&0) {
            return vec![args[0].clone()];
        }
        let shape = [batch, tokens, turned / 2];
        let [cos, sin] = [1, 2].map(|at| angles(b, &args[at], args.get(3), &shape));
        let (step, second) = if interleaved { (2, 1) } else { (1, turned / 2) };
        let mut sizes = layout.dims;
        sizes[3] = turned / 2;
        let steps = [1, 1, 1, if turned > 2 { step } else { 1 }];
        let left = b.slice(&x, &[0; 4], &sizes, &steps);
        let right = b.slice(&x, &[0, 0, 0, second], &sizes, &steps);
        let beside = vec![Linear::axis(4, 0), Linear::axis(4, layout.tokens), Linear::axis(4, 3)];
        let inputs =
            [(&left, identity(4)), (&right, identity(4)), (&cos, beside.clone()), (&sin, beside)];
        let real = b.map_at(element, &sizes, &inputs, |calc, x| {
            let (along, across) = (calc.mul(x[2], x[0]), calc.mul(x[3], x[1]));
            calc.sub(along, across)
        });
        let other = b.map_at(element, &sizes, &inputs, |calc, x| {
            let (across, along) = (calc.mul(x[3], x[0]), calc.mul(x[2], x[1]));
            calc.add(across, along)
        });
        let y = b.insert(&real, &x, &[0; 4], &steps);
        let y = b.insert(&other, &y, &[0, 0, 0, second], &steps);
        vec![b.reshape(&y, args[0].dims())]
    }))
}

/// The cosines or sines of every token: `[batch, tokens, pairs]`.
fn angles<'c>(
    b: &mut Build<'_, 'c>,
    cache: &Tensor<'c>,
    ids: Option<&Tensor<'c>>,
    shape: &[i64; 3],
) -> Tensor<'c> {
    let Some(ids) = ids else {
        return b.cast(cache, computed(cache.element()));
    };
    let read = vec![Linear::axis(3, 0), Linear::axis(3, 1)];
    b.map_at(computed(cache.element()), shape, &[(ids, read)], |calc, given| {
        let (position, zero) = (calc.coordinate(given[0]), calc.at(0));
        let last = calc.at(cache.dims()[0] - 1);
        let position = calc.max(position, zero);
        let (position, pair) = (calc.min(position, last), calc.index(2));
        let angle = calc.extract(cache, &[position, pair]);
        calc.loaded(angle)
    })
}
