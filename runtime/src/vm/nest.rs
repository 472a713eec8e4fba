//! A nest as it will run: strips of points inside of ordinary loops.
//!
//! A strip is up to [`STRIP_POINTS`] points whose instructions run one after the other over
//! whole arrays of registers. `schedule` chooses the points, `exec` runs them.

use super::error::ProgramLocation;
use super::inst::{BinaryOp, Inst};
use super::program::{Reg, Scatter, TensorId};
use super::ty::{Scalar, Ty};

/// Points in a strip at most. Registers of a strip then mostly stay in the first-level cache.
pub(super) const STRIP_POINTS: usize = 512;

/// A nest, ready to run.
#[derive(Debug)]
pub(super) struct Scheduled {
    /// The statement, for errors.
    pub place: ProgramLocation,
    pub kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// An extent is zero.
    Nothing,
    /// One tensor is copied to another in a different order.
    Copy(Copy),
    /// A few products are added to sums.
    Multiply(Multiply),
    Strips(Box<Strips>),
}

/// `sum[..] += left[..] * right[..]`, rounded twice, over few points: an instruction's work.
#[derive(Debug)]
pub(super) struct Multiply {
    pub ty: Ty,
    pub sum: MultiplyAccess,
    pub left: MultiplyAccess,
    pub right: MultiplyAccess,
    /// Points along the innermost loop, where the sum is dense.
    pub points: usize,
    /// Extents of the loops around it, outermost first.
    pub extents: Vec<u64>,
    /// True if the sum is the first operand of the addition.
    pub sum_first: bool,
}

/// An operand of a [`Multiply`].
#[derive(Debug)]
pub(super) struct MultiplyAccess {
    pub tensor: TensorId,
    pub offset: i64,
    /// Per loop around the innermost one.
    pub strides: Vec<i64>,
    /// Along the innermost loop: 0 or 1.
    pub step: i64,
}

/// `to[Σ i*to_stride] = from[Σ i*from_stride]` over all axes.
#[derive(Debug)]
pub(super) struct Copy {
    pub from: TensorId,
    pub to: TensorId,
    pub bytes: usize,
    pub from_offset: i64,
    pub to_offset: i64,
    /// Outermost first; the last axis runs fastest in `to`.
    pub axes: Vec<CopyAxis>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct CopyAxis {
    pub extent: u64,
    pub from: i64,
    pub to: i64,
}

#[derive(Debug)]
pub(super) struct Strips {
    /// Outermost first.
    pub loops: Vec<Loop>,
    /// The loop over strips of one axis, whose last round has `last_points` points.
    pub chunked: Option<usize>,
    pub points: usize,
    pub last_points: usize,
    /// The addresses of loads, then of stores, then of `Index` instructions.
    pub addresses: Vec<Address>,
    /// Type of each register.
    pub types: Vec<Ty>,
    /// Registers set once.
    pub constants: Vec<(Reg, Scalar)>,
    /// Loads that are not accumulators: their register and address have the same number.
    pub loads: Vec<Load>,
    /// Registers that hold a position, and their address.
    pub indices: Vec<(Reg, usize)>,
    pub ops: Vec<Op>,
    /// Stores that are not of accumulators.
    pub stores: Vec<Store>,
    /// In the order of the program, with their number.
    pub scatters: Vec<Scatter>,
    pub accumulators: Vec<Accumulator>,
    /// Present if the points of a strip accumulate to the same elements.
    pub tail: Option<Tail>,
}

#[derive(Debug)]
pub(super) struct Loop {
    pub count: u64,
    /// Per address.
    pub strides: Vec<i64>,
}

/// The addresses of a strip's points, relative to a base that the loops move.
#[derive(Debug)]
pub(super) struct Address {
    pub tensor: TensorId,
    pub offset: i64,
    pub pattern: Pattern,
}

#[derive(Debug, PartialEq)]
pub(super) enum Pattern {
    /// All points at one element.
    Uniform,
    /// Consecutive elements.
    Unit,
    Strided(i64),
    /// Pieces of consecutive elements.
    Runs {
        len: usize,
        starts: Vec<i64>,
    },
    Table(Vec<i64>),
}

#[derive(Debug)]
pub(super) struct Load {
    pub reg: Reg,
    /// Nothing in the nest writes the tensor, so an unchanged address means unchanged values.
    pub pure: bool,
}

#[derive(Debug)]
pub(super) struct Store {
    pub address: usize,
    pub value: Reg,
}

/// A load and a store of the same access, and no other access to that tensor: the value stays
/// in registers for as long as the address does not change.
#[derive(Debug)]
pub(super) struct Accumulator {
    pub load: Reg,
    pub value: Reg,
    /// `value` may trade places with `load` instead of being copied.
    pub swap: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    pub kind: OpKind,
    pub dst: Reg,
    /// Number in the nest's body.
    pub number: u32,
    /// Must run again though its operands are unchanged.
    pub volatile: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum OpKind {
    Plain(Inst),
    /// `c + a * b`, rounded twice, in one pass.
    MulAdd {
        a: Reg,
        b: Reg,
        c: Reg,
    },
}

impl OpKind {
    pub fn for_each_operand(&self, mut f: impl FnMut(Reg)) {
        match *self {
            OpKind::Plain(inst) => inst.for_each_operand(f),
            OpKind::MulAdd { a, b, c } => {
                f(a);
                f(b);
                f(c);
            }
        }
    }
}

/// The instructions that depend on accumulators which all points of a strip share: run point by
/// point.
#[derive(Debug)]
pub(super) enum Tail {
    /// Each accumulator is `op(accumulator, x)`.
    Folds(Vec<Fold>),
    /// Any instructions; `inputs` are the strip's registers among their operands.
    Ops { inputs: Vec<Reg>, ops: Vec<Op> },
}

#[derive(Debug)]
pub(super) struct Fold {
    pub op: BinaryOp,
    pub load: Reg,
    pub x: Reg,
    /// The accumulator is the first operand.
    pub first: bool,
}
