//! Reads ONNX models into the `graph` dialect.
//!
//! Every node becomes one operator whose payload says what it computes; after that nothing looks
//! at its name. Control flow, sequences and functions are decided here and leave no trace. Weights
//! stay in the file: the graph names them and [`Weights`] finds their bytes.
//!
//! ```no_run
//! # fn main() -> weft_onnx::Result<()> {
//! let context = weft_dialects::ir::context();
//! let options = weft_onnx::Options::default();
//! let (module, imported) = weft_onnx::import("model.onnx".as_ref(), &options, &context)?;
//! let weight = imported.files["model"].tensor("conv1.weight")?;
//! println!("{} bytes", weight.bytes().len());
//! # Ok(())
//! # }
//! ```
//!
//! This crate knows neither machines nor tiles, and computes only what decides shapes. [`quantize`] writes models
//! whose products are of bytes.

mod constant;
mod elements;
mod error;
mod files;
mod function;
mod graph;
mod import;
mod inputs;
mod lengths;
mod model;
mod node;
mod ops;
mod payload;
mod plan;
#[allow(missing_docs, clippy::all, reason = "generated from the published schema")]
pub mod proto {
    include!(concat!(env!("OUT_DIR"), "/onnx.rs"));
}
pub mod quantize;
mod tensor;
mod types;
mod weights;

pub use elements::{Elements, Scalar};
pub use error::{ImportError, Report, Result};
pub use graph::{Graph, Vertex};
pub use import::{Imported, check, import, import_model, operators};
pub use inputs::{Alias, Options};
pub use model::Model;
pub use tensor::{Stored, stored_file, tensor_file};
pub use types::{ElementType, TensorType};
pub use weights::Weights;
