//! The tensors of a payload while it is cut into kernels.

use weft_dialects::ir::{Linear, Op, Type, Val, attr, ty};
use weft_dialects::lengths;

use crate::length::{self, Length};
use crate::nest::{Access, row_major};

/// A tensor of a payload.
#[derive(Clone)]
pub(super) enum PayloadTensor<'c> {
    /// Lies in the tile-graph.
    Tensor(Val<'c>),
    /// Has no content yet.
    Empty(Type<'c>),
    /// Part of a tensor of the tile-graph.
    Window(Window<'c>),
    /// Made by a parallel nest that only starts another one, or only fills a border.
    Start(Op<'c>),
    /// A tensor inside a border, by the `tensor.insert_slice` that puts it there.
    Border(Op<'c>),
}

/// A window of a tensor.
#[derive(Clone)]
pub(super) struct Window<'c> {
    pub tensor: Val<'c>,
    pub offsets: Vec<i64>,
    pub strides: Vec<i64>,
    pub sizes: Vec<i64>,
    /// How much of each size is there in a run, where callers decide that.
    pub lengths: Vec<Option<&'static Length>>,
    /// How many elements further on it begins in a run.
    pub shift: Option<&'static Length>,
}

impl<'c> Window<'c> {
    /// All of a tensor.
    pub fn whole(tensor: Val<'c>) -> Option<Self> {
        let sizes: Vec<i64> = ty::shape(tensor.ty())?.iter().map(|&dim| dim as i64).collect();
        let rank = sizes.len();
        let (offsets, strides, lengths) = (vec![0; rank], vec![1; rank], vec![None; rank]);
        Some(Self { tensor, offsets, strides, sizes, lengths, shift: None })
    }

    /// The window that `op` (a slice operation with static positions) names, of `tensor`.
    pub fn of_slice(op: Op<'c>, tensor: Val<'c>) -> Option<Self> {
        let read = |name: &str| op.attr(name).and_then(attr::ints);
        let shape = ty::shape(tensor.ty())?;
        let rank = shape.len();
        let mut offsets = read("static_offsets")?;
        let window = Self {
            tensor,
            shift: shift(op, &mut offsets, &shape),
            offsets,
            strides: read("static_strides")?,
            sizes: read("static_sizes")?,
            lengths: length::of_axes(op, rank).ok()?,
        };
        let fixed = |values: &[i64]| values.len() == rank && values.iter().all(|&v| v != i64::MIN);
        (fixed(&window.offsets) && fixed(&window.strides) && fixed(&window.sizes)).then_some(window)
    }

    /// This window of `outer` instead of a whole tensor.
    pub fn inside(self, outer: &Window<'c>) -> Self {
        let offsets = outer
            .offsets
            .iter()
            .zip(&outer.strides)
            .zip(&self.offsets)
            .map(|((offset, stride), own)| offset + stride * own)
            .collect();
        let strides = outer.strides.iter().zip(&self.strides).map(|(a, b)| a * b).collect();
        // One whose place is not known is taken of a whole tensor (`Conversion::window`).
        let shift = self.shift.or(outer.shift);
        Self { tensor: outer.tensor, offsets, strides, shift, ..self }
    }

    /// The access to the tensor that `index` into the window is.
    pub fn access(&self, index: Vec<Linear>) -> Access<'c> {
        let index = index
            .into_iter()
            .zip(self.offsets.iter().zip(&self.strides))
            .map(|(index, (&offset, &stride))| index.scale(stride).offset(offset))
            .collect();
        let shape = ty::shape(self.tensor.ty()).expect("windows are of static tensors");
        Access { tensor: self.tensor, shape, index }
    }
}

/// Lets a slice begin at the beginning along dimensions where a length says where it does; gives how many
/// elements further on that is.
fn shift(op: Op<'_>, offsets: &mut [i64], shape: &[u64]) -> Option<&'static Length> {
    let strides = row_major(shape);
    let operands = op.operands();
    let dynamic = offsets.iter().filter(|&&offset| offset == i64::MIN).count();
    let mut places = operands[operands.len().checked_sub(dynamic)?..].iter();
    let mut sum = Length::default();
    for (offset, stride) in offsets.iter_mut().zip(strides) {
        if *offset != i64::MIN {
            continue;
        }
        let place = places.next()?.def().filter(|op| op.is("graph.length"))?;
        let length = lengths::read(place.attr("length").and_then(attr::string)?).ok()??;
        sum = sum.plus(&length, stride);
        *offset = 0;
    }
    (dynamic > 0).then(|| length::kept(sum))
}
