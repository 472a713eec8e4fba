//! Spectra and windows.

use std::f64::consts::TAU;

use crate::net::{Draw, Node, absent, check, floats, int, longs, refused};

fn length(n: i64) -> crate::net::Arg {
    longs(&[], &[n]).fixed()
}

#[test]
fn windows() {
    let wave = |n: usize, all: f64, times: f64| (times * TAU * n as f64 / all).cos();
    let hann = |all: f64| (0..5).map(|n| 0.5 - 0.5 * wave(n, all, 1.0)).collect();
    check(&Node("HannWindow", &[]), &[length(5)], &[hann(5.0)]);
    check(&Node("HannWindow", &[int("periodic", 0)]), &[length(5)], &[hann(4.0)]);
    let hamming = (0..6).map(|n| (25.0 - 21.0 * wave(n, 6.0, 1.0)) / 46.0).collect();
    check(&Node("HammingWindow", &[]), &[length(6)], &[hamming]);
    let blackman = |n| 0.42 - 0.5 * wave(n, 6.0, 1.0) + 0.08 * wave(n, 6.0, 2.0);
    check(&Node("BlackmanWindow", &[]), &[length(6)], &[(0..6).map(blackman).collect()]);
    refused(&Node("HannWindow", &[]), &[longs(&[], &[5])], "only known at run time");
}

/// The spectrum of complex samples, each bin a pair.
fn spectrum(x: &[[f64; 2]], sign: f64) -> Vec<f64> {
    let count = x.len();
    let bin = |k: usize| {
        let mut sum = [0.0; 2];
        for (n, [re, im]) in x.iter().enumerate() {
            let angle = sign * TAU * (n * k % count) as f64 / count as f64;
            sum[0] += re * angle.cos() - im * angle.sin();
            sum[1] += re * angle.sin() + im * angle.cos();
        }
        sum
    };
    (0..count).flat_map(bin).collect()
}

fn pairs(x: &[f32]) -> Vec<[f64; 2]> {
    x.chunks(2).map(|pair| [pair[0].into(), pair[1].into()]).collect()
}

#[test]
fn transforms() {
    let mut draw = Draw::new(1);
    let x = draw.floats(7 * 2);
    let whole = spectrum(&pairs(&x), -1.0);
    check(&Node("DFT", &[]), &[floats(&[1, 7, 2], &x)], &[whole]);
    let back = spectrum(&pairs(&x), 1.0).iter().map(|x| x / 7.0).collect();
    check(&Node("DFT", &[int("inverse", 1)]), &[floats(&[1, 7, 2], &x)], &[back]);
    // Real samples, the first six of which are taken, and half of the bins.
    let six: Vec<_> = x[..6].iter().map(|&x| [f64::from(x), 0.0]).collect();
    let half = spectrum(&six, -1.0)[..8].to_vec();
    let inputs = [floats(&[14, 1], &x), length(6), length(0)];
    check(&Node("DFT", &[int("onesided", 1)]), &inputs, std::slice::from_ref(&half));
    // And back.
    let half: Vec<_> = half.iter().map(|&x| x as f32).collect();
    let attributes = [int("onesided", 1), int("inverse", 1)];
    let inputs = [floats(&[4, 2], &half), absent(), length(0)];
    check(&Node("DFT", &attributes), &inputs, &[x[..6].iter().map(|&x| x.into()).collect()]);
    let inputs = [floats(&[7, 2], &x), absent(), length(1)];
    refused(&Node("DFT", &[]), &inputs, "along the parts of numbers");
    refused(&Node("DFT", &[int("onesided", 1)]), &[floats(&[7, 2], &x)], "real numbers");
}

#[test]
fn frames() {
    let mut draw = Draw::new(2);
    let (x, window) = (draw.floats(10), draw.floats(4));
    let mut all = Vec::new();
    for start in [0, 3, 6] {
        let frame = (0..4).map(|n| [f64::from(x[start + n]) * f64::from(window[n]), 0.0]);
        all.extend_from_slice(&spectrum(&frame.collect::<Vec<_>>(), -1.0)[..6]);
    }
    let inputs = [floats(&[1, 10, 1], &x), length(3), floats(&[4], &window)];
    check(&Node("STFT", &[]), &inputs, &[all]);
    refused(&Node("STFT", &[]), &[floats(&[1, 10, 1], &x), length(3)], "neither a window");
}

/// The example of the standard.
#[test]
fn mel_weights() {
    let number = |x: f32| floats(&[], &[x]).fixed();
    let inputs = [length(8), length(16), length(8192), number(0.0), number(4096.0)];
    let rows = [
        [1., 1., 0., 0., 0., 0., 0., 0.],
        [0., 0., 1., 1., 0., 0., 0., 0.],
        [0., 0., 0., 0., 1., 0., 0., 0.],
        [0., 0., 0., 0., 0., 1., 0., 0.],
        [0., 0., 0., 0., 0., 0., 1., 0.],
        [0., 0., 0., 0., 0., 0., 0., 1.],
        [0.; 8],
        [0.; 8],
        [0.; 8],
    ];
    check(&Node("MelWeightMatrix", &[]), &inputs, &[rows.concat()]);
}
