//! Reads ONNX models into the `graph` dialect.
//!
//! Every node becomes one operator whose payload says what it computes; after that nothing looks
//! at its name. Weights stay in the file: the graph names them and [`Weights`] finds their bytes.
//!
//! This crate knows neither machines nor tiles, and computes only what decides shapes.

mod elements;
mod error;
mod files;
mod model;
#[allow(missing_docs, clippy::all, reason = "generated from the published schema")]
pub mod proto {
    include!(concat!(env!("OUT_DIR"), "/onnx.rs"));
}
mod tensor;
mod types;

pub use elements::{Elements, Scalar};
pub use error::{ImportError, Report, Result};
pub use model::Model;
pub use types::{ElementType, TensorType};
