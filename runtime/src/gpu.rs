//! Runs compiled models on a GPU, through its driver alone.
//!
//! The driver's library is looked for when a model is loaded, so everything builds and
//! starts where there is none. Code for NVIDIA's GPUs is PTX, which the driver compiles for
//! the device at hand; code for AMD's is a code object.
//!
//! ```text
//! model.rs    memory, launches, measuring        Driver: what both drivers do
//!     |                                              |            |
//! owned.rs    who gives what back            ->  cuda.rs       hip.rs
//! ```

mod cuda;
mod driver;
mod error;
mod hip;
mod launch;
mod model;
mod owned;
mod tensor;

pub use error::GpuError;
pub use launch::{Call, LAUNCHES, Launch, Program, Work, calls, works};
pub use model::Model;
