//! Runs compiled models on a CUDA device, through the driver alone.
//!
//! The driver's library is looked for when a model is loaded, so everything builds and
//! starts where there is none. The artifact's code is PTX, which the driver compiles for
//! the device at hand.

mod driver;
mod error;
mod launch;
mod model;

pub use error::CudaError;
pub use launch::{Call, Launch, Program, Work, calls, works};
pub use model::Model;
