//! The `device` dialect: machines as facts, and programs in their instructions.
//!
//! [`Machine`] reads a `device.machine`; [`Kernel`], [`struct@Copy`], [`Transfer`],
//! [`Fill`], [`Invoke`], [`Apply`] and [`Combine`] read the programs. All are views: they hold what
//! was written, and are made again after the IR changed. [`build`] makes the operations.

mod begin_order;
mod boxes;
pub mod build;
mod gathering;
mod instruction;
mod machine;
mod memory;
mod producer;
mod program;
mod scope;
pub mod tile_box;
pub mod tokens;
mod unit;
mod used;
pub(crate) mod verify;
mod view;

pub use begin_order::{Bands, Cluster};
pub use boxes::{Boxes, Parts, Share, TensorBox};
pub use gathering::Gathering;
pub use instruction::{Instruction, Layout};
pub use machine::Machine;
pub use memory::{ARENA_ALIGN, Memory, Move};
pub use producer::{Producer, RegisterShares};
pub use program::{
    Apply, Combine, Contract, Copy, Fill, Invoke, Kernel, Limit, Transfer, View, token,
};
pub use scope::Scope;
pub use unit::{Engine, Lanes, Unit};
pub use used::{Fact, Listening, Uses};
