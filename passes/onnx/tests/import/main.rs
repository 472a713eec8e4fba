//! Models from memory and from folders, right ones and wrong ones.

mod attention;
mod bad_input;
mod control;
mod einsum;
mod folding;
mod net;
mod older;
mod quantize;
mod recurrent;
mod resize;
mod scatter;
mod shapes;
mod spread;
