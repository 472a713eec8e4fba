//! How a payload sees a factor of a product that comes into it: as it is, inside of a border, or with other dimensions of one
//! element.

use weft_dialects::ir::payload::{Axis, Payload};
use weft_dialects::ir::{Linear, Op, Val, attr, ty};
use weft_dialects::lengths;

use crate::nest::{Access, generic_inputs};

/// The number that is around a factor: its zero point.
#[derive(Clone, Copy)]
pub(super) enum Around<'c> {
    Known(i64),
    /// A tensor of one.
    Given(Val<'c>),
}

/// How a payload sees a factor that comes into it.
#[derive(Clone, Copy)]
pub(super) enum Seen<'c> {
    AsItIs,
    /// As a slice of a tensor of zeros.
    Padded(Op<'c>),
    /// With other dimensions of one element.
    Reshaped(Op<'c>),
}

impl<'c> Seen<'c> {
    /// With the tensor that comes in.
    pub fn of(tensor: Val<'c>) -> Option<(Self, Val<'c>)> {
        let Some(op) = tensor.def() else { return Some((Self::AsItIs, tensor)) };
        if is_padding(op) {
            return Some((Self::Padded(op), op.operand(0)));
        }
        let long = |value: Val<'c>| -> Option<Vec<u64>> {
            Some(ty::shape(value.ty())?.into_iter().filter(|&extent| extent != 1).collect())
        };
        let reshaped = op.is("tensor.reshape") && long(tensor)? == long(op.operand(0))?;
        reshaped.then(|| (Self::Reshaped(op), op.operand(0)))
    }

    /// Where an access reads the tensor that comes in, which it may be beside.
    pub fn index(self, access: &Access<'c>) -> Vec<Linear> {
        let Self::Reshaped(op) = self else { return access.index.clone() };
        let extents = ty::shape(op.operand(0).ty()).expect("a reshape is of a tensor");
        let axes = access.index.first().map_or(0, |index| index.coefficients.len());
        let mut own =
            access.index.iter().zip(&access.shape).filter(|own| *own.1 != 1).map(|own| own.0);
        let index = extents.iter().map(|&extent| match extent {
            1 => Linear::constant(axes, 0),
            _ => own.next().expect("as many long dimensions").clone(),
        });
        index.collect()
    }

    /// The integers that an access reads, seen so, in a tensor of perhaps more elements `around` them.
    pub fn write(
        self,
        b: &mut Payload<'c>,
        numbers: Val<'c>,
        access: &Access<'c>,
        (shape, around): (Option<Vec<u64>>, Around<'c>),
    ) -> Val<'c> {
        let ints = |slice: Op<'c>, name: &str| slice.attr(name).and_then(attr::ints);
        let (numbers, place) = match self {
            Self::AsItIs => (numbers, None),
            Self::Reshaped(_) => (b.reshape(numbers, &access.shape), None),
            Self::Padded(slice) => {
                let [offsets, strides] =
                    ["static_offsets", "static_strides"].map(|n| ints(slice, n));
                (numbers, offsets.zip(strides))
            }
        };
        if place.is_none() && shape.is_none() {
            return numbers;
        }
        let shape = shape.unwrap_or_else(|| access.shape.clone());
        let rank = shape.len();
        let (offsets, strides) = place.unwrap_or_else(|| (vec![0; rank], vec![1; rank]));
        let around = filled_with(b, &shape, numbers, around);
        let made = b.insert(numbers, around, &offsets, &strides);
        if let Self::Padded(slice) = self
            && let Some((new, lengths)) = made.def().zip(slice.attr(lengths::OF_AXES))
        {
            new.set_attr(lengths::OF_AXES, lengths);
        }
        made
    }
}

/// A tensor of numbers like others, full of one that is known or comes in a tensor.
fn filled_with<'c>(
    b: &mut Payload<'c>,
    shape: &[u64],
    like: Val<'c>,
    number: Around<'c>,
) -> Val<'c> {
    let elem = ty::elem(like.ty()).expect("numbers are a tensor");
    let axes = shape.len();
    let given = match number {
        Around::Known(number) => return b.fill_int(number, shape, elem),
        Around::Given(given) => given,
    };
    let rank = ty::shape(given.ty()).map_or(0, |shape| shape.len());
    let empty = b.empty(shape, elem);
    let identity: Vec<_> = (0..axes).map(|axis| Linear::axis(axes, axis)).collect();
    let input = (given, vec![Linear::constant(axes, 0); rank]);
    let kinds = vec![Axis::Parallel; axes];
    b.generic(&kinds, &[input], &[(empty, identity)], |_, args| vec![args[0]])[0]
}

/// Returns whether a slice goes into a tensor of zeros.
fn is_padding(slice: Op<'_>) -> bool {
    let rank = |value: Val<'_>| ty::shape(value.ty()).map(|shape| shape.len());
    let known = slice.operands().len() == 2;
    slice.is("tensor.insert_slice")
        && known
        && filled(slice.operand(1)) == Some(0.0)
        && rank(slice.operand(0)) == rank(slice.operand(1))
}

/// The number that a tensor is full of, where it is a literal.
fn filled(tensor: Val<'_>) -> Option<f64> {
    let fill = tensor.def().filter(|op| op.is("linalg.generic") && generic_inputs(*op) == 0)?;
    let value = fill.body(0)?.terminator()?.operands().first()?.def()?;
    value.is("arith.constant").then_some(())?;
    value.attr("value").and_then(attr::float)
}
