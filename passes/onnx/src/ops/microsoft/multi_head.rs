//! MultiHeadAttention: attention over operands that a projection made, whose bias is added here.
//!
//! ```text
//! query [b, s, h·d]    key [b, l, h·d]      value [b, l, h·e]
//! query [b, s, h·d]    key [b, l, h, 2, d]                       keys and values beside each other
//! query [b, l, h, 3, d]                                          all three beside each other
//! query [b, s, h·d]    key [b, h, l, d]     value [b, h, l, e]   without their bias
//! ```
//!
//! What a mask of keys hides is not left out: `mask_filter_value` is added to its score.

use weft_dialects::ir::Linear;

use super::super::attend::{Beside, Scores, Sizes, apart, attend, behind, check_width};
use super::super::{Operator, microsoft};
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Build, Tensor, broadcast, computed, identity};
use crate::types::{ElementType, Shape};

pub const OPERATORS: &[Operator] = &[microsoft(
    "MultiHeadAttention",
    10,
    &["mask_filter_value", "num_heads", "scale", "unidirectional"],
    multi_head,
)
.at_least(1)
.up_to(4)];

const FLOATS: &[ElementType] = &[ElementType::F16, ElementType::BF16, ElementType::F32];

/// How Q, K and V lie in the operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Apart,
    KeyValue,
    All,
    HeadsFirst,
}

/// Where operands stand among the arguments.
#[derive(Clone, Copy, Default)]
struct Places {
    bias: Option<usize>,
    hidden: Option<usize>,
    added: Option<usize>,
    cache: Option<usize>,
}

fn form(node: &Node<'_>, heads: i64) -> Result<(Form, Sizes)> {
    let q = node.typed(0, "query", FLOATS)?;
    let dims = |at: usize| node.optional(at).map(Operand::dims);
    let own = |all: i64| (all > 0 && all % heads == 0).then_some(all / heads);
    let found = match (q.dims(), dims(1), dims(2)) {
        (&[b, l, h, 3, d], None, None) if h == heads => Some((Form::All, [b, l, l, d, d])),
        (&[b, s, all], Some(&[b_k, l, h, 2, d]), None) => {
            let fits = b_k == b && h == heads && own(all) == Some(d);
            fits.then_some((Form::KeyValue, [b, s, l, d, d]))
        }
        (&[b, s, all], Some(&[b_k, l, all_k]), Some(&[b_v, l_v, all_v])) => {
            let fits = (b_k, all_k, b_v, l_v) == (b, all, b, l);
            own(all).zip(own(all_v)).filter(|_| fits).map(|(d, e)| (Form::Apart, [b, s, l, d, e]))
        }
        (&[b, s, all], Some(&[b_k, h, l, d]), Some(&[b_v, h_v, l_v, e])) => {
            let fits = (b_k, h, b_v, h_v, l_v) == (b, heads, b, heads, l) && own(all) == Some(d);
            fits.then_some((Form::HeadsFirst, [b, s, l, d, e]))
        }
        _ => None,
    };
    let shown = |at: usize| node.optional(at).map_or("none".to_owned(), |x| x.ty.to_string());
    let Some((form, [batch, tokens, keys, width, values])) = found.filter(|(_, d)| !d.contains(&0))
    else {
        return Err(node
            .report(format!("attends with {} of {heads} heads", q.ty))
            .note(format!("its key is {}, its value {}", shown(1), shown(2)))
            .help("batch, tokens and heads; heads, 2 or 3 and a width in one operand; or keys and values with heads first")
            .invalid());
    };
    for operand in (1..3).filter_map(|at| node.optional(at)) {
        node.expect_same_element(q, operand)?;
    }
    let (shared, joined) = (heads, true);
    let size = Sizes { batch, heads, shared, tokens, past: 0, keys, width, values, joined };
    Ok((form, size))
}

/// Adds the operands of the cache, and its positions to those of the keys.
fn caches<'n>(
    node: &'n Node<'_>,
    size: &mut Sizes,
    operands: &mut Vec<&'n Operand>,
) -> Result<Option<usize>> {
    let (Some(key), Some(value)) = (node.optional(6), node.optional(7)) else {
        if node.optional(6).is_some() || node.optional(7).is_some() {
            return Err(node.report("has half a cache").help("past_key and past_value").invalid());
        }
        return Ok(None);
    };
    let past = key.dims().get(2).copied().unwrap_or(-1);
    for (operand, width) in [(key, size.width), (value, size.values)] {
        node.expect_same_element(node.input(0, "query")?, operand)?;
        if operand.dims() != [size.batch, size.heads, past, width] {
            return Err(node
                .report(format!("continues {} and {}", key.ty, value.ty))
                .help("batch, heads and width as in the keys and values")
                .invalid());
        }
    }
    size.past = past;
    size.keys = size.keys.saturating_add(past);
    operands.extend([key, value]);
    Ok(Some(operands.len() - 2))
}

/// The operands beside Q, K and V.
fn places<'n>(
    node: &'n Node<'_>,
    size: &mut Sizes,
    operands: &mut Vec<&'n Operand>,
) -> Result<Places> {
    let q = node.input(0, "query")?;
    let mut places = Places { cache: caches(node, size, operands)?, ..Places::default() };
    let mut add = |operand| {
        operands.push(operand);
        Some(operands.len() - 1)
    };
    if let Some(bias) = node.optional(3) {
        node.expect_same_element(q, bias)?;
        let all = size.heads.saturating_mul(2 * size.width + size.values);
        if bias.dims() != [all] {
            return Err(node
                .report(format!("adds a bias of {}", bias.ty))
                .help(format!("{all} numbers, of the queries, keys and values"))
                .invalid());
        }
        places.bias = add(bias);
    }
    let full = size.full();
    if let Some(hidden) = node.optional(4) {
        node.expect_element(hidden, "key_padding_mask", &[ElementType::I32])?;
        let [batch, _, tokens, keys] = full;
        let shapes = [&[batch][..], &[batch, keys], &[batch, tokens, keys]];
        if !shapes.contains(&hidden.dims()) {
            return Err(node
                .report(format!("reads \"key_padding_mask\" as {}", hidden.ty))
                .help(shapes.map(|dims| Shape(dims).to_string()).join(", "))
                .unsupported());
        }
        places.hidden = add(hidden);
    }
    if let Some(added) = node.optional(5) {
        node.expect_same_element(q, added)?;
        let fits = added.rank() == 4
            && added.dims()[2..] == full[2..]
            && node.broadcast([added.dims(), &full]).is_ok_and(|dims| dims == full);
        if !fits {
            return Err(node
                .report(format!("reads \"attention_bias\" as {}", added.ty))
                .help(format!("what broadcasts to {} over batch and heads", Shape(&full)))
                .invalid());
        }
        places.added = add(added);
    }
    Ok(places)
}

fn multi_head(node: &Node<'_>) -> Result<Plan> {
    let heads = match node.int("num_heads")? {
        Some(heads) if (1..=i32::MAX.into()).contains(&heads) => heads,
        other => {
            return Err(node
                .report(format!("has num_heads {other:?}"))
                .help("1 or more")
                .invalid());
        }
    };
    for (at, name) in [(8, "past_sequence_length"), (9, "cache_indirection")] {
        if node.optional(at).is_some() {
            return Err(node.report(format!("reads {name:?}")).help("without it").unsupported());
        }
    }
    if node.names_output(3) {
        return Err(node.report("makes \"qk\"").help("outputs 0 to 2").unsupported());
    }
    let (form, mut size) = form(node, heads)?;
    let mut operands: Vec<_> = (0..3).filter_map(|at| node.optional(at)).collect();
    check_width(node, &operands)?;
    let places = places(node, &mut size, &mut operands)?;
    let default = (size.width as f64).powf(-0.5);
    let scores = Scores {
        scale: Some(node.float("scale", 0.0)?).filter(|&scale| scale != 0.0).unwrap_or(default),
        softcap: 0.0,
        causal: node.flag("unidirectional", false)?,
        windows: [None, None],
    };
    let filter = node.float("mask_filter_value", -10_000.0)?;
    let element = operands[0].element();
    let mut results = vec![
        node.ty(element, vec![size.batch, size.tokens, heads.saturating_mul(size.values)])?,
        node.ty(element, vec![size.batch, heads, size.keys, size.width])?,
        node.ty(element, vec![size.batch, heads, size.keys, size.values])?,
    ];
    results.truncate(node.outputs());
    let types = results.clone();
    node.ty(computed(element), size.full().to_vec())?;
    let asked = scores.asks(node.optional(6), node.input(0, "query")?, false);
    let asked_at = asked.is_some().then_some(operands.len());
    let operands = operands.into_iter().cloned().collect();
    let plan = Plan::new(operands, results, move |b, args| {
        let [q, mut key, mut value] = form.heads(b, &size, args, places.bias);
        if let Some(at) = places.cache {
            (key, value) = (behind(b, &args[at], &key), behind(b, &args[at + 1], &value));
        }
        let mask = mask(b, places, args, &size, filter);
        let beside =
            Beside { mask: mask.as_ref(), lengths: None, asked: asked_at.map(|at| &args[at]) };
        let attended = attend(b, &size, scores, [&q, &key, &value], &beside);
        let y = b.cast(&attended.y, element);
        let made = [&y, &key, &value];
        made.iter().zip(&types).map(|(&x, ty)| b.reshape(x, ty.dims())).collect()
    });
    Ok(plan.asking(asked))
}

impl Form {
    /// Q, K and V with heads as an axis of their own and their bias.
    fn heads<'c>(
        self,
        b: &mut Build<'_, 'c>,
        size: &Sizes,
        args: &[Tensor<'c>],
        bias: Option<usize>,
    ) -> [Tensor<'c>; 3] {
        let Sizes { heads, width, values, .. } = *size;
        let raw = match self {
            Self::Apart => [0, 1, 2].map(|at| apart(b, &args[at], heads, true)),
            Self::HeadsFirst => [apart(b, &args[0], heads, true), args[1].clone(), args[2].clone()],
            Self::KeyValue => {
                let [key, value] = [0, 1].map(|part| one_of(b, &args[1], part));
                [apart(b, &args[0], heads, true), key, value]
            }
            Self::All => [0, 1, 2].map(|part| one_of(b, &args[0], part)),
        };
        let Some(bias) = bias.map(|at| &args[at]) else { return raw };
        let [q, key, value] = raw;
        let q = biased(b, &q, bias, 0);
        if self == Self::HeadsFirst {
            return [q, key, value];
        }
        let key = biased(b, &key, bias, heads * width);
        let value = biased(b, &value, bias, 2 * heads * width);
        debug_assert_eq!(value.dims()[3], values, "values have their own width");
        [q, key, value]
    }
}

/// One part of an operand `[batch, positions, heads, parts, width]`, heads first.
fn one_of<'c>(b: &mut Build<'_, 'c>, all: &Tensor<'c>, part: i64) -> Tensor<'c> {
    let &[batch, positions, heads, _, width] = all.dims() else { unreachable!("it has parts") };
    let read = vec![
        Linear::axis(4, 0),
        Linear::axis(4, 2),
        Linear::axis(4, 1),
        Linear::constant(4, part),
        Linear::axis(4, 3),
    ];
    let dims = [batch, heads, positions, width];
    b.move_at(all.element(), &dims, &[(all, read)], |_, x| x[0])
}

/// `x` with the numbers of the bias from `first` on, one for each place in each head.
fn biased<'c>(b: &mut Build<'_, 'c>, x: &Tensor<'c>, bias: &Tensor<'c>, first: i64) -> Tensor<'c> {
    let (heads, width) = (x.dims()[1], x.dims()[3]);
    let own = b.slice(bias, &[first], &[heads * width], &[1]);
    let own = b.reshape(&own, &[heads, width]);
    let inputs = [(x, identity(4)), (&own, vec![Linear::axis(4, 1), Linear::axis(4, 3)])];
    b.map_at(x.element(), x.dims(), &inputs, |calc, x| calc.add(x[0], x[1]))
}

/// What is added to scores: `filter` where keys are hidden, and the operand for it.
fn mask<'c>(
    b: &mut Build<'_, 'c>,
    places: Places,
    args: &[Tensor<'c>],
    size: &Sizes,
    filter: f64,
) -> Option<Tensor<'c>> {
    let added = places.added.map(|at| &args[at]);
    let Some(hidden) = places.hidden.map(|at| &args[at]) else { return added.cloned() };
    let [batch, _, tokens, keys] = size.full();
    let is_length = hidden.dims().len() == 1;
    let (rows, read): (i64, &[usize]) = match hidden.dims().len() {
        1 => (1, &[0]),
        2 => (1, &[0, 3]),
        _ => (tokens, &[0, 2, 3]),
    };
    let mut dims = vec![batch, 1, rows, keys];
    let read = read.iter().map(|&axis| Linear::axis(4, axis)).collect();
    let mut inputs = vec![(hidden, read)];
    if let Some(added) = added {
        (dims[1], dims[2]) = (added.dims()[1], tokens);
        inputs.push((added, broadcast(added.dims(), &dims, 4)));
    }
    Some(b.map_at(ElementType::F32, &dims, &inputs, |calc, given| {
        let shown = if is_length {
            let (key, length) = (calc.index(3), calc.coordinate(given[0]));
            calc.lt(key, length)
        } else {
            let none = calc.int_like(given[0], 0);
            calc.ne(given[0], none)
        };
        let nothing = calc.literal(ElementType::F32, crate::elements::Scalar::Int(0));
        let hidden = calc.like(nothing, filter);
        let mask = calc.select(shown, nothing, hidden);
        match given.get(1) {
            Some(&added) => calc.add(mask, added),
            None => mask,
        }
    }))
}
