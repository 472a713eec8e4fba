//! Operators that read or write where data says.

use crate::net::{
    Draw, Node, absent, as_ints, check, float, floats, int, ints, ints_of, longs, refused, run,
    text,
};

#[test]
fn grids() {
    // The first matrix turns by a quarter, which swaps both coordinates; the second one moves.
    let theta = [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.25, 0.0, 1.0, -0.5];
    let size = longs(&[4], &[2, 1, 2, 2]).fixed();
    let mut grid = Vec::new();
    for (y, x) in [(-0.5, -0.5), (-0.5, 0.5), (0.5, -0.5), (0.5, 0.5)] {
        grid.extend([y, x]);
    }
    for (y, x) in [(-0.5, -0.5), (-0.5, 0.5), (0.5, -0.5), (0.5, 0.5)] {
        grid.extend([x + 0.25, y - 0.5]);
    }
    let theta = floats(&[2, 2, 3], &theta);
    check(&Node("AffineGrid", &[]), &[theta.clone(), size], &[grid]);
    let size = longs(&[4], &[3, 1, 2, 2]).fixed();
    refused(&Node("AffineGrid", &[]), &[theta, size], "for each batch a matrix");
}

#[test]
fn columns_become_images() {
    // Blocks of two beside each other, one apart: the middle is in both.
    let x = floats(&[1, 2, 2], &[1.0, 2.0, 3.0, 4.0]);
    let shape = |dims: &[i64]| longs(&[dims.len() as i64], dims).fixed();
    let inputs = [x.clone(), shape(&[3]), shape(&[2])];
    check(&Node("Col2Im", &[]), &inputs, &[vec![1.0, 5.0, 4.0]]);
    let attributes = [ints_of("strides", &[2]), ints_of("pads", &[1, 0])];
    let inputs = [x.clone(), shape(&[3]), shape(&[2])];
    check(&Node("Col2Im", &attributes), &inputs, &[vec![3.0, 2.0, 4.0]]);
    refused(&Node("Col2Im", &[]), &[x, shape(&[4]), shape(&[2])], "it has 3 blocks of 2");
}

#[test]
fn pools_are_undone() {
    let x = floats(&[1, 2, 1, 2], &[5.0, 6.0, 7.0, 8.0]);
    let places = longs(&[1, 2, 1, 2], &[1, 3, 4, 7]);
    let attributes = [ints_of("kernel_shape", &[1, 2]), ints_of("strides", &[1, 2])];
    let y = vec![0.0, 5.0, 0.0, 6.0, 7.0, 0.0, 0.0, 8.0];
    check(&Node("MaxUnpool", &attributes), &[x, places], &[y]);
}

#[test]
fn regions() {
    // A slope: samples of a bin have their mean in its middle, less half a pixel.
    let x: Vec<f32> = (0..16).map(|at| (at % 4) as f32).collect();
    let inputs =
        [floats(&[1, 1, 4, 4], &x), floats(&[1, 4], &[1.0, 1.0, 3.0, 3.0]), longs(&[1], &[0])];
    let attributes = [int("output_height", 1), int("output_width", 2), int("sampling_ratio", 2)];
    check(&Node("RoiAlign", &attributes), &inputs, &[vec![1.0, 2.0]]);
    let pixels = [&attributes[..], &[text("coordinate_transformation_mode", "output_half_pixel")]];
    check(&Node("RoiAlign", &pixels.concat()), &inputs, &[vec![1.5, 2.5]]);
    refused(&Node("RoiAlign", &[float("spatial_scale", 1.0)]), &inputs, "a sampling_ratio from 1");
}

#[test]
fn deformed_windows() {
    let mut draw = Draw::new(3);
    let (x, w) = (draw.floats(2 * 16), draw.floats(3 * 2 * 4));
    let inputs = |offset: &[f32], mask: f32| {
        [
            floats(&[1, 2, 4, 4], &x),
            floats(&[3, 2, 2, 2], &w),
            floats(&[1, 8, 3, 3], offset),
            absent(),
            floats(&[1, 4, 3, 3], &[mask; 36]),
        ]
    };
    // Without offsets it is a convolution; one element further right it is that of what is there.
    let at = |c: usize, y: usize, x_at: usize| match x_at {
        0..4 => f64::from(x[c * 16 + y * 4 + x_at]),
        _ => 0.0,
    };
    for (right, mask) in [(0, 1.0), (1, 0.5)] {
        let offset: Vec<f32> =
            (0..72).map(|at| if at / 9 % 2 == 1 { right as f32 } else { 0.0 }).collect();
        let mut y = Vec::new();
        for filter in 0..3 {
            for place in 0..9 {
                let taps = (0..8).map(|tap| {
                    let (c, ky, kx) = (tap / 4, tap / 2 % 2, tap % 2);
                    let weight = f64::from(w[filter * 8 + tap]);
                    weight * at(c, place / 3 + ky, place % 3 + kx + right)
                });
                y.push(taps.sum::<f64>() * f64::from(mask));
            }
        }
        check(&Node("DeformConv", &[]), &inputs(&offset, mask), &[y]);
    }
    refused(&Node("DeformConv", &[int("offset_group", 3)]), &inputs(&[0.0; 72], 1.0), "groups");
}

#[test]
fn determinants() {
    // The first pivot of the second matrix is not in the first row; the third matrix has none.
    let x = [2.0, 1.0, 1.0, 3.0, 0.0, 4.0, -2.0, 5.0, 1.0, 2.0, 2.0, 4.0];
    check(&Node("Det", &[]), &[floats(&[3, 2, 2], &x)], &[vec![5.0, 8.0, 0.0]]);
    refused(&Node("Det", &[]), &[floats(&[3, 4], &x)], "square matrices");
}

#[test]
fn powers_of_integers() {
    let (x, y) = ([2, -3, 7, 1, -1, -1, 3, 0], [10, 3, 0, -5, -3, -4, -1, 2]);
    let got = run(&Node("Pow", &[]), &[ints(&[8], &x), ints(&[8], &y)], 1).expect("it runs");
    assert_eq!(as_ints(&got[0]), [1024, -27, 1, 1, -1, 1, 0, 0]);
}
