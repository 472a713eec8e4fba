//! Passes of the `graph` room.

mod border;
pub mod from_func;
pub mod gather_windows;
pub mod merge_products;
mod pieces;
pub mod to_tile;
pub mod winograd;
