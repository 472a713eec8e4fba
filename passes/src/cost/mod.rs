//! Predicted time: what every choice between schedules is judged by.
//!
//! | Question | Answered in |
//! |---|---|
//! | What does a schedule take, and what of it takes the time? | [`Cost`]: `terms.rs` |
//! | Does data stay in this memory, and from which memory does it come? | `home.rs` |
//! | Is a predicted saving worth another choice? | [`worth`] |
//! | What is the least time that memories and instructions allow? | `peaks.rs` |
//!
//! The models of schedules give a [`Cost`] and lie beside the schedules that they describe:
//! `tile/cost.rs` for lanes, `tile/isa/cost.rs` for instructions with axes, `tile/block/choose.rs`
//! for blocks, `tile/pace.rs` and `tile/far.rs` for groups of kernels on all units.

pub(crate) mod home;
mod peaks;
mod terms;
pub mod worth;

pub(crate) use peaks::{memory_cycles, point_cycles, product_cycles};
pub use terms::{Cost, Term};
