//! Weights that are small integers times a scale for each block of a reduction: read from payloads.
//!
//! ```text
//! W[b * 32 + i, n] = (f32(q[b, i, n]) - z[b, n]) * s[b, n]        q from -128 to 127, or from 0 to 255
//! ```

use std::collections::HashSet;

use weft_dialects::ir::payload::{Axis, Scalar};
use weft_dialects::ir::{Block, Linear, Mapping, Op, Val, attr, ty};

use super::product::is_weight;
use crate::nest::{
    Access, captures_literals, generic_accesses, generic_axes, generic_inputs, index_axis,
};

/// The integers, scales and zero points behind a weight.
pub(super) struct BlockWeight<'c> {
    /// The operator that makes the weight, and the nest in its payload that does.
    pub op: Op<'c>,
    pub nest: Op<'c>,
    /// The dimension of the nest along which blocks lie; `None` where there is one.
    blocks: Option<usize>,
    /// Those of the weight's other dimensions, in its order.
    beside: Vec<usize>,
    /// Places in a block.
    pub places: u64,
    /// The integer of an element, a value of the nest's body, and its range.
    number: Val<'c>,
    range: [i64; 2],
    scale: Val<'c>,
    zero: Option<Val<'c>>,
}

impl<'c> BlockWeight<'c> {
    /// Of a value in the payload of `op` whose dimension `dim` is summed over; `None` where it is made otherwise.
    pub fn of(op: Op<'c>, value: Val<'c>, dim: usize) -> Option<Self> {
        let shape = ty::shape(value.ty())?;
        let (op, nest) = maker(op, value)?;
        let accesses = generic_accesses(nest).ok()?;
        let axes = generic_axes(nest).ok()?;
        let output = accesses.last()?;
        let parallel = axes.iter().all(|axis| axis.kind == Axis::Parallel);
        let in_order = output.index.len() == axes.len()
            && output.index.iter().enumerate().all(|(at, index)| index.as_axis() == Some(at));
        let body = nest.body(0)?;
        let known = nest.operands().iter().all(|own| is_known(op, *own));
        if !parallel || !in_order || !known || !captures_literals(body) {
            return None;
        }
        let [result] = body.terminator()?.operands()[..] else { return None };
        let product = result.def().filter(|own| own.is("arith.mulf"))?;
        let sides = [product.operand(0), product.operand(1)];
        let (whole, scale) =
            Self::factors(sides).or_else(|| Self::factors([sides[1], sides[0]]))?;
        let (number, zero) = difference(whole)?;
        let is_input = scale.owner_block() == Some(body) && scale.index() < generic_inputs(nest);
        // Scale and zero point are read in nests of other axes.
        if !is_input || zero.is_some_and(asks_for_place) {
            return None;
        }
        let groups = groups(&shape, &output.shape)?;
        // What scale and zero point move along is blocks, the rest places in one.
        let read = |values: &[Val<'c>]| {
            let args = arguments(body, values);
            let moves = |axis: usize| args.iter().any(|&arg| accesses[arg].uses(axis));
            groups[dim].clone().partition::<Vec<usize>, _>(|&axis| moves(axis))
        };
        let known: Vec<Val<'c>> = [scale].into_iter().chain(zero).collect();
        let (blocks, places) = read(&known);
        let one = |dims: &[usize]| dims.len() <= 1;
        let split = one(&blocks) && blocks.iter().all(|block| places.iter().all(|at| at > block));
        let others = (0..shape.len()).filter(|&at| at != dim);
        let beside: Vec<_> = others.map(|at| groups[at].clone()).collect();
        if !split || beside.iter().any(|group| group.len() != 1) {
            return None;
        }
        let places = places.iter().map(|&axis| axes[axis].extent).product();
        Some(Self {
            op,
            nest,
            blocks: blocks.first().copied(),
            beside: beside.into_iter().map(|group| group.start).collect(),
            places,
            number,
            range: range(number)?,
            scale,
            zero,
        })
    }

    /// An integer as a float, less something perhaps, and what it is multiplied with.
    fn factors([whole, scale]: [Val<'c>; 2]) -> Option<(Val<'c>, Val<'c>)> {
        let is_whole = difference(whole).is_some();
        (is_whole && scale.def().is_none()).then_some((whole, scale))
    }

    /// What is subtracted from an integer so that it is a signed byte.
    pub fn offset(&self) -> i64 {
        if self.range[1] > 127 { 128 } else { 0 }
    }

    /// Whether a zero point or an offset is subtracted from the integers.
    pub fn has_zero(&self) -> bool {
        self.zero.is_some() || self.offset() != 0
    }

    /// Whether it has a zero point of its own.
    pub fn has_zero_point(&self) -> bool {
        self.zero.is_some()
    }

    /// The inputs of the nest that a part of the weight reads, where a nest has `axes` of which the weight's blocks
    /// and other dimensions are these.
    pub fn reads(
        &self,
        part: Part,
        map: &Mapping<'c>,
        seen: &Along,
    ) -> Vec<(Val<'c>, Vec<Linear>)> {
        let accesses = generic_accesses(self.nest).expect("the nest was read");
        let rank = accesses.last().map_or(0, |own| own.index.len());
        let mut through = vec![Linear::constant(seen.axes, 0); rank];
        if let Some(blocks) = self.blocks {
            through[blocks] = Linear::axis(seen.axes, seen.blocks);
        }
        for (dim, axis) in self.beside.iter().zip(&seen.beside) {
            through[*dim] = Linear::axis(seen.axes, *axis);
        }
        let read = |&arg: &usize| {
            let Access { index, .. } = &accesses[arg];
            let index = index.iter().map(|index| index.in_terms_of(seen.axes, &through));
            (map.get(self.nest.operand(arg)), index.collect())
        };
        self.arguments(part).iter().map(read).collect()
    }

    /// The same of the integers, in the nest's own axes.
    pub fn numbers(&self, map: &Mapping<'c>) -> Vec<(Val<'c>, Vec<Linear>)> {
        let accesses = generic_accesses(self.nest).expect("the nest was read");
        let read = |&arg: &usize| (map.get(self.nest.operand(arg)), accesses[arg].index.clone());
        self.arguments(Part::Number).iter().map(read).collect()
    }

    /// A part of the weight, made of what its inputs give.
    pub fn write(&self, part: Part, scalar: &mut Scalar<'c>, given: &[Val<'c>]) -> Val<'c> {
        let body = self.nest.body(0).expect("the nest was read");
        let mut map = Mapping::default();
        for (arg, value) in self.arguments(part).iter().zip(given) {
            map.set(body.arg(*arg), *value);
        }
        match part {
            Part::Number => copied(scalar, self.number, &mut map),
            Part::Scale => map.get(self.scale),
            Part::Zero => copied(scalar, self.zero.expect("it has one"), &mut map),
        }
    }

    /// The extents of what the nest makes.
    pub fn shape(&self) -> Vec<u64> {
        ty::shape(self.nest.result(0).ty()).expect("a nest makes tensors")
    }

    fn arguments(&self, part: Part) -> Vec<usize> {
        let value = match part {
            Part::Number => Some(self.number),
            Part::Scale => Some(self.scale),
            Part::Zero => self.zero,
        };
        let body = self.nest.body(0).expect("the nest was read");
        arguments(body, &Vec::from_iter(value))
    }
}

/// A part of a weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The integers, of each element.
    Number,
    /// Of each block.
    Scale,
    /// Of each block, an integer or a float.
    Zero,
}

/// The axes of a nest along which blocks lie, and the other dimensions of a weight.
pub(super) struct Along {
    pub axes: usize,
    pub blocks: usize,
    pub beside: Vec<usize>,
}

/// The nest that makes a value of the payload of an operator, there or in that of the operator that makes what
/// comes in.
fn maker<'c>(op: Op<'c>, value: Val<'c>) -> Option<(Op<'c>, Op<'c>)> {
    let through = |mut value: Val<'c>| {
        while let Some(view) = value.def().filter(|own| own.is("tensor.reshape")) {
            value = view.operand(0);
        }
        value
    };
    let nest = |value: Val<'c>| {
        value.def().filter(|own| own.is("linalg.generic") && own.results().len() == 1)
    };
    let inside = through(value);
    if inside.def().is_some() {
        return nest(inside).map(|nest| (op, nest));
    }
    let outside = inside.owner_block() == op.body(0);
    let from = outside.then(|| op.operand(inside.index()).def())??;
    // A weight of the model has no payload.
    let from = Some(from).filter(|own| own.is("graph.op") && own.results().len() == 1)?;
    let made = through(from.body(0)?.terminator()?.operand(0));
    nest(made).map(|nest| (from, nest))
}

/// Whether a value of the payload of an operator is made of weights alone.
fn is_known<'c>(op: Op<'c>, value: Val<'c>) -> bool {
    match value.def() {
        Some(own) => own.operands().iter().all(|operand| is_known(op, *operand)),
        None => value.owner_block() == op.body(0) && is_weight(op.operand(value.index())),
    }
}

/// The dimensions of a tensor that are each of another one with the same elements, which has fewer; `None` where
/// one is a part of several.
fn groups(few: &[u64], many: &[u64]) -> Option<Vec<std::ops::Range<usize>>> {
    let mut at = 0;
    let mut found = Vec::new();
    for &extent in few {
        let (first, mut product) = (at, 1);
        while product < extent && at < many.len() {
            product *= many[at];
            at += 1;
        }
        if product != extent {
            return None;
        }
        found.push(first..at);
    }
    many[at..].iter().all(|&extent| extent == 1).then_some(found)
}

/// An integer as a float, less something perhaps: the integer, and what is subtracted.
fn difference(value: Val<'_>) -> Option<(Val<'_>, Option<Val<'_>>)> {
    let op = value.def()?;
    match op.name() {
        "arith.subf" => match difference(op.operand(0))? {
            (number, None) => {
                let zero = op.operand(1).def()?;
                let names = ["arith.sitofp", "arith.uitofp", "arith.constant"];
                let whole = names.contains(&zero.name());
                whole.then_some((number, Some(op.operand(1))))
            }
            _ => None,
        },
        "arith.sitofp" => {
            let inner = op.operand(0).def()?;
            match inner.is("arith.subi") {
                true => Some((inner.operand(0), Some(inner.operand(1)))),
                false => Some((op.operand(0), None)),
            }
        }
        _ => None,
    }
}

/// Returns whether a value of a body is made of where it is.
fn asks_for_place(value: Val<'_>) -> bool {
    value
        .def()
        .is_some_and(|op| index_axis(op).is_some() || op.operands().into_iter().any(asks_for_place))
}

/// The least and the greatest value of an integer in 32 bits; `None` where that is more than a byte.
fn range(value: Val<'_>) -> Option<[i64; 2]> {
    let op = value.def().filter(|_| ty::is_int(value.ty(), 32))?;
    let byte = |value: Val<'_>| ty::bits(value.ty()) == Some(8);
    match op.name() {
        "arith.extsi" if byte(op.operand(0)) => Some([-128, 127]),
        "arith.extui" if byte(op.operand(0)) => Some([0, 255]),
        "arith.andi" => {
            let mask = op.operand(1).def().filter(|own| own.is("arith.constant"))?;
            let most = attr::int(mask.attr("value")?)?;
            (0..=255).contains(&most).then_some([0, most])
        }
        _ => None,
    }
}

/// The arguments of a body that values are made of.
fn arguments<'c>(body: Block<'c>, values: &[Val<'c>]) -> Vec<usize> {
    let mut found = HashSet::new();
    let mut left = values.to_vec();
    while let Some(value) = left.pop() {
        match value.def() {
            Some(op) => left.extend(op.operands()),
            None if value.owner_block() == Some(body) => drop(found.insert(value.index())),
            None => {}
        }
    }
    let mut found: Vec<usize> = found.into_iter().collect();
    found.sort_unstable();
    found
}

/// A copy of what makes a value of a body.
fn copied<'c>(scalar: &mut Scalar<'c>, value: Val<'c>, map: &mut Mapping<'c>) -> Val<'c> {
    let Some(op) = value.def().filter(|_| map.get(value) == value) else { return map.get(value) };
    for operand in op.operands() {
        copied(scalar, operand, map);
    }
    scalar.builder().clone_op(op, map);
    map.get(value)
}
