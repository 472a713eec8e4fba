//! Passes of the `graph` room.

pub mod from_func;
pub mod gather_windows;
pub mod merge_products;
pub mod to_tile;
pub mod winograd;
