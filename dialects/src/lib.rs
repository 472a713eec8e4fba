//! The four dialects of weft, and the safe layer through which passes read and write IR.
//!
//! `include/*.td` define the operations; [`ir`] reads and builds them; the
//! modules named after a dialect hold its views, builders and verifiers, one function per numbered
//! constraint. This crate knows no pass and no file format.

pub mod aliases;
pub mod device;
pub mod finds;
pub mod graph;
pub mod ir;
pub mod lengths;
pub mod repeat;
pub mod task;
pub mod tile;
mod verify;
