//! Which borders are laid out beside their use instead of a padded copy of the tensor.
//!
//! ```text
//! %p = tensor.insert_slice %x into %zeros; linalg.generic (depthwise convolution) ins(%p, %w)
//!   ->  one kernel that reads %x
//! ```
//!
//! If every axis of the output moves along the tensor, a tile with its border is used
//! by one tile of the output alone, so nothing is laid out twice. A tensor that many
//! outputs share (a convolution over all channels) keeps its padded copy.

use weft_dialects::ir::payload::Axis;
use weft_dialects::ir::{Op, attr, ty};

use crate::length;
use crate::nest::{self, Border};
use crate::tile::PrivateCache;

/// Returns whether a `tensor.insert_slice` or `tensor.pad` only gives a nest a border of one
/// number, in tiles that fit `cache`.
pub(super) fn beside_use(op: Op<'_>, cache: Option<PrivateCache<'_>>) -> bool {
    reader(op, cache).is_some()
}

/// Returns whether a nest fills the tensor with one number for such a `tensor.insert_slice`.
pub(super) fn surrounds(fill: Op<'_>, cache: Option<PrivateCache<'_>>) -> bool {
    let [result] = fill.results()[..] else { return false };
    let [(user, 1)] = result.uses()[..] else { return false };
    user.is("tensor.insert_slice") && reader(user, cache).is_some()
}

fn reader<'c>(op: Op<'c>, cache: Option<PrivateCache<'_>>) -> Option<Op<'c>> {
    let [(user, operand)] = op.result(0).uses()[..] else { return None };
    let fixed = |name| op.attr(name).and_then(attr::ints).filter(|all| all.iter().all(|&n| n >= 0));
    if op.is("tensor.pad") {
        fixed("static_low").and_then(|_| fixed("static_high"))?;
    } else {
        fixed("static_offsets")?;
        let steps = fixed("static_strides")?;
        let plain = op.operands().len() == 2 && steps.iter().all(|&step| step == 1);
        if !plain || !is_fill(op.operand(1).def()?) {
            return None;
        }
    }
    if !user.is("linalg.generic")
        || user.block() != op.block()
        || operand >= nest::generic_inputs(user)
        || super::starts_another(user)
    {
        return None;
    }
    let axes = nest::generic_axes(user).ok()?;
    let access = nest::generic_accesses(user).ok()?.into_iter().nth(operand)?;
    let border = Border::of(&access)?;
    let leading = access.shape.len().checked_sub(border.rank())?;
    // A plane that ends where a length says has more of its border behind it.
    let lengths = length::of_axes(op, access.shape.len()).ok()?;
    if lengths[leading..].iter().any(Option::is_some) {
        return None;
    }
    let alone = |axis: usize| axes[axis].kind != Axis::Parallel || access.uses(axis);
    let windowed = (0..axes.len()).all(|axis| axes[axis].extent == 1 || alone(axis))
        && axes.iter().any(|axis| axis.kind == Axis::Reduction)
        && axes.iter().all(|axis| axis.extent > 0);
    let whole = access.index[..leading].iter().zip(&access.shape).all(|(index, &dim)| {
        dim == 1
            || index
                .as_axis()
                .is_some_and(|axis| axes[axis].extent == dim && axes[axis].kind == Axis::Parallel)
    });
    // Dimensions that fusing axes leaves alone: one that two axes move along, or one in steps.
    let kept = access.index[leading..].iter().all(|index| {
        let moving = (0..axes.len()).filter(|&axis| axes[axis].extent > 1);
        let factors: Vec<i64> =
            moving.map(|axis| index.coefficients[axis]).filter(|&factor| factor != 0).collect();
        factors.len() > 1 || factors.iter().any(|&factor| factor != 1)
    });
    let bytes = access.shape[leading..].iter().product::<u64>() * ty::byte_size(access.elem())?;
    (windowed && whole && kept && bytes <= cache?.most_bytes).then_some(user)
}

/// A parallel nest that gives one constant and reads nothing.
fn is_fill(op: Op<'_>) -> bool {
    let constant = || {
        let value = op.body(0)?.terminator()?.operand(0).def()?;
        Some(value.is("arith.constant") && op.results().len() == 1)
    };
    op.is("linalg.generic")
        && nest::generic_inputs(op) == 0
        && !nest::reads_output(op, 0)
        && op.result(0).uses().len() == 1
        && constant() == Some(true)
}
