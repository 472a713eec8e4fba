//! What GroupQueryAttention reads: extents, the cache, and the tables of angles.

use super::super::rotary::{expect_even, expect_positions, table};
use crate::error::Result;
use crate::inputs::Extent;
use crate::node::{Node, Operand};
use crate::types::{ElementType, Shape};

const FLOATS: &[ElementType] = &[ElementType::F16, ElementType::BF16, ElementType::F32];

/// Extents, and where operands stand among the arguments.
#[derive(Clone, Copy)]
pub struct Layout {
    pub batch: i64,
    pub heads: i64,
    pub shared: i64,
    pub tokens: i64,
    pub width: i64,
    /// Positions in the cache that is given and in the one that is made, and those that may count.
    pub past: i64,
    pub room: i64,
    pub total: i64,
    /// Q, K and V lie beside each other in one operand.
    pub packed: bool,
    pub lengths: usize,
    pub caches: Option<usize>,
    pub rotary: Option<Rotary>,
    pub bias: Option<usize>,
}

#[derive(Clone, Copy)]
pub struct Rotary {
    pub tables: usize,
    pub positions: Option<usize>,
    pub turned: i64,
    pub interleaved: bool,
}

/// Batch, tokens and the width of a head, of Q alone or of Q, K and V beside each other.
fn sizes(node: &Node<'_>, heads: i64, shared: i64) -> Result<([i64; 3], bool)> {
    let q = node.typed(0, "query", FLOATS)?;
    let packed = node.optional(1).is_none();
    let many = heads.saturating_add(if packed { 2 * shared } else { 0 });
    let &[batch, tokens, all] = q.dims() else {
        return Err(node
            .report(format!("attends with {}", q.ty))
            .help("batch, tokens, heads")
            .invalid());
    };
    if all % many != 0 || q.dims().contains(&0) {
        return Err(node
            .report(format!("attends with {} of {many} heads", q.ty))
            .help("heads that divide the last extent, and no empty axis")
            .invalid());
    }
    let width = all / many;
    if packed != node.optional(2).is_none() {
        return Err(node.invalid("reads one of \"key\" and \"value\""));
    }
    if !packed {
        for (at, name) in [(1, "key"), (2, "value")] {
            let operand = node.input(at, name)?;
            node.expect_same_element(q, operand)?;
            let dims = [batch, tokens, shared.saturating_mul(width)];
            if operand.dims() != dims {
                return Err(node
                    .report(format!("reads {name:?} as {}", operand.ty))
                    .help(format!("{} beside {}", Shape(&dims), q.ty))
                    .invalid());
            }
        }
    }
    Ok(([batch, tokens, width], packed))
}

/// The number of heads that an attribute says.
fn count(node: &Node<'_>, name: &str) -> Result<i64> {
    match node.int(name)? {
        Some(heads) if (1..=i32::MAX.into()).contains(&heads) => Ok(heads),
        other => Err(node.report(format!("has {name} {other:?}")).help("1 or more").invalid()),
    }
}

/// The operands of the cache, with the positions in it.
fn caches<'n>(
    node: &'n Node<'_>,
    [batch, shared, width]: [i64; 3],
) -> Result<Option<([&'n Operand; 2], i64)>> {
    let (Some(key), Some(value)) = (node.optional(3), node.optional(4)) else {
        if node.optional(3).is_some() || node.optional(4).is_some() {
            return Err(node.report("has half a cache").help("past_key and past_value").invalid());
        }
        return Ok(None);
    };
    let past = key.dims().get(2).copied().unwrap_or(-1);
    for operand in [key, value] {
        node.expect_same_element(node.input(0, "query")?, operand)?;
        if operand.dims() != [batch, shared, past, width] {
            return Err(node
                .report(format!("continues {} and {}", key.ty, value.ty))
                .help(format!("{batch} x {shared} x positions x {width}, of both"))
                .invalid());
        }
    }
    Ok(Some(([key, value], past)))
}

/// The extent that the model declares of the cache it makes: a number, or the name that the cache
/// it is given has, too.
fn declared_room(node: &Node<'_>, past: Option<i64>) -> Option<i64> {
    match (node.declared_output(1, 2)?, node.declared_input(3, 2)) {
        (Extent::Known(room), _) => Some(room),
        (Extent::Symbol(room), Some(Extent::Symbol(old))) if room == old => past,
        _ => None,
    }
}

/// The number of positions that count at most, of which `tokens` are new.
///
/// Where it is only known when the model runs, the declared extent of the cache stands for it: no
/// more positions count.
fn total(node: &Node<'_>, tokens: i64, past: Option<i64>) -> Result<i64> {
    let is_known = node.input(6, "total_sequence_length")?.known.is_some();
    let total = match declared_room(node, past).filter(|_| !is_known) {
        Some(room) => room,
        None => match node.known_ints(6, "total_sequence_length")?.as_deref() {
            Some(&[total]) => total,
            other => {
                return Err(node
                    .report(format!("has total_sequence_length {other:?}"))
                    .help("one number")
                    .invalid());
            }
        },
    };
    let old = past.unwrap_or(0);
    let most = old.saturating_add(tokens);
    if total < tokens || total > most {
        return Err(node
            .report(format!("has total_sequence_length {total}"))
            .note(format!("{tokens} tokens are new, and the cache has {old}"))
            .help(format!("{tokens} to {most}"))
            .invalid());
    }
    Ok(total)
}

/// The tables of the angles and the positions, where tokens are turned.
fn rotary<'n>(
    node: &'n Node<'_>,
    [batch, tokens, width]: [i64; 3],
    operands: &mut Vec<&'n Operand>,
) -> Result<Option<Rotary>> {
    if !node.flag("do_rotary", false)? {
        return Ok(None);
    }
    let q = node.input(0, "query")?;
    let pairs = node.input(7, "cos_cache")?.dims().last().copied().unwrap_or(0);
    let turned = pairs.saturating_mul(2);
    expect_even(node, turned, width)?;
    let tables = operands.len();
    operands.push(table(node, q, 7, "cos_cache", turned)?);
    operands.push(table(node, q, 8, "sin_cache", turned)?);
    let mut positions = None;
    if let Some(ids) = node.optional(9) {
        expect_positions(node, ids, [batch, tokens])?;
        positions = Some(operands.len());
        operands.push(ids);
    }
    let interleaved = node.flag("rotary_interleaved", false)?;
    Ok(Some(Rotary { tables, positions, turned, interleaved }))
}

/// Checks a node, and gives its operands in the order of the arguments.
pub fn layout<'n>(node: &'n Node<'_>) -> Result<(Layout, Vec<&'n Operand>)> {
    let (heads, shared) = (count(node, "num_heads")?, count(node, "kv_num_heads")?);
    if heads % shared != 0 {
        return Err(node
            .report(format!("shares {shared} heads among {heads}"))
            .help("a kv_num_heads that divides num_heads")
            .invalid());
    }
    let ([batch, tokens, width], packed) = sizes(node, heads, shared)?;
    let mut operands: Vec<_> = (0..3).filter_map(|at| node.optional(at)).collect();
    let given = caches(node, [batch, shared, width])?;
    let total = total(node, tokens, given.map(|(_, past)| past))?;
    let past = given.map_or(0, |(_, past)| past);
    let lengths = node.typed(5, "seqlens_k", &[ElementType::I32])?;
    if lengths.dims() != [batch] && lengths.dims() != [batch, 1] {
        return Err(node
            .report(format!("reads \"seqlens_k\" as {}", lengths.ty))
            .help(format!("one number for each of {batch} sequences"))
            .invalid());
    }
    let lengths_at = operands.len();
    operands.push(lengths);
    let caches = given.map(|_| operands.len());
    operands.extend(given.into_iter().flat_map(|(both, _)| both));
    let rotary = rotary(node, [batch, tokens, width], &mut operands)?;
    let mut bias = None;
    if let Some(operand) = node.optional(10) {
        node.expect_same_element(node.input(0, "query")?, operand)?;
        let full = [batch, heads, tokens, total];
        let fits = operand.rank() == 4
            && operand.dims()[2..] == full[2..]
            && node.broadcast([operand.dims(), &full]).is_ok_and(|dims| dims == full);
        if !fits {
            return Err(node
                .report(format!("reads \"attention_bias\" as {}", operand.ty))
                .help(format!("what broadcasts to {} over batch and heads", Shape(&full)))
                .invalid());
        }
        bias = Some(operands.len());
        operands.push(operand);
    }
    let room = past.max(total);
    let layout = Layout {
        batch,
        heads,
        shared,
        tokens,
        width,
        past,
        room,
        total,
        packed,
        lengths: lengths_at,
        caches,
        rotary,
        bias,
    };
    Ok((layout, operands))
}
