//! A machine that exists only as text runs programs: functionally, and in simulated time.
//!
//! [`Code`] is plain data: a [`Machine`] and kernels in its operations. `docs/simulator.md`
//! says what a run means, what takes which time, and what is caught.

mod area;
mod error;
mod flatten;
mod flights;
mod frames;
mod functional;
mod lanes;
mod machine;
mod model;
mod order;
mod prepare;
mod program;
mod ranges;
mod regions;
mod timed;
mod validate;
mod walker;

pub use error::{Bytes, OpLocation, SimulateError};
pub use machine::{
    Engine, EngineId, Instruction, LaneUnit, Machine, Meaning, Memory, MemoryId, Move, Operand,
    Scope,
};
pub use model::{Model, Simulator};
pub use program::{Code, Kernel, MemRef, MemRefId, Op, Slot, TokenSlot, Use, Value, View, Work};
pub use timed::{Count, EngineUse, MemoryUse, MoveUse, OperatorUse, Report, Trace, UnitUse};
