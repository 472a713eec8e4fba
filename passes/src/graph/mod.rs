//! Passes of the `graph` room.

mod pieces;
pub mod to_tile;
