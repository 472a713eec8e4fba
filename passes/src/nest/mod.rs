//! Perfect loop nests: the one form in which passes see a payload.
//!
//! A kernel computes one nest: axes, tensors accessed by linear index
//! expressions, a scalar body, for each output how it starts, and perhaps what
//! becomes of the folded values before they are stored. Everything
//! that decides about a kernel (tiles, instructions, waits, bytecode) reads this
//! and no operator's name.

mod border;
mod emit;
mod form;
pub mod grid;
mod part;
mod parts;
mod read;
mod simplify;
mod transposes;
mod unroll;
mod windows;

pub(crate) use border::emit_pad;
pub use border::{Border, MOST_PHASES};
pub(crate) use emit::emit_sum;
pub use emit::{can_be_emitted, emit_kernel};
pub(crate) use emit::{copy_body, copy_constants, scalar_body};
pub use parts::{Part, part, parts};
pub use read::{NestError, read_kernel, read_members};
pub(crate) use read::{
    captured, captures_literals, generic_accesses, generic_axes, generic_inputs, reads_output,
    rebase,
};

pub use transposes::{may_combine_rows, stores_along, sums_lie_along};
pub(crate) use unroll::unrolled;
pub use windows::Windows;

use crate::length::Length;
use weft_dialects::ir::payload::Axis;
use weft_dialects::ir::{Block, Linear, Op, Type, Val, ty};

/// One loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Number of points, or the most that there may be.
    pub extent: u64,
    /// Parallel or reduction.
    pub kind: Axis,
    /// Number of points in a run, where callers decide it: the others are not there.
    pub length: Option<&'static Length>,
}

impl Loop {
    /// Over so many independent points.
    pub fn parallel(extent: u64) -> Self {
        Self { extent, kind: Axis::Parallel, length: None }
    }

    /// Over so many points that are folded.
    pub fn reduction(extent: u64) -> Self {
        Self { extent, kind: Axis::Reduction, length: None }
    }
}

/// A tensor and where each point of the nest touches it.
#[derive(Clone, Debug)]
pub struct Access<'c> {
    /// The tensor: an argument of the kernel, or whatever stands for it.
    pub tensor: Val<'c>,
    /// Shape of the tensor.
    pub shape: Vec<u64>,
    /// One expression per dimension, over the axes of the nest.
    pub index: Vec<Linear>,
}

impl<'c> Access<'c> {
    /// Element type of the tensor.
    pub fn elem(&self) -> Type<'c> {
        ty::elem(self.tensor.ty()).expect("accesses are to tensors")
    }

    /// The address in elements, in row-major order, as one expression.
    pub fn address(&self, axes: usize) -> Linear {
        let mut stride = 1;
        let mut sum = Linear::constant(axes, 0);
        for (dim, index) in self.shape.iter().zip(&self.index).rev() {
            sum = sum.add(&index.clone().scale(stride));
            stride *= *dim as i64;
        }
        sum
    }

    /// Elements between neighbours along `axis`.
    pub fn stride(&self, axes: usize, axis: usize) -> i64 {
        self.address(axes).coefficients[axis]
    }

    /// Returns whether the access moves along `axis`.
    pub fn uses(&self, axis: usize) -> bool {
        self.index.iter().any(|index| index.coefficients[axis] != 0)
    }
}

/// Elements between neighbours along each dimension of a tensor in row-major order.
pub(crate) fn row_major(shape: &[u64]) -> Vec<i64> {
    let mut strides = vec![1i64; shape.len()];
    for dim in (1..shape.len()).rev() {
        // With an extent of zero there are no elements, and any stride will do.
        strides[dim - 1] = strides[dim] * shape[dim].max(1) as i64;
    }
    strides
}

/// A tensor that a body reads at addresses it computes.
#[derive(Clone, Copy, Debug)]
pub struct Capture<'c> {
    /// The value that the body names.
    pub value: Val<'c>,
    /// The tensor: an argument of the kernel, or whatever stands for it.
    pub tensor: Val<'c>,
}

/// The initial value of an output.
#[derive(Clone)]
pub enum Start<'c> {
    /// The body never reads it.
    Unread,
    /// With what the tensor holds.
    Held,
    /// With what a scalar body gives from these inputs, over the same axes.
    From {
        /// The accesses that the body reads.
        inputs: Vec<Access<'c>>,
        /// Its block: one argument per input (and one unused per output).
        body: Block<'c>,
    },
}

/// The elementwise operations on a finished reduction: bias, activation, residual, a cast.
#[derive(Clone)]
pub struct Epilogue<'c> {
    /// The accesses that the body reads beside the value, over the parallel axes of the nest.
    pub inputs: Vec<Access<'c>>,
    /// Its block: one argument per input, then the value; behind them an unused one of the type
    /// that is stored, where that is another one than the value's.
    pub body: Block<'c>,
}

/// A perfect loop nest.
#[derive(Clone)]
pub struct Nest<'c> {
    /// The loops, outermost first.
    pub axes: Vec<Loop>,
    /// The accesses that the body reads.
    pub inputs: Vec<Access<'c>>,
    /// The accesses that it writes, one per value that the body yields.
    pub outputs: Vec<Access<'c>>,
    /// The scalar body: one argument per input, then one per output.
    pub body: Block<'c>,
    /// The initial value of each output.
    pub starts: Vec<Start<'c>>,
    /// The epilogue of a nest that reduces, and has one output.
    pub epilogue: Option<Epilogue<'c>>,
    /// Tensors the body reads at addresses it computes.
    pub captures: Vec<Capture<'c>>,
}

impl<'c> Nest<'c> {
    /// Extents of the axes.
    pub fn extents(&self) -> Vec<u64> {
        self.axes.iter().map(|axis| axis.extent).collect()
    }

    /// Returns whether an axis is a reduction.
    pub fn reduces(&self, axis: usize) -> bool {
        self.axes[axis].kind == Axis::Reduction
    }

    /// The rows of a register tile of `sizes`: parallel axes of more than one point, but for the
    /// one of the lanes.
    pub fn rows(&self, sizes: &[u64], lanes_axis: Option<usize>) -> Vec<usize> {
        let is_row =
            |&axis: &usize| sizes[axis] > 1 && Some(axis) != lanes_axis && !self.reduces(axis);
        (0..sizes.len()).filter(is_row).collect()
    }

    /// Returns whether some axis is a reduction.
    pub fn has_reductions(&self) -> bool {
        (0..self.axes.len()).any(|axis| self.reduces(axis))
    }

    /// The type in which output `output` is folded, before the epilogue.
    pub fn sum_type(&self, output: usize) -> Type<'c> {
        let results = self.body.terminator().map(|end| end.operands()).unwrap_or_default();
        results.get(output).map_or_else(|| self.outputs[output].elem(), |value| value.ty())
    }

    /// Returns whether the epilogue stores another type than sums have, so that no sums can wait
    /// where the output lies.
    pub fn casts_sums(&self) -> bool {
        self.epilogue.is_some() && self.sum_type(0) != self.outputs[0].elem()
    }

    /// Returns whether callers decide how many points some axis has.
    pub fn has_lengths(&self) -> bool {
        self.axes.iter().any(|axis| axis.length.is_some())
    }

    /// Number of points.
    pub fn points(&self) -> u64 {
        self.axes.iter().map(|axis| axis.extent).product()
    }

    /// Every access: what is read, then outputs.
    pub fn accesses(&self) -> Vec<&Access<'c>> {
        self.reads().into_iter().chain(&self.outputs).collect()
    }

    /// Every access of an input: of the body, of what outputs start from, of the epilogue.
    pub fn reads(&self) -> Vec<&Access<'c>> {
        let starts = self.starts.iter().flat_map(|start| match start {
            Start::From { inputs, .. } => inputs.as_slice(),
            _ => &[],
        });
        let epilogue = self.epilogue.iter().flat_map(|epilogue| &epilogue.inputs);
        self.inputs.iter().chain(starts).chain(epilogue).collect()
    }

    pub(crate) fn accesses_mut(&mut self) -> Vec<&mut Access<'c>> {
        let starts = self.starts.iter_mut().flat_map(|start| match start {
            Start::From { inputs, .. } => inputs.as_mut_slice(),
            _ => &mut [],
        });
        let epilogue = self.epilogue.iter_mut().flat_map(|epilogue| &mut epilogue.inputs);
        self.inputs.iter_mut().chain(starts).chain(epilogue).chain(&mut self.outputs).collect()
    }

    /// Every body: of what outputs start from, the nest's own, the epilogue's.
    pub fn bodies(&self) -> Vec<Block<'c>> {
        let starts = self.starts.iter().filter_map(|start| match start {
            Start::From { body, .. } => Some(*body),
            _ => None,
        });
        let epilogue = self.epilogue.iter().map(|epilogue| epilogue.body);
        starts.chain([self.body]).chain(epilogue).collect()
    }

    /// The scalar operations of the body, without its end.
    pub fn body_ops(&self) -> Vec<Op<'c>> {
        let mut ops = self.body.ops();
        ops.pop();
        ops
    }
}

/// The axis that a `linalg.index` asks for.
pub fn index_axis(op: Op<'_>) -> Option<usize> {
    if !op.is("linalg.index") {
        return None;
    }
    op.attr("dim").and_then(weft_dialects::ir::attr::int).map(|axis| axis as usize)
}
