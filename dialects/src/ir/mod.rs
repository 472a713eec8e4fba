//! The safe layer over MLIR's C API: the only place that touches MLIR's pointers.
//!
//! Handles are copies of pointers with the lifetime of their context. Passes
//! build with [`Builder`], read with [`Op`], [`Val`], [`attr`] and [`ty`], and
//! never see a raw handle.

pub mod affine;
pub mod attr;
mod builder;
mod context;
pub mod diag;
mod form;
mod form_text;
mod handle;
pub mod link;
mod options;
pub(crate) mod parts;
pub mod pass;
mod patterns;
pub mod payload;
mod shim;
pub mod targets;
mod text;
pub mod tools;
pub mod ty;

pub use affine::Linear;
pub use builder::{Builder, Mapping, empty_module, module_op};
pub(crate) use context::id_of;
pub use context::{ParseError, check_depth, context, install_verifiers, parse};
pub use diag::{Diagnostics, Report, remark};
pub use form::Form;
pub use handle::{Block, Op, Region, Val};
pub use melior::Context;
pub use melior::ir::{Attribute, Location, Module, Type};
pub use patterns::apply_patterns;
