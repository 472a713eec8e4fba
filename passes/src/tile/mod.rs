//! Passes of the `tile` stage.

pub mod banks;
mod best_tile;
pub mod block;
mod chooser;
pub(crate) mod cluster_memory;
pub mod connect_edges;
mod constants;
pub mod construct_rtiles;
mod copy_tile;
mod cost;
mod explain;
mod far;
pub mod fill_borders;
pub mod fuse_elementwise;
pub mod group_tiles;
mod groups;
pub mod instances;
mod instruction;
pub mod isa;
mod join_checks;
pub mod join_kernels;
mod lane_facts;
mod lane_tiles;
pub mod lay_out;
mod layout;
pub mod lives;
pub mod local;
mod member_tile;
mod offer;
mod pace;
pub mod pack_weights;
mod partial;
mod parts;
pub mod peel;
pub mod placements;
mod policy;
pub(crate) mod predict;
pub mod propagate;
mod ragged;
pub mod roller;
mod rtiles;
mod schedule;
mod sets;
mod shape;
mod shapes;
pub mod split_reductions;
pub mod split_rows;
mod stage_tile;
pub mod stream_host;
mod subgraph;
mod task_tile;
pub mod traffic;
mod turn;
mod views;
pub(crate) mod way;
mod why;
mod windows;
pub(crate) mod write_compute;

pub(crate) use chooser::Chooser;
pub use explain::{Explained, Predicted, explain, predicted};
pub use instruction::{Combine, Identity, binding, combine, identity, lanes_type};
pub(crate) use way::move_cycles;
pub use way::{
    PrivateCache, Stage, Way, beside, local_buffer, private_cache, waiting_memory, way, way_of,
    ways,
};
