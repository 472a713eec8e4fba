//! Which nests are convolutions, and why Winograd's algorithm does not compute one.

use thiserror::Error;
use weft_dialects::ir::payload::Axis;
use weft_dialects::ir::{Op, ty};

use crate::graph::product::{added_product, is_constant};
use crate::graph::to_tile::starts_another;
use crate::length::{self, Length};
use crate::nest::{Access, Loop, generic_accesses, generic_axes, generic_inputs, index_axis};

/// Why a convolution stays direct.
#[derive(Debug, Error)]
pub enum Refusal {
    #[error("its windows have {0} axes, not two")]
    Rank(usize),
    #[error("its windows are {0} long, not 3")]
    Window(u64),
    #[error("its windows are {0} apart, not 1")]
    Stride(i64),
    #[error("the elements of its windows are {0} apart, not 1")]
    Dilation(i64),
    #[error("no channel is summed, so there is no product that would be shared")]
    Channels,
    #[error("it sums {0}, and halves are taken of what is summed in f32 and f64 alone")]
    Element(String),
    #[error("what its sums begin with differs along rows or columns, or is a tensor")]
    Start,
    #[error("callers, or data, decide how many rows, columns or channels it has")]
    Length,
    #[error("its tensors are indexed by more than one axis, or not from their beginnings")]
    Index,
    #[error(
        "rounding errors are bounded by {bound:.1} times the direct ones, {allowed} is allowed"
    )]
    Accuracy { bound: f64, allowed: f64 },
    #[error("{variant} takes {cycles:.0} cycles, the direct convolution {direct:.0}")]
    Cost { variant: String, cycles: f64, direct: f64 },
}

impl Refusal {
    /// The name of the rule, for reports and tests.
    pub fn rule(&self) -> &'static str {
        match self {
            Refusal::Rank(..) => "rank",
            Refusal::Window(..) => "window",
            Refusal::Stride(..) => "stride",
            Refusal::Dilation(..) => "dilation",
            Refusal::Channels => "channels",
            Refusal::Element(..) => "element",
            Refusal::Start => "start",
            Refusal::Length => "length",
            Refusal::Index => "index",
            Refusal::Accuracy { .. } => "accuracy",
            Refusal::Cost { .. } => "cost",
        }
    }
}

/// A direction in which a window moves.
#[derive(Clone, Copy, Debug)]
pub struct Direction {
    /// The axis of the output.
    pub at: usize,
    /// The axis of the window.
    pub over: usize,
    /// The dimension of the image.
    pub dim: usize,
}

/// A convolution of 3 x 3, with what moves along what.
pub struct Conv<'c> {
    pub op: Op<'c>,
    pub image: Access<'c>,
    pub filter: Access<'c>,
    pub output: Access<'c>,
    pub rows: Direction,
    pub columns: Direction,
    /// Axes of all three tensors.
    pub groups: Vec<usize>,
    /// Axes of image and output.
    pub images: Vec<usize>,
    /// Axes of filter and output.
    pub filters: Vec<usize>,
    /// Axes of image and filter, which are summed.
    pub channels: Vec<usize>,
    pub extents: Vec<u64>,
    /// Where axes end: only those of images.
    pub lengths: Vec<Option<&'static Length>>,
    /// The nest that gives every sum its first value.
    pub start: Op<'c>,
}

impl<'c> Conv<'c> {
    /// The convolution that a nest is, or why it is none for Winograd; `None` where it is not
    /// a sum of products with a window over one of two tensors.
    pub fn read(op: Op<'c>) -> Option<Result<Self, Refusal>> {
        let axes = generic_axes(op).ok()?;
        let accesses = generic_accesses(op).ok()?;
        let (inputs, outputs) = accesses.split_at(generic_inputs(op));
        let ([one, other], [output]) = (inputs, outputs) else { return None };
        let body = op.body(0)?;
        if axes.iter().any(|axis| axis.extent == 0) || added_product(body).is_none() {
            return None;
        }
        let (image, filter) = match (windows(one), windows(other)) {
            (own, none) if !own.is_empty() && none.is_empty() => (one, other),
            (none, own) if !own.is_empty() && none.is_empty() => (other, one),
            _ => return None,
        };
        let windows = windows(image);
        let reduces = |axis: usize| axes[axis].kind == Axis::Reduction;
        if windows.iter().any(|window| reduces(window.0.0) == reduces(window.1.0)) {
            return None;
        }
        Some(Self::with(op, [image, filter, output], &windows, &axes))
    }

    fn with(
        op: Op<'c>,
        [image, filter, output]: [&Access<'c>; 3],
        windows: &[Sum],
        axes: &[Loop],
    ) -> Result<Self, Refusal> {
        let extents: Vec<_> = axes.iter().map(|axis| axis.extent).collect();
        let reduces = |axis: usize| axes[axis].kind == Axis::Reduction;
        let direction = |&(one, other, dim): &Sum| {
            let (at, over) = if reduces(one.0) { (other, one) } else { (one, other) };
            let length = extents[over.0];
            match (length, at.1, over.1) {
                (3, 1, 1) => Ok(Direction { at: at.0, over: over.0, dim }),
                (3, 1, dilation) => Err(Refusal::Dilation(dilation)),
                (3, stride, _) => Err(Refusal::Stride(stride)),
                _ => Err(Refusal::Window(length)),
            }
        };
        let directions = windows.iter().map(direction).collect::<Result<Vec<_>, _>>()?;
        let [rows, columns] = directions[..] else { return Err(Refusal::Rank(windows.len())) };
        let window = [rows.at, rows.over, columns.at, columns.over];
        let plain = |access: &Access<'_>, dim: &usize| access.index[*dim].as_axis().is_some();
        let others = |dim: &usize| *dim != rows.dim && *dim != columns.dim;
        let in_place = [rows, columns].iter().all(|one| image.index[one.dim].constant == 0)
            && (0..image.index.len()).filter(others).all(|dim| plain(image, &dim))
            && [filter, output].iter().all(|one| (0..one.index.len()).all(|dim| plain(one, &dim)))
            && output
                .index
                .iter()
                .zip(&output.shape)
                .all(|(index, &dim)| index.as_axis().is_some_and(|axis| extents[axis] == dim));
        let parts = |image_has: bool, filter_has: bool, output_has: bool| -> Vec<usize> {
            let own = |axis: &usize| {
                !window.contains(axis)
                    && image.uses(*axis) == image_has
                    && filter.uses(*axis) == filter_has
                    && output.uses(*axis) == output_has
            };
            (0..extents.len()).filter(own).collect()
        };
        let (groups, images) = (parts(true, true, true), parts(true, false, true));
        let (filters, channels) = (parts(false, true, true), parts(true, true, false));
        let known = groups.len() + images.len() + filters.len() + channels.len() + 4;
        let moves = [rows, columns]
            .iter()
            .all(|one| filter.uses(one.over) && output.uses(one.at) && !filter.uses(one.at));
        if !in_place || !moves || known != extents.len() || rows.at == columns.at {
            return Err(Refusal::Index);
        }
        if channels.is_empty() {
            return Err(Refusal::Channels);
        }
        let lengths = length::of_loops(axes);
        if (0..axes.len()).any(|axis| lengths[axis].is_some() && !images.contains(&axis)) {
            return Err(Refusal::Length);
        }
        let elem = output.elem();
        let float = ty::is_float(elem) && ty::byte_size(elem).is_some_and(|bytes| bytes >= 4);
        if !float || [image, filter].iter().any(|access| access.elem() != elem) {
            return Err(Refusal::Element(elem.to_string()));
        }
        let start = start(output, [rows.at, columns.at]).ok_or(Refusal::Start)?;
        let (image, filter, output) = (image.clone(), filter.clone(), output.clone());
        Ok(Self {
            op,
            image,
            filter,
            output,
            rows,
            columns,
            groups,
            images,
            filters,
            channels,
            extents,
            lengths,
            start,
        })
    }

    /// Products that a channel sum has.
    pub fn summed(&self) -> u64 {
        self.channels.iter().map(|&axis| self.extents[axis]).product()
    }

    /// Returns whether the filter is known before the model runs.
    pub fn filter_is_constant(&self) -> bool {
        is_constant(self.filter.tensor)
    }
}

/// Two axes with their steps, and the dimension that they are summed in.
type Sum = ((usize, i64), (usize, i64), usize);

/// The dimensions in which two axes are summed.
fn windows(access: &Access<'_>) -> Vec<Sum> {
    let sum = |(dim, index): (usize, &weft_dialects::ir::Linear)| {
        let used = index.coefficients.iter().copied().enumerate().filter(|(_, step)| *step != 0);
        match used.collect::<Vec<_>>()[..] {
            [one, other] => Some((one, other, dim)),
            _ => None,
        }
    };
    access.index.iter().enumerate().filter_map(sum).collect()
}

/// The nest that gives the sums their first values, the same ones along `constant` axes.
fn start<'c>(output: &Access<'c>, constant: [usize; 2]) -> Option<Op<'c>> {
    let op = output.tensor.def().filter(|op| op.is("linalg.generic") && starts_another(*op))?;
    let accesses = generic_accesses(op).ok()?;
    let (place, inputs) = accesses.split_last()?;
    let asks = op.body(0)?.ops().into_iter().any(|op| index_axis(op).is_some());
    let along = |axis: usize| {
        let dim = place.index.iter().position(|index| index.as_axis() == Some(axis));
        dim.and_then(|dim| output.index[dim].as_axis())
    };
    let still = |input: &Access<'_>| {
        (0..place.index.len())
            .filter(|&axis| input.uses(axis))
            .all(|axis| along(axis).is_some_and(|axis| !constant.contains(&axis)))
    };
    (!asks && inputs.iter().all(still)).then_some(op)
}
