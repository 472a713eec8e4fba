//! Passes of the `graph` room.

mod border;
pub mod from_func;
mod pieces;
pub mod to_tile;
