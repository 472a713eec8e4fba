//! Attention with a state of one size, and the convolution in front of it: each step reads what the
//! steps before have left.

use weft_dialects::ir::Linear;

use super::attend::behind_along;
use super::linear::{accumulate, zeros};
use super::unary::swish;
use super::{Operator, op};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Build, Tensor, computed, identity};
use crate::types::{ElementType, Shape};

pub const OPERATORS: &[Operator] = &[
    op("CausalConvWithState", 27, 4, &["activation"], causal_conv).at_least(2).up_to(2),
    op(
        "LinearAttention",
        27,
        6,
        &["chunk_size", "kv_num_heads", "q_num_heads", "scale", "update_rule"],
        linear_attention,
    )
    .at_least(3)
    .up_to(2),
];

/// The most steps that are unrolled.
const STEPS_MAX: i64 = 1 << 12;

/// A convolution of each channel on its own, which sees what came before and nothing behind.
fn causal_conv(node: &Node<'_>) -> Result<Plan> {
    let (x, w) = (node.typed(0, "input", ElementType::FLOATS)?, node.input(1, "weight")?);
    node.expect_same_element(x, w)?;
    let wrong = || {
        node.report(format!("convolves {} with {}", x.ty, w.ty))
            .help(
                "batch, channels and positions; a filter for each channel, as [channels, 1, taps]",
            )
            .invalid()
    };
    let &[batch, channels, length] = x.dims() else { return Err(wrong()) };
    let taps = match w.dims() {
        &[own, 1, taps] if own == channels && taps > 0 => taps,
        _ => return Err(wrong()),
    };
    let swishes = match node.string("activation", "none")? {
        "none" => false,
        "silu" | "swish" => true,
        other => {
            let report = node.report(format!("has activation {other:?}"));
            return Err(report.help("none, silu or swish").invalid());
        }
    };
    let mut operands = vec![x.clone(), w.clone()];
    let shapes = [(2, "bias", vec![channels]), (3, "past_state", vec![batch, channels, taps - 1])];
    for (at, name, dims) in shapes {
        operands.extend(node.optional_of(at, name, x, &dims)?.cloned());
    }
    let (has_bias, has_past) = (node.optional(2).is_some(), node.optional(3).is_some());
    let element = x.element();
    let mut results = vec![x.ty.clone(), node.ty(element, vec![batch, channels, taps - 1])?];
    results.truncate(node.outputs());
    node.ty(computed(element), vec![batch, channels, length.saturating_add(taps)])?;
    let outputs = results.len();
    Ok(Plan::new(operands, results, move |b, args| {
        let bias = args.get(2).filter(|_| has_bias);
        let past = match has_past {
            true => args[args.len() - 1].clone(),
            false => b.fill(element, &[batch, channels, taps - 1], Scalar::Int(0)),
        };
        let padded = behind_along(b, &past, &args[0], 2);
        let dims = [batch, channels, length];
        let start = match bias {
            None => zeros(b, element, &dims),
            Some(bias) => {
                let read = vec![Linear::axis(3, 1)];
                b.map_at(computed(element), &dims, &[(bias, read)], |_, x| x[0])
            }
        };
        let seen = Linear::axis(4, 2).plus(3, 1);
        let left = (&padded, vec![Linear::axis(4, 0), Linear::axis(4, 1), seen]);
        let filter = vec![Linear::axis(4, 1), Linear::constant(4, 0), Linear::axis(4, 3)];
        let sum = accumulate(b, &start, &[taps], left, (&args[1], filter));
        let mut y = b.cast(&sum, element);
        if swishes {
            y = b.map(element, &dims, &[&y], |calc, x| swish(calc, x[0], 1.0));
        }
        let kept = [batch, channels, taps - 1];
        let state = b.slice(&padded, &[0, 0, length], &kept, &[1; 3]);
        [y, state][..outputs].to_vec()
    }))
}

/// The extents of an attention, and how its state is changed.
#[derive(Clone, Copy)]
struct Rule {
    batch: i64,
    steps: i64,
    /// Heads of the state, and heads of the query that read each.
    heads: i64,
    group: i64,
    width: i64,
    values: i64,
    scale: f64,
    /// The state decays before a step: by a number for each head, or for each of its rows.
    decay: Option<bool>,
    /// What the state has for a key already is taken from a value: by a share for each head, or one.
    delta: Option<bool>,
}

impl Rule {
    fn of(node: &Node<'_>) -> Result<Self> {
        let q = node.typed(0, "query", ElementType::FLOATS)?;
        let (k, v) = (node.input(1, "key")?, node.input(2, "value")?);
        let [all, heads] = ["q_num_heads", "kv_num_heads"].map(|name| node.int(name));
        let (all, heads) = (all?.unwrap_or(0), heads?.unwrap_or(0));
        let wrong = || {
            node.report(format!("attends {}, {} and {}", q.ty, k.ty, v.ty))
                .note(format!("with {all} heads of the query, {heads} of keys and values"))
                .help("batch, steps and heads beside each other; heads of the query a multiple of the others")
                .invalid()
        };
        let (&[batch, steps, wide], &[_, _, keys], &[_, _, values]) =
            (q.dims(), k.dims(), v.dims())
        else {
            return Err(wrong());
        };
        let heads_fit = heads > 0 && all > 0 && all % heads == 0 && wide % all == 0 && wide > 0;
        let fits = heads_fit
            && keys % heads == 0
            && values % heads == 0
            && keys / heads == wide / all
            && values > 0
            && [k, v].iter().all(|own| own.dims()[..2] == [batch, steps]);
        if !fits || batch == 0 || steps == 0 {
            return Err(wrong());
        }
        if steps > STEPS_MAX {
            let report = node.report(format!("takes {steps} steps"));
            let help = format!("at most {STEPS_MAX}, for they are unrolled");
            return Err(report.help(help).unsupported());
        }
        let width = wide / all;
        let scale = node.float("scale", 0.0)?;
        let scale = if scale == 0.0 { (width as f64).powf(-0.5) } else { scale };
        let values = values / heads;
        let group = all / heads;
        let rule =
            Self { batch, steps, heads, group, width, values, scale, decay: None, delta: None };
        rule.updated(node)
    }

    /// The same with what the update rule reads.
    fn updated(self, node: &Node<'_>) -> Result<Self> {
        let name = node.string("update_rule", "gated_delta")?;
        let (gated, delta) = match name {
            "linear" => (false, false),
            "gated" => (true, false),
            "delta" => (false, true),
            "gated_delta" => (true, true),
            other => {
                let report = node.report(format!("has update_rule {other:?}"));
                return Err(report.help("linear, gated, delta or gated_delta").invalid());
            }
        };
        let read = |at: usize, input: &str, wanted: bool, last: [i64; 2]| {
            let found = node.optional(at);
            if found.is_some() != wanted {
                let has = if wanted { "lacks" } else { "has" };
                return Err(node
                    .report(format!("{has} its input {input:?}"))
                    .note(format!("its update_rule is {name}"))
                    .invalid());
            }
            let Some(operand) = found else { return Ok(None) };
            let own = |last: i64| [self.batch, self.steps, last];
            if operand.dims() == own(last[0]) || operand.dims() == own(last[1]) {
                return Ok(Some(operand.dims()[2] == last[1]));
            }
            let help = format!("{} or {}", Shape(&own(last[0])), Shape(&own(last[1])));
            Err(node.report(format!("reads {input:?} as {}", operand.ty)).help(help).invalid())
        };
        let wide = self.heads * self.width;
        let decay = read(4, "decay", gated, [self.heads, wide])?;
        // With rows of one number both are the same.
        let decay = decay.map(|rows| rows && self.width > 1);
        let delta = read(5, "beta", delta, [1, self.heads])?;
        Ok(Self { decay, delta, ..self })
    }

    /// What an input `[batch, steps, numbers]` has for a step, under a shape behind the batch.
    fn at<'c>(&self, b: &mut Build<'_, 'c>, x: &Tensor<'c>, step: i64, dims: &[i64]) -> Tensor<'c> {
        let own = b.slice(x, &[0, step, 0], &[self.batch, 1, x.dims()[2]], &[1; 3]);
        b.reshape(&own, &[&[self.batch], dims].concat())
    }

    /// The state after a step.
    fn written<'c>(
        &self,
        b: &mut Build<'_, 'c>,
        mut state: Tensor<'c>,
        [key, value]: [&Tensor<'c>; 2],
        [decay, share]: [Option<Tensor<'c>>; 2],
    ) -> Tensor<'c> {
        let (number, full) = (state.element(), state.dims().to_vec());
        let axes = |axes: usize, order: &[usize]| -> Vec<Linear> {
            order.iter().map(|&at| Linear::axis(axes, at)).collect()
        };
        if let (Some(decay), Some(rows)) = (&decay, self.decay) {
            let read = axes(4, if rows { &[0, 1, 2] } else { &[0, 1] });
            let inputs = [(&state, identity(4)), (decay, read)];
            state = b.map_at(number, &full, &inputs, |calc, x| {
                let gate = calc.cast(x[1], number);
                let gate = calc.math("exp", gate);
                calc.mul(x[0], gate)
            });
        }
        let mut value = b.cast(value, number);
        if let (Some(share), Some(heads)) = (&share, self.delta) {
            let dims = [self.batch, self.heads, self.values];
            let start = zeros(b, number, &dims);
            let (left, right) = (axes(4, &[0, 1, 3, 2]), axes(4, &[0, 1, 3]));
            let key = b.cast(key, number);
            let known = accumulate(b, &start, &[self.width], (&state, left), (&key, right));
            let read = match heads {
                true => axes(3, &[0, 1]),
                false => vec![Linear::axis(3, 0), Linear::constant(3, 0)],
            };
            let inputs = [(&value, identity(3)), (&known, identity(3)), (share, read)];
            value = b.map_at(number, &dims, &inputs, |calc, x| {
                let (new, share) = (calc.sub(x[0], x[1]), calc.cast(x[2], number));
                calc.mul(share, new)
            });
        }
        let inputs =
            [(&state, identity(4)), (key, axes(4, &[0, 1, 2])), (&value, axes(4, &[0, 1, 3]))];
        b.map_at(number, &full, &inputs, |calc, x| {
            let key = calc.cast(x[1], number);
            let product = calc.mul(key, x[2]);
            calc.add(x[0], product)
        })
    }

    /// What a query reads of the state.
    fn read<'c>(
        &self,
        b: &mut Build<'_, 'c>,
        state: &Tensor<'c>,
        query: &Tensor<'c>,
        element: ElementType,
    ) -> Tensor<'c> {
        let number = state.element();
        let dims = [self.batch, self.heads, self.group, self.values];
        let start = zeros(b, number, &dims);
        let axes = |order: &[usize]| order.iter().map(|&at| Linear::axis(5, at)).collect();
        let query = b.cast(query, number);
        let (left, right) = ((&query, axes(&[0, 1, 2, 4])), (state, axes(&[0, 1, 4, 3])));
        let sum = accumulate(b, &start, &[self.width], left, right);
        let y = b.map(element, &dims, &[&sum], |calc, x| {
            let scale = calc.like(x[0], self.scale);
            let y = calc.mul(x[0], scale);
            calc.cast(y, computed(element))
        });
        b.reshape(&y, &[self.batch, 1, self.heads * self.group * self.values])
    }
}

fn linear_attention(node: &Node<'_>) -> Result<Plan> {
    let rule = Rule::of(node)?;
    let q = node.input(0, "query")?;
    let element = q.element();
    let state_dims = vec![rule.batch, rule.heads, rule.width, rule.values];
    let mut operands: Vec<Operand> = Vec::new();
    for (at, name) in ["query", "key", "value"].into_iter().enumerate() {
        let operand = node.input(at, name)?;
        node.expect_same_element(q, operand)?;
        operands.push(operand.clone());
    }
    let mut kept = element;
    if let Some(past) = node.optional(3) {
        node.expect_element(past, "past_state", ElementType::FLOATS)?;
        if past.dims() != state_dims {
            let report = node.report(format!("reads \"past_state\" as {}", past.ty));
            return Err(report.help(Shape(&state_dims).to_string()).invalid());
        }
        kept = past.element();
    }
    let places = [3, 4, 5].map(|at| {
        let operand = node.optional(at)?;
        operands.push(operand.clone());
        Some(operands.len() - 1)
    });
    for operand in &operands[3..] {
        node.expect_element(operand, "state, decay or beta", ElementType::FLOATS)?;
    }
    let wide = rule.heads * rule.group * rule.values;
    let mut results = vec![
        node.ty(element, vec![rule.batch, rule.steps, wide])?,
        node.ty(kept, state_dims.clone())?,
    ];
    results.truncate(node.outputs());
    let outputs = results.len();
    let number = if element == ElementType::F64 { element } else { ElementType::F32 };
    node.ty(number, state_dims.clone())?;
    Ok(Plan::new(operands, results, move |b, args| {
        let [past, decay, beta] = places.map(|place| place.map(|at| &args[at]));
        let mut state = match past {
            Some(past) => b.map(number, past.dims(), &[past], |calc, x| calc.cast(x[0], number)),
            None => b.fill(number, &state_dims, Scalar::Int(0)),
        };
        let Rule { heads, group, width, values, .. } = rule;
        let mut y = b.empty(element, &[rule.batch, rule.steps, wide]);
        for step in 0..rule.steps {
            let query = rule.at(b, &args[0], step, &[heads, group, width]);
            let key = rule.at(b, &args[1], step, &[heads, width]);
            let value = rule.at(b, &args[2], step, &[heads, values]);
            let rows = rule.decay.is_some_and(|rows| rows);
            let decay_dims = if rows { vec![heads, width] } else { vec![heads] };
            let decay = decay.map(|decay| rule.at(b, decay, step, &decay_dims));
            let share = beta.map(|beta| rule.at(b, beta, step, &[beta.dims()[2]]));
            state = rule.written(b, state, [&key, &value], [decay, share]);
            let own = rule.read(b, &state, &query, element);
            y = b.insert(&own, &y, &[0, step, 0], &[1; 3]);
        }
        let state = b.map(kept, state.dims(), &[&state], |calc, x| calc.cast(x[0], computed(kept)));
        [y, state][..outputs].to_vec()
    }))
}
