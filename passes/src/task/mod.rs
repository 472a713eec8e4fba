//! Passes of the `task` room: who does it, when.
//!
//! [`from_tile`] is the door into the room, [`plan()`] what leaves it: the plain data
//! that the runtime follows.

pub mod check_order;
mod conflicts;
mod copy;
pub mod cost;
mod emit;
pub mod from_tile;
mod kernels;
mod moved;
mod near;
mod owners;
mod plan;
pub mod reduce;
pub mod schedule;
pub mod touch;
mod uses;
mod values;

pub use moved::{Moved, moved};
pub use plan::{ConstantSource, ConstantValue, Planned, PlanningError, plan};
