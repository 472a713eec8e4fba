//! The weft runtime: all that a machine needs to run compiled models.
//!
//! It reads an [`artifact`] (code, a [`plan`], packed constants), runs it on the processor at
//! hand or on a GPU, measures it and compares its results. It also holds [`vm`], the one
//! interpreter of weft, which the compiler uses for folding and for simulation.
//!
//! This crate refuses to know any compiler: it links neither LLVM nor MLIR, and no type in it
//! comes from them.

#[cfg(not(all(target_endian = "little", target_pointer_width = "64", unix)))]
compile_error!("weft-runtime supports 64-bit little-endian Unix machines");

pub mod artifact;
pub mod capi;
pub mod compare;
pub mod cpu;
pub mod dtype;
pub mod gpu;
pub mod length;
pub mod measure;
pub mod model;
pub mod narrow;
pub mod npz;
pub mod plan;
pub mod random;
pub mod replay;
pub mod session;
pub mod simulate;
pub mod tensor;
pub mod timeline;
mod trace_events;
pub mod vm;
pub mod whole_file;

pub use artifact::{Artifact, ArtifactError};
pub use cpu::CpuError;
pub use dtype::DType;
pub use gpu::GpuError;
pub use model::{Model, ModelError};
pub use plan::{Plan, PlanError};
pub use tensor::Tensor;
pub use whole_file::WholeFile;
