//! What every kind of attention does: scores of heads, a softmax of them, and the values weighed.

use weft_dialects::ir::Linear;

use weft_runtime::length::Length;

use super::linear::{accumulate, zeros};
use super::softmax::{Nothing, shares};
use crate::elements::Scalar;
use crate::node::Node;
use crate::payload::{Build, Tensor, broadcast, computed, identity};
use crate::plan::Operand;
use crate::types::ElementType;

/// The extents that operands share.
#[derive(Clone, Copy)]
pub struct Sizes {
    pub batch: i64,
    /// Heads of Q, and those of K and V, which divide them.
    pub heads: i64,
    pub shared: i64,
    pub tokens: i64,
    /// Positions in the cache, and with those that are added.
    pub past: i64,
    pub keys: i64,
    pub width: i64,
    pub values: i64,
    /// Operands of three dimensions have their heads beside each other in the last.
    pub joined: bool,
}

impl Sizes {
    /// The extents of the products of Q and K.
    pub fn full(&self) -> [i64; 4] {
        [self.batch, self.heads, self.tokens, self.keys]
    }
}

/// The operations on the products before the softmax.
#[derive(Clone, Copy)]
pub struct Scores {
    pub scale: f64,
    pub softcap: f64,
    pub causal: bool,
    /// Keys in front of a token and behind it that it sees, where that is bounded.
    pub windows: [Option<i64>; 2],
}

/// Operands beside Q, K and V.
#[derive(Clone, Copy)]
pub struct Beside<'t, 'c> {
    /// What is added to scores, or whether they count: it broadcasts to [`Sizes::full`], and may
    /// have fewer keys.
    pub mask: Option<&'t Tensor<'c>>,
    /// How many keys of each sequence count, as 64-bit integers.
    pub lengths: Option<&'t Tensor<'c>>,
    /// How many keys lie in front of the tokens, or how many tokens there are where `lengths` says how many keys
    /// count: where callers decide it.
    pub asked: Option<&'t Tensor<'c>>,
}

/// What attention makes.
pub struct Attended<'c> {
    /// The values, weighed, with heads beside each other where operands have them so.
    pub y: Tensor<'c>,
    /// The scaled products; those after the soft cap; and with what is masked.
    pub stages: [Tensor<'c>; 3],
    /// The softmax of the last.
    pub shares: Tensor<'c>,
}

/// The attention of Q, K and V, `[batch, heads, positions, width]` each.
pub fn attend<'c>(
    b: &mut Build<'_, 'c>,
    size: &Sizes,
    scores: Scores,
    [q, key, value]: [&Tensor<'c>; 3],
    beside: &Beside<'_, 'c>,
) -> Attended<'c> {
    let stages = scores.of(b, size, [q, key], beside);
    let element = q.element();
    let nothing = if scores.masks(beside) { Nothing::Zero } else { Nothing::Nan };
    let shares = shares(b, &stages[2], 3, computed(element), nothing);
    // The operator's function casts them to the type of V before it weighs.
    let shares = b.cast(&shares, element);
    let y = weigh(b, size, &shares, value);
    Attended { y, stages, shares }
}

/// Heads as an axis of their own: `[batch, heads, positions, width]`.
pub fn apart<'c>(b: &mut Build<'_, 'c>, x: &Tensor<'c>, heads: i64, joined: bool) -> Tensor<'c> {
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
pub fn behind<'c>(b: &mut Build<'_, 'c>, old: &Tensor<'c>, new: &Tensor<'c>) -> Tensor<'c> {
    behind_along(b, old, new, 2)
}

/// `new` behind `old`, along an axis.
pub fn behind_along<'c>(
    b: &mut Build<'_, 'c>,
    old: &Tensor<'c>,
    new: &Tensor<'c>,
    axis: usize,
) -> Tensor<'c> {
    let mut dims = old.dims().to_vec();
    dims[axis] += new.dims()[axis];
    let (mut offsets, steps) = (vec![0; dims.len()], vec![1; dims.len()]);
    let all = b.empty(old.element(), &dims);
    let all = b.insert(old, &all, &offsets, &steps);
    offsets[axis] = old.dims()[axis];
    b.insert(new, &all, &offsets, &steps)
}

/// Checks that callers do not decide how wide heads are: scores are scaled by that.
pub fn check_width(node: &Node<'_>, operands: &[&Operand]) -> crate::Result<()> {
    let length = operands.iter().find_map(|operand| operand.length(operand.rank() - 1));
    match length {
        None => Ok(()),
        Some(length) => Err(node
            .report(format!("has heads of `{length}` numbers"))
            .help("one length for the dimension, as --dim NAME=64")
            .unsupported()),
    }
}

impl Scores {
    /// The number that bounds by place are counted from, where callers decide it: how many keys the cache
    /// `key` has, or how many tokens `q` where each sequence has a number of keys.
    pub fn asks(self, key: Option<&Operand>, q: &Operand, sequences: bool) -> Option<Length> {
        let bounded = self.causal || self.windows.iter().any(Option::is_some);
        let own = match key {
            Some(key) => key.length(2),
            None if sequences => q.length(q.rank() - 2),
            None => None,
        };
        own.filter(|_| bounded).cloned()
    }

    /// Whether a token may see no key.
    fn masks(self, beside: &Beside<'_, '_>) -> bool {
        let windows = self.windows.iter().any(Option::is_some);
        self.causal || windows || beside.mask.is_some() || beside.lengths.is_some()
    }

    /// The scaled products; those after the soft cap; and with what is masked.
    fn of<'c>(
        self,
        b: &mut Build<'_, 'c>,
        size: &Sizes,
        [q, key]: [&Tensor<'c>; 2],
        beside: &Beside<'_, 'c>,
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
        let masked = masked(b, size, &capped, beside.mask);
        let placed = self.placed(b, size, &masked, beside);
        [scaled, capped, placed]
    }

    /// What a token sees by its place: apart from the mask, so that each is where its own kind is done best.
    fn placed<'c>(
        self,
        b: &mut Build<'_, 'c>,
        size: &Sizes,
        x: &Tensor<'c>,
        beside: &Beside<'_, 'c>,
    ) -> Tensor<'c> {
        let lengths = beside.lengths;
        let [left, right] = self.windows;
        let right = if self.causal { Some(right.map_or(0, |keys| keys.min(0))) } else { right };
        let bounded = left.is_some() || right.is_some();
        if !bounded && lengths.is_none() {
            return x.clone();
        }
        let mut inputs = vec![(x, identity(4))];
        inputs.extend(lengths.map(|lengths| (lengths, vec![Linear::axis(4, 0)])));
        inputs.extend(beside.asked.map(|asked| (asked, vec![])));
        b.map_at(x.element(), x.dims(), &inputs, |calc, given| {
            let (mut score, never) = (given[0], calc.like(given[0], f64::NEG_INFINITY));
            let length = lengths.map(|_| calc.coordinate(given[1]));
            let asked = beside.asked.map(|_| calc.coordinate(given[given.len() - 1]));
            if bounded {
                // The tokens are the last ones of the keys that count: of a cache in front, or of the lengths.
                let (token, key) = (calc.index(2), calc.index(3));
                let front = match length.filter(|_| size.past == 0) {
                    Some(length) => {
                        let tokens = asked.unwrap_or_else(|| calc.at(size.tokens));
                        calc.sub(length, tokens)
                    }
                    None => asked.unwrap_or_else(|| calc.at(size.past)),
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

/// Scores with the mask.
fn masked<'c>(
    b: &mut Build<'_, 'c>,
    size: &Sizes,
    x: &Tensor<'c>,
    mask: Option<&Tensor<'c>>,
) -> Tensor<'c> {
    let Some(mask) = mask else { return x.clone() };
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
