//! The `device` dialect: machines as facts, and programs in their instructions.
//!
//! [`Machine`] reads a `device.machine`; [`Kernel`], [`struct@Copy`], [`Transfer`],
//! [`Fill`], [`Invoke`], [`Apply`] and [`Combine`] read the programs. All are views: they hold what
//! was written, and are made again after the IR changed.

mod machine;
mod program;
pub(crate) mod verify;

pub use machine::{Engine, Instruction, Lanes, Machine, Memory, Move, Scope, Unit};
pub use program::{Apply, Combine, Copy, Fill, Invoke, Kernel, Limit, Transfer, View, token};
