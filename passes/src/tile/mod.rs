//! Passes of the `tile` room.

pub mod construct_rtiles;
mod cost;
mod instruction;
pub mod pack_weights;
mod policy;

pub use instruction::{Combine, Identity, binding, combine, identity, lanes_type};
pub use policy::loop_order;
