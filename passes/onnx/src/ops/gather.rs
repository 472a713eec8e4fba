//! Operators whose reads depend on data.

use weft_dialects::ir::Linear;

use super::movement::moved;
use super::{Operator, op};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Calc, Num, identity};
use crate::types::{ElementType, TensorType};

pub const OPERATORS: &[Operator] = &[
    op("Gather", 1, 2, &["axis"], gather),
    op("GatherElements", 11, 2, &["axis"], gather_elements),
    op("GatherND", 11, 2, &["batch_dims"], gather_nd),
];

const INDICES: &[ElementType] = &[ElementType::I32, ElementType::I64];

/// Fails when there is an index to look up and nothing to find.
fn expect_some(node: &Node<'_>, extent: i64, indices: &Operand, axis: usize) -> Result<()> {
    if extent > 0 || indices.ty.elements() == 0 {
        return Ok(());
    }
    Err(node.invalid(format!("looks up {} on axis {axis}, which is empty", indices.ty)))
}

/// An index as a coordinate along a dimension of so many elements: counted from the end where it is negative, and kept
/// in range.
fn coordinate_in<'c>(calc: &mut Calc<'_, 'c>, index: Num<'c>, length: Num<'c>) -> Num<'c> {
    let index = calc.coordinate(index);
    let (zero, one) = (calc.at(0), calc.at(1));
    let last = calc.sub(length, one);
    let (below, from_end) = (calc.lt(index, zero), calc.add(index, length));
    let index = calc.select(below, from_end, index);
    let index = calc.min(index, last);
    calc.max(index, zero)
}

/// As [`coordinate_in`], of a known index.
fn known_coordinate(index: Scalar, extent: i64) -> i64 {
    let index = index.as_int() as i64;
    let index = if index < 0 { index.saturating_add(extent) } else { index };
    index.min(extent - 1).max(0)
}

fn gather(node: &Node<'_>) -> Result<Plan> {
    let data = node.input(0, "data")?;
    let indices = node.typed(1, "indices", INDICES)?;
    let axis = node.axis(node.int("axis")?.unwrap_or(0), data.rank())?;
    let extent = data.dims()[axis];
    expect_some(node, extent, indices, axis)?;
    let dims = [&data.dims()[..axis], indices.dims(), &data.dims()[axis + 1..]].concat();
    let result = node.ty(data.element(), dims.clone())?;
    let many = indices.rank();
    let (source, ty) = (data.ty.clone(), result.clone());
    if let Some(index) = indices.literal() {
        // One known index is a window.
        if !(-i128::from(extent)..i128::from(extent)).contains(&index.as_int()) {
            return Err(node
                .report(format!("looks up {} on axis {axis} of {}", index.as_int(), data.ty))
                .help(format!("{} to {}", -extent, extent - 1))
                .invalid());
        }
        let at = known_coordinate(index, extent);
        let plan = Plan::new(vec![data.clone()], vec![result], move |b, args| {
            let (mut offsets, mut sizes) = (vec![0; args[0].dims().len()], args[0].dims().to_vec());
            (offsets[axis], sizes[axis]) = (at, 1);
            let row = b.slice(&args[0], &offsets, &sizes, &vec![1; sizes.len()]);
            vec![b.reshape(&row, &dims)]
        });
        return Ok(plan.folds(move |known| {
            vec![moved(&known[0], &ty, |index| {
                (0..source.rank()).fold(0, |place, d| {
                    let i = match d {
                        d if d < axis => index[d],
                        d if d == axis => at,
                        d => index[d + many - 1],
                    };
                    place * source.dims()[d] + i
                })
            })]
        }));
    }
    Ok(looked_up(data, indices, axis))
}

/// Plans the rows of `data` along `axis` that a tensor of indices names, which is not larger than a tensor
/// may be.
pub fn looked_up(data: &Operand, indices: &Operand, axis: usize) -> Plan {
    let (extent, many) = (data.dims()[axis], indices.rank());
    let dims = [&data.dims()[..axis], indices.dims(), &data.dims()[axis + 1..]].concat();
    let result = TensorType::temporary(data.element(), &dims);
    let (source, ty) = (data.ty.clone(), result.clone());
    let operands = vec![data.clone(), indices.clone()];
    let knows = data.has_lengths().then(|| {
        let own = data.all_lengths();
        [&own[..axis], &indices.all_lengths(), &own[axis + 1..]].concat()
    });
    let plan = Plan::new(operands, vec![result], move |b, args| {
        let (data, rank) = (&args[0], dims.len());
        let read = (0..many).map(|d| Linear::axis(rank, axis + d)).collect();
        let mut inputs = vec![(&args[1], read)];
        inputs.extend(args.get(2).map(|length| (length, Vec::new())));
        vec![b.move_at(data.element(), &dims, &inputs, |calc, given| {
            let length = calc.end(given.get(1).copied(), extent);
            let found = coordinate_in(calc, given[0], length);
            let place: Vec<_> = (0..data.dims().len())
                .map(|d| match d {
                    d if d < axis => calc.index(d),
                    d if d == axis => found,
                    d => calc.index(d + many - 1),
                })
                .collect();
            calc.extract(data, &place)
        })]
    });
    let plan = plan.asking(data.length(axis).cloned()).knowing(knows);
    plan.folds(move |known| {
        let lengths = known[1].ty().dims();
        vec![moved(&known[0], &ty, |index| {
            let own = &index[axis..axis + many];
            let at = own.iter().zip(lengths).fold(0, |at, (i, n)| at * n + i) as usize;
            let found = known_coordinate(known[1].get(at), extent);
            (0..source.rank()).fold(0, |place, d| {
                let i = match d {
                    d if d < axis => index[d],
                    d if d == axis => found,
                    d => index[d + many - 1],
                };
                place * source.dims()[d] + i
            })
        })]
    })
}

fn gather_elements(node: &Node<'_>) -> Result<Plan> {
    let data = node.input(0, "data")?;
    let indices = node.typed(1, "indices", INDICES)?;
    let rank = data.rank();
    let axis = node.axis(node.int("axis")?.unwrap_or(0), rank)?;
    let fits = indices.rank() == rank
        && (0..rank).all(|d| d == axis || indices.dims()[d] <= data.dims()[d]);
    if !fits {
        return Err(node
            .report(format!("looks up {} in {}", indices.ty, data.ty))
            .help(format!("indices of {rank} dimensions, none longer than in data but axis {axis}"))
            .invalid());
    }
    let extent = data.dims()[axis];
    expect_some(node, extent, indices, axis)?;
    let result = node.ty(data.element(), indices.dims().to_vec())?;
    let operands = vec![data.clone(), indices.clone()];
    let plan = Plan::new(operands, vec![result.clone()], move |b, args| {
        let mut inputs = vec![(&args[1], identity(rank))];
        inputs.extend(args.get(2).map(|length| (length, Vec::new())));
        vec![b.move_at(result.element(), result.dims(), &inputs, |calc, given| {
            let mut place: Vec<_> = (0..rank).map(|d| calc.index(d)).collect();
            let length = calc.end(given.get(1).copied(), extent);
            place[axis] = coordinate_in(calc, given[0], length);
            calc.extract(&args[0], &place)
        })]
    });
    let some = data.has_lengths() || indices.has_lengths();
    let knows = some.then(|| indices.all_lengths());
    Ok(plan.asking(data.length(axis).cloned()).knowing(knows))
}

fn gather_nd(node: &Node<'_>) -> Result<Plan> {
    let data = node.input(0, "data")?;
    let indices = node.typed(1, "indices", &[ElementType::I64])?;
    let batch = node.int("batch_dims")?.unwrap_or(0);
    let least = data.rank().min(indices.rank()) as i64;
    let wrong = |what: &str| {
        node.report(format!("looks up {} in {} with batch_dims {batch}", indices.ty, data.ty))
            .help(what)
            .invalid()
    };
    if least == 0 || !(0..least).contains(&batch) {
        return Err(wrong("batch_dims below the rank of both"));
    }
    let batch = batch as usize;
    let (outer, length) = indices.dims().split_at(indices.rank() - 1);
    let length = length[0];
    if length < 1 || length > (data.rank() - batch) as i64 {
        return Err(wrong("as many indices in a row as data has dimensions, or fewer"));
    }
    if data.dims()[..batch] != indices.dims()[..batch] {
        return Err(wrong("the same extents in the batch dimensions"));
    }
    let length = length as usize;
    for d in batch..batch + length {
        expect_some(node, data.dims()[d], indices, d)?;
    }
    let dims = [outer, &data.dims()[batch + length..]].concat();
    let result = node.ty(data.element(), dims)?;
    let outer = outer.len();
    let operands = vec![data.clone(), indices.clone()];
    let limited: Vec<_> = (batch..batch + length).filter(|&d| data.length(d).is_some()).collect();
    let ends: Vec<_> = limited.iter().filter_map(|&d| data.length(d).cloned()).collect();
    let some = data.has_lengths() || indices.has_lengths();
    let knows = some
        .then(|| [&indices.all_lengths()[..outer], &data.all_lengths()[batch + length..]].concat());
    let plan = Plan::new(operands, vec![result.clone()], move |b, args| {
        let (data, rank) = (&args[0], result.rank());
        // One read of the indices for each coordinate that they give.
        let inputs: Vec<_> = (0..length)
            .map(|at| {
                let mut read: Vec<_> = (0..outer).map(|d| Linear::axis(rank, d)).collect();
                read.push(Linear::constant(rank, at as i64));
                (&args[1], read)
            })
            .chain(args[2..].iter().map(|end| (end, Vec::new())))
            .collect();
        vec![b.move_at(data.element(), result.dims(), &inputs, |calc, given| {
            let place: Vec<_> = (0..data.dims().len())
                .map(|d| match d {
                    d if d < batch => calc.index(d),
                    d if d < batch + length => {
                        let end = limited.iter().position(|own| *own == d);
                        let end = calc.end(end.map(|end| given[length + end]), data.dims()[d]);
                        coordinate_in(calc, given[d - batch], end)
                    }
                    d => calc.index(outer + d - batch - length),
                })
                .collect();
            calc.extract(data, &place)
        })]
    });
    Ok(plan.asking(ends).knowing(knows))
}
