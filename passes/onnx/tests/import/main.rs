//! Models from memory and from folders, right ones and wrong ones.

mod bad_input;
mod folding;
mod net;
mod shapes;
