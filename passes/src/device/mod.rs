//! Passes of the `device` stage.

pub mod expand_math;
pub mod from_tile;
pub mod load_machine;
pub mod order_instructions;
pub mod overlap_layers;
