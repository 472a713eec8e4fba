//! Attention with caches, masks and heads that share keys.

use weft_onnx::proto::AttributeProto;

use crate::net::{
    Arg, Draw, Node, absent, as_floats, check, float, floats, int, ints, refused, run,
};

/// A cached attention: extents, and how many positions of each sequence count.
#[derive(Clone)]
struct Cached {
    heads: usize,
    shared: usize,
    tokens: usize,
    width: usize,
    room: usize,
    total: usize,
    counts: Vec<usize>,
    window: Option<usize>,
    softcap: f64,
    turned: bool,
}

/// Elements of `[batch, heads, positions, width]`.
struct Heads<'a>(&'a mut [f64], [usize; 3]);

impl Heads<'_> {
    fn row(&mut self, batch: usize, head: usize, position: usize) -> &mut [f64] {
        let [heads, positions, width] = self.1;
        let first = ((batch * heads + head) * positions + position) * width;
        &mut self.0[first..first + width]
    }
}

fn wide(x: &[f32]) -> Vec<f64> {
    x.iter().map(|&x| x.into()).collect()
}

/// The pairs of a row, each half a row apart, turned.
fn turn(row: &mut [f64], position: usize, cos: &[f32], sin: &[f32]) {
    let half = row.len() / 2;
    for pair in 0..half {
        let (c, s) =
            (f64::from(cos[position * half + pair]), f64::from(sin[position * half + pair]));
        let (a, b) = (row[pair], row[pair + half]);
        (row[pair], row[pair + half]) = (c * a - s * b, s * a + c * b);
    }
}

/// The softmax of scores, some of which may be left out.
fn softmax(scores: &[Option<f64>]) -> Vec<f64> {
    let top = scores.iter().flatten().fold(f64::NEG_INFINITY, |top, &x| top.max(x));
    let exp: Vec<_> = scores.iter().map(|x| x.map_or(0.0, |x| (x - top).exp())).collect();
    let sum: f64 = exp.iter().sum();
    exp.iter().map(|x| x / sum).collect()
}

impl Cached {
    fn attributes(&self) -> Vec<AttributeProto> {
        vec![
            int("num_heads", self.heads as i64),
            int("kv_num_heads", self.shared as i64),
            int("do_rotary", self.turned.into()),
            int("local_window_size", self.window.map_or(-1, |keys| keys as i64)),
            float("softcap", self.softcap as f32),
        ]
    }

    /// Checks the node with Q, K and V apart, and packed.
    fn check(&self) {
        let mut draw = Draw::new(self.total as u64);
        let (batch, tokens, width) = (self.counts.len(), self.tokens, self.width);
        let all = self.heads + 2 * self.shared;
        let packed = draw.floats(batch * tokens * all * width);
        let pasts = [0, 1].map(|_| draw.floats(batch * self.shared * self.room * width));
        let tables = [0, 1].map(|_| draw.floats(self.total * width / 2));
        let expected = self.expected(&packed, &pasts, &tables);
        let part = |first: usize, count: usize| {
            let rows = packed.chunks(all * width);
            let own = rows.flat_map(|row| row[first * width..(first + count) * width].to_vec());
            floats(&[batch as i64, tokens as i64, (count * width) as i64], &own.collect::<Vec<_>>())
        };
        let caches = [batch, self.shared, self.room, width].map(|extent| extent as i64);
        let lengths: Vec<_> = self.counts.iter().map(|&count| count as i32 - 1).collect();
        let mut beside = vec![
            floats(&caches, &pasts[0]),
            floats(&caches, &pasts[1]),
            ints(&[batch as i64], &lengths),
            ints(&[], &[self.total as i32]).fixed(),
        ];
        let dims = [self.total as i64, width as i64 / 2];
        beside.extend(tables.iter().map(|table| floats(&dims, table)).filter(|_| self.turned));
        let q = part(0, self.heads);
        let (k, v) = (part(self.heads, self.shared), part(self.heads + self.shared, self.shared));
        let whole = part(0, all);
        for first in [vec![q, k, v], vec![whole, absent(), absent()]] {
            let inputs: Vec<Arg> = first.into_iter().chain(beside.clone()).collect();
            let attributes = self.attributes();
            let node = Node("com.microsoft.GroupQueryAttention", &attributes);
            let got = run(&node, &inputs, 3).unwrap_or_else(|why| panic!("{why}"));
            for (at, (got, expected)) in got.iter().zip(&expected).enumerate() {
                let got = as_floats(got);
                assert_eq!(got.len(), expected.len());
                for (place, (&one, other)) in got.iter().zip(expected).enumerate() {
                    // What padding makes is nobody's.
                    let Some(other) = other else { continue };
                    let near = (f64::from(one) - other).abs() < 2e-5;
                    assert!(near, "output {at} has {one} at {place}, not {other}");
                }
            }
        }
    }

    fn expected(
        &self,
        packed: &[f32],
        pasts: &[Vec<f32>; 2],
        tables: &[Vec<f32>; 2],
    ) -> [Vec<Option<f64>>; 3] {
        let (batch, width, room) = (self.counts.len(), self.width, self.room);
        let all = self.heads + 2 * self.shared;
        let mut present = [wide(&pasts[0]), wide(&pasts[1])];
        let mut y = vec![None; batch * self.tokens * self.heads * width];
        for b in 0..batch {
            let front = self.counts[b].saturating_sub(self.tokens);
            let row = |token: usize, head: usize| {
                let first = ((b * self.tokens + token) * all + head) * width;
                wide(&packed[first..first + width])
            };
            for token in 0..self.tokens {
                for head in 0..self.shared {
                    let mut key = row(token, self.heads + head);
                    if self.turned {
                        turn(&mut key, front + token, &tables[0], &tables[1]);
                    }
                    let value = row(token, self.heads + self.shared + head);
                    for (cache, new) in present.iter_mut().zip([key, value]) {
                        Heads(cache, [self.shared, room, width])
                            .row(b, head, front + token)
                            .copy_from_slice(&new);
                    }
                }
            }
            for token in 0..self.tokens.min(self.counts[b]) {
                for head in 0..self.heads {
                    let mut q = row(token, head);
                    if self.turned {
                        turn(&mut q, front + token, &tables[0], &tables[1]);
                    }
                    let made = self.attend(b, head, front + token, &q, &mut present);
                    let first = ((b * self.tokens + token) * self.heads + head) * width;
                    for (place, x) in made.into_iter().enumerate() {
                        y[first + place] = Some(x);
                    }
                }
            }
        }
        let counted = |cache: &[f64]| -> Vec<Option<f64>> {
            let of = |at: usize| at / width % room < self.counts[at / width / room / self.shared];
            cache.iter().enumerate().map(|(at, &x)| of(at).then_some(x)).collect()
        };
        [y, counted(&present[0]), counted(&present[1])]
    }

    fn attend(
        &self,
        batch: usize,
        head: usize,
        place: usize,
        q: &[f64],
        present: &mut [Vec<f64>; 2],
    ) -> Vec<f64> {
        let shape = [self.shared, self.room, self.width];
        let own = head / (self.heads / self.shared);
        let [keys, values] = present;
        let first = self.window.map_or(0, |keys| (place + 1).saturating_sub(keys));
        let scores: Vec<_> = (first..=place)
            .map(|at| {
                let key = Heads(keys, shape).row(batch, own, at).to_vec();
                let dot: f64 = q.iter().zip(key).map(|(x, y)| x * y).sum();
                let score = dot / (self.width as f64).sqrt();
                let cap = self.softcap;
                Some(if cap > 0.0 { (score / cap).tanh() * cap } else { score })
            })
            .collect();
        let mut y = vec![0.0; self.width];
        for (at, share) in softmax(&scores).into_iter().enumerate() {
            let value = Heads(values, shape).row(batch, own, first + at).to_vec();
            y.iter_mut().zip(value).for_each(|(sum, x)| *sum += share * x);
        }
        y
    }
}

/// A step of one token of two sequences, with room for more.
fn step() -> Cached {
    Cached {
        heads: 4,
        shared: 2,
        tokens: 1,
        width: 6,
        room: 9,
        total: 7,
        counts: vec![7, 4],
        window: None,
        softcap: 0.0,
        turned: true,
    }
}

#[test]
fn a_step_with_a_cache() {
    step().check();
    Cached { window: Some(3), softcap: 0.5, ..step() }.check();
    Cached { turned: false, shared: 1, ..step() }.check();
    Cached { tokens: 3, counts: vec![7, 5], ..step() }.check();
}

#[test]
fn a_prompt_with_padding() {
    Cached { tokens: 7, ..step() }.check();
    Cached { tokens: 7, window: Some(1), room: 7, ..step() }.check();
}

#[test]
fn caches_that_do_not_fit() {
    let cached = step();
    let inputs = |total: i32, width: i64| {
        let cache = || floats(&[2, 2, 9, width], &vec![0.0; 36 * width as usize]);
        let q = floats(&[2, 1, 24], &[0.0; 48]);
        let k = || floats(&[2, 1, 12], &[0.0; 24]);
        let table = || floats(&[7, 3], &[0.0; 21]);
        let lengths = ints(&[2], &[6, 3]);
        let total = ints(&[1], &[total]).fixed();
        vec![q, k(), k(), cache(), cache(), lengths, total, table(), table()]
    };
    let told = |more: AttributeProto| {
        let others = cached.attributes().into_iter().filter(|other| other.name() != more.name());
        others.chain([more.clone()]).collect::<Vec<_>>()
    };
    let name = "com.microsoft.GroupQueryAttention";
    let plain = cached.attributes();
    refused(&Node(name, &plain), &inputs(11, 6), "1 to 10");
    refused(&Node(name, &plain), &inputs(7, 5), "2 x 2 x positions x 6");
    let mut open = inputs(7, 6);
    open[6] = ints(&[1], &[7]);
    refused(&Node(name, &plain), &open, "needs to be known at compile time");
    refused(
        &Node(name, &told(int("kv_num_heads", 3))),
        &inputs(7, 6),
        "a kv_num_heads that divides",
    );
    refused(&Node(name, &told(int("smooth_softmax", 1))), &inputs(7, 6), "has smooth_softmax 1");
    refused(&Node(name, &told(int("local_window_size", 0))), &inputs(7, 6), "or -1 for all");
    let mut sink = inputs(7, 6);
    sink.extend([absent(), absent(), floats(&[4], &[0.0; 4])]);
    refused(&Node(name, &plain), &sink, "reads \"head_sink\"");
}

#[test]
fn heads_with_a_bias_and_a_mask() {
    let (batch, heads, tokens, keys, width, values, past) = (2, 2, 3, 4, 4, 3, 2);
    let mut draw = Draw::new(8);
    let q = draw.floats(batch * tokens * heads * width);
    let k = draw.floats(batch * keys * heads * width);
    let v = draw.floats(batch * keys * heads * values);
    let bias = draw.floats(heads * (2 * width + values));
    let old_k = draw.floats(batch * heads * past * width);
    let old_v = draw.floats(batch * heads * past * values);
    let mask = [1, 0, 1, 1, 1, 0, 0, 1, 1, 0, 1, 1];
    let all = past + keys;
    let mut y = vec![0.0; batch * tokens * heads * values];
    for b in 0..batch {
        for h in 0..heads {
            // A number of a new position with its bias, or of the cache.
            let at =
                |(new, old): (&[f32], &[f32]), own: usize, first: usize, key: usize, d: usize| {
                    if key < past {
                        return f64::from(old[((b * heads + h) * past + key) * own + d]);
                    }
                    let place = ((b * keys + key - past) * heads + h) * own + d;
                    f64::from(new[place]) + f64::from(bias[first + h * own + d])
                };
            for token in 0..tokens {
                let scores: Vec<_> = (0..all)
                    .map(|key| {
                        let first = ((b * tokens + token) * heads + h) * width;
                        let dot: f64 = (0..width)
                            .map(|d| {
                                let q = f64::from(q[first + d]) + f64::from(bias[h * width + d]);
                                q * at((&k, &old_k), width, heads * width, key, d)
                            })
                            .sum();
                        let hidden = if mask[b * all + key] == 0 { -2.0 } else { 0.0 };
                        (key <= past + token).then_some(dot * 0.5 + hidden)
                    })
                    .collect();
                for (key, share) in softmax(&scores).into_iter().enumerate() {
                    for d in 0..values {
                        let value = at((&v, &old_v), values, 2 * heads * width, key, d);
                        y[((b * tokens + token) * heads + h) * values + d] += share * value;
                    }
                }
            }
        }
    }
    let dims = |extents: &[usize]| extents.iter().map(|&x| x as i64).collect::<Vec<_>>();
    let mut inputs = vec![
        floats(&dims(&[batch, tokens, heads * width]), &q),
        floats(&dims(&[batch, keys, heads * width]), &k),
        floats(&dims(&[batch, keys, heads * values]), &v),
        floats(&dims(&[bias.len()]), &bias),
        ints(&dims(&[batch, all]), &mask),
        absent(),
        floats(&dims(&[batch, heads, past, width]), &old_k),
        floats(&dims(&[batch, heads, past, values]), &old_v),
    ];
    let attributes =
        [int("num_heads", 2), int("unidirectional", 1), float("mask_filter_value", -2.0)];
    let node = Node("com.microsoft.MultiHeadAttention", &attributes);
    check(&node, &inputs, &[y]);
    inputs[4] = ints(&[3 * 2 + 2], &[0; 8]);
    refused(&node, &inputs, "2, 2x6, 2x3x6");
    inputs[1] = floats(&[2, 4, 10], &[0.0; 80]);
    refused(&node, &inputs, "its key is float[2x4x10]");
}

#[test]
fn heads_beside_each_other() {
    let mut draw = Draw::new(11);
    let (batch, tokens, heads, width) = (2, 3, 2, 4);
    let all = draw.floats(batch * tokens * heads * 3 * width);
    let parts = |part: usize| {
        let rows = all.chunks(3 * width).flat_map(|head| head[part * width..][..width].to_vec());
        floats(&[2, 3, 8], &rows.collect::<Vec<_>>())
    };
    let pairs = all.chunks(3 * width).flat_map(|head| head[width..].to_vec()).collect::<Vec<_>>();
    let attributes = [int("num_heads", 2)];
    let node = Node("com.microsoft.MultiHeadAttention", &attributes);
    let apart = run(&node, &[parts(0), parts(1), parts(2)], 1).expect("it is understood");
    let packed = run(&node, &[floats(&[2, 3, 2, 3, 4], &all)], 1).expect("it is understood");
    let halves = [parts(0), floats(&[2, 3, 2, 2, 4], &pairs)];
    let halves = run(&node, &halves, 1).expect("it is understood");
    assert_eq!(apart, packed);
    assert_eq!(apart, halves);
}
