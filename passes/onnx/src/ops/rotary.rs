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

/// How numbers are paired and turned.
#[derive(Clone, Copy)]
pub struct Turn {
    /// The extents: `[batch, tokens, heads, numbers]`, or heads before tokens.
    pub dims: [i64; 4],
    /// The axis of the tokens.
    pub tokens: usize,
    /// The first numbers of each head, which are turned.
    pub turned: i64,
    /// A number is paired with the next one, not with one in the other half.
    pub interleaved: bool,
}

/// The extents and the axis of the tokens: heads are an axis of their own in four dimensions.
fn layout(node: &Node<'_>, x: &Operand) -> Result<([i64; 4], usize)> {
    let heads = node.int("num_heads")?.unwrap_or(0);
    match *x.dims() {
        [batch, heads, tokens, numbers] => Ok(([batch, heads, tokens, numbers], 2)),
        [batch, tokens, width] if heads > 0 && width % heads == 0 => {
            Ok(([batch, tokens, heads, width / heads], 1))
        }
        _ => Err(node
            .report(format!("turns {} of {heads} heads", x.ty))
            .help("four dimensions, or three and a num_heads that divides the last")
            .invalid()),
    }
}

/// Fails unless an even number of a head's numbers is turned.
pub fn expect_even(node: &Node<'_>, turned: i64, numbers: i64) -> Result<()> {
    if turned < 2 || turned % 2 != 0 || turned > numbers {
        return Err(node
            .report(format!("turns {turned} of {numbers} numbers"))
            .help("an even number of them")
            .invalid());
    }
    Ok(())
}

/// The operand at `at`, a table with a row of cosines or sines for every position.
pub fn table<'n>(
    node: &'n Node<'_>,
    x: &Operand,
    at: usize,
    name: &str,
    turned: i64,
) -> Result<&'n Operand> {
    let table = node.input(at, name)?;
    node.expect_same_element(x, table)?;
    if table.rank() == 2 && table.dims()[0] > 0 && table.dims()[1] == turned / 2 {
        return Ok(table);
    }
    Err(unfit(node, table, name, turned))
}

fn unfit(node: &Node<'_>, table: &Operand, name: &str, turned: i64) -> crate::ImportError {
    node.report(format!("reads {name:?} as {}", table.ty))
        .help(format!("{} numbers for each position", turned / 2))
        .invalid()
}

fn rotary(node: &Node<'_>) -> Result<Plan> {
    let x = node.typed(0, "X", ElementType::FLOATS)?;
    let (dims, token_axis) = layout(node, x)?;
    let turned = match node.int("rotary_embedding_dim")?.unwrap_or(0) {
        0 => dims[3],
        turned => turned,
    };
    expect_even(node, turned, dims[3])?;
    let interleaved = node.flag("interleaved", false)?;
    let (batch, tokens) = (dims[0], dims[token_axis]);
    let mut operands = vec![x.clone()];
    let ids = node.optional(3);
    for (at, name) in [(1, "cos_cache"), (2, "sin_cache")] {
        let cache = match ids {
            Some(_) => table(node, x, at, name, turned)?,
            None => {
                let cache = node.input(at, name)?;
                node.expect_same_element(x, cache)?;
                if cache.dims() != [batch, tokens, turned / 2] {
                    return Err(unfit(node, cache, name, turned));
                }
                cache
            }
        };
        operands.push(cache.clone());
    }
    if let Some(ids) = ids {
        expect_positions(node, ids, [batch, tokens])?;
        operands.push(ids.clone());
    }
    let turn = Turn { dims, tokens: token_axis, turned, interleaved };
    Ok(Plan::new(operands, vec![x.ty.clone()], move |b, args| {
        let shape = [batch, tokens, turned / 2];
        let [cos, sin] = [1, 2].map(|at| angles(b, &args[at], args.get(3), &shape));
        vec![turn.build(b, &args[0], [&cos, &sin])]
    }))
}

/// Fails unless `ids` has a position for each token of a batch.
pub fn expect_positions(node: &Node<'_>, ids: &Operand, dims: [i64; 2]) -> Result<()> {
    node.expect_element(ids, "position_ids", &[ElementType::I64])?;
    if ids.dims() == dims {
        return Ok(());
    }
    let what = format!("reads \"position_ids\" as {}", ids.ty);
    Err(node.report(what).help(Shape(&dims).to_string()).invalid())
}

impl Turn {
    /// `x` with its pairs turned by the angles of `[batch, tokens, pairs]`.
    pub fn build<'c>(
        &self,
        b: &mut Build<'_, 'c>,
        x: &Tensor<'c>,
        [cos, sin]: [&Tensor<'c>; 2],
    ) -> Tensor<'c> {
        if self.dims.contains(&0) {
            return x.clone();
        }
        let (element, shape) = (x.element(), x.dims().to_vec());
        let x = b.reshape(x, &self.dims);
        let turned = self.turned;
        let (step, second) = if self.interleaved { (2, 1) } else { (1, turned / 2) };
        let mut sizes = self.dims;
        sizes[3] = turned / 2;
        let steps = [1, 1, 1, if turned > 2 { step } else { 1 }];
        let left = b.slice(&x, &[0; 4], &sizes, &steps);
        let right = b.slice(&x, &[0, 0, 0, second], &sizes, &steps);
        let beside = vec![Linear::axis(4, 0), Linear::axis(4, self.tokens), Linear::axis(4, 3)];
        let inputs =
            [(&left, identity(4)), (&right, identity(4)), (cos, beside.clone()), (sin, beside)];
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
        b.reshape(&y, &shape)
    }
}

/// The cosines or sines of every token: `[batch, tokens, pairs]`.
pub fn angles<'c>(
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
