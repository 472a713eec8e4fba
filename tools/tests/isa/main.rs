//! Instructions of the shipped machines, and of two more, as parts of kernels: which mappings
//! there are, and why there are none.

mod bodies;
mod carried;
mod gathered;
mod machines;
mod mappings;
mod operators;
mod support;
