//! The 119 operators that Roller was measured with, batch 128.

use weft_passes::tile::roller::{Axis, Operator, Tensor};

use super::support::{axes, matmul, tensor};

const BATCH: u64 = 128;

/// Channels, extent, filters, window, stride, border.
const CONV: &str = "128,28,128,3,1,S 128,58,128,3,2,V 256,30,256,3,2,V 168,42,168,1,1,V \
512,7,512,3,1,S 256,14,1024,1,1,V 1024,14,256,1,1,V 1024,14,512,1,1,V 1008,21,168,1,1,V \
42,83,42,1,1,V 4032,11,672,1,1,V 512,16,512,3,2,V 96,83,42,1,1,V 96,165,42,1,1,V 168,83,84,1,1,V \
336,21,336,1,1,V 512,28,1024,1,2,V 64,56,256,1,1,V 256,56,64,1,1,V 128,28,512,1,1,V \
512,28,128,1,1,V 168,42,84,1,1,V 512,28,256,1,1,V 64,56,64,3,1,S 2016,21,672,1,1,V \
512,7,2048,1,1,V 2048,7,512,1,1,V 84,42,84,1,1,V 336,42,168,1,1,V 672,11,672,1,1,V \
1024,14,2048,1,2,V 2016,11,336,1,1,V 2016,21,336,1,1,V 1008,42,336,1,1,V 64,56,64,1,1,V \
3,230,64,7,2,V 3,331,96,3,2,V 256,56,128,1,1,V 256,14,256,3,1,S 2688,11,672,1,1,V \
1008,42,168,1,1,V 96,83,42,1,1,V 256,56,512,1,2,V 1344,21,336,1,1,V";

/// Channels, extent, window, stride; the border is the window's.
const DEPTHWISE: &str = "84,83,5,2 42,83,5,1 336,21,5,1 42,165,5,2 84,83,7,2 672,11,3,1 \
168,42,5,1 672,21,5,2 336,21,3,1 672,21,7,2 42,83,7,1 84,42,7,1 84,42,5,1 168,42,3,1 672,11,7,1 \
336,42,5,2 96,165,5,2 336,21,7,1 336,42,7,2 42,83,3,1 96,165,7,2 84,42,3,1 672,11,5,1";

/// Channels, extent.
const RELU: &str = "1008,42 256,14 1024,14 512,14 96,165 1344,21 2688,11 64,112 256,56 128,28 \
512,28 256,28 2016,21 672,11 168,83 64,56 168,42 336,21 4032,11 512,7 2048,7 84,83 336,42 42,165 \
672,21 84,42 42,83 128,56";

/// Channels, extent, window, stride, border.
const POOL: &str = "168,83,1,2,V 672,21,3,2,S 42,83,3,1,S 1008,42,1,2,V 336,42,3,2,S 84,83,3,2,S \
672,11,3,1,S 96,165,1,2,V 2016,21,1,2,V 42,165,3,2,S 84,42,3,1,S 336,21,3,1,S 168,42,3,1,S";

const REDUCE: [[u64; 2]; 4] = [[65536, 1024], [65536, 1024], [516096, 121], [262144, 49]];

const MATMUL: [[u64; 3]; 7] = [
    [65536, 1024, 2],
    [128, 1000, 4032],
    [128, 1000, 2048],
    [65536, 4096, 1024],
    [65536, 1024, 1024],
    [65536, 1024, 4096],
    [65536, 1024, 30522],
];

fn rows(table: &str) -> impl Iterator<Item = Vec<u64>> + '_ {
    let number = |field: &str| match field {
        "S" => 1,
        "V" => 0,
        field => field.parse().expect("a number"),
    };
    table.split_whitespace().map(move |row| row.split(',').map(number).collect())
}

/// Zeros on each side, and how many places a window has.
fn window(size: u64, kernel: u64, stride: u64, same: u64) -> (u64, u64) {
    let border = if same == 1 { (kernel - 1) / 2 } else { 0 };
    (border, (size + 2 * border - kernel) / stride + 1)
}

/// `T[a, b, c, d]` of the first four axes.
fn plane(axes: &[Axis]) -> Tensor {
    tensor(axes, &[(&[(0, 1)], 0), (&[(1, 1)], 0), (&[(2, 1)], 0), (&[(3, 1)], 0)])
}

/// `I[n, c, sy + r, sx + s]`, the taps being the last two axes and `c` the axis `channel`.
fn image(axes: &[Axis], channel: usize, stride: u64, border: u64) -> Tensor {
    let (step, taps) = (stride as i64, axes.len() - 2);
    tensor(
        axes,
        &[
            (&[(0, 1)], 0),
            (&[(channel, 1)], 0),
            (&[(2, step), (taps, 1)], border),
            (&[(3, step), (taps + 1, 1)], border),
        ],
    )
}

/// `O[n, f, y, x] += I[n, c, sy + r, sx + s] * W[f, c, r, s]`.
pub fn conv(
    channels: u64,
    size: u64,
    filters: u64,
    kernel: u64,
    stride: u64,
    same: u64,
) -> Operator {
    let (border, out) = window(size, kernel, stride, same);
    let axes = axes(&[BATCH, filters, out, out], &[channels, kernel, kernel]);
    let image = image(&axes, 4, stride, border);
    let filter = tensor(&axes, &[(&[(1, 1)], 0), (&[(4, 1)], 0), (&[(5, 1)], 0), (&[(6, 1)], 0)]);
    let output = plane(&axes);
    Operator { axes, inputs: vec![image, filter], output }
}

/// `O[n, c, y, x] += I[n, c, sy + r, sx + s] * W[c, r, s]`.
pub fn depthwise(channels: u64, size: u64, kernel: u64, stride: u64) -> Operator {
    let (border, out) = window(size, kernel, stride, 1);
    let axes = axes(&[BATCH, channels, out, out], &[kernel, kernel]);
    let image = image(&axes, 1, stride, border);
    let filter = tensor(&axes, &[(&[(1, 1)], 0), (&[(4, 1)], 0), (&[(5, 1)], 0)]);
    let output = plane(&axes);
    Operator { axes, inputs: vec![image, filter], output }
}

/// `Y[n, c, y, x] = max(X[n, c, y, x], 0)`.
pub fn relu(channels: u64, size: u64) -> Operator {
    let axes = axes(&[BATCH, channels, size, size], &[]);
    let all = plane(&axes);
    Operator { axes, inputs: vec![all.clone()], output: all }
}

/// `Y[n, c, y, x] += X[n, c, sy + r, sx + s]`.
pub fn pool(channels: u64, size: u64, kernel: u64, stride: u64, same: u64) -> Operator {
    let (border, out) = window(size, kernel, stride, same);
    let axes = axes(&[BATCH, channels, out, out], &[kernel, kernel]);
    let image = image(&axes, 1, stride, border);
    let output = plane(&axes);
    Operator { axes, inputs: vec![image], output }
}

/// `Y[m] += X[m, k]`.
pub fn reduce(rows: u64, columns: u64) -> Operator {
    let axes = axes(&[rows], &[columns]);
    let input = tensor(&axes, &[(&[(0, 1)], 0), (&[(1, 1)], 0)]);
    Operator { inputs: vec![input], output: tensor(&axes, &[(&[(0, 1)], 0)]), axes }
}

/// Every operator by its published id, along the axes that it is cut along.
pub fn all() -> Vec<(String, Operator)> {
    let mut found = Vec::new();
    let mut add = |letter: char, operators: Vec<Operator>| {
        for (at, operator) in operators.into_iter().enumerate() {
            found.push((format!("{letter}{at}"), operator.fused()));
        }
    };
    add('C', rows(CONV).map(|r| conv(r[0], r[1], r[2], r[3], r[4], r[5])).collect());
    add('D', rows(DEPTHWISE).map(|r| depthwise(r[0], r[1], r[2], r[3])).collect());
    add('E', rows(RELU).map(|r| relu(r[0], r[1])).collect());
    add('P', rows(POOL).map(|r| pool(r[0], r[1], r[2], r[3], r[4])).collect());
    add('R', REDUCE.iter().map(|r| reduce(r[0], r[1])).collect());
    add('M', MATMUL.iter().map(|r| matmul(r[0], r[1], r[2])).collect());
    found
}
