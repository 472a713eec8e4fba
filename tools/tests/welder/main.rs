//! Welder's rows: which tiles a group has, what it moves and holds, where its tiles wait, and edges
//! that are edited.

#[path = "../isa/support.rs"]
#[allow(dead_code)]
mod support;

mod arena;
mod edges;
mod layers;
mod random;
mod scratchpad;
mod tiles;
mod traffic;
