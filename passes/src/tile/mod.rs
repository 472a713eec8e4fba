//! Passes of the `tile` room.

pub mod banks;
pub mod block;
pub mod connect_edges;
mod constants;
pub mod construct_rtiles;
mod cost;
mod explain;
pub mod fuse_elementwise;
mod groups;
mod instruction;
pub mod isa;
pub mod join_kernels;
mod layout;
pub mod local;
pub mod pack_weights;
mod parts;
pub mod peel;
mod policy;
pub mod propagate;
pub mod roller;
mod shapes;
pub mod split_reductions;
pub mod stream_host;
mod subgraph;
mod task_tile;
pub mod traffic;
mod turn;
mod way;
mod windows;

pub(crate) use explain::cycles;
pub use explain::{Explained, Predicted, explain, predicted};
pub use instruction::{Combine, Identity, binding, combine, identity, lanes_type};
pub use task_tile::loop_order;
pub use turn::turns;
pub use way::{NearCache, Stage, Way, near_cache, way};
pub use windows::{MOST_STEPS, taps};
