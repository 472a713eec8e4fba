//! Passes of the `task` stage: which unit runs what, and when.
//!
//! [`from_tile`] is the conversion into the stage, [`plan()`] writes its result as the plain data
//! that the runtime follows.

pub mod check_ends;
pub mod check_order;
mod cluster_memory;
mod conflicts;
mod copy;
pub mod cost;
mod emit;
pub mod from_tile;
mod kernels;
mod moved;
mod owners;
mod plan;
pub mod reduce;
pub mod schedule;
pub mod share_kernels;
pub mod touch;
mod uses;
mod values;

pub use moved::{Moved, moved};
pub use plan::{ConstantSource, ConstantValue, Planned, PlanningError, plan};
