//! GroupQueryAttention: causal attention whose heads share keys and values, which are kept in a
//! cache from one step to the next.
//!
//! ```text
//! front[b]          = max(seqlens_k[b] + 1 - tokens, 0)          positions in the cache
//! present[b, h, r]  = key[b, h, r - front[b]]                    where r is one of the new positions
//!                     past[b, h, r]                              elsewhere
//! Y                 = softmax(Q · presentᵀ · scale, up to front[b] + token) · present values
//! ```
//!
//! The cache has room for `total_sequence_length` positions or more, which therefore is known when
//! the model is compiled, or is what the model declares. How many are taken is known when it runs.

use weft_dialects::ir::Linear;

use super::super::attend::{Beside, Scores, Sizes, apart, attend};
use super::super::rotary::{Turn, angles};
use super::super::{Operator, microsoft};
use super::cached::{Layout, Rotary, layout};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Plan};
use crate::payload::{Build, Tensor, computed};
use crate::types::ElementType;

pub const OPERATORS: &[Operator] = &[microsoft(
    "GroupQueryAttention",
    17,
    &[
        "causal",
        "do_rotary",
        "k_norm_epsilon",
        "k_quant_type",
        "kv_cache_bit_width",
        "kv_num_heads",
        "local_window_size",
        "num_heads",
        "q_norm_epsilon",
        "qk_norm_epsilon",
        "qk_output",
        "rotary_interleaved",
        "scale",
        "sliding_window_cache",
        "smooth_softmax",
        "softcap",
        "v_quant_type",
    ],
    group_query,
)
.at_least(7)
.up_to(4)];

/// Refuses what changes the meaning and is not done.
fn refuse(node: &Node<'_>) -> Result<()> {
    let named = [
        (11, "head_sink"),
        (12, "k_scale"),
        (13, "v_scale"),
        (14, "q_norm_weight"),
        (15, "k_norm_weight"),
        (16, "query_seqlens"),
    ];
    if let Some((_, name)) = named.iter().find(|(at, _)| node.optional(*at).is_some()) {
        return Err(node.report(format!("reads {name:?}")).help("without it").unsupported());
    }
    for (name, only) in [("causal", 1), ("sliding_window_cache", 0), ("qk_output", 0)] {
        let given = node.int(name)?.unwrap_or(only);
        if given != only {
            return Err(node
                .report(format!("has {name} {given}"))
                .help(only.to_string())
                .unsupported());
        }
    }
    // Exporters write -1 for none, too.
    if node.int("smooth_softmax")?.unwrap_or(0) > 0 {
        return Err(node.report("has smooth_softmax 1").help("0").unsupported());
    }
    for name in ["k_quant_type", "v_quant_type"] {
        let given = node.string(name, "NONE")?;
        if given != "NONE" {
            return Err(node.report(format!("has {name} {given:?}")).help("NONE").unsupported());
        }
    }
    if node.names_output(3) {
        return Err(node.report("makes \"output_qk\"").help("outputs 0 to 2").unsupported());
    }
    Ok(())
}

fn group_query(node: &Node<'_>) -> Result<Plan> {
    refuse(node)?;
    for name in ["k_norm_epsilon", "q_norm_epsilon", "qk_norm_epsilon"] {
        node.float(name, 0.0)?;
    }
    node.int("kv_cache_bit_width")?;
    let (layout, operands) = layout(node)?;
    let window = match node.int("local_window_size")?.unwrap_or(-1) {
        -1 => None,
        keys if keys > 0 => Some(keys - 1),
        other => {
            return Err(node
                .report(format!("has local_window_size {other}"))
                .help("a number of keys, or -1 for all")
                .invalid());
        }
    };
    let default = (layout.width as f64).powf(-0.5);
    let scores = Scores {
        scale: Some(node.float("scale", 0.0)?).filter(|&scale| scale != 0.0).unwrap_or(default),
        softcap: node.float("softcap", 0.0)?,
        causal: true,
        windows: [window, None],
    };
    let Layout { batch, heads, shared, tokens, width, room, total, .. } = layout;
    let element = operands[0].element();
    let cache = node.ty(element, vec![batch, shared, room, width])?;
    let y = node.ty(element, vec![batch, tokens, heads.saturating_mul(width)])?;
    let mut results = vec![y.clone(), cache.clone(), cache];
    results.truncate(node.outputs());
    let count = results.len();
    node.ty(computed(element), vec![batch, heads, tokens, total])?;
    let operands = operands.into_iter().cloned().collect();
    Ok(Plan::new(operands, results, move |b, args| {
        let mut made = layout.build(b, args, scores);
        made[0] = b.reshape(&made[0], y.dims());
        made.truncate(count);
        made
    }))
}

impl Layout {
    /// Nothing is in the cache yet.
    fn is_prompt(&self) -> bool {
        self.total == self.tokens
    }

    fn build<'c>(
        &self,
        b: &mut Build<'_, 'c>,
        args: &[Tensor<'c>],
        scores: Scores,
    ) -> Vec<Tensor<'c>> {
        let [mut q, mut key, value] = self.heads(b, args);
        // At least as long as what is new: padding behind a prompt is seen by padding only.
        let lengths = (!self.is_prompt()).then(|| self.lengths(b, &args[self.lengths]));
        if let Some(rotary) = self.rotary {
            let angles = self.angles(b, rotary, args, lengths.as_ref());
            let [cos, sin] = [&angles[0], &angles[1]];
            let turn = |heads| Turn {
                dims: [self.batch, heads, self.tokens, self.width],
                tokens: 2,
                turned: rotary.turned,
                interleaved: rotary.interleaved,
            };
            q = turn(self.heads).build(b, &q, [cos, sin]);
            key = turn(self.shared).build(b, &key, [cos, sin]);
        }
        let cache = |at| self.caches.map(|first| &args[first + at]);
        let key = self.present(b, &key, cache(0), lengths.as_ref());
        let value = self.present(b, &value, cache(1), lengths.as_ref());
        let size = Sizes {
            batch: self.batch,
            heads: self.heads,
            shared: self.shared,
            tokens: self.tokens,
            past: 0,
            keys: self.total,
            width: self.width,
            values: self.width,
            joined: true,
        };
        let seen = [self.batch, self.shared, self.total, self.width];
        let [k, v] = [&key, &value].map(|all| b.slice(all, &[0; 4], &seen, &[1; 4]));
        let beside =
            Beside { mask: self.bias.map(|at| &args[at]), lengths: lengths.as_ref(), asked: None };
        let attended = attend(b, &size, scores, [&q, &k, &v], &beside);
        let y = b.cast(&attended.y, q.element());
        vec![y, key, value]
    }

    /// Q, K and V with heads as an axis of their own.
    fn heads<'c>(&self, b: &mut Build<'_, 'c>, args: &[Tensor<'c>]) -> [Tensor<'c>; 3] {
        let Self { batch, heads, shared, tokens, width, .. } = *self;
        if !self.packed {
            return [(0, heads), (1, shared), (2, shared)]
                .map(|(at, heads)| apart(b, &args[at], heads, true));
        }
        let all = b.reshape(&args[0], &[batch, tokens, heads + 2 * shared, width]);
        [(0, heads), (heads, shared), (heads + shared, shared)].map(|(first, heads)| {
            let read = [
                Linear::axis(4, 0),
                Linear::axis(4, 2),
                Linear::axis(4, 1).offset(first),
                Linear::axis(4, 3),
            ];
            let dims = [batch, heads, tokens, width];
            b.move_at(all.element(), &dims, &[(&all, read.to_vec())], |_, x| x[0])
        })
    }

    /// The positions of each sequence that count: `max(seqlens_k + 1, tokens)`.
    fn lengths<'c>(&self, b: &mut Build<'_, 'c>, last: &Tensor<'c>) -> Tensor<'c> {
        let last = b.reshape(last, &[self.batch]);
        b.map(ElementType::I64, &[self.batch], &[&last], |calc, last| {
            let last = calc.cast(last[0], ElementType::I64);
            let (one, tokens) = (calc.like(last, 1.0), calc.int_like(last, self.tokens.into()));
            let length = calc.add(last, one);
            // No more than there is room for, whatever is asked for.
            let most = calc.int_like(last, self.total.into());
            let length = calc.min(length, most);
            calc.max(length, tokens)
        })
    }

    /// Cosines and sines of every new token.
    fn angles<'c>(
        &self,
        b: &mut Build<'_, 'c>,
        rotary: Rotary,
        args: &[Tensor<'c>],
        lengths: Option<&Tensor<'c>>,
    ) -> [Tensor<'c>; 2] {
        let ids = match (rotary.positions, lengths) {
            (Some(at), _) => args[at].clone(),
            (None, lengths) => {
                let inputs: Vec<_> =
                    lengths.iter().map(|&lengths| (lengths, vec![Linear::axis(2, 0)])).collect();
                let dims = [self.batch, self.tokens];
                b.map_at(ElementType::I64, &dims, &inputs, |calc, length| {
                    let token = calc.index(1);
                    let token = calc.counted(token, ElementType::I64);
                    match length.first() {
                        None => token,
                        Some(&length) => {
                            let tokens = calc.int_like(length, self.tokens.into());
                            let front = calc.sub(length, tokens);
                            calc.add(front, token)
                        }
                    }
                })
            }
        };
        let shape = [self.batch, self.tokens, rotary.turned / 2];
        [0, 1].map(|at| angles(b, &args[rotary.tables + at], Some(&ids), &shape))
    }

    /// The cache with what is new.
    fn present<'c>(
        &self,
        b: &mut Build<'_, 'c>,
        new: &Tensor<'c>,
        past: Option<&Tensor<'c>>,
        lengths: Option<&Tensor<'c>>,
    ) -> Tensor<'c> {
        let dims = [self.batch, self.shared, self.room, self.width];
        let element = new.element();
        let all = match past {
            Some(past) if self.past == self.room => past.clone(),
            Some(past) => {
                let mut after = [0; 4];
                after[2] = self.room - self.past;
                b.pad(past, &[0; 4], &after, Scalar::Int(0))
            }
            None => b.empty(element, &dims),
        };
        let Some(lengths) = lengths else {
            return b.insert(new, &all, &[0; 4], &[1; 4]);
        };
        let inputs = [
            (&all, (0..4).map(|at| Linear::axis(4, at)).collect()),
            (lengths, vec![Linear::axis(4, 0)]),
        ];
        b.move_at(element, &dims, &inputs, |calc, given| {
            let (length, row) = (calc.coordinate(given[1]), calc.index(2));
            let (zero, tokens) = (calc.at(0), calc.at(self.tokens));
            let front = calc.sub(length, tokens);
            let at = calc.sub(row, front);
            let (from, to) = (calc.ge(at, zero), calc.lt(at, tokens));
            let is_new = calc.and(from, to);
            let last = calc.at(self.tokens - 1);
            let at = calc.max(at, zero);
            let at = calc.min(at, last);
            let place = [calc.index(0), calc.index(1), at, calc.index(3)];
            let new = calc.extract(new, &place);
            calc.select(is_new, new, given[0])
        })
    }
}
