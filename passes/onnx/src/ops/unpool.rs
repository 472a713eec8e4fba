//! Operators that undo windows: each element of the result looks for the windows that it is in.

use weft_dialects::ir::Linear;
use weft_dialects::ir::payload::Axis;

use super::linear::zeros;
use super::scatter::{Meeting, Updates, scatter};
use super::{Operator, op};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::Tensor;
use crate::types::{ElementType, Shape};

pub const OPERATORS: &[Operator] = &[
    op("Col2Im", 18, 3, &["dilations", "pads", "strides"], columns_to_image),
    op("MaxUnpool", 9, 3, &["kernel_shape", "pads", "strides"], max_unpool).at_least(2),
];

/// A list of `count` numbers from `least` on, which is the default of each.
fn listed(node: &Node<'_>, name: &str, count: usize, least: i64) -> Result<Vec<i64>> {
    let Some(list) = node.ints(name)? else { return Ok(vec![least; count]) };
    let fits = |&n: &i64| (least..=i32::MAX.into()).contains(&n);
    if list.len() != count || !list.iter().all(fits) {
        let report = node.report(format!("has {name} {list:?}"));
        return Err(report.help(format!("{count} numbers, from {least}")).invalid());
    }
    Ok(list.to_vec())
}

/// Blocks of an image that were laid out as columns, summed where they overlap.
struct Blocks {
    image: Vec<i64>,
    block: Vec<i64>,
    dilations: Vec<i64>,
    strides: Vec<i64>,
    before: Vec<i64>,
    /// The number of blocks along each dimension.
    counts: Vec<i64>,
}

impl Blocks {
    fn of(node: &Node<'_>, x: &Operand) -> Result<Self> {
        let image = node.known_ints(1, "image_shape")?.unwrap_or_default();
        let block = node.known_ints(2, "block_shape")?.unwrap_or_default();
        let rank = image.len();
        let small = |&n: &i64| (1..=i32::MAX.into()).contains(&n);
        if rank == 0 || block.len() != rank || !image.iter().chain(&block).all(small) {
            return Err(node
                .report(format!(
                    "makes an image of {} from blocks of {}",
                    Shape(&image),
                    Shape(&block)
                ))
                .help("extents from 1, as many of both")
                .invalid());
        }
        let dilations = listed(node, "dilations", rank, 1)?;
        let strides = listed(node, "strides", rank, 1)?;
        let pads = listed(node, "pads", 2 * rank, 0)?;
        let counts: Vec<_> = (0..rank)
            .map(|d| {
                let room = image[d] + pads[d] + pads[rank + d] - dilations[d] * (block[d] - 1) - 1;
                room.div_euclid(strides[d]) + 1
            })
            .collect();
        let all = |list: &[i64]| list.iter().try_fold(1i64, |all, &n| all.checked_mul(n));
        let fits = x.rank() == 3
            && counts.iter().all(|&count| count > 0)
            && all(&counts) == Some(x.dims()[2])
            && all(&block).is_some_and(|size| x.dims()[1] % size == 0);
        if !fits {
            return Err(node
                .report(format!("makes an image of {} from {}", Shape(&image), x.ty))
                .note(format!("it has {} blocks of {}", Shape(&counts), Shape(&block)))
                .help("batch, channels times elements of a block, and blocks")
                .invalid());
        }
        let before = pads[..rank].to_vec();
        Ok(Self { image, block, dilations, strides, before, counts })
    }
}

fn columns_to_image(node: &Node<'_>) -> Result<Plan> {
    let x = node.typed(0, "input", ElementType::NUMBERS)?;
    let blocks = Blocks::of(node, x)?;
    let size: i64 = blocks.block.iter().product();
    let (batch, channels) = (x.dims()[0], x.dims()[1] / size);
    let element = x.element();
    let dims = [&[batch, channels], &blocks.image[..]].concat();
    let result = node.ty(element, dims.clone())?;
    Ok(Plan::new(vec![x.clone()], vec![result], move |b, args| {
        if dims.contains(&0) {
            return vec![b.empty(element, &dims)];
        }
        let rank = blocks.image.len();
        let apart = [&[batch, channels], &blocks.block[..], &blocks.counts].concat();
        let x = b.reshape(&args[0], &apart);
        let free = 2 + rank;
        let kinds = [vec![Axis::Parallel; free], vec![Axis::Reduction; rank]].concat();
        let extents = [&dims[..], &blocks.block].concat();
        let target = (0..free).map(|axis| Linear::axis(free + rank, axis)).collect();
        let start = zeros(b, element, &dims);
        let sums = b.nest(&kinds, &extents, &[], &[(&start, target)], |calc, given| {
            let mut place: Vec<_> = (0..2).map(|axis| calc.index(axis)).collect();
            place.extend((0..rank).map(|d| calc.index(free + d)));
            let mut inside = None;
            for d in 0..rank {
                // Where the block would begin, and which one that is.
                let begin = Linear::constant(free + rank, blocks.before[d])
                    .plus(2 + d, 1)
                    .plus(free + d, -blocks.dilations[d]);
                let begin = calc.linear(&begin);
                let (zero, stride) = (calc.at(0), calc.at(blocks.strides[d]));
                let last = calc.at(blocks.counts[d] - 1);
                let positive = calc.max(begin, zero);
                let (number, rest) = (calc.div(positive, stride), calc.rem(positive, stride));
                let (after, before) = (calc.ge(begin, zero), calc.le(number, last));
                let (whole, there) = (calc.eq(rest, zero), calc.and(after, before));
                let there = calc.and(whole, there);
                inside = Some(inside.map_or(there, |all| calc.and(all, there)));
                place.push(calc.min(number, last));
            }
            let found = calc.extract(&x, &place);
            let found = calc.loaded(found);
            let none = calc.like(found, 0.0);
            let found = match inside {
                Some(inside) => calc.select(inside, found, none),
                None => found,
            };
            vec![calc.add(given[0], found)]
        });
        vec![b.cast(&sums[0], element)]
    }))
}

/// Elements put back where a pool took them from, by their places in the whole tensor. Those of a
/// channel stay in it, as a pool takes them.
fn max_unpool(node: &Node<'_>) -> Result<Plan> {
    let (x, places) = (node.typed(0, "X", ElementType::FLOATS)?, node.input(1, "I")?);
    node.expect_element(places, "I", &[ElementType::I64])?;
    if x.rank() < 3 || places.dims() != x.dims() || x.dims().contains(&0) {
        return Err(node
            .report(format!("puts {} at {}", x.ty, places.ty))
            .help("batch, channels and at least one more dimension; a place for each element")
            .invalid());
    }
    let rank = x.rank() - 2;
    let kernel = listed(node, "kernel_shape", rank, 1)?;
    let (strides, pads) = (listed(node, "strides", rank, 1)?, listed(node, "pads", 2 * rank, 0)?);
    let mut dims = x.dims().to_vec();
    for d in 0..rank {
        let reach = (x.dims()[2 + d] - 1).saturating_mul(strides[d]);
        dims[2 + d] = reach.saturating_add(kernel[d] - pads[d] - pads[rank + d]);
    }
    let shape = node.known_ints(2, "output_shape")?.unwrap_or_else(|| dims.clone());
    let larger = shape.len() == dims.len() && shape.iter().zip(&dims).all(|(all, own)| all >= own);
    if dims.contains(&0) || !larger {
        return Err(node
            .report(format!("makes {} of {}", Shape(&shape), x.ty))
            .help(format!("a shape of at least {}", Shape(&dims)))
            .invalid());
    }
    let element = x.element();
    node.ty(element, dims.clone())?;
    let result = node.ty(element, shape.clone())?;
    Ok(Plan::new(vec![x.clone(), places.clone()], vec![result], move |b, args| {
        let (batch, channels) = (dims[0], dims[1]);
        let size: i64 = dims[2..].iter().product();
        let count: i64 = args[0].dims()[2..].iter().product();
        let [x, places] = [&args[0], &args[1]].map(|x| b.reshape(x, &[batch, channels, count]));
        let start = b.fill(element, &[batch, channels, size], Scalar::Int(0));
        let axis = |at| Linear::axis(4, at);
        let read = vec![axis(0), axis(1), axis(3)];
        let indices = [(&places, read.clone())];
        let meeting = Meeting::Replace;
        let updates = Updates { count, elements: (&x, read), indices: &indices, meeting };
        let channel = Linear::constant(4, 0).plus(0, channels * size).plus(1, size).plus(2, 1);
        let y: Tensor<'_> = scatter(b, &start, updates, |calc, index| {
            let (meant, here) = (calc.coordinate(index[0]), calc.linear(&channel));
            calc.eq(meant, here)
        });
        let y = b.reshape(&y, &dims);
        let after: Vec<_> = shape.iter().zip(&dims).map(|(all, own)| all - own).collect();
        vec![b.pad(&y, &vec![0; dims.len()], &after, Scalar::Int(0))]
    }))
}
