//! Attention: softmax(Q · Kᵀ · scale + mask) · V over heads, with a cache before K and V.

use super::attend::{Beside, Scores, Sizes, apart, attend, behind, check_width};
use super::{Operator, op};
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::computed;
use crate::types::ElementType;

pub const OPERATORS: &[Operator] = &[op(
    "Attention",
    23,
    7,
    &[
        "is_causal",
        "kv_num_heads",
        "left_window_size",
        "q_num_heads",
        "qk_matmul_output_mode",
        "right_window_size",
        "scale",
        "softcap",
        "softmax_precision",
    ],
    attention,
)
.at_least(3)
.up_to(4)];

/// `[batch, heads, positions, width]` of an operand.
fn heads(node: &Node<'_>, x: &Operand, heads: Option<i64>) -> Result<[i64; 4]> {
    match (x.dims(), heads) {
        (&[batch, own, positions, width], heads) if heads.is_none_or(|heads| heads == own) => {
            Ok([batch, own, positions, width])
        }
        (&[batch, positions, width], Some(heads)) if heads > 0 && width % heads == 0 => {
            Ok([batch, heads, positions, width / heads])
        }
        _ => Err(node
            .report(format!("attends with {} of {heads:?} heads", x.ty))
            .help("four dimensions, or three and a number of heads that divides the last")
            .invalid()),
    }
}

fn sizes(node: &Node<'_>) -> Result<Sizes> {
    let names = ["Q", "K", "V"];
    let count = |name| Ok(node.int(name)?.filter(|&heads| heads != 0));
    let (mine, theirs) = (count("q_num_heads")?, count("kv_num_heads")?);
    let q = node.typed(0, "Q", ElementType::FLOATS)?;
    let mut shapes = Vec::new();
    for (at, (name, count)) in names.iter().zip([mine, theirs, theirs]).enumerate() {
        let operand = node.input(at, name)?;
        node.expect_same_element(q, operand)?;
        if operand.rank() != q.rank() {
            return Err(node
                .report(format!("reads {name:?} as {}", operand.ty))
                .help(format!("as many dimensions as {}", q.ty))
                .invalid());
        }
        shapes.push(heads(node, operand, count)?);
    }
    let [[batch, heads, tokens, width], k, v] = shapes[..] else {
        unreachable!("three operands have three shapes")
    };
    let fits = k[..3] == v[..3] && k[0] == batch && k[3] == width && k[1] > 0 && heads % k[1] == 0;
    let mut past = 0;
    if let (Some(key), Some(value)) = (node.optional(4), node.optional(5)) {
        node.expect_same_element(q, key)?;
        node.expect_same_element(q, value)?;
        past = key.dims().get(2).copied().unwrap_or(-1);
        if key.dims() != [batch, k[1], past, width] || value.dims() != [batch, k[1], past, v[3]] {
            return Err(node
                .report(format!("continues {} and {}", key.ty, value.ty))
                .help("batch, heads and width as in K and V")
                .invalid());
        }
    } else if node.optional(4).is_some() || node.optional(5).is_some() {
        return Err(node.report("has half a cache").help("past_key and past_value").invalid());
    }
    if !fits || [batch, heads, tokens, k[2], width, v[3]].contains(&0) {
        return Err(node
            .report(format!("attends with Q {}, K and V of other extents", q.ty))
            .note(format!("heads first: Q {:?}, K {k:?}, V {v:?}", shapes[0]))
            .help("one batch, one width of Q and K, heads of K and V that divide those of Q, no empty axis")
            .invalid());
    }
    let keys = past.saturating_add(k[2]);
    let joined = q.rank() == 3;
    Ok(Sizes { batch, heads, shared: k[1], tokens, past, keys, width, values: v[3], joined })
}

fn mask<'n>(node: &'n Node<'_>, element: ElementType, size: &Sizes) -> Result<Option<&'n Operand>> {
    let Some(mask) = node.optional(3) else { return Ok(None) };
    let accepted = [ElementType::Bool, element];
    node.expect_element(mask, "attn_mask", &accepted)?;
    let (full, mut wide) = (size.full(), mask.dims().to_vec());
    // A mask may end early; nothing behind it is seen.
    if let Some(last) = wide.last_mut().filter(|last| **last < size.keys) {
        *last = size.keys;
    }
    if mask.rank() < 1 || node.broadcast([&full[..], &wide]).ok().as_deref() != Some(&full) {
        return Err(node
            .report(format!("masks with {}", mask.ty))
            .help(format!("what broadcasts to {}", crate::types::Shape(&full)))
            .invalid());
    }
    Ok(Some(mask))
}

fn lengths<'n>(node: &'n Node<'_>, size: &Sizes) -> Result<Option<&'n Operand>> {
    let Some(lengths) = node.optional(6) else { return Ok(None) };
    node.expect_element(lengths, "nonpad_kv_seqlen", &[ElementType::I64])?;
    if lengths.dims() != [size.batch] {
        return Err(node
            .report(format!("reads \"nonpad_kv_seqlen\" as {}", lengths.ty))
            .help(format!("one number for each of {} sequences", size.batch))
            .invalid());
    }
    Ok(Some(lengths))
}

/// A number of keys; `None` where there is no bound.
fn window(node: &Node<'_>, name: &str) -> Result<Option<i64>> {
    match node.int(name)?.unwrap_or(-1) {
        -1 => Ok(None),
        keys if keys >= 0 => Ok(Some(keys)),
        other => Err(node
            .report(format!("has {name} {other}"))
            .help("a number of keys, or -1 for all")
            .invalid()),
    }
}

fn attention(node: &Node<'_>) -> Result<Plan> {
    let size = sizes(node)?;
    let q = node.input(0, "Q")?;
    let element = q.element();
    let mut operands: Vec<_> = ["Q", "K", "V"]
        .iter()
        .enumerate()
        .map(|(at, name)| node.input(at, name))
        .collect::<Result<Vec<_>>>()?;
    check_width(node, &operands)?;
    let caches = node.optional(4).zip(node.optional(5));
    operands.extend(caches.into_iter().flat_map(|(key, value)| [key, value]));
    let full = size.full();
    let mut mask_at = None;
    if let Some(mask) = mask(node, element, &size)? {
        mask_at = Some(operands.len());
        operands.push(mask);
    }
    let mut lengths_at = None;
    if let Some(lengths) = lengths(node, &size)? {
        lengths_at = Some(operands.len());
        operands.push(lengths);
    }
    let mode = node.int("qk_matmul_output_mode")?.unwrap_or(0);
    if !(0..=3).contains(&mode) {
        return Err(node
            .report(format!("has qk_matmul_output_mode {mode}"))
            .help("0 to 3")
            .invalid());
    }
    node.int("softmax_precision")?;
    let default = (size.width as f64).powf(-0.5);
    let scores = Scores {
        scale: Some(node.float("scale", 0.0)?).filter(|&scale| scale != 0.0).unwrap_or(default),
        softcap: node.float("softcap", 0.0)?,
        causal: node.flag("is_causal", false)?,
        windows: [window(node, "left_window_size")?, window(node, "right_window_size")?],
    };
    let y = match size.joined {
        true => vec![size.batch, size.tokens, size.heads.saturating_mul(size.values)],
        false => vec![size.batch, size.heads, size.tokens, size.values],
    };
    let mut results = vec![
        node.ty(element, y)?,
        node.ty(element, vec![size.batch, size.shared, size.keys, size.width])?,
        node.ty(element, vec![size.batch, size.shared, size.keys, size.values])?,
        node.ty(element, full.to_vec())?,
    ];
    node.ty(computed(element), full.to_vec())?;
    results.truncate(node.outputs());
    let (types, cached) = (results.clone(), caches.is_some());
    let asked = scores.asks(caches.map(|(key, _)| key), q, lengths_at.is_some());
    let asked_at = asked.is_some().then_some(operands.len());
    let operands = operands.into_iter().cloned().collect();
    let plan = Plan::new(operands, results, move |b, args| {
        let q = apart(b, &args[0], size.heads, size.joined);
        let mut key = apart(b, &args[1], size.shared, size.joined);
        let mut value = apart(b, &args[2], size.shared, size.joined);
        if cached {
            (key, value) = (behind(b, &args[3], &key), behind(b, &args[4], &value));
        }
        let given = |at: Option<usize>| at.map(|at| &args[at]);
        let beside =
            Beside { mask: given(mask_at), lengths: given(lengths_at), asked: given(asked_at) };
        let attended = attend(b, &size, scores, [&q, &key, &value], &beside);
        let y = attended.y;
        let shown = attended.stages.get(mode as usize).unwrap_or(&attended.shares);
        let made = [&y, &key, &value, shown];
        made.iter()
            .zip(&types)
            .map(|(&x, ty)| {
                let x = b.cast(x, element);
                b.reshape(&x, ty.dims())
            })
            .collect()
    });
    Ok(plan.asking(asked))
}
