//! The greatest of dequantised numbers is that of their integers, dequantised.
//!
//! ```text
//! max over a window of s * (x - p)  ->  s * (max over the window of x  -  p)        s above zero
//! ```
//!
//! A float that is rounded does not fall where the integer grows, so both are the same number. What is around the tensor
//! is less than all of it, and stays so: every window has an element of the tensor.

use weft_dialects::graph::Operator;
use weft_dialects::graph::build::operator;
use weft_dialects::ir::payload::{Axis, Payload};
use weft_dialects::ir::{Builder, Context, Op, Val, attr, ty};

use super::dequantised::{Dequantised, literal};
use super::move_integers::scale_behind;
use crate::length;
use crate::nest::{Access, Loop, generic_accesses, generic_axes, generic_inputs};

/// Lets an operator that takes the greatest of windows take that of integers, and puts their scale behind it.
pub(super) fn pool_before_scale<'c>(context: &'c Context, op: Op<'c>) -> Option<()> {
    if op.operands().len() != 1 || op.results().len() != 1 {
        return None;
    }
    let pool = Pool::of(op)?;
    let source = Dequantised::of(op.operand(0)).filter(Dequantised::is_uniform)?;
    if literal(source.scale.0).is_none_or(|scale| scale <= 0.0 || !scale.is_finite()) {
        return None;
    }
    let (elem, shape) = (ty::elem(source.numbers.ty())?, ty::shape(op.result(0).ty())?);
    let mut b = Builder::before(context, op).with_location(op.location());
    let names = Operator::of(op).map(|own| [own.kind, own.name])?;
    let pooled = ty::tensor(&shape, elem);
    let pooled = operator(&mut b, names, &[source.numbers], &[pooled], |new, args| {
        vec![pool.write(new, args[0], &source)]
    })[0];
    scale_behind(&mut b, op, &source, pooled)
}

/// A payload that takes the greatest of windows of its argument, and does nothing else.
struct Pool<'c> {
    main: Op<'c>,
    axes: Vec<Loop>,
    accesses: Vec<Access<'c>>,
    /// The slice of a tensor of the least number that the windows see.
    padded: Option<Op<'c>>,
}

impl<'c> Pool<'c> {
    fn of(op: Op<'c>) -> Option<Self> {
        let payload = op.body(0)?;
        let end = payload.terminator()?.operands();
        let main = end.first()?.def().filter(|own| own.is("linalg.generic"))?;
        let body = main.body(0)?;
        let ([most, last], [x, .., so_far]) = (&body.ops()[..], &body.args()[..]) else {
            return None;
        };
        let both = most.operands() == [*so_far, *x] || most.operands() == [*x, *so_far];
        let takes = most.is("arith.maximumf") && both && last.operands() == most.results();
        let count = generic_inputs(main);
        let others = (1..count).all(|at| {
            body.arg(at).uses().is_empty()
                && main.operand(at).def().is_some_and(|own| own.is("tensor.empty"))
        });
        let accesses = generic_accesses(main).ok()?;
        let axes = generic_axes(main).ok()?;
        if !takes || !others || !is_least(main.operand(count)) || accesses.len() != count + 1 {
            return None;
        }
        let tensor = main.operand(0);
        let padded = tensor.def();
        let inside = match padded {
            Some(slice) => {
                let is_border = slice.is("tensor.insert_slice") && is_least(slice.operand(1));
                is_border.then(|| slice.operand(0))?
            }
            None => tensor,
        };
        let given = inside.def().is_none() && inside.owner_block() == Some(payload);
        let pool = Self { main, axes, accesses, padded };
        (given && pool.sees_elements()).then_some(pool)
    }

    /// Returns whether each window has an element of the tensor itself.
    fn sees_elements(&self) -> bool {
        if self.axes.iter().any(|axis| axis.extent == 0) {
            return false;
        }
        // Where a window ends has to be known, but not how many there are.
        let is_in_window = |axis: usize| {
            let mut dims = self.accesses[0].index.iter();
            self.axes[axis].kind == Axis::Reduction
                || dims.any(|index| index.coefficients[axis] != 0 && index.as_axis() != Some(axis))
        };
        let ends = |axis: usize| self.axes[axis].length.is_some() && is_in_window(axis);
        if self.padded.is_some_and(length::is_in) || (0..self.axes.len()).any(ends) {
            return false;
        }
        let Some(slice) = self.padded else { return true };
        let ints = |name: &str| slice.attr(name).and_then(attr::ints);
        let (Some(offsets), Some(strides)) = (ints("static_offsets"), ints("static_strides"))
        else {
            return false;
        };
        let sizes = ty::shape(slice.operand(0).ty()).unwrap_or_default();
        let same_rank = sizes.len() == self.accesses[0].index.len();
        let dims = self.accesses[0].index.iter().zip(offsets).zip(sizes).zip(strides);
        same_rank && { dims }.all(|(((index, offset), size), stride)| {
            // Where a window begins at most, and how far it reaches.
            let reach = |kind: Axis| {
                let own = self.axes.iter().zip(&index.coefficients);
                let own = own.filter(|(axis, _)| axis.kind == kind);
                own.map(|(axis, step)| step * (axis.extent as i64 - 1)).sum::<i64>()
            };
            let steps = self.axes.iter().zip(&index.coefficients);
            let mut steps = steps.filter(|(axis, _)| axis.kind == Axis::Reduction);
            let dense = steps.all(|(_, &step)| step == 0 || step == 1);
            let (last, taps) = (reach(Axis::Parallel), reach(Axis::Reduction));
            stride == 1
                && size > 0
                && dense
                && index.constant == 0
                && taps >= offset
                && last < offset + size as i64
        })
    }

    fn write(&self, b: &mut Payload<'c>, numbers: Val<'c>, source: &Dequantised<'c>) -> Val<'c> {
        let elem = source.elem;
        let bits = ty::bits(elem).expect("an integer has a width");
        let least = if source.signed { -(1 << (bits - 1)) } else { 0 };
        let x = match self.padded {
            None => numbers,
            Some(slice) => {
                let ints = |name: &str| slice.attr(name).and_then(attr::ints).unwrap_or_default();
                let around = b.fill_int(least, &self.accesses[0].shape, elem);
                b.insert(numbers, around, &ints("static_offsets"), &ints("static_strides"))
            }
        };
        let kinds: Vec<Axis> = self.axes.iter().map(|axis| axis.kind).collect();
        let count = self.accesses.len() - 1;
        let mut inputs = vec![(x, self.accesses[0].index.clone())];
        for at in 1..count {
            let ty = self.main.operand(at).ty();
            let elem = ty::elem(ty).expect("an operand is a tensor");
            let shape = b.empty(&self.accesses[at].shape, elem);
            inputs.push((shape, self.accesses[at].index.clone()));
        }
        let start = b.fill_int(least, &self.accesses[count].shape, elem);
        let target = (start, self.accesses[count].index.clone());
        let most = if source.signed { "arith.maxsi" } else { "arith.maxui" };
        let made = b.generic(&kinds, &inputs, &[target], |scalar, args| {
            vec![scalar.same(most, &[args[count], args[0]])]
        })[0];
        length::give(b.context(), made, &length::of_loops(&self.axes));
        made
    }
}

/// Returns whether a tensor is full of negative infinity.
fn is_least(tensor: Val<'_>) -> bool {
    let value = || {
        let fill = tensor.def().filter(|op| op.is("linalg.generic") && generic_inputs(*op) == 0)?;
        let value = fill.body(0)?.terminator()?.operands().first()?.def()?;
        let literal = value.attr("value").filter(|_| value.is("arith.constant"));
        literal.and_then(attr::float)
    };
    value() == Some(f64::NEG_INFINITY)
}
