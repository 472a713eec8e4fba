//! Boxes of tensors, from places that may be counted from the end on, in steps.

use weft_dialects::graph::Dims;
use weft_dialects::ir::Linear;
use weft_runtime::length::Length;

use super::movement::gathered_of;
use super::{Operator, op};
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::Access;
use crate::types::TensorType;

pub const OPERATORS: &[Operator] = &[op("Slice", 10, 5, &[], slice).at_least(3)];

fn slice(node: &Node<'_>) -> Result<Plan> {
    let x = node.input(0, "data")?;
    let starts = node.known_ints(1, "starts")?.unwrap_or_default();
    let ends = node.known_ints(2, "ends")?.unwrap_or_default();
    let axes = match node.known_ints(3, "axes")? {
        Some(axes) => node.axes(&axes, x.rank())?,
        None if starts.len() <= x.rank() => (0..starts.len()).collect(),
        None => return Err(node.invalid(format!("slices {} axes of {}", starts.len(), x.ty))),
    };
    let steps = node.known_ints(4, "steps")?.unwrap_or_else(|| vec![1; starts.len()]);
    let count = starts.len();
    if ends.len() != count || axes.len() != count || steps.len() != count {
        return Err(node
            .report("slices with lists of different lengths")
            .note(format!(
                "{count} starts, {} ends, {} axes, {} steps",
                ends.len(),
                axes.len(),
                steps.len()
            ))
            .invalid());
    }
    let rank = x.rank();
    let (mut offsets, mut sizes, mut strides) = (vec![0; rank], x.dims().to_vec(), vec![1; rank]);
    for (at, &d) in axes.iter().enumerate() {
        let (extent, step) = (x.dims()[d], steps[at]);
        if step == 0 {
            return Err(node.invalid(format!("slices axis {d} with step 0")));
        }
        let place = |at: i64| {
            if at < 0 { at.saturating_add(extent) } else { at }
        };
        let (start, size) = if step > 0 {
            let start = place(starts[at]).clamp(0, extent);
            let end = place(ends[at]).clamp(0, extent);
            (start, (end - start).max(0))
        } else {
            let start = place(starts[at]).clamp(0.min(extent - 1), extent - 1);
            let end = place(ends[at]).clamp(-1, extent - 1);
            (start, (start - end).max(0))
        };
        offsets[d] = start;
        sizes[d] = if extent == 0 { 0 } else { (size as u64).div_ceil(step.unsigned_abs()) as i64 };
        // With one element or none, any step is as good as 1.
        strides[d] = if sizes[d] > 1 { step } else { 1 };
    }
    let access: Vec<_> =
        (0..rank).map(|d| Linear::constant(rank, offsets[d]).plus(d, strides[d])).collect();
    let mut plan = gathered_of(node, x, sizes.clone(), access)?;
    let follows = (1..5).any(|at| node.optional(at).is_some_and(|own| own.follows));
    if !follows && strides.iter().all(|&step| step > 0) {
        let places: Vec<_> =
            (0..count).map(|at| (axes[at], [starts[at], ends[at], steps[at]])).collect();
        if let Some((dims, begins)) = what_is_left(x, &places) {
            if begins.iter().any(Option::is_some) {
                let plan = from_the_end(x, (sizes, offsets, strides), begins);
                return Ok(plan.knowing(Some(dims)));
            }
            plan = plan.knowing(Some(dims));
        }
    }
    if strides.iter().all(|&step| step > 0) {
        plan.payload = Box::new(move |b, args| vec![b.slice(&args[0], &offsets, &sizes, &strides)]);
    }
    Ok(plan)
}

/// The lengths of a slice from numbers to numbers, which may be counted from the end, and where it begins as far as a
/// length says that; `None` where there are none, or it jumps along one.
fn what_is_left(x: &Operand, places: &[(usize, [i64; 3])]) -> Option<(Dims, Dims)> {
    if !x.has_lengths() {
        return None;
    }
    let (mut dims, mut begins) = (x.lengths.clone(), vec![None; x.rank()]);
    for &(d, [start, end, step]) in places {
        let (Some(length), extent) = (x.length(d), x.dims()[d]) else { continue };
        let jumps = step != 1 || start < 0 && (0..extent).contains(&end);
        if jumps {
            return None;
        }
        // What begins before the first element does so for every length.
        let start = if start.saturating_add(extent) <= 0 { 0 } else { start };
        let (end, less) = match end {
            ..0 => (length.clone(), end),
            _ if end >= extent => (length.clone(), 0),
            _ => (length.least(&Length::number(end)), 0),
        };
        let there = match start {
            ..0 => {
                let begin = length.plus(&Length::number(start), 1);
                begins[d] = Some(begin.greatest(&Length::default()));
                length.least(&Length::number(-start))
            }
            _ => end.plus(&Length::number(start), -1),
        };
        dims[d] = Some(there.plus(&Length::number(less), 1));
    }
    Some((dims, begins))
}

/// Plans a slice of so many elements that begins along some dimensions where a length says, and along others so many
/// elements further on.
fn from_the_end(
    x: &Operand,
    (sizes, offsets, strides): (Vec<i64>, Vec<i64>, Vec<i64>),
    begins: Dims,
) -> Plan {
    let asked: Vec<usize> = (0..begins.len()).filter(|&d| begins[d].is_some()).collect();
    let result = TensorType::temporary(x.element(), &sizes);
    let plan = Plan::new(vec![x.clone()], vec![result], move |b, args| {
        let (x, ends) = (&args[0], &args[1..]);
        let inputs: Vec<Access<'_, '_>> = ends.iter().map(|end| (end, vec![])).collect();
        vec![b.move_at(x.element(), &sizes, &inputs, |calc, given| {
            let place = |(d, &offset): (usize, &i64)| {
                let at = asked.iter().position(|own| *own == d);
                let begin = calc.end(at.map(|at| given[at]), offset);
                let (own, step) = (calc.index(d), calc.at(strides[d]));
                let own = calc.mul(own, step);
                calc.add(begin, own)
            };
            let places: Vec<_> = offsets.iter().enumerate().map(place).collect();
            calc.extract(x, &places)
        })]
    });
    plan.asking(begins.into_iter().flatten())
}
