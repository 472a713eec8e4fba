//! EmbedLayerNormalization: rows of tables for words, positions and segments, added and normed.

use weft_dialects::ir::Linear;

use super::super::{Operator, microsoft};
use super::skip_norm::{expect_row, norm_rows};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Build, Tensor, computed};
use crate::types::ElementType;

pub const OPERATORS: &[Operator] =
    &[microsoft("EmbedLayerNormalization", 9, &["epsilon", "mask_index_type"], embed)
        .at_least(7)
        .up_to(3)];

/// Where the rows of a table are named: by an operand of `[batch, tokens]` or `[1, tokens]`, or by
/// the place of a token.
#[derive(Clone, Copy)]
struct Lookup {
    table: usize,
    ids: Option<usize>,
}

impl Lookup {
    /// Adds the operands of a table; an absent table adds nothing.
    fn of<'n>(
        node: &'n Node<'_>,
        (table, name): (usize, &str),
        ids: Option<(usize, &str)>,
        words: &Operand,
        operands: &mut Vec<&'n Operand>,
    ) -> Result<Self> {
        let table = node.typed(table, name, &[ElementType::F16, ElementType::F32])?;
        if table.rank() != 2 || table.dims()[0] == 0 {
            return Err(node
                .report(format!("reads {name:?} as {}", table.ty))
                .help("rows")
                .invalid());
        }
        let mut lookup = Self { table: operands.len(), ids: None };
        operands.push(table);
        if ids.is_none() && table.dims()[0] < words.dims()[1] {
            return Err(node
                .report(format!("reads {name:?} as {}", table.ty))
                .help(format!("a row for each of {} tokens", words.dims()[1]))
                .invalid());
        }
        if let Some((at, name)) = ids {
            let ids = node.typed(at, name, &[ElementType::I32])?;
            let fits = ids.rank() == 2
                && node
                    .broadcast([words.dims(), ids.dims()])
                    .is_ok_and(|dims| dims == words.dims());
            if !fits {
                return Err(node
                    .report(format!("reads {name:?} as {}", ids.ty))
                    .help(format!("the shape of {}", words.ty))
                    .invalid());
            }
            lookup.ids = Some(operands.len());
            operands.push(ids);
        }
        Ok(lookup)
    }

    /// The rows: `[batch, tokens, width]`.
    fn rows<'c>(self, b: &mut Build<'_, 'c>, args: &[Tensor<'c>], dims: &[i64]) -> Tensor<'c> {
        let table = &args[self.table];
        let last = table.dims()[0] - 1;
        let inputs: Vec<_> = self
            .ids
            .iter()
            .map(|&at| {
                let batch = match args[at].dims()[0] {
                    1 => Linear::constant(3, 0),
                    _ => Linear::axis(3, 0),
                };
                (&args[at], vec![batch, Linear::axis(3, 1)])
            })
            .collect();
        b.move_at(table.element(), dims, &inputs, |calc, given| {
            let (zero, last) = (calc.at(0), calc.at(last));
            let row = match given.first() {
                Some(&id) => calc.coordinate(id),
                None => calc.index(1),
            };
            let row = calc.max(row, zero);
            let (row, column) = (calc.min(row, last), calc.index(2));
            calc.extract(table, &[row, column])
        })
    }
}

fn embed(node: &Node<'_>) -> Result<Plan> {
    let words = node.typed(0, "input_ids", &[ElementType::I32])?;
    let &[batch, tokens] = words.dims() else {
        return Err(node
            .report(format!("reads \"input_ids\" as {}", words.ty))
            .help("batch and tokens")
            .invalid());
    };
    let mut operands = Vec::new();
    let ids = node.optional(8).map(|_| (8, "position_ids"));
    let mut lookups = vec![
        Lookup::of(node, (2, "word_embedding"), Some((0, "input_ids")), words, &mut operands)?,
        Lookup::of(node, (3, "position_embedding"), ids, words, &mut operands)?,
    ];
    match (node.optional(1), node.optional(4)) {
        (None, None) => {}
        _ => {
            let ids = Some((1, "segment_ids"));
            let table = (4, "segment_embedding");
            lookups.push(Lookup::of(node, table, ids, words, &mut operands)?);
        }
    }
    let table = operands[0];
    let (element, width) = (table.element(), table.dims()[1]);
    for lookup in &lookups {
        let other = operands[lookup.table];
        node.expect_same_element(table, other)?;
        if other.dims()[1] != width {
            return Err(node.invalid(format!("adds rows of {} and {}", table.ty, other.ty)));
        }
    }
    let affine = [operands.len(), operands.len() + 1];
    for (at, name) in [(5, "gamma"), (6, "beta")] {
        let operand = node.input(at, name)?;
        expect_row(node, table, operand, name)?;
        operands.push(operand);
    }
    let mask = node.optional(7).map(|mask| (operands.len(), mask));
    if let Some((_, mask)) = mask {
        node.expect_element(mask, "mask", &[ElementType::I32])?;
        if mask.dims() != words.dims() {
            return Err(node.invalid(format!("masks {} by {}", words.ty, mask.ty)));
        }
        operands.push(mask);
    }
    let mask = mask.map(|(at, _)| at);
    let epsilon = node.float("epsilon", 1e-12)?;
    node.int("mask_index_type")?;
    let dims = vec![batch, tokens, width];
    let result = node.ty(element, dims.clone())?;
    node.ty(computed(element), dims.clone())?;
    let mut results = vec![result.clone(), node.ty(ElementType::I32, vec![batch])?, result];
    results.truncate(node.outputs());
    let count = results.len();
    let operands = operands.into_iter().cloned().collect();
    Ok(Plan::new(operands, results, move |b, args| {
        let rows: Vec<_> = lookups.iter().map(|lookup| lookup.rows(b, args, &dims)).collect();
        let rows: Vec<_> = rows.iter().collect();
        let sum = b.map(computed(element), &dims, &rows, |calc, rows| {
            rows[1..].iter().fold(rows[0], |sum, &row| calc.add(sum, row))
        });
        let y = norm_rows(b, &sum, epsilon, true, &affine.map(|at| &args[at]));
        let mut results = vec![b.cast(&y, element)];
        if count > 1 {
            results.extend([lengths(b, mask.map(|at| &args[at]), batch), b.cast(&sum, element)]);
            results.truncate(count);
        }
        results
    }))
}

/// How many tokens of each sequence the mask lets through.
fn lengths<'c>(b: &mut Build<'_, 'c>, mask: Option<&Tensor<'c>>, batch: i64) -> Tensor<'c> {
    let zero = (ElementType::I32, Scalar::Int(0));
    let Some(mask) = mask else { return b.fill(zero.0, &[batch], zero.1) };
    super::super::reduce::fold_axes(b, mask, &[1], &[], zero, |calc, x, sum| {
        let one = calc.int_like(x[0], 1);
        let counts = calc.eq(x[0], one);
        let counts = calc.cast(counts, ElementType::I32);
        calc.add(sum, counts)
    })
}
