//! Operators on small integers.

use crate::net::{
    Arg, Draw, Node, absent, byte, bytes, check, float, floats, int, ints, ints_of, one, refused,
    run, signed_bytes,
};

/// Bytes, their scale and their zero point, as three inputs.
fn coded(dims: &[i64], x: &[u8], scale: f32, zero: u8) -> Vec<Arg> {
    vec![bytes(dims, x), one(scale), bytes(&[], &[zero])]
}

fn real(x: u8, scale: f32, zero: u8) -> f64 {
    (f64::from(x) - f64::from(zero)) * f64::from(scale)
}

fn made(node: &Node<'_>, inputs: &[Arg], expected: &[u8]) {
    let got = run(node, inputs, 1).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(got[0], expected, "{}", node.0);
}

#[test]
fn element_by_element() {
    let mut draw = Draw::new(14);
    let (a, b) = (draw.bytes(2 * 3 * 4), draw.bytes(3));
    // Scales of which no sum lies halfway between two integers.
    let own = || vec![one(0.083_1), bytes(&[], &[70])];
    let inputs: Vec<_> =
        [coded(&[2, 3, 4], &a, 0.031, 120), coded(&[3, 1], &b, 0.047, 99), own()].concat();
    let pairs = || {
        a.iter().enumerate().map(|(at, &x)| (real(x, 0.031, 120), real(b[at / 4 % 3], 0.047, 99)))
    };
    let share = f64::from(0.083_1_f32);
    let sums: Vec<_> = pairs().map(|(x, y)| byte((x + y) / share, 70)).collect();
    made(&Node("com.microsoft.QLinearAdd", &[]), &inputs, &sums);
    let products: Vec<_> = pairs().map(|(x, y)| byte(x * y / share, 70)).collect();
    made(&Node("com.microsoft.QLinearMul", &[]), &inputs, &products);
    let inputs = [coded(&[2, 3, 4], &a, 0.031, 120), own()].concat();
    let bent = |x: f64| if x < 0.0 { 0.2 * x } else { x };
    let y: Vec<_> = pairs().map(|(x, _)| byte(bent(x) / share, 70)).collect();
    made(&Node("com.microsoft.QLinearLeakyRelu", &[float("alpha", 0.2)]), &inputs, &y);
    let y: Vec<_> = pairs().map(|(x, _)| byte(1.0 / (1.0 + (-x).exp()) / share, 70)).collect();
    made(&Node("com.microsoft.QLinearSigmoid", &[]), &inputs, &y);
    let mut wrong = inputs.clone();
    wrong[1] = floats(&[2], &[0.1, 0.2]);
    refused(&Node("com.microsoft.QLinearSigmoid", &[]), &wrong, "one number for the whole tensor");
}

#[test]
fn behind_each_other() {
    let mut draw = Draw::new(15);
    let (a, b) = (draw.bytes(2 * 3), draw.bytes(2 * 2));
    let own = vec![one(0.061), bytes(&[], &[33])];
    let parts = [own, coded(&[2, 3], &a, 0.061, 33), coded(&[2, 2], &b, 0.027, 150)];
    let mut y = Vec::new();
    for row in 0..2 {
        y.extend(&a[row * 3..][..3]);
        let recoded = |&x: &u8| byte(real(x, 0.027, 150) / f64::from(0.061_f32), 33);
        y.extend(b[row * 2..][..2].iter().map(recoded));
    }
    let attributes = [int("axis", -1)];
    made(&Node("com.microsoft.QLinearConcat", &attributes), &parts.concat(), &y);
    let wrong = parts.concat();
    refused(&Node("com.microsoft.QLinearConcat", &attributes), &wrong[..7], "then three for each");
}

#[test]
fn averages() {
    let mut draw = Draw::new(16);
    let x = draw.bytes(2 * 3 * 4 * 5);
    let inputs =
        [coded(&[2, 3, 4, 5], &x, 0.031, 120), vec![one(0.017_3), bytes(&[], &[101])]].concat();
    let share = f64::from(0.017_3_f32);
    let mean = |places: &[usize]| {
        let sum: f64 = places.iter().map(|&at| real(x[at], 0.031, 120)).sum();
        byte(sum / places.len() as f64 / share, 101)
    };
    let whole: Vec<_> = (0..6).map(|c| mean(&(c * 20..c * 20 + 20).collect::<Vec<_>>())).collect();
    made(&Node("com.microsoft.QLinearGlobalAveragePool", &[]), &inputs, &whole);
    let mut y = Vec::new();
    for (c, i, j) in (0..6).flat_map(|c| (0..2).flat_map(move |i| (0..3).map(move |j| (c, i, j)))) {
        let mut places = Vec::new();
        for (p, q) in (0..3).flat_map(|p| (0..3).map(move |q| (p, q))) {
            let (row, column) = (2 * i + p - 1, 2 * j + q - 1);
            if (0..4).contains(&row) && (0..5).contains(&column) {
                places.push(c * 20 + (row * 5 + column) as usize);
            }
        }
        y.push(mean(&places));
    }
    let attributes = [
        ints_of("kernel_shape", &[3, 3]),
        ints_of("strides", &[2, 2]),
        ints_of("pads", &[1, 1, 1, 1]),
    ];
    made(&Node("com.microsoft.QLinearAveragePool", &attributes), &inputs, &y);
    let last = [ints_of("kernel_shape", &[3, 3]), int("channels_last", 1)];
    refused(&Node("com.microsoft.QLinearAveragePool", &last), &inputs, "channels_last 0");
}

#[test]
fn products() {
    let mut draw = Draw::new(17);
    let (a, b) = (draw.bytes(3 * 7), draw.signed_bytes(7 * 4));
    let scales: Vec<_> = draw.floats(4).iter().map(|x| x.abs() + 0.01).collect();
    let (zeros, bias) = (draw.signed_bytes(4), draw.floats(4));
    let c: Vec<i32> = (0..4).map(|n| 300 * n - 500).collect();
    let sum = |m: usize, n: usize| -> i32 {
        let term = |k: usize| {
            (i32::from(a[m * 7 + k]) - 120) * (i32::from(b[k * 4 + n]) - i32::from(zeros[n]))
        };
        (0..7).map(term).sum()
    };
    let each = || (0..12).map(|at| (at / 4, at % 4));
    let numbers = each()
        .map(|(m, n)| f64::from(sum(m, n)) * 0.03 * f64::from(scales[n]) + f64::from(bias[n]))
        .collect();
    let left = || bytes(&[3, 7], &a);
    let right = || signed_bytes(&[7, 4], &b);
    let zero = || bytes(&[], &[120]);
    let inputs = [
        left(),
        right(),
        one(0.03),
        floats(&[4], &scales),
        zero(),
        signed_bytes(&[4], &zeros),
        floats(&[4], &bias),
    ];
    check(&Node("com.microsoft.MatMulIntegerToFloat", &[]), &inputs, &[numbers]);
    let scaled = |at: (usize, usize)| {
        f64::from(sum(at.0, at.1) + c[at.1]) * 0.5 * 0.03 * f64::from(scales[at.1])
    };
    let mut inputs = vec![
        left(),
        one(0.03),
        zero(),
        right(),
        floats(&[4], &scales),
        signed_bytes(&[4], &zeros),
        ints(&[4], &c),
    ];
    let node = Node("com.microsoft.QGemm", &[float("alpha", 0.5)]);
    check(&node, &inputs, &[each().map(scaled).collect()]);
    inputs.extend([one(0.41), bytes(&[], &[77])]);
    let y: Vec<_> = each().map(|at| byte(scaled(at) / f64::from(0.41_f32), 77)).collect();
    made(&node, &inputs, &y);
    inputs[6] = ints(&[3], &c[..3]);
    refused(&node, &inputs, "do not broadcast");
}

#[test]
fn products_of_what_is_quantised_first() {
    // They are 10 apart, so that zero lies 102 steps above the least.
    let a = [-4.0, 6.0, 2.0, 0.0_f32];
    let b = [3, -2, 1, 5, -7, 4, 0, 2_i8];
    let step = 10.0 / 255.0;
    let zero = 102.0;
    let codes =
        a.map(|x| f64::from(((f64::from(x) / step).round_ties_even() + zero) as i32) - zero);
    let y = (0..2)
        .map(|n| (0..4).map(|k| codes[k] * step * f64::from(b[k * 2 + n]) * 0.25).sum())
        .collect();
    let inputs = [floats(&[1, 4], &a), signed_bytes(&[4, 2], &b), one(0.25)];
    check(&Node("com.microsoft.DynamicQuantizeMatMul", &[]), &inputs, &[y]);
    refused(&Node("com.microsoft.DynamicQuantizeMatMul", &[]), &inputs[..2], "has 2 inputs");
}

#[test]
fn as_the_standard_has_it() {
    let inputs = [
        floats(&[2, 2], &[1.0, -3.0, 0.26, 9.0]),
        floats(&[2], &[0.5, 0.25]),
        bytes(&[2], &[7, 9]),
    ];
    let attributes = [int("axis", 1)];
    made(&Node("com.microsoft.QuantizeLinear", &attributes), &inputs, &[9, 0, 8, 45]);
    let inputs = [bytes(&[2, 2], &[9, 0, 8, 45]), one(0.5), absent()];
    let y = vec![4.5, 0.0, 4.0, 22.5];
    check(&Node("com.microsoft.DequantizeLinear", &[]), &inputs, &[y]);
    let block = [int("block_size", 2)];
    refused(
        &Node("com.microsoft.DequantizeLinear", &block),
        &inputs,
        "no such attribute; it has axis",
    );
}
