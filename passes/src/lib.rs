//! The passes of weft, by stage: `graph`, `tile`, `task`, `device`, and `codegen`.
//!
//! `nest` is the form in which they all read a kernel; `pipeline.rs` alone knows
//! their order.

pub mod codegen;
pub mod device;
pub mod graph;
pub mod interpret;
pub mod nest;
mod options;
pub mod pipeline;
mod precedence;
pub mod remarks;
pub mod simulate;
pub mod task;
pub mod tile;
mod worth;
