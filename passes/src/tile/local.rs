//! The pieces of tensors that a tile of a nest touches, as buffers of their own.
//!
//! A piece has one of two forms. By *axes* it has one dimension per axis of the nest
//! that moves along it, so whatever the layout of the tensor was, neighbours on the
//! lanes' axis lie side by side. A *window* keeps the dimensions of the tensor: it is
//! for axes that overlap, such as those of a convolution, whose elements are then
//! held once.

use weft_dialects::ir::{Linear, ty};

use crate::nest::{Access, Nest, row_major};

/// Layout of a tensor's tile in its buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// One dimension per axis of more than one point.
    Axes(Vec<usize>),
    /// The dimensions of the tensor, from the lowest index that is touched.
    Window,
}

/// The piece of `access` that a tile of these sizes touches.
#[derive(Clone, Debug)]
pub struct Local {
    /// Its layout.
    pub form: Form,
    /// The shape of its buffer; at least one dimension.
    pub shape: Vec<u64>,
    /// Elements of the tensor between neighbours along each dimension of the buffer.
    pub strides: Vec<i64>,
    /// For each dimension of the tensor, how far below the tile's first point the
    /// piece begins; zero but for windows that go backwards.
    pub below: Vec<i64>,
    /// Index of a point of the tile in the buffer, counted from the tile's first point.
    pub index: Vec<Linear>,
}

/// The piece that an input `access` reads for a tile of `sizes`, neighbours along `last`
/// side by side.
pub fn input(access: &Access<'_>, sizes: &[u64], last: Option<usize>) -> Local {
    let moves = |index: &Linear| {
        let used = index.coefficients.iter().zip(sizes).filter(|(c, size)| **c != 0 && **size > 1);
        (used.clone().count(), used.filter(|(c, _)| **c < 0).count())
    };
    let overlaps = access.index.iter().map(moves).any(|(used, back)| used > 1 || back > 0);
    if overlaps { window(access, sizes) } else { output(access, sizes, last) }
}

/// The piece that an output `access` writes: exactly its elements, so never a window.
pub fn output(access: &Access<'_>, sizes: &[u64], last: Option<usize>) -> Local {
    let axes = sizes.len();
    // The lanes' axis stays even where it has one point: who reads it reads a register.
    let held = |axis: &usize| (sizes[*axis] > 1 || Some(*axis) == last) && access.uses(*axis);
    let mut used: Vec<usize> = (0..axes).filter(held).collect();
    used.sort_by_key(|&axis| (Some(axis) == last, axis));
    let mut shape: Vec<u64> = used.iter().map(|&axis| sizes[axis]).collect();
    let mut strides: Vec<i64> = used.iter().map(|&axis| access.stride(axes, axis)).collect();
    let mut index: Vec<Linear> = used.iter().map(|&axis| Linear::axis(axes, axis)).collect();
    if used.is_empty() {
        (shape, strides, index) = (vec![1], vec![1], vec![Linear::constant(axes, 0)]);
    }
    let below = vec![0; access.index.len()];
    Local { form: Form::Axes(used), shape, strides, below, index }
}

fn window(access: &Access<'_>, sizes: &[u64]) -> Local {
    let origin = |index: &Linear| Linear { constant: 0, ..index.clone() };
    let ranges: Vec<(i64, i64)> =
        access.index.iter().map(|index| origin(index).range(sizes)).collect();
    let shape: Vec<u64> = ranges.iter().map(|(low, high)| (high - low + 1) as u64).collect();
    let strides = row_major(&access.shape);
    let index =
        access.index.iter().zip(&ranges).map(|(index, (low, _))| origin(index).offset(-low));
    Local {
        form: Form::Window,
        shape,
        strides,
        below: ranges.iter().map(|(low, _)| -low).collect(),
        index: index.collect(),
    }
}

/// Bytes of all pieces that a tile of `nest` touches, and of the tensors that its body
/// reads at computed addresses, which are held whole.
pub fn bytes(nest: &Nest<'_>, sizes: &[u64]) -> u64 {
    let size = |elem| ty::byte_size(elem).unwrap_or(8);
    let inputs = nest.reads().into_iter().map(|access| (access, input(access, sizes, None)));
    let outputs = nest.outputs.iter().map(|access| (access, output(access, sizes, None)));
    let pieces: u64 = inputs
        .chain(outputs)
        .map(|(access, piece)| {
            let elements: u64 = piece.shape.iter().product();
            elements.saturating_mul(size(access.elem()))
        })
        .sum();
    pieces + captured_bytes(nest)
}

/// Bytes of the tensors that a body reads at computed addresses.
pub fn captured_bytes(nest: &Nest<'_>) -> u64 {
    let whole = nest.captures.iter().filter_map(|capture| {
        let tensor = capture.tensor.ty();
        Some(ty::count(tensor)? * ty::byte_size(ty::elem(tensor)?)?)
    });
    whole.sum()
}
