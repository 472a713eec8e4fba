//! Why a model cannot be loaded or run.

use std::io;

use crate::artifact::ArtifactError;
use crate::plan::BindError;

/// Why loading or running on the processor failed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum CpuError {
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    #[error("the model needs processor features that this machine lacks: {}", missing.join(", "))]
    Features { missing: Vec<String> },
    #[error("the model needs the processor feature `{name}`, which this runtime does not know")]
    UnknownFeature { name: String },
    #[error(
        "{threads} threads were asked for; the model has {units} execution units, so 1 to {units} are accepted"
    )]
    Threads { threads: usize, units: u32 },
    #[error("cannot {what}")]
    System { what: &'static str, source: io::Error },
    #[error("cannot start worker {worker} of {workers}; fewer threads may do")]
    Worker { worker: usize, workers: usize, source: io::Error },
    #[error("worker {worker} failed in kernel `{kernel}` of operator `{op}`: {reason}")]
    Kernel { worker: usize, op: String, kernel: String, reason: String },
    #[error("the run was cancelled; what its outputs hold is not to be used")]
    Cancelled,
    #[error("the handle cancels runs of another model; take one from the model that is run")]
    OtherModel,
    #[error("the artifact's code cannot be loaded: {0}")]
    Code(String),
    #[error("the artifact's code has no function `{symbol}`")]
    Symbol { symbol: String },
    #[error("the model has {expected} {kind}s and was given {found}")]
    Count { kind: &'static str, expected: usize, found: usize },
    #[error("callers decide lengths of the model, and none were said: {}", symbols.join(", "))]
    Lengths { symbols: Vec<String> },
    #[error(transparent)]
    Bind(#[from] BindError),
    #[error("{kind} `{name}` has {expected} bytes and was given {found}")]
    Size { kind: &'static str, name: String, expected: u64, found: u64 },
    #[error(
        "output `{name}` lies in the memory of an input, which begins at no multiple of {align} bytes"
    )]
    Misaligned { name: String, align: usize },
}
