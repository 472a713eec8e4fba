//! Operators that ONNX Runtime's optimiser makes of several.

use crate::net::{Draw, Node, check, float, floats, int, refused, text};

#[test]
fn functions_behind_products() {
    let x = floats(&[1, 1, 1, 3], &[1.0, -2.0, 3.0]);
    let w = floats(&[1, 1, 1, 2], &[1.0, 1.0]);
    let (bias, more) = (floats(&[1], &[0.5]), floats(&[1, 1, 1, 2], &[0.0, -3.0]));
    let inputs = [x, w, bias, more];
    let relu = [text("activation", "Relu")];
    check(&Node("com.microsoft.FusedConv", &relu), &inputs, &[vec![0.0, 0.0]]);
    let leaky = [text("activation", "LeakyRelu")];
    check(&Node("com.microsoft.FusedConv", &leaky), &inputs, &[vec![-0.005, -0.015]]);
    let other = [text("activation", "Gelu")];
    refused(&Node("com.microsoft.FusedConv", &other), &inputs, "Clip, HardSigmoid, LeakyRelu");

    let inputs = [floats(&[1, 2], &[1.0, 2.0]), floats(&[2, 2], &[1.0, 0.0, 0.0, -1.0])];
    let leaky =
        [text("activation", "LeakyRelu"), float("activation_alpha", 0.25), float("alpha", 2.0)];
    check(&Node("com.microsoft.FusedGemm", &leaky), &inputs, &[vec![2.0, -1.0]]);
}

#[test]
fn sums_with_a_bias() {
    let inputs = [
        floats(&[1, 2, 2], &[1.0, 2.0, 3.0, 4.0]),
        floats(&[2], &[0.5, -0.5]),
        floats(&[1, 2, 2], &[10.0, 20.0, 30.0, 40.0]),
    ];
    check(&Node("com.microsoft.BiasAdd", &[]), &inputs, &[vec![11.5, 21.5, 33.5, 43.5]]);
    refused(&Node("com.microsoft.BiasAdd", &[]), &[&inputs[..2], &inputs[1..2]].concat(), "adds");
}

/// Two groups of two channels, which come last.
#[test]
fn groups_of_channels() {
    let mut draw = Draw::new(4);
    let x = draw.floats(3 * 4);
    let (gamma, beta) = (draw.floats(4), draw.floats(4));
    let mut y = vec![0.0; 12];
    for group in 0..2 {
        let places: Vec<_> =
            (0..3).flat_map(|row| [row * 4 + group * 2, row * 4 + group * 2 + 1]).collect();
        let own: Vec<f64> = places.iter().map(|&at| x[at].into()).collect();
        let mean = own.iter().sum::<f64>() / 6.0;
        let spread = own.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 6.0;
        for (&at, x) in places.iter().zip(&own) {
            let norm = (x - mean) / (spread + 1e-5).sqrt();
            y[at] = norm * f64::from(gamma[at % 4]) + f64::from(beta[at % 4]);
        }
    }
    let inputs = [floats(&[1, 1, 3, 4], &x), floats(&[4], &gamma), floats(&[4], &beta)];
    let plain = [int("groups", 2), int("activation", 0)];
    check(&Node("com.microsoft.GroupNorm", &plain), &inputs, &[y.clone()]);
    let swish = [int("groups", 2), int("activation", 1)];
    let y = y.iter().map(|x| x / (1.0 + (-x).exp())).collect();
    check(&Node("com.microsoft.GroupNorm", &swish), &inputs, &[y]);
    refused(&Node("com.microsoft.GroupNorm", &[int("groups", 3)]), &inputs, "groups that divide");
}

#[test]
fn channels_come_last() {
    let mut draw = Draw::new(5);
    let (x, w) = (draw.floats(3 * 2), draw.floats(2 * 2 * 2));
    let mut y = Vec::new();
    for place in 0..2 {
        for filter in 0..2 {
            let taps = (0..4).map(|tap| {
                let (k, c) = (tap / 2, tap % 2);
                f64::from(x[(place + k) * 2 + c]) * f64::from(w[(filter * 2 + k) * 2 + c])
            });
            y.push(taps.sum());
        }
    }
    let inputs = [floats(&[1, 1, 3, 2], &x), floats(&[2, 1, 2, 2], &w)];
    check(&Node("com.microsoft.NhwcConv", &[]), &inputs, &[y]);
}
