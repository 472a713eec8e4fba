//! Why a model cannot be loaded or run on a CUDA device.

use crate::artifact::ArtifactError;

/// Why loading or running on a CUDA device failed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum CudaError {
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    #[error("there is no CUDA driver on this machine (its library is libcuda.so.1)")]
    NoDriver,
    #[error("cannot {doing}: the CUDA driver says {code}")]
    Driver { doing: String, code: String },
    #[error("the driver does not take the artifact's code: {code}\n{log}")]
    Rejected { code: String, log: String },
    #[error("the artifact's code is no PTX text; it was compiled for `{device}`")]
    Code { device: String },
    #[error("the artifact's code does not say how `{symbol}` is launched")]
    Launch { symbol: String },
    #[error("the model has {expected} {kind}s and was given {found}")]
    Count { kind: &'static str, expected: usize, found: usize },
    #[error("{kind} `{name}` has {expected} bytes and was given {found}")]
    Size { kind: &'static str, name: String, expected: u64, found: u64 },
}
