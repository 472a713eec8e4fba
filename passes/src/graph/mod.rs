//! Passes of the `graph` room.

pub mod from_func;
mod pieces;
pub mod to_tile;
