//! Attention: softmax(Q · Kᵀ · scale + mask) · V over heads, with a cache before K and V.

use weft_dialects::ir::Linear;

use super::linear::{accumulate, zeros};
use super::softmax::{Nothing, shares};
use super::{Operator, op};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Build, Tensor, broadcast, computed, identity};
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

/// The extents that operands share.
#[derive(Clone, Copy)]
struct Sizes {
    batch: i64,
    /// Heads of Q, and those of K and V, which divide them.
    heads: i64,
    shared: i64,
    tokens: i64,
    /// Positions in the cache, and with those that are added.
    past: i64,
    keys: i64,
    width: i64,
    values: i64,
    /// Operands of three dimensions have their heads beside each other in the last.
    joined: bool,
}

impl Sizes {
    /// The extents of the products of Q and K.
    fn full(&self) -> [i64; 4] {
        [self.batch, self.heads, self.tokens, self.keys]
    }
}

/// The operations on the products before the softmax.
#[derive(Clone, Copy)]
struct Scores {
    scale: f64,
    softcap: f64,
    causal: bool,
    /// Keys in front of a token and behind it that it sees, where that is bounded.
    windows: [Option<i64>; 2],
    /// The indices of the mask and the lengths among the arguments.
    mask: Option<usize>,
    lengths: Option<usize>,
}

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
        mask: mask_at,
        lengths: lengths_at,
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
    let operands = operands.into_iter().cloned().collect();
    Ok(Plan::new(operands, results, move |b, args| {
        let q = apart(b, &args[0], size.heads, size.joined);
        let mut key = apart(b, &args[1], size.shared, size.joined);
        let mut value = apart(b, &args[2], size.shared, size.joined);
        if cached {
            (key, value) = (behind(b, &args[3], &key), behind(b, &args[4], &value));
        }
        let stages = scores.of(b, &size, &q, &key, args);
        let nothing = if scores.masks() { Nothing::Zero } else { Nothing::Nan };
        let shares = shares(b, &stages[2], 3, computed(element), nothing);
        // The operator's function casts them to the type of V before it weighs.
        let shares = b.cast(&shares, element);
        let y = weigh(b, &size, &shares, &value);
        let shown = stages.get(mode as usize).unwrap_or(&shares);
        let made = [&y, &key, &value, shown];
        made.iter()
            .zip(&types)
            .map(|(&x, ty)| {
                let x = b.cast(x, element);
                b.reshape(&x, ty.dims())
            })
            .collect()
    }))
}

/// Heads as an axis of their own: `[batch, heads, positions, width]`.
fn apart<'c>(b: &mut Build<'_, 'c>, x: &Tensor<'c>, heads: i64, joined: bool) -> Tensor<'c> {
    if !joined {
        return x.clone();
    }
    let &[batch, positions, width] = x.dims() else { unreachable!("joined heads have three axes") };
    let x = b.reshape(x, &[batch, positions, heads, width / heads]);
    let read = [0, 2, 1, 3].map(|at| Linear::axis(4, at)).to_vec();
    let dims = [batch, heads, positions, width / heads];
    b.move_at(x.element(), &dims, &[(&x, read)], |_, x| x[0])
}

/// `new` behind `old`, along the positions.
fn behind<'c>(b: &mut Build<'_, 'c>, old: &Tensor<'c>, new: &Tensor<'c>) -> Tensor<'c> {
    let mut dims = old.dims().to_vec();
    dims[2] += new.dims()[2];
    let all = b.empty(old.element(), &dims);
    let all = b.insert(old, &all, &[0; 4], &[1; 4]);
    b.insert(new, &all, &[0, 0, old.dims()[2], 0], &[1; 4])
}

impl Scores {
    /// Whether a token may see no key.
    fn masks(self) -> bool {
        let windows = self.windows.iter().any(Option::is_some);
        self.causal || windows || self.mask.is_some() || self.lengths.is_some()
    }

    /// The scaled products; those after the soft cap; and with what is masked.
    fn of<'c>(
        self,
        b: &mut Build<'_, 'c>,
        size: &Sizes,
        q: &Tensor<'c>,
        key: &Tensor<'c>,
        args: &[Tensor<'c>],
    ) -> [Tensor<'c>; 3] {
        let number = computed(q.element());
        let full = [size.batch, size.heads, size.tokens, size.keys];
        let group = size.heads / size.shared;
        let q = b.reshape(q, &[size.batch, size.shared, group, size.tokens, size.width]);
        let wide = [size.batch, size.shared, group, size.tokens, size.keys];
        let axes = |order: &[usize]| order.iter().map(|&at| Linear::axis(6, at)).collect();
        let start = zeros(b, q.element(), &wide);
        let left = (&q, axes(&[0, 1, 2, 3, 5]));
        let product = accumulate(b, &start, &[size.width], left, (key, axes(&[0, 1, 4, 5])));
        let product = b.reshape(&product, &full);
        let scaled = b.map(number, &full, &[&product], |calc, x| {
            let scale = calc.like(x[0], self.scale);
            calc.mul(x[0], scale)
        });
        let capped = match self.softcap > 0.0 {
            false => scaled.clone(),
            true => b.map(number, &full, &[&scaled], |calc, x| {
                let cap = calc.like(x[0], self.softcap);
                let share = calc.div(x[0], cap);
                let bent = calc.math("tanh", share);
                calc.mul(bent, cap)
            }),
        };
        let masked = self.masked(b, size, &capped, args);
        let placed = self.placed(b, size, &masked, args);
        [scaled, capped, placed]
    }

    /// Scores with the mask.
    fn masked<'c>(
        self,
        b: &mut Build<'_, 'c>,
        size: &Sizes,
        x: &Tensor<'c>,
        args: &[Tensor<'c>],
    ) -> Tensor<'c> {
        let Some(mask) = self.mask.map(|at| &args[at]) else { return x.clone() };
        let (full, rank) = (x.dims().to_vec(), mask.dims().len());
        let mut after = vec![0; rank];
        after[rank - 1] = (size.keys - mask.dims()[rank - 1]).max(0);
        let boolean = mask.element() == ElementType::Bool;
        let nothing = match boolean {
            true => Scalar::Int(0),
            false => Scalar::Float(f64::NEG_INFINITY),
        };
        let mask = b.pad(mask, &vec![0; rank], &after, nothing);
        let inputs = [(x, identity(4)), (&mask, broadcast(mask.dims(), &full, 4))];
        b.map_at(x.element(), &full, &inputs, |calc, given| match boolean {
            true => {
                let never = calc.like(given[0], f64::NEG_INFINITY);
                calc.select(given[1], given[0], never)
            }
            false => calc.add(given[0], given[1]),
        })
    }

    /// What a token sees by its place: apart from the mask, so that each is where its own kind is done best.
    fn placed<'c>(
        self,
        b: &mut Build<'_, 'c>,
        size: &Sizes,
        x: &Tensor<'c>,
        args: &[Tensor<'c>],
    ) -> Tensor<'c> {
        let [left, right] = self.windows;
        let right = if self.causal { Some(right.map_or(0, |keys| keys.min(0))) } else { right };
        let bounded = left.is_some() || right.is_some();
        if !bounded && self.lengths.is_none() {
            return x.clone();
        }
        let mut inputs = vec![(x, identity(4))];
        inputs.extend(self.lengths.map(|at| (&args[at], vec![Linear::axis(4, 0)])));
        b.map_at(x.element(), x.dims(), &inputs, |calc, given| {
            let (mut score, never) = (given[0], calc.like(given[0], f64::NEG_INFINITY));
            let length = given[1..].first().map(|&length| calc.coordinate(length));
            if bounded {
                // The tokens are the last ones of the keys that count: of a cache in front, or of the lengths.
                let (token, key) = (calc.index(2), calc.index(3));
                let front = match length.filter(|_| size.past == 0) {
                    Some(length) => {
                        let tokens = calc.at(size.tokens);
                        calc.sub(length, tokens)
                    }
                    None => calc.at(size.past),
                };
                let place = calc.add(token, front);
                if let Some(keys) = right {
                    let keys = calc.at(keys);
                    let last = calc.add(place, keys);
                    let later = calc.gt(key, last);
                    score = calc.select(later, never, score);
                }
                if let Some(keys) = left {
                    let keys = calc.at(keys);
                    let first = calc.sub(place, keys);
                    let earlier = calc.lt(key, first);
                    score = calc.select(earlier, never, score);
                }
            }
            if let Some(length) = length {
                let key = calc.index(3);
                let padding = calc.ge(key, length);
                score = calc.select(padding, never, score);
            }
            score
        })
    }
}

/// The values, weighed: `[batch, heads, tokens, values]`, or heads beside each other.
fn weigh<'c>(
    b: &mut Build<'_, 'c>,
    size: &Sizes,
    shares: &Tensor<'c>,
    value: &Tensor<'c>,
) -> Tensor<'c> {
    let group = size.heads / size.shared;
    let wide = [size.batch, size.shared, group, size.tokens, size.keys];
    let shares = b.reshape(shares, &wide);
    // The axes of batch, shared heads, heads of a group and tokens, in the order of the result.
    let (dims, at) = if size.joined {
        ([size.batch, size.tokens, size.shared, group, size.values], [0, 2, 3, 1])
    } else {
        ([size.batch, size.shared, group, size.tokens, size.values], [0, 1, 2, 3])
    };
    let axes = |order: &[usize]| order.iter().map(|&at| Linear::axis(6, at)).collect();
    let start = zeros(b, value.element(), &dims);
    let left = (&shares, axes(&[at[0], at[1], at[2], at[3], 5]));
    accumulate(b, &start, &[size.keys], left, (value, axes(&[at[0], at[1], 5, 4])))
}
