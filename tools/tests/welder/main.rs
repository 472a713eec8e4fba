//! Welder's rows: which tiles a group has, what it moves and holds, and edges that are edited.

#[path = "../isa/support.rs"]
#[allow(dead_code)]
mod support;

mod edges;
mod scratchpad;
mod tiles;
mod traffic;
