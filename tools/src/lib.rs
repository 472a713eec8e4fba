//! weft as a library: from a model to an artifact, in the steps that the tools offer.
//!
//! ```no_run
//! # fn main() -> Result<(), weft::Failure> {
//! let context = weft::context();
//! let options = weft::Options::default();
//! let mut unit = weft::Unit::open(&context, "model.onnx".as_ref(), options)?;
//! unit.write_artifact("model.weft".as_ref())?;
//! # Ok(())
//! # }
//! ```

pub mod bisect;
pub mod cache;
pub mod commands;
mod compiler;
mod constants;
pub mod explain;
pub mod expression;
mod failure;
mod host;
pub mod limits;
mod machines;
mod progress;
pub mod reports;
mod reproducer;
mod source;
pub mod sources;
mod vendor;

pub use compiler::{Accuracy, Emit, Options, Precision, Remark, Remarks, Unit};
pub use failure::{Collector, Diagnostic, Failure, Placed, Reported};
pub use host::Host;
pub use machines::{Described, Device, MACHINES};

/// A context with every dialect, and weft's passes registered.
pub fn context() -> weft_dialects::ir::Context {
    weft_passes::pipeline::register();
    weft_dialects::ir::context()
}
