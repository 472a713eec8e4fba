//! Where elements are that are not zero, in order.
//!
//! Marks lie in blocks. How many there are up to the end of each block is counted beforehand, so the block of
//! one is found by halving, and one look at it finds the place: `n` places of `m` elements take
//! `m + n (log2 m + BLOCK)` steps.

use weft_dialects::ir::Linear;
use weft_dialects::ir::payload::Axis;

use super::cumulative::running;
use crate::elements::{Elements, Scalar};
use crate::node::{Operand, Plan};
use crate::payload::{Access, Build, Tensor, identity};
use crate::types::{ElementType, TensorType};

/// Marks of a block: as many bytes as a line of most caches has.
const BLOCK: i64 = 64;

/// Plans a mark for each element that is not zero; what is no number is marked.
pub fn marks(x: &Operand) -> Plan {
    let ty = TensorType::temporary(ElementType::I8, x.dims());
    let element = x.element();
    Plan::new(vec![x.clone()], vec![ty], move |b, args| {
        vec![b.map(ElementType::I8, args[0].dims(), &[&args[0]], |calc, x| {
            let zero = calc.literal(element, Scalar::Int(0));
            let equal = calc.eq(x[0], zero);
            let marked = calc.not(equal);
            calc.cast(marked, ElementType::I8)
        })]
    })
}

/// Plans marks in blocks, in row-major order; there are none where no element is.
pub fn in_blocks(marks: &Operand) -> Plan {
    let count = marks.ty.elements() as i64;
    let room = (count + BLOCK - 1) / BLOCK * BLOCK;
    let ty = TensorType::temporary(ElementType::I8, &[room]);
    let lengths: Vec<_> =
        (0..marks.rank()).filter_map(|dim| Some((dim, marks.length(dim)?.clone()))).collect();
    if lengths.is_empty() {
        return Plan::new(vec![marks.clone()], vec![ty], move |b, args| {
            let flat = b.reshape(&args[0], &[count]);
            vec![b.pad(&flat, &[0], &[room - count], Scalar::Int(0))]
        });
    }
    let limited: Vec<_> = lengths.iter().map(|(dim, _)| *dim).collect();
    let plan = Plan::new(vec![marks.clone()], vec![ty], move |b, args| {
        let (marks, ends) = (&args[0], &args[1..]);
        let dims = marks.dims().to_vec();
        let inputs: Vec<Access<'_, '_>> = ends.iter().map(|end| (end, vec![])).collect();
        vec![b.map_at(ElementType::I8, &[room], &inputs, |calc, ends| {
            let (mut stride, mut places) = (count, Vec::new());
            let (mut inside, zero) = (None, calc.at(0));
            for (dim, &extent) in dims.iter().enumerate() {
                stride /= extent;
                let (all, by, around) = (calc.index(0), calc.at(stride), calc.at(extent));
                let own = calc.div(all, by);
                let own = if dim == 0 { own } else { calc.rem(own, around) };
                let mut below = calc.lt(own, around);
                if let Some(at) = limited.iter().position(|limited| *limited == dim) {
                    let own = calc.counted(own, ElementType::I64);
                    let there = calc.lt(own, ends[at]);
                    below = calc.and(below, there);
                }
                inside = Some(inside.map_or(below, |before| calc.and(before, below)));
                places.push(own);
            }
            let inside = inside.expect("what has a length has a dimension");
            let places: Vec<_> =
                places.into_iter().map(|own| calc.select(inside, own, zero)).collect();
            let mark = calc.extract(marks, &places);
            let (mark, none) = (calc.loaded(mark), calc.literal(ElementType::I8, Scalar::Int(0)));
            calc.select(inside, mark, none)
        })]
    });
    plan.asking(lengths.into_iter().map(|(_, length)| length))
}

/// Plans how many marks there are up to the end of each block, and in all of them.
pub fn ends(marks: &Operand) -> Plan {
    let blocks = marks.dims()[0] / BLOCK;
    let of = |count| TensorType::temporary(ElementType::I64, &[count]);
    Plan::new(vec![marks.clone()], vec![of(blocks), of(1)], move |b, args| {
        let rows = b.reshape(&args[0], &[blocks, BLOCK]);
        let start = b.fill(ElementType::I64, &[blocks], Scalar::Int(0));
        let kinds = [Axis::Parallel, Axis::Reduction];
        let outputs = [(&start, vec![Linear::axis(2, 0)])];
        let sums =
            b.nest(&kinds, &[blocks, BLOCK], &[(&rows, identity(2))], &outputs, |calc, x| {
                let own = calc.cast(x[0], ElementType::I64);
                vec![calc.add(x[1], own)]
            });
        let ends = running(b, sums[0].clone(), 0, false, false);
        let count = b.slice(&ends, &[blocks - 1], &[1], &[1]);
        vec![ends, count]
    })
}

/// Plans the places of marks, in order, which are `most` at most.
pub fn places(marks: &Operand, ends: &Operand, most: i64) -> Plan {
    let ty = TensorType::temporary(ElementType::I64, &[most]);
    Plan::new(vec![marks.clone(), ends.clone()], vec![ty], move |b, args| {
        let [block, rank] = block_of(b, &args[1], most);
        let start = b.fill(ElementType::I64, &[most], Scalar::Int(0));
        let own = || vec![Linear::axis(2, 0)];
        let (inputs, outputs) =
            ([(&block, own()), (&rank, own())], [(&start, own()), (&start, own())]);
        let kinds = [Axis::Parallel, Axis::Reduction];
        let found = b.nest(&kinds, &[most, BLOCK], &inputs, &outputs, |calc, x| {
            let [block, rank, seen, place] = [x[0], x[1], x[2], x[3]];
            let block = calc.coordinate(block);
            let (size, inner) = (calc.at(BLOCK), calc.index(1));
            let first = calc.mul(block, size);
            let at = calc.add(first, inner);
            let mark = calc.extract(&args[0], &[at]);
            let mark = calc.loaded(mark);
            let mark = calc.cast(mark, ElementType::I64);
            let (none, at) = (
                calc.literal(ElementType::I64, Scalar::Int(0)),
                calc.counted(at, ElementType::I64),
            );
            let (marked, next) = (calc.ne(mark, none), calc.eq(seen, rank));
            let own = calc.and(marked, next);
            vec![calc.add(seen, mark), calc.select(own, at, place)]
        });
        vec![found[1].clone()]
    })
}

/// The block of each mark, and how many of the block come before it.
fn block_of<'c>(b: &mut Build<'_, 'c>, ends: &Tensor<'c>, most: i64) -> [Tensor<'c>; 2] {
    let blocks = ends.dims()[0];
    let block = b.map_at(ElementType::I64, &[most], &[], |calc, _| {
        let wanted = calc.index(0);
        let wanted = calc.counted(wanted, ElementType::I64);
        let (mut before, last) = (calc.at(0), calc.at(blocks - 1));
        let mut step = 1 << blocks.ilog2();
        while step > 0 {
            // The first `before + step` blocks hold no more marks than come before it.
            let (by, all, one) = (calc.at(step), calc.at(blocks), calc.at(1));
            let next = calc.add(before, by);
            let probe = calc.sub(next, one);
            let probe = calc.min(probe, last);
            let end = calc.extract(ends, &[probe]);
            let end = calc.loaded(end);
            let (passed, there) = (calc.le(end, wanted), calc.le(next, all));
            let takes = calc.and(passed, there);
            before = calc.select(takes, next, before);
            step /= 2;
        }
        let before = calc.min(before, last);
        calc.counted(before, ElementType::I64)
    });
    let rank = b.map(ElementType::I64, &[most], &[&block], |calc, x| {
        let block = calc.coordinate(x[0]);
        let (zero, one) = (calc.at(0), calc.at(1));
        let before = calc.sub(block, one);
        let probe = calc.max(before, zero);
        let end = calc.extract(ends, &[probe]);
        let (end, none) = (calc.loaded(end), calc.literal(ElementType::I64, Scalar::Int(0)));
        let first = calc.eq(block, zero);
        let passed = calc.select(first, none, end);
        let own = calc.index(0);
        let own = calc.counted(own, ElementType::I64);
        calc.sub(own, passed)
    });
    [block, rank]
}

/// Plans the coordinates of places in a tensor: a row for each dimension.
pub fn coordinates(places: &Operand, dims: &[i64]) -> Plan {
    let (rank, most) = (dims.len() as i64, places.dims()[0]);
    let strides: Vec<i64> = (0..dims.len()).map(|dim| dims[dim + 1..].iter().product()).collect();
    let tables = vec![Elements::from_ints(&strides), Elements::from_ints(dims)];
    let ty = TensorType::temporary(ElementType::I64, &[rank, most]);
    let plan = Plan::new(vec![places.clone()], vec![ty], move |b, args| {
        let own = |axis| vec![Linear::axis(2, axis)];
        let inputs = [(&args[0], own(1)), (&args[1], own(0)), (&args[2], own(0))];
        vec![b.map_at(ElementType::I64, &[rank, most], &inputs, |calc, x| {
            let own = calc.div(x[0], x[1]);
            calc.rem(own, x[2])
        })]
    });
    plan.with(tables)
}
