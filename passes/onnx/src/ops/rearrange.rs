//! Operators that cut, border or turn around parts of a tensor.

use weft_dialects::ir::Linear;

use super::{Operator, op};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Plan};
use crate::types::ElementType;

pub const OPERATORS: &[Operator] = &[
    op("CenterCropPad", 18, 2, &["axes"], center_crop_pad),
    op("ReverseSequence", 10, 2, &["batch_axis", "time_axis"], reverse_sequence),
];

/// The middle of a tensor, or a tensor in the middle of zeros, along each axis.
fn center_crop_pad(node: &Node<'_>) -> Result<Plan> {
    let x = node.input(0, "input_data")?;
    let axes = match node.ints("axes")? {
        Some(axes) => node.axes(axes, x.rank())?,
        None => (0..x.rank()).collect(),
    };
    let shape = node.known_ints(1, "shape")?.unwrap_or_default();
    if shape.len() != axes.len() || shape.iter().any(|&extent| extent < 0) {
        return Err(node
            .report(format!("brings {} to {shape:?}", x.ty))
            .help(format!("{} extents, from 0", axes.len()))
            .invalid());
    }
    let rank = x.rank();
    let (mut offsets, mut sizes) = (vec![0; rank], x.dims().to_vec());
    let (mut before, mut after) = (vec![0; rank], vec![0; rank]);
    let mut dims = sizes.clone();
    for (&d, &extent) in axes.iter().zip(&shape) {
        let (more, less) = ((extent - sizes[d]).max(0), (sizes[d] - extent).max(0));
        (offsets[d], sizes[d]) = (less / 2, sizes[d] - less);
        (before[d], after[d]) = (more / 2, more - more / 2);
        dims[d] = extent;
    }
    let result = node.ty(x.element(), dims)?;
    Ok(Plan::new(vec![x.clone()], vec![result], move |b, args| {
        let middle = b.slice(&args[0], &offsets, &sizes, &vec![1; rank]);
        vec![b.pad(&middle, &before, &after, Scalar::Int(0))]
    }))
}

/// The first elements of each sequence, in the opposite order.
fn reverse_sequence(node: &Node<'_>) -> Result<Plan> {
    let x = node.input(0, "input")?;
    let lengths = node.typed(1, "sequence_lens", &[ElementType::I64])?;
    let batch = node.axis(node.int("batch_axis")?.unwrap_or(1), x.rank())?;
    let time = node.axis(node.int("time_axis")?.unwrap_or(0), x.rank())?;
    if batch == time || lengths.dims() != &x.dims()[batch..=batch] {
        return Err(node
            .report(format!("turns around {} by {}", x.ty, lengths.ty))
            .help(format!("one length for each place on axis {batch}, and another axis for time"))
            .invalid());
    }
    let rank = x.rank();
    Ok(Plan::new(vec![x.clone(), lengths.clone()], vec![x.ty.clone()], move |b, args| {
        let x = &args[0];
        let inputs = [(&args[1], vec![Linear::axis(rank, batch)])];
        vec![b.move_at(x.element(), x.dims(), &inputs, |calc, given| {
            let mut place: Vec<_> = (0..rank).map(|axis| calc.index(axis)).collect();
            let (here, length) = (place[time], calc.coordinate(given[0]));
            let (one, zero, last) = (calc.at(1), calc.at(0), calc.at(x.dims()[time] - 1));
            let end = calc.sub(length, one);
            let mirrored = calc.sub(end, here);
            let turned = calc.lt(here, length);
            let found = calc.select(turned, mirrored, here);
            let found = calc.max(found, zero);
            place[time] = calc.min(found, last);
            calc.extract(x, &place)
        })]
    }))
}
