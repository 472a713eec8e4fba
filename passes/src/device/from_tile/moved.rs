//! Copies and fills that moves do.

use weft_dialects::device::Move;
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Builder, Val, ty};

use super::Here;
use super::matrix_boxes::Far;
use super::member::LocalTiles;
use super::tiles::Points;
use super::transfer::{Boxed, Pending, first};
use crate::nest::{Access, Nest, Start};

/// Begins the work of `way` on some points of a nest; its tokens.
pub(super) fn moved<'c>(
    here: &Here<'c>,
    b: &mut Builder<'c>,
    way: &Move<'c>,
    nest: &Nest<'c>,
    local_tiles: &LocalTiles<'c>,
    Points { at, sizes, .. }: Points<'_, 'c>,
) -> Result<Vec<Val<'c>>, Failed> {
    let mut pending = Pending::default();
    let to = far(here, local_tiles, &nest.outputs[0]);
    let Some(read) = nest.inputs.first() else {
        let value = nest.body.terminator().and_then(|end| end.operand(0).def());
        let value = value.and_then(|op| op.attr("value")).ok_or(Failed)?;
        let (view, shape) = (first(b, to.memref), ty::shape(to.memref.ty()).ok_or(Failed)?);
        pending.fill(b, way, &view, &shape, value);
        return Ok(pending.take());
    };
    let from = far(here, local_tiles, read);
    let mut axes: Vec<usize> = (0..nest.axes.len()).filter(|&axis| sizes[axis] > 1).collect();
    // A box has a side.
    if axes.is_empty() && !nest.axes.is_empty() {
        axes.push(0);
    }
    let sides: Vec<u64> = axes.iter().map(|&axis| sizes[axis]).collect();
    let mut side = |end: &Far<'_, 'c>| Boxed {
        view: end.view(b, at),
        strides: axes.iter().map(|&axis| end.stride(axis)).collect(),
    };
    let (from, to) = (side(&from), side(&to));
    pending.transfer(b, way, &from, &to, &sides);
    Ok(pending.take())
}

/// A tensor in its local tile, or in the kernel's memref.
fn far<'a, 'c>(
    here: &Here<'c>,
    local_tiles: &'a LocalTiles<'c>,
    access: &'a Access<'c>,
) -> Far<'a, 'c> {
    let local_tile = local_tiles.get(&access.tensor);
    let memref =
        local_tile.map_or_else(|| here.memrefs[&access.tensor], |local_tile| local_tile.memref);
    Far { access, memref, room: local_tile }
}

/// Returns whether a nest is a copy of one tensor to another, element by element, of which an rTask
/// on a move may be a part.
pub(super) fn copies(nest: &Nest<'_>) -> bool {
    let yields = nest.body.terminator().and_then(|end| end.operands().first().copied());
    let ([input], [output], [start]) = (&nest.inputs[..], &nest.outputs[..], &nest.starts[..])
    else {
        return false;
    };
    let plain = nest.epilogue.is_none() && nest.captures.is_empty();
    let parallel = (0..nest.axes.len()).all(|axis| !nest.reduces(axis));
    let begins = !matches!(start, Start::From { .. });
    plain && parallel && begins && input.elem() == output.elem() && yields == Some(nest.body.arg(0))
}
