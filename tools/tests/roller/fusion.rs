//! Axes that are joined before tiles are made, and those that must not be.

use weft_passes::tile::roller::Operator;

use super::suite;
use super::support::{axes, matmul, tensor};

/// 17 x 11 x 3 elements in a row.
#[test]
fn ro_4_neighbours_are_joined() {
    let axes = axes(&[17, 11, 3], &[]);
    let all = tensor(&axes, &[(&[(0, 1)], 0), (&[(1, 1)], 0), (&[(2, 1)], 0)]);
    let operator = Operator { axes, inputs: vec![all.clone()], output: all };
    assert_eq!(operator.joined().extents(), [561]);
}

#[test]
fn ro_4_a_convolution_is_a_product() {
    let conv = suite::conv(3, 230, 64, 7, 2, 0);
    assert_eq!(conv.fused().extents(), [64, 128 * 112 * 112, 147]);
    let fused = conv.fused();
    // The image as [k, p], the filter as [f, k]: the last axis is contiguous.
    let last = |tensor: usize| fused.inputs[tensor].dims.last().and_then(|dim| dim.axis());
    assert_eq!((last(0), last(1)), (Some(1), Some(2)));
}

/// A bias by channel is there without the rows: the axes stay apart.
#[test]
fn ro_4_what_is_not_side_by_side_stays() {
    let axes = axes(&[4, 5, 6], &[]);
    let all = tensor(&axes, &[(&[(0, 1)], 0), (&[(1, 1)], 0), (&[(2, 1)], 0)]);
    let bias = tensor(&axes, &[(&[(1, 1)], 0)]);
    let operator =
        Operator { axes: axes.clone(), inputs: vec![all.clone(), bias], output: all.clone() };
    assert_eq!(operator.joined(), operator);
    // Turned round in one of two tensors.
    let turned = tensor(&axes, &[(&[(2, 1)], 0), (&[(1, 1)], 0), (&[(0, 1)], 0)]);
    let operator = Operator { axes: axes.clone(), inputs: vec![turned], output: all.clone() };
    assert_eq!(operator.joined(), operator);
    // A part of a row: the next row does not follow.
    let mut part = all.clone();
    part.dims[2].extent = 9;
    let operator = Operator { axes, inputs: vec![part], output: all };
    assert_eq!(operator.joined().extents(), [20, 6]);
}

/// A channel that both operands have is no axis of a product, nor is there one without rows.
#[test]
fn ro_4_what_is_no_product() {
    assert_eq!(suite::depthwise(84, 83, 5, 2).as_product(), None);
    assert_eq!(suite::reduce(64, 64).as_product(), None);
    assert_eq!(suite::relu(64, 8).as_product(), None);
    let axes = axes(&[64], &[32]);
    let matrix = tensor(&axes, &[(&[(0, 1)], 0), (&[(1, 1)], 0)]);
    let vector = tensor(&axes, &[(&[(1, 1)], 0)]);
    let output = tensor(&axes, &[(&[(0, 1)], 0)]);
    let gemv = Operator { axes, inputs: vec![matrix, vector], output };
    assert_eq!(gemv.as_product(), None);
    assert_eq!(matmul(8, 9, 10).as_product(), Some(matmul(8, 9, 10)));
}
