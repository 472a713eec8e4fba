//! Convolutions of small integers.

use crate::net::{
    Draw, Node, as_ints, byte, bytes, floats, int, ints, ints_of, one, refused, run, signed_bytes,
};

/// A convolution of `[2, 4, 5, 6]` with `[6, 2, 3, 2]` in two groups.
struct Convolved {
    x: Vec<u8>,
    w: Vec<i8>,
    zero_x: i32,
    zero_w: Vec<i8>,
}

impl Convolved {
    fn new() -> Self {
        let mut draw = Draw::new(12);
        let (x, w) = (draw.bytes(2 * 4 * 5 * 6), draw.signed_bytes(6 * 2 * 3 * 2));
        Self { x, w, zero_x: 131, zero_w: draw.signed_bytes(6) }
    }

    fn attributes() -> Vec<weft_onnx::proto::AttributeProto> {
        vec![
            int("group", 2),
            ints_of("strides", &[2, 1]),
            ints_of("dilations", &[1, 2]),
            ints_of("pads", &[1, 0, 1, 2]),
        ]
    }

    /// The sums, `[2, 6, 3, 6]`.
    fn sums(&self) -> Vec<i32> {
        let mut y = Vec::new();
        for (b, m) in (0..2).flat_map(|b| (0..6).map(move |m| (b, m))) {
            for (i, j) in (0..3).flat_map(|i| (0..6).map(move |j| (i, j))) {
                let mut sum = 0;
                for c in 0..2 {
                    for (p, q) in (0..3).flat_map(|p| (0..2).map(move |q| (p, q))) {
                        let (row, column) = (2 * i + p - 1, j + 2 * q);
                        if !(0..5).contains(&row) || !(0..6).contains(&column) {
                            continue;
                        }
                        let channel = m / 3 * 2 + c;
                        let x =
                            self.x[((b * 4 + channel) * 5 + row as usize) * 6 + column as usize];
                        let w = self.w[((m * 2 + c) * 3 + p as usize) * 2 + q as usize];
                        let left = i32::from(x) - self.zero_x;
                        sum += left * (i32::from(w) - i32::from(self.zero_w[m]));
                    }
                }
                y.push(sum);
            }
        }
        y
    }
}

#[test]
fn convolutions_of_integers() {
    let made = Convolved::new();
    let attributes = Convolved::attributes();
    let node = Node("ConvInteger", &attributes);
    let zero = bytes(&[], &[made.zero_x as u8]);
    // The border is known in one case, and moves with the elements in the other.
    for zero in [zero.clone().fixed(), zero] {
        let inputs = [
            bytes(&[2, 4, 5, 6], &made.x),
            signed_bytes(&[6, 2, 3, 2], &made.w),
            zero,
            signed_bytes(&[6], &made.zero_w),
        ];
        let got = run(&node, &inputs, 1).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(as_ints(&got[0]), made.sums());
    }
    let inputs = [
        bytes(&[2, 4, 5, 6], &made.x),
        signed_bytes(&[6, 2, 3, 2], &made.w),
        bytes(&[], &[0]),
        signed_bytes(&[4], &made.zero_w[..4]),
    ];
    refused(&node, &inputs, "one for each of its 6 filters");
}

#[test]
fn quantised_convolutions() {
    let made = Convolved::new();
    let mut draw = Draw::new(13);
    let scales: Vec<_> = draw.floats(6).iter().map(|x| x.abs() + 0.01).collect();
    let bias: Vec<i32> = (0..6).map(|m| 700 * m - 2000).collect();
    let sums = made.sums().into_iter().enumerate();
    let y: Vec<_> = sums
        .map(|(at, sum)| {
            let m = at / 18 % 6;
            let scale = 0.02 * scales[m] / 3.5;
            byte(f64::from((sum + bias[m]) as f32 * scale), 90)
        })
        .collect();
    let attributes = Convolved::attributes();
    let node = Node("QLinearConv", &attributes);
    let mut inputs = vec![
        bytes(&[2, 4, 5, 6], &made.x),
        one(0.02),
        bytes(&[], &[made.zero_x as u8]).fixed(),
        signed_bytes(&[6, 2, 3, 2], &made.w),
        floats(&[6], &scales),
        signed_bytes(&[6], &made.zero_w),
        one(3.5),
        bytes(&[], &[90]),
        ints(&[6], &bias),
    ];
    let got = run(&node, &inputs, 1).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(got[0], y);
    inputs[8] = ints(&[5], &bias[..5]);
    refused(&node, &inputs, "one number for each of its 6 filters");
    inputs[1] = floats(&[2], &[0.1, 0.2]);
    refused(&node, &inputs[..8], "\"x_scale\" as float[2]");
}
