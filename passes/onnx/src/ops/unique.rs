//! Unique: rows that are equal to none before them, and which of them each row is.
//!
//! Every row is compared with every other one, so all of it is done at once; `n` rows take `n²` steps.

use weft_dialects::ir::Linear;
use weft_dialects::ir::payload::Axis;

use crate::elements::Scalar;
use crate::node::{Operand, Plan};
use crate::payload::{Build, Calc, Num, Tensor};
use crate::types::{ElementType, TensorType};

const COUNT: ElementType = ElementType::I64;

/// Plans what lies at each place along an axis as a row of a matrix of `count` rows; of all elements, in row-major
/// order, where the count is theirs.
pub fn rows(x: &Operand, axis: usize, count: i64) -> Plan {
    let (rank, element) = (x.rank(), x.element());
    let matrix = [count, x.ty.elements() as i64 / count];
    let ty = TensorType::temporary(element, &matrix);
    Plan::new(vec![x.clone()], vec![ty], move |b, args| {
        let mut turned = args[0].clone();
        if axis > 0 {
            let order: Vec<_> =
                std::iter::once(axis).chain((0..rank).filter(|&dim| dim != axis)).collect();
            let dims: Vec<_> = order.iter().map(|&dim| turned.dims()[dim]).collect();
            let of = |dim| order.iter().position(|&own| own == dim).expect("each once");
            let read = (0..rank).map(|dim| Linear::axis(rank, of(dim))).collect();
            turned = b.move_at(element, &dims, &[(&args[0], read)], |_, x| x[0]);
        }
        vec![b.reshape(&turned, &matrix)]
    })
}

/// Plans, of the rows of a matrix: for each the number of the unique one that it is; 1 where it is the first
/// of those equal to it, else 0; and how many unique ones there are. These are numbered in ascending order, or
/// in that of their first ones.
pub fn numbered(rows: &Operand, ascending: bool) -> Plan {
    let count = rows.dims()[0];
    let of = |count| TensorType::temporary(COUNT, &[count]);
    let results = vec![of(count), of(count), of(1)];
    Plan::new(vec![rows.clone()], results, move |b, args| {
        let order = compared(b, &args[0]);
        let first = folded(b, count, &[(&order, &[0, 1])], 1, |calc, x, so_far| {
            let same = is_zero(calc, x[0]);
            let (here, there) = (calc.index(0), calc.index(1));
            let before = calc.lt(there, here);
            let repeats = calc.and(same, before);
            let none = calc.literal(COUNT, Scalar::Int(0));
            calc.select(repeats, none, so_far)
        });
        let inputs: [(&Tensor<'_>, &[usize]); 2] = [(&order, &[0, 1]), (&first, &[1])];
        let before = folded(b, count, &inputs, 0, |calc, x, so_far| {
            let below = if ascending {
                let none = calc.literal(ElementType::I8, Scalar::Int(0));
                calc.gt(x[0], none)
            } else {
                let (here, there) = (calc.index(0), calc.index(1));
                calc.lt(there, here)
            };
            counting(calc, below, x[1], so_far)
        });
        // A row has the number of the first one that is equal to it.
        let inputs: [(&Tensor<'_>, &[usize]); 3] =
            [(&order, &[0, 1]), (&first, &[1]), (&before, &[1])];
        let number = folded(b, count, &inputs, 0, |calc, x, so_far| {
            let same = is_zero(calc, x[0]);
            let own = calc.mul(x[1], x[2]);
            counting(calc, same, own, so_far)
        });
        let start = b.fill(COUNT, &[1], Scalar::Int(0));
        let [point, all] = [0, 1].map(|axis| vec![Linear::axis(2, axis)]);
        let kinds = [Axis::Parallel, Axis::Reduction];
        let outputs = [(&start, point)];
        let total = b.nest(&kinds, &[1, count], &[(&first, all)], &outputs, |calc, x| {
            vec![calc.add(x[1], x[0])]
        });
        vec![number, first, total[0].clone()]
    })
}

/// Plans the first row of each unique one, and how many rows it is.
pub fn counted(number: &Operand, first: &Operand) -> Plan {
    let count = number.dims()[0];
    let ty = || TensorType::temporary(COUNT, &[count]);
    Plan::new(vec![number.clone(), first.clone()], vec![ty(), ty()], move |b, args| {
        let inputs: [(&Tensor<'_>, &[usize]); 2] = [(&args[0], &[1]), (&args[1], &[1])];
        let at = folded(b, count, &inputs, 0, |calc, x, so_far| {
            let there = calc.index(1);
            let there = calc.counted(there, COUNT);
            let (place, same) = (calc.mul(x[1], there), is_own(calc, x[0]));
            counting(calc, same, place, so_far)
        });
        let many = folded(b, count, &inputs[..1], 0, |calc, x, so_far| {
            let same = is_own(calc, x[0]);
            let one = calc.literal(COUNT, Scalar::Int(1));
            counting(calc, same, one, so_far)
        });
        vec![at, many]
    })
}

/// Whether a number is that of the point.
fn is_own<'c>(calc: &mut Calc<'_, 'c>, number: Num<'c>) -> Num<'c> {
    let own = calc.index(0);
    let own = calc.counted(own, COUNT);
    calc.eq(number, own)
}

fn is_zero<'c>(calc: &mut Calc<'_, 'c>, x: Num<'c>) -> Num<'c> {
    let zero = calc.literal(ElementType::I8, Scalar::Int(0));
    calc.eq(x, zero)
}

/// `so_far`, and `more` where it counts.
fn counting<'c>(
    calc: &mut Calc<'_, 'c>,
    counts: Num<'c>,
    more: Num<'c>,
    so_far: Num<'c>,
) -> Num<'c> {
    let all = calc.add(so_far, more);
    calc.select(counts, all, so_far)
}

/// For each two rows 1, 0 or -1: the first one is behind the second, equal, or before it.
fn compared<'c>(b: &mut Build<'_, 'c>, rows: &Tensor<'c>) -> Tensor<'c> {
    let [count, width] = [rows.dims()[0], rows.dims()[1]];
    let is_float = rows.element().is_float();
    let start = b.fill(ElementType::I8, &[count, count], Scalar::Int(0));
    let read = |row| vec![Linear::axis(3, row), Linear::axis(3, 2)];
    let (inputs, kinds) =
        ([(rows, read(0)), (rows, read(1))], [Axis::Parallel, Axis::Parallel, Axis::Reduction]);
    let output = (&start, vec![Linear::axis(3, 0), Linear::axis(3, 1)]);
    let order = b.nest(&kinds, &[count, count, width], &inputs, &[output], |calc, x| {
        let [mut above, mut below] = [calc.gt(x[0], x[1]), calc.lt(x[0], x[1])];
        if is_float {
            // What is no number is one like another, and behind all that are.
            let [one, other] = [calc.is_nan(x[0]), calc.is_nan(x[1])];
            let [first, second] = [calc.not(other), calc.not(one)];
            let [more, less] = [calc.and(one, first), calc.and(other, second)];
            (above, below) = (calc.or(above, more), calc.or(below, less));
        }
        let [none, one, less] =
            [0, 1, -1].map(|sign| calc.literal(ElementType::I8, Scalar::Int(sign)));
        let own = calc.select(below, less, none);
        let own = calc.select(above, one, own);
        // The first elements that differ decide.
        let open = calc.eq(x[2], none);
        vec![calc.select(open, own, x[2])]
    });
    order[0].clone()
}

/// For each of `count` points a fold over as many.
fn folded<'c>(
    b: &mut Build<'_, 'c>,
    count: i64,
    inputs: &[(&Tensor<'c>, &[usize])],
    start: i128,
    body: impl FnOnce(&mut Calc<'_, 'c>, &[Num<'c>], Num<'c>) -> Num<'c>,
) -> Tensor<'c> {
    let start = b.fill(COUNT, &[count], Scalar::Int(start));
    let read = |axes: &[usize]| axes.iter().map(|&axis| Linear::axis(2, axis)).collect();
    let inputs: Vec<_> = inputs.iter().map(|(tensor, axes)| (*tensor, read(axes))).collect();
    let (kinds, output) = ([Axis::Parallel, Axis::Reduction], (&start, read(&[0])));
    let made = b.nest(&kinds, &[count, count], &inputs, &[output], |calc, x| {
        let (so_far, read) = x.split_last().expect("a nest has an output");
        vec![body(calc, read, *so_far)]
    });
    made[0].clone()
}
