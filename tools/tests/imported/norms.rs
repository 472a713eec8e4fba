//! Norms, activations and embeddings.

use crate::net::{
    Draw, Node, absent, as_ints, check, float, floats, int, ints, longs, refused, run,
};

/// A row by its deviation, or its root mean square.
fn norm(row: &[f64], centred: bool, epsilon: f64) -> Vec<f64> {
    let count = row.len() as f64;
    let mean = if centred { row.iter().sum::<f64>() / count } else { 0.0 };
    let spread = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count;
    row.iter().map(|x| (x - mean) / (spread + epsilon).sqrt()).collect()
}

fn wide(x: &[f32]) -> Vec<f64> {
    x.iter().map(|&x| x.into()).collect()
}

#[test]
fn root_mean_square() {
    let mut draw = Draw::new(1);
    let (x, gamma) = (draw.floats(3 * 7), draw.floats(7));
    let mut y = Vec::new();
    for row in wide(&x).chunks(7) {
        y.extend(norm(row, false, 1e-3).iter().zip(wide(&gamma)).map(|(x, gamma)| x * gamma));
    }
    let inputs = [floats(&[3, 7], &x), floats(&[7], &gamma)];
    let attributes = [float("epsilon", 1e-3), int("axis", -1), int("stash_type", 1)];
    for name in ["SimplifiedLayerNormalization", "com.microsoft.SimplifiedLayerNormalization"] {
        check(&Node(name, &attributes), &inputs, &[y.clone()]);
    }
}

#[test]
fn norms_of_sums() {
    let mut draw = Draw::new(2);
    let (x, skip) = (draw.floats(2 * 3 * 5), draw.floats(3 * 5));
    let [gamma, beta, bias] = [0; 3].map(|_| draw.floats(5));
    let sum: Vec<f64> = (0..x.len())
        .map(|at| f64::from(x[at]) + f64::from(skip[at % 15]) + f64::from(bias[at % 5]))
        .collect();
    for centred in [true, false] {
        let mut y = Vec::new();
        for row in sum.chunks(5) {
            let affine = |(at, x): (usize, f64)| {
                x * f64::from(gamma[at]) + if centred { f64::from(beta[at]) } else { 0.0 }
            };
            y.extend(norm(row, centred, 1e-5).into_iter().enumerate().map(affine));
        }
        let mut inputs = vec![floats(&[2, 3, 5], &x), floats(&[3, 5], &skip), floats(&[5], &gamma)];
        if centred {
            inputs.push(floats(&[5], &beta));
        }
        inputs.push(floats(&[5], &bias));
        let name = match centred {
            true => "com.microsoft.SkipLayerNormalization",
            false => "com.microsoft.SkipSimplifiedLayerNormalization",
        };
        let attributes = [float("epsilon", 1e-5)];
        check(&Node(name, &attributes), &inputs, &[y]);
        inputs[2] = floats(&[4], &gamma[..4]);
        refused(&Node(name, &attributes), &inputs, "one number for each place on the last axis");
        inputs[1] = floats(&[4, 5], &draw.floats(20));
        refused(&Node(name, &attributes), &inputs, "a skip of the same shape");
    }
}

#[test]
fn rows_of_tables() {
    let mut draw = Draw::new(4);
    let (words, places, kinds) = (draw.floats(9 * 4), draw.floats(6 * 4), draw.floats(2 * 4));
    let (gamma, beta) = (draw.floats(4), draw.floats(4));
    let (ids, segments, mask) = ([8, 0, 3, 3, 5, 1], [0, 1, 1, 0, 0, 1], [1, 1, 0, 1, 1, 1]);
    let mut y = Vec::new();
    for at in 0..6 {
        let row = |table: &[f32], row: usize| wide(&table[row * 4..(row + 1) * 4]);
        let (word, place) = (row(&words, ids[at] as usize), row(&places, at % 3));
        let kind = row(&kinds, segments[at] as usize);
        let sum: Vec<_> = (0..4).map(|d| word[d] + place[d] + kind[d]).collect();
        let affine = |(d, x): (usize, f64)| x * f64::from(gamma[d]) + f64::from(beta[d]);
        y.extend(norm(&sum, true, 1e-12).into_iter().enumerate().map(affine));
    }
    let mut inputs = vec![
        ints(&[2, 3], &ids),
        ints(&[2, 3], &segments),
        floats(&[9, 4], &words),
        floats(&[6, 4], &places),
        floats(&[2, 4], &kinds),
        floats(&[4], &gamma),
        floats(&[4], &beta),
        ints(&[2, 3], &mask),
    ];
    let node = Node("com.microsoft.EmbedLayerNormalization", &[]);
    check(&node, &inputs, &[y]);
    let all = run(&node, &inputs, 2).expect("both are made");
    assert_eq!(as_ints(&all[1]), [2, 3]);
    inputs[3] = floats(&[2, 4], &places[..8]);
    refused(&node, &inputs, "a row for each of 3 tokens");
}

#[test]
fn activations() {
    let mut draw = Draw::new(5);
    let (x, bias) = (draw.floats(3 * 6), draw.floats(6));
    let by_tanh = |x: f64| {
        let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
        0.5 * x * (1.0 + inner.tanh())
    };
    let quick = |x: f64| x / (1.0 + (-1.5 * x).exp());
    let row = || floats(&[3, 6], &x);
    let along = || floats(&[6], &bias);
    let mapped = |f: &dyn Fn(f64) -> f64| vec![x.iter().map(|&x| f(x.into())).collect::<Vec<_>>()];
    check(&Node("com.microsoft.FastGelu", &[]), &[row()], &mapped(&by_tanh));
    check(&Node("com.microsoft.QuickGelu", &[float("alpha", 1.5)]), &[row()], &mapped(&quick));
    let sums: Vec<_> = (0..18).map(|at| f64::from(x[at]) + f64::from(bias[at % 6])).collect();
    let y = sums.iter().map(|&x| by_tanh(x)).collect();
    check(&Node("com.microsoft.FastGelu", &[]), &[row(), along()], &[y]);
    refused(&Node("com.microsoft.BiasGelu", &[]), &[row(), row()], "one number for each place");
    // The two forms of Gelu are near each other: this one is told apart by erf(1) = 0.8427008.
    let one = [floats(&[1, 1], &[std::f32::consts::SQRT_2])];
    let y = vec![std::f64::consts::FRAC_1_SQRT_2 * (1.0 + 0.842_700_792_949_715)];
    check(&Node("com.microsoft.Gelu", &[]), &one, std::slice::from_ref(&y));
    let halves = [floats(&[1, 2], &[0.75, 0.4]), floats(&[2], &[-0.25, 1.014_213_6])];
    check(&Node("com.microsoft.BiasSplitGelu", &[]), &halves, &[vec![0.5 * y[0]]]);
}

#[test]
fn positions_before_the_tables() {
    let mut draw = Draw::new(6);
    let x = draw.floats(2 * 3 * 2 * 6);
    let (cos, sin) = (draw.floats(9 * 2), draw.floats(9 * 2));
    // Two tokens of three heads of six numbers, the first four of which are turned.
    for (interleaved, first) in [(false, None), (true, None), (false, Some(5))] {
        let ids: Vec<i64> = match first {
            Some(first) => vec![first, first + 1, first, first + 1],
            None => vec![8, 0, 3, 4],
        };
        let mut y = wide(&x);
        for (token, row) in y.chunks_mut(18).enumerate() {
            for head in row.chunks_mut(6) {
                for pair in 0..2 {
                    let (a, b) =
                        if interleaved { (2 * pair, 2 * pair + 1) } else { (pair, pair + 2) };
                    let at = ids[token] as usize * 2 + pair;
                    let (c, s) = (f64::from(cos[at]), f64::from(sin[at]));
                    (head[a], head[b]) = (c * head[a] - s * head[b], s * head[a] + c * head[b]);
                }
            }
        }
        let positions = match first {
            Some(first) => longs(&[1], &[first]),
            None => longs(&[2, 2], &ids),
        };
        let inputs =
            [floats(&[2, 2, 18], &x), positions, floats(&[9, 2], &cos), floats(&[9, 2], &sin)];
        let attributes = [
            int("num_heads", 3),
            int("rotary_embedding_dim", 4),
            int("interleaved", interleaved.into()),
        ];
        check(&Node("com.microsoft.RotaryEmbedding", &attributes), &inputs, &[y]);
        let whole = [int("num_heads", 3)];
        let words = "3 numbers for each position";
        refused(&Node("com.microsoft.RotaryEmbedding", &whole), &inputs, words);
    }
    let packed = [int("is_packed_batching", 1)];
    let inputs = [floats(&[2, 2, 18], &x), absent(), absent(), absent()];
    refused(&Node("com.microsoft.RotaryEmbedding", &packed), &inputs, "has 1 inputs");
}
