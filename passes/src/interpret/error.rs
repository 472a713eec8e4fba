//! Errors of the interpreter.

use weft_dialects::ir::{Op, Type, diag};
use weft_runtime::vm::VmError;

/// An error of a payload, or one while it ran.
#[derive(Debug, thiserror::Error)]
pub enum InterpretError {
    /// An operation without a meaning here.
    #[error("the interpreter does not know {op}; it knows {accepted}")]
    Operation {
        /// The operation, and its line where it is known.
        op: String,
        /// The accepted alternatives.
        accepted: &'static str,
    },
    /// A known operation in a form that is not accepted.
    #[error("{op}: {found}; accepted is {accepted}")]
    Form {
        /// The operation, and its line where it is known.
        op: String,
        /// The operation or type that is refused.
        found: String,
        /// The accepted alternatives.
        accepted: &'static str,
    },
    /// A type that memory of the interpreter cannot hold.
    #[error(
        "{op}: the type {ty} is not accepted; accepted are i1, i8, i16, i32, i64, index, f16, \
         bf16, f32, f64 and tensors of them with a static shape"
    )]
    Type {
        /// The operation, and its line where it is known.
        op: String,
        /// The type.
        ty: String,
    },
    /// The program was refused or stopped.
    #[error("{name}: {error}")]
    Run {
        /// The payload that ran.
        name: String,
        /// Why it stopped.
        #[source]
        error: VmError,
    },
    /// A tensor given from outside has the wrong size.
    #[error("{what} has {found} bytes; its type {ty} takes {expected}")]
    Bytes {
        /// The tensor.
        what: String,
        /// Its type.
        ty: String,
        /// The size of that type.
        expected: u64,
        /// The value that was given.
        found: u64,
    },
    /// The wrong number of tensors was given.
    #[error("{name} takes {expected} inputs and was given {found}")]
    Inputs {
        /// The payload that was to run.
        name: String,
        /// The number of inputs that it takes.
        expected: usize,
        /// The number of inputs that were given.
        found: usize,
    },
    /// A weight could not be had.
    #[error("weight {tensor:?} in {file:?}: {source}")]
    Weight {
        /// The file's id.
        file: String,
        /// The name in the file.
        tensor: String,
        /// The error of the provider.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A kernel is applied that is not there.
    #[error("{op}: there is no kernel @{kernel} in the module")]
    Kernel {
        /// The operation, and its line where it is known.
        op: String,
        /// The name.
        kernel: String,
    },
}

impl InterpretError {
    pub(crate) fn operation(op: Op<'_>, accepted: &'static str) -> Self {
        Self::Operation { op: place(op), accepted }
    }

    pub(crate) fn form(op: Op<'_>, found: impl Into<String>, accepted: &'static str) -> Self {
        Self::Form { op: place(op), found: found.into(), accepted }
    }

    pub(crate) fn ty(op: Op<'_>, ty: Type<'_>) -> Self {
        Self::Type { op: place(op), ty: ty.to_string() }
    }
}

/// The name of an operation, with its line and column where it was written in a file.
pub(crate) fn place(op: Op<'_>) -> String {
    match diag::line_column(op.location()) {
        Some((line, column)) => format!("{} at {line}:{column}", op.name()),
        None => op.name().to_owned(),
    }
}
