//! Operators of ONNX and of ONNX Runtime against their definitions.
//!
//! What is imported is run by the interpreter, and compared with plain loops: the question is what is
//! meant.

mod attention;
mod convolutions;
mod features;
mod fused;
mod gradients;
mod integers;
mod net;
mod norms;
mod places;
mod products;
mod signals;
mod states;
