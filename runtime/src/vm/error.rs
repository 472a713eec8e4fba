//! Errors of a program, and errors while it runs.

use std::fmt;

use super::inst::Inst;
use super::program::{Reg, TensorId};
use super::ty::Ty;

/// A position in a program: the path of statement indices, then the part of a nest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramLocation {
    /// Index of the statement in [`super::Program::body`], then in each nested body. The
    /// statements of a `While` count `before` first, those of an `If` count `then` first.
    pub path: Vec<u32>,
    /// The part of the nest, if the statement is one.
    pub part: Option<Part>,
}

/// A part of a nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// An entry of [`super::Nest::loads`].
    Load(u32),
    /// An entry of [`super::Nest::body`].
    Inst(u32),
    /// An entry of [`super::Nest::stores`].
    Store(u32),
    /// An entry of [`super::Nest::scatters`].
    Scatter(u32),
}

impl fmt::Display for ProgramLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("statement ")?;
        for (i, index) in self.path.iter().enumerate() {
            if i > 0 {
                f.write_str(".")?;
            }
            write!(f, "{index}")?;
        }
        match self.part {
            None => Ok(()),
            Some(Part::Load(i)) => write!(f, ", load {i}"),
            Some(Part::Inst(i)) => write!(f, ", instruction {i}"),
            Some(Part::Store(i)) => write!(f, ", store {i}"),
            Some(Part::Scatter(i)) => write!(f, ", scatter {i}"),
        }
    }
}

/// Why a program was refused or stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum VmError {
    #[error("{what} names tensor {tensor}, and the program declares {count}")]
    PortTensor { what: &'static str, tensor: TensorId, count: usize },
    #[error("tensor {tensor} is given as input twice")]
    InputTwice { tensor: TensorId },
    #[error("tensor {tensor} has {len} elements of {ty}, more than memory can address")]
    TooLarge { tensor: TensorId, len: u64, ty: Ty },
    #[error("{place}: tensor {tensor} does not exist, the program declares {count}")]
    NoTensor { place: ProgramLocation, tensor: TensorId, count: usize },
    #[error("{place}: the nest has {extents} extents and {parallel} parallel flags")]
    Flags { place: ProgramLocation, extents: usize, parallel: usize },
    #[error("{place}: the access has {strides} strides in a nest of {extents} axes")]
    Rank { place: ProgramLocation, strides: usize, extents: usize },
    #[error(
        "{place}: addresses {low} to {high} of tensor {tensor} are accessed, which has {len} elements"
    )]
    Range { place: ProgramLocation, tensor: TensorId, low: i128, high: i128, len: u64 },
    #[error("{place}: register {register} is not defined here, {defined} are")]
    Register { place: ProgramLocation, register: Reg, defined: u32 },
    #[error("{place}: axis {axis} does not exist in a nest of {extents} axes")]
    Axis { place: ProgramLocation, axis: u32, extents: usize },
    #[error("{place}: {inst:?} does not take {found}; it takes {expected}")]
    Type { place: ProgramLocation, inst: Inst, found: Ty, expected: &'static str },
    #[error("{place}: {inst:?} takes operands of one type and was given {a} and {b}")]
    TypesDiffer { place: ProgramLocation, inst: Inst, a: Ty, b: Ty },
    #[error("{place}: {inst:?} cannot convert {from} to {to}")]
    Cast { place: ProgramLocation, inst: Inst, from: Ty, to: Ty },
    #[error("{place}: a register of type {value} is stored to tensor {tensor} of {ty}")]
    StoreType { place: ProgramLocation, tensor: TensorId, ty: Ty, value: Ty },
    #[error("{place}: an address is an integer, not {found}")]
    AddressType { place: ProgramLocation, found: Ty },
    #[error("{place}: axis {axis} is said to be parallel, but all its points store to one element")]
    NotParallel { place: ProgramLocation, axis: usize },
    #[error("{place}: tensor {tensor} has type {found} and {len} elements; {expected} is needed")]
    Control {
        place: ProgramLocation,
        tensor: TensorId,
        found: Ty,
        len: u64,
        expected: &'static str,
    },
    #[error("{place}: statements are nested deeper than {limit}")]
    Depth { place: ProgramLocation, limit: usize },
    #[error("the program has {expected} inputs and was given {found}")]
    InputCount { expected: usize, found: usize },
    #[error("tensor {tensor} has {expected} bytes and was given {found}")]
    InputSize { tensor: TensorId, expected: u64, found: u64 },
    #[error("tensor {tensor} is written, but bound to memory that is read-only")]
    ReadOnly { tensor: TensorId },
    #[error("the environment has {found} tensors and the program {expected}")]
    Environment { expected: usize, found: usize },
    #[error("no memory for tensor {tensor} of {bytes} bytes")]
    Memory { tensor: TensorId, bytes: u64 },
    #[error("{place}: integer division by zero")]
    DivisionByZero { place: ProgramLocation },
    #[error("{place}: address {address} is outside of tensor {tensor}, which has {len} elements")]
    Address { place: ProgramLocation, tensor: TensorId, address: i64, len: u64 },
}
