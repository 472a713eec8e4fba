//! Tensors of numbers that are small integers behind a scale: read from payloads.
//!
//! ```text
//! f[i, j] = f32(x[i, j] - p) * s       p and s for all of the tensor, or for each of some dimension
//! ```

use weft_dialects::ir::payload::Axis;
use weft_dialects::ir::{Linear, Op, Type, Val, attr, ty};

use super::small_factors::Factor;
use crate::nest::{Access, generic_accesses, generic_axes, generic_inputs};

/// A tensor of the model, and where an element of the dequantised one reads it.
pub(super) type Read<'c> = (Val<'c>, Vec<Linear>);

/// The integers behind a tensor.
#[derive(Clone)]
pub(super) struct Dequantised<'c> {
    /// The tensor of them, in the model.
    pub numbers: Val<'c>,
    /// Their type in a payload.
    pub elem: Type<'c>,
    pub signed: bool,
    /// What is subtracted from them.
    pub zero: Option<Read<'c>>,
    /// What the difference is multiplied with.
    pub scale: Read<'c>,
}

impl<'c> Dequantised<'c> {
    /// Of a tensor of the model; `None` where it is made otherwise.
    pub fn of(value: Val<'c>) -> Option<Self> {
        let op = value.def().filter(|op| op.is("graph.op") && op.results().len() == 1)?;
        let payload = op.body(0)?;
        let [empty, nest, end] = payload.ops()[..] else { return None };
        let plain = empty.is("tensor.empty")
            && nest.is("linalg.generic")
            && end.operands() == nest.results();
        let parallel = generic_axes(nest).ok()?.iter().all(|axis| axis.kind == Axis::Parallel);
        let accesses = generic_accesses(nest).ok()?;
        let inputs = generic_inputs(nest);
        if !plain || !parallel || accesses.len() != inputs + 1 {
            return None;
        }
        let body = nest.body(0)?;
        let [result] = body.terminator()?.operands()[..] else { return None };
        let product = result.def().filter(|op| op.is("arith.mulf"))?;
        let whole = product.operand(0).def().filter(|op| op.is("arith.sitofp"))?;
        let factor = Factor::of(whole.operand(0)).filter(|_| result.ty().to_string() == "f32")?;
        let read = |arg: usize| -> Option<Read<'c>> {
            let Access { tensor, index, .. } = &accesses[arg];
            let outside = tensor.def().is_none() && tensor.owner_block() == Some(payload);
            outside.then(|| (op.operand(tensor.index()), index.clone()))
        };
        let scale = argument(product.operand(1)).filter(|&arg| arg < inputs)?;
        let zero = match factor.less {
            None => None,
            Some(less) => {
                let name = if factor.signed { "arith.extsi" } else { "arith.extui" };
                let widened = less.def().filter(|op| op.is(name))?;
                // Another type would have other numbers.
                if widened.operand(0).ty() != factor.elem {
                    return None;
                }
                Some(read(argument(widened.operand(0)).filter(|&arg| arg < inputs)?)?)
            }
        };
        let identity = |index: &[Linear]| {
            index.iter().enumerate().all(|(dim, index)| index.as_axis() == Some(dim))
        };
        let (numbers, index) = read(factor.arg)?;
        let elements = identity(&index) && identity(&accesses[inputs].index);
        let scale = read(scale)?;
        elements.then_some(Self { numbers, elem: factor.elem, signed: factor.signed, zero, scale })
    }

    /// Whether scale and zero point are those of the whole tensor.
    pub fn is_uniform(&self) -> bool {
        let same = |(value, index): &Read<'c>| {
            ty::count(value.ty()) == Some(1) && index.iter().all(Linear::is_constant)
        };
        same(&self.scale) && self.zero.as_ref().is_none_or(same)
    }

    /// The zero point of all numbers, where it is a literal of bytes.
    pub fn known_zero(&self) -> Option<i64> {
        let Some((zero, _)) = &self.zero else { return Some(0) };
        let literal = zero.def().filter(|op| op.is("graph.constant"))?.attr("value")?;
        let bytes = attr::dense_bytes(literal).filter(|_| ty::bits(self.elem) == Some(8))?;
        let first = bytes.first().copied()?;
        bytes.iter().all(|&byte| byte == first).then_some(i64::from(first as i8))
    }

    /// The largest distance of a number from its zero point.
    pub fn most(&self) -> Option<u64> {
        Some((1 << ty::bits(self.elem).filter(|&bits| bits <= 16)?) - 1)
    }
}

/// The argument of a body that a value is.
fn argument(value: Val<'_>) -> Option<usize> {
    value.def().is_none().then(|| value.index())
}

/// Erases operators, weights and literals of a model that nobody reads any more.
pub(super) fn erase_unread<'c>(ops: impl DoubleEndedIterator<Item = Op<'c>>) {
    for op in ops.rev() {
        let pure = ["graph.op", "graph.weight", "graph.constant"].contains(&op.name());
        if pure && op.results().iter().all(|result| result.uses().is_empty()) {
            op.erase();
        }
    }
}

/// The number of a tensor of one `f32` that the model holds in its text.
pub(super) fn literal(value: Val<'_>) -> Option<f32> {
    let source = value.def().filter(|op| op.is("graph.constant"))?;
    let one = ty::count(value.ty()) == Some(1) && ty::elem(value.ty())?.to_string() == "f32";
    let bytes = attr::dense_bytes(source.attr("value").filter(|_| one)?)?;
    Some(f32::from_le_bytes(bytes.try_into().ok()?))
}

/// The number in a tensor of one byte that the model holds in its text, with or without a sign.
pub(super) fn literal_byte(value: Val<'_>, signed: bool) -> Option<i64> {
    let source = value.def().filter(|op| op.is("graph.constant"))?;
    let [byte] = attr::dense_bytes(source.attr("value")?)?[..] else { return None };
    Some(if signed { i64::from(byte as i8) } else { i64::from(byte) })
}
