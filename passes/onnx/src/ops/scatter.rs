//! Operators that write where data says.
//!
//! Each element of the result looks for the updates that are meant for it, in their order, so
//! that nothing is written twice at once.

use weft_dialects::ir::Linear;
use weft_dialects::ir::payload::Axis;

use super::{Operator, op};
use crate::error::Result;
use crate::node::{Node, Plan};
use crate::payload::{Access, Build, Calc, Num, Tensor, identity};
use crate::types::ElementType;

pub const OPERATORS: &[Operator] = &[
    op("ScatterElements", 11, 3, &["axis", "reduction"], scatter_elements),
    op("ScatterND", 11, 3, &["reduction"], scatter_nd),
    op("TensorScatter", 24, 3, &["axis", "mode"], tensor_scatter).at_least(2),
];

const INDICES: &[ElementType] = &[ElementType::I32, ElementType::I64];

/// The combination of an update with the old element.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Meeting {
    Replace,
    Add,
    Mul,
    Max,
    Min,
}

impl Meeting {
    fn of(node: &Node<'_>) -> Result<Self> {
        let meeting = match node.string("reduction", "none")? {
            "none" => return Ok(Self::Replace),
            "add" => Self::Add,
            "mul" => Self::Mul,
            "max" => Self::Max,
            "min" => Self::Min,
            other => {
                return Err(node
                    .report(format!("has reduction {other:?}"))
                    .help("none, add, mul, max or min")
                    .invalid());
            }
        };
        node.typed(0, "data", ElementType::NUMBERS)?;
        Ok(meeting)
    }

    /// Returns the element after an update.
    fn meet<'c>(self, calc: &mut Calc<'_, 'c>, update: Num<'c>, there: Num<'c>) -> Num<'c> {
        match self {
            Self::Replace => update,
            Self::Add => calc.add(there, update),
            Self::Mul => calc.mul(there, update),
            Self::Max => calc.max(there, update),
            Self::Min => calc.min(there, update),
        }
    }
}

/// Updates of a tensor.
pub struct Updates<'u, 'c> {
    pub count: i64,
    /// Their elements.
    pub elements: Access<'u, 'c>,
    /// What says where they are meant to be.
    pub indices: &'u [Access<'u, 'c>],
    pub meeting: Meeting,
}

/// `data` after all updates; the last axis runs over them, `hit` says which are meant for a place.
pub fn scatter<'c>(
    b: &mut Build<'_, 'c>,
    data: &Tensor<'c>,
    updates: Updates<'_, 'c>,
    hit: impl FnOnce(&mut Calc<'_, 'c>, &[Num<'c>]) -> Num<'c>,
) -> Tensor<'c> {
    let Updates { count, elements, indices, meeting } = updates;
    let rank = data.dims().len();
    if count == 0 || data.dims().contains(&0) {
        return data.clone();
    }
    let kinds = [vec![Axis::Parallel; rank], vec![Axis::Reduction]].concat();
    let extents = [data.dims(), &[count]].concat();
    let target: Vec<_> = (0..rank).map(|d| Linear::axis(rank + 1, d)).collect();
    let inputs = [&[elements], indices].concat();
    let results = b.nest(&kinds, &extents, &inputs, &[(data, target)], |calc, given| {
        let (there, given) = given.split_last().expect("a nest has an output");
        let mine = hit(calc, &given[1..]);
        let after = meeting.meet(calc, given[0], *there);
        vec![calc.select(mine, after, *there)]
    });
    results.into_iter().next().expect("one output gives one result")
}

/// Returns whether an index, counted from the end where it is negative, is the coordinate on an
/// axis.
fn meant<'c>(calc: &mut Calc<'_, 'c>, index: Num<'c>, axis: usize, extent: i64) -> Num<'c> {
    let index = calc.coordinate(index);
    let (zero, length, here) = (calc.at(0), calc.at(extent), calc.index(axis));
    let (below, from_end) = (calc.lt(index, zero), calc.add(index, length));
    let index = calc.select(below, from_end, index);
    calc.eq(index, here)
}

fn scatter_elements(node: &Node<'_>) -> Result<Plan> {
    let data = node.input(0, "data")?;
    let indices = node.typed(1, "indices", INDICES)?;
    let updates = node.input(2, "updates")?;
    node.expect_same_element(data, updates)?;
    let axis = node.axis(node.int("axis")?.unwrap_or(0), data.rank())?;
    let meeting = Meeting::of(node)?;
    let fits = indices.rank() == data.rank()
        && indices.dims() == updates.dims()
        && (0..data.rank()).all(|d| d == axis || indices.dims()[d] <= data.dims()[d]);
    if !fits {
        return Err(node
            .report(format!("writes {} at {} into {}", updates.ty, indices.ty, data.ty))
            .help(format!("an index for each update, and none longer than in data but axis {axis}"))
            .invalid());
    }
    let operands = vec![data.clone(), indices.clone(), updates.clone()];
    Ok(Plan::new(operands, vec![data.ty.clone()], move |b, args| {
        let [data, indices, updates] = args else { panic!("three operands were planned") };
        let rank = data.dims().len();
        // Only what lies beside the updates can change.
        let mut sizes = indices.dims().to_vec();
        sizes[axis] = data.dims()[axis];
        if sizes.contains(&0) {
            return vec![data.clone()];
        }
        let (offsets, steps) = (vec![0; rank], vec![1; rank]);
        let part = b.slice(data, &offsets, &sizes, &steps);
        let mut read: Vec<_> = (0..rank).map(|d| Linear::axis(rank + 1, d)).collect();
        read[axis] = Linear::axis(rank + 1, rank);
        let (count, extent) = (indices.dims()[axis], sizes[axis]);
        let places = [(indices, read.clone())];
        let updates = Updates { count, elements: (updates, read), indices: &places, meeting };
        let part = scatter(b, &part, updates, |calc, index| meant(calc, index[0], axis, extent));
        if part.dims() == data.dims() {
            return vec![part];
        }
        vec![b.insert(&part, data, &offsets, &steps)]
    }))
}

fn scatter_nd(node: &Node<'_>) -> Result<Plan> {
    let (data, updates) = (node.input(0, "data")?, node.input(2, "updates")?);
    let indices = node.typed(1, "indices", &[ElementType::I64])?;
    node.expect_same_element(data, updates)?;
    let meeting = Meeting::of(node)?;
    let wrong = || {
        node.report(format!("writes {} at {} into {}", updates.ty, indices.ty, data.ty))
            .help("rows of indices into the first dimensions of data; for each, an update of the others' shape")
            .invalid()
    };
    let (&length, outer) = indices.dims().split_last().ok_or_else(wrong)?;
    if length < 1 || length > data.rank() as i64 {
        return Err(wrong());
    }
    let length = length as usize;
    if updates.dims() != [outer, &data.dims()[length..]].concat() {
        return Err(wrong());
    }
    let count: i64 = outer.iter().product();
    let operands = vec![data.clone(), indices.clone(), updates.clone()];
    Ok(Plan::new(operands, vec![data.ty.clone()], move |b, args| {
        let (data, rank) = (&args[0], args[0].dims().len());
        if count == 0 || data.dims().contains(&0) {
            return vec![data.clone()];
        }
        let indices = b.reshape(&args[1], &[count, length as i64]);
        let updates = b.reshape(&args[2], &[&[count], &data.dims()[length..]].concat());
        let axis = |at| Linear::axis(rank + 1, at);
        let read: Vec<_> = std::iter::once(rank).chain(length..rank).map(axis).collect();
        let places: Vec<_> = (0..length)
            .map(|at| (&indices, vec![axis(rank), Linear::constant(rank + 1, at as i64)]))
            .collect();
        let updates = Updates { count, elements: (&updates, read), indices: &places, meeting };
        vec![scatter(b, data, updates, |calc, index| {
            let hits: Vec<_> = index
                .iter()
                .enumerate()
                .map(|(d, &index)| meant(calc, index, d, data.dims()[d]))
                .collect();
            hits.into_iter().reduce(|all, hit| calc.and(all, hit)).expect("a row has an index")
        })]
    }))
}

/// A cache of which each sequence overwrites a part that begins at an index of its own.
fn tensor_scatter(node: &Node<'_>) -> Result<Plan> {
    let (past, update) = (node.input(0, "past_cache")?, node.input(1, "update")?);
    node.expect_same_element(past, update)?;
    let axis = node.axis(node.int("axis")?.unwrap_or(-2), past.rank())?;
    let circular = match node.string("mode", "linear")? {
        "linear" => false,
        "circular" => true,
        other => {
            return Err(node
                .report(format!("has mode {other:?}"))
                .help("linear or circular")
                .invalid());
        }
    };
    let fits = axis > 0
        && update.rank() == past.rank()
        && (0..past.rank()).all(|d| d == axis || update.dims()[d] == past.dims()[d])
        && (1..=past.dims()[axis]).contains(&update.dims()[axis]);
    if !fits {
        return Err(node
            .report(format!("writes {} into {} along axis {axis}", update.ty, past.ty))
            .help("equal extents on all other axes, no more than there is on this one, and the batch before it")
            .invalid());
    }
    let mut operands = vec![past.clone(), update.clone()];
    if let Some(begin) = node.optional(2) {
        node.expect_element(begin, "write_indices", &[ElementType::I64])?;
        if begin.dims() != &past.dims()[..1] {
            return Err(node
                .report(format!("reads \"write_indices\" as {}", begin.ty))
                .help(format!("one index for each of {} sequences", past.dims()[0]))
                .invalid());
        }
        operands.push(begin.clone());
    }
    Ok(Plan::new(operands, vec![past.ty.clone()], move |b, args| {
        let (past, update) = (&args[0], &args[1]);
        let (rank, extent, count) = (past.dims().len(), past.dims()[axis], update.dims()[axis]);
        let mut inputs = vec![(past, identity(rank))];
        inputs.extend(args.get(2).map(|begin| (begin, vec![Linear::axis(rank, 0)])));
        vec![b.move_at(past.element(), past.dims(), &inputs, |calc, given| {
            let mut place: Vec<_> = (0..rank).map(|axis| calc.index(axis)).collect();
            if let Some(&begin) = given.get(1) {
                let begin = calc.coordinate(begin);
                place[axis] = calc.sub(place[axis], begin);
            }
            let (zero, length, last) = (calc.at(0), calc.at(extent), calc.at(count - 1));
            if circular {
                // Twice, for the rest of a negative number is negative.
                let rest = calc.rem(place[axis], length);
                let positive = calc.add(rest, length);
                place[axis] = calc.rem(positive, length);
            }
            let (after, before) = (calc.ge(place[axis], zero), calc.le(place[axis], last));
            let inside = calc.and(after, before);
            let low = calc.max(place[axis], zero);
            place[axis] = calc.min(low, last);
            let update = calc.extract(update, &place);
            calc.select(inside, update, given[0])
        })]
    }))
}
