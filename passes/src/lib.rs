//! The passes of weft, by stage: `graph`, `tile`, `task`, `device`, and `codegen`.
//!
//! `nest` is the form in which they all read a kernel; `pipeline.rs` alone knows
//! their order.

mod arch;
pub mod arena;
pub mod codegen;
pub mod cost;
pub mod device;
pub mod graph;
pub mod interpret;
mod length;
pub mod math;
pub mod nest;
pub mod pipeline;
mod precedence;
pub mod remarks;
pub mod simulate;
pub mod task;
pub mod tile;
