//! Why a model cannot be loaded or run on a GPU.

use crate::artifact::ArtifactError;

/// Why loading or running on a GPU failed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum GpuError {
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    #[error("there is no {driver} driver on this machine (its library is {library})")]
    NoDriver { driver: &'static str, library: &'static str },
    #[error("the {driver} driver's library {library} cannot be opened: {reason}")]
    Library { driver: &'static str, library: &'static str, reason: String },
    #[error("the {driver} driver at hand has no `{symbol}`: {reason}")]
    Symbol { driver: &'static str, symbol: &'static str, reason: String },
    #[error("cannot {doing}: the {driver} driver says {code}")]
    Driver { driver: &'static str, doing: String, code: String },
    #[error("the driver does not take the artifact's code: {code}\n{log}")]
    Rejected { code: String, log: String },
    #[error("the artifact's code is not {expected}; it was compiled for `{device}`")]
    Code { expected: &'static str, device: String },
    #[error("the artifact's code does not say how `{symbol}` is launched")]
    Launch { symbol: String },
    #[error("the artifact's code says of a tensor `{line}`, which is none that a kernel takes")]
    Box { line: String },
    #[error("the model has {expected} {kind}s and was given {found}")]
    Count { kind: &'static str, expected: usize, found: usize },
    #[error("{kind} `{name}` has {expected} bytes and was given {found}")]
    Size { kind: &'static str, name: String, expected: u64, found: u64 },
}
