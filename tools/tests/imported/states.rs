//! Operators with a state: attention in steps, convolutions in parts, training.

use crate::net::{Draw, Node, absent, check, float, floats, int, longs, one, refused, text};

fn wide(x: &[f32]) -> Vec<f64> {
    x.iter().map(|&x| x.into()).collect()
}

/// One head of two numbers, whose state is of two by three.
#[test]
fn attention_in_steps() {
    let (steps, width, values) = (3, 2, 3);
    let mut draw = Draw::new(1);
    let [q, k] = [0; 2].map(|_| draw.floats(steps * width));
    let (v, past) = (draw.floats(steps * values), draw.floats(width * values));
    let [decay, beta] = [0; 2].map(|_| draw.floats(steps));
    for (rule, gated, delta) in [("linear", false, false), ("gated_delta", true, true)] {
        let mut state = wide(&past);
        let mut y = Vec::new();
        for step in 0..steps {
            let [q, k] = [&q, &k].map(|x| wide(&x[step * width..][..width]));
            let mut v = wide(&v[step * values..][..values]);
            if gated {
                let gate = f64::from(decay[step]).exp();
                state.iter_mut().for_each(|x| *x *= gate);
            }
            let read = |state: &[f64], row: &[f64], at: usize| -> f64 {
                (0..width).map(|d| state[d * values + at] * row[d]).sum()
            };
            if delta {
                let known: Vec<_> = (0..values).map(|at| read(&state, &k, at)).collect();
                let share = f64::from(beta[step]);
                v.iter_mut().zip(known).for_each(|(v, known)| *v = share * (*v - known));
            }
            for at in 0..width * values {
                state[at] += k[at / values] * v[at % values];
            }
            y.extend((0..values).map(|at| 0.5 * read(&state, &q, at)));
        }
        let of = |own: bool, x: &[f32]| match own {
            true => floats(&[1, steps as i64, 1], x),
            false => absent(),
        };
        let inputs = [
            floats(&[1, 3, 2], &q),
            floats(&[1, 3, 2], &k),
            floats(&[1, 3, 3], &v),
            floats(&[1, 1, 2, 3], &past),
            of(gated, &decay),
            of(delta, &beta),
        ];
        let attributes = [
            int("q_num_heads", 1),
            int("kv_num_heads", 1),
            float("scale", 0.5),
            text("update_rule", rule),
        ];
        check(&Node("LinearAttention", &attributes), &inputs, &[y, state]);
        let other = [&attributes[..3], &[text("update_rule", "delta")]].concat();
        refused(&Node("LinearAttention", &other), &inputs, "its update_rule is delta");
    }
}

#[test]
fn convolutions_in_parts() {
    let (x, w) = ([1.0, 2.0, 3.0], [0.5, -1.0, 2.0]);
    let (past, bias) = ([5.0, 7.0], [0.25]);
    let inputs = [
        floats(&[1, 1, 3], &x),
        floats(&[1, 1, 3], &w),
        floats(&[1], &bias),
        floats(&[1, 1, 2], &past),
    ];
    let y: Vec<f64> =
        vec![0.25 + 0.5 * 5.0 - 7.0 + 2.0, 0.25 + 0.5 * 7.0 - 1.0 + 4.0, 0.25 + 0.5 - 2.0 + 6.0];
    let state = vec![2.0, 3.0];
    check(&Node("CausalConvWithState", &[]), &inputs, &[y.clone(), state.clone()]);
    let silu = y.iter().map(|x| x / (1.0 + (-x).exp())).collect();
    let attributes = [text("activation", "silu")];
    check(&Node("CausalConvWithState", &attributes), &inputs, &[silu, state]);
    let attributes = [text("activation", "relu")];
    refused(&Node("CausalConvWithState", &attributes), &inputs, "none, silu or swish");
}

#[test]
fn steps_of_training() {
    let of = |x: &[f32]| floats(&[2], x);
    let inputs = [one(0.1), longs(&[], &[2]), of(&[1.0, 2.0]), of(&[0.5, -1.0]), of(&[0.2, 0.4])];
    let attributes = [
        float("alpha", 0.9),
        float("beta", 0.5),
        float("norm_coefficient", 0.1),
        text("mode", "standard"),
    ];
    let gradients = [0.1 + 0.5, 0.2 - 1.0];
    let moments: Vec<f64> = vec![0.18 + 0.5 * gradients[0], 0.36 + 0.5 * gradients[1]];
    let x = vec![1.0 - 0.1 * moments[0], 2.0 - 0.1 * moments[1]];
    let momentum = Node("ai.onnx.preview.training.Momentum", &attributes);
    check(&momentum, &inputs, &[x, moments]);

    let attributes =
        [float("norm_coefficient", 0.1), float("epsilon", 0.5), float("decay_factor", 1.0)];
    let squares = [0.2 + gradients[0].powi(2), 0.4 + gradients[1].powi(2)];
    let step = |at: usize| 0.1 / 3.0 * gradients[at] / (f64::sqrt(squares[at]) + 0.5);
    let x = vec![1.0 - step(0), 2.0 - step(1)];
    let adagrad = Node("ai.onnx.preview.training.Adagrad", &attributes);
    check(&adagrad, &inputs, &[x, squares.to_vec()]);

    let inputs = [&inputs[..], &[of(&[0.3, 0.6])]].concat();
    let attributes = [float("alpha", 0.9), float("beta", 0.5), float("epsilon", 0.0)];
    let gradients = [0.5, -1.0];
    let means = [0.18 + 0.1 * gradients[0], 0.36 + 0.1 * gradients[1]];
    let squares = [0.15 + 0.5 * 0.25, 0.3 + 0.5];
    let rate = 0.1 * f64::sqrt(1.0 - 0.25) / (1.0 - 0.81);
    let x = |at: usize| (at + 1) as f64 - rate * means[at] / f64::sqrt(squares[at]);
    let adam = Node("ai.onnx.preview.training.Adam", &attributes);
    check(&adam, &inputs, &[vec![x(0), x(1)], means.to_vec(), squares.to_vec()]);
    refused(&adam, &inputs[..4], "for each tensor a gradient and 2 more");
}
