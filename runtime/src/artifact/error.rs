//! Why a file is not an artifact, or could not become one.

use std::io;
use std::path::PathBuf;

use crate::plan::PlanError;

/// Why reading or writing an artifact failed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ArtifactError {
    #[error("cannot {what} {}", path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },
    #[error("cannot write the artifact")]
    Write(#[source] io::Error),
    #[error("cannot make the constants")]
    Constants(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the plan announces {announced} bytes of constants, and {written} were written")]
    ConstantBytes { announced: u64, written: u64 },
    #[error("byte {wanted} of the constants is already past; {position} bytes are written")]
    ConstantOrder { wanted: u64, position: u64 },
    #[error("not a weft artifact: the file does not begin with its mark")]
    Magic,
    #[error("the artifact has format version {found}; this runtime reads version {supported}")]
    Version { found: u32, supported: u32 },
    #[error(
        "the artifact is {found} bytes long and should be {expected}: it is cut off or was appended to"
    )]
    Length { expected: u64, found: u64 },
    #[error("the artifact's {section} section does not lie within the file as it should")]
    Section { section: &'static str },
    #[error("the artifact's {section} is damaged: its checksum differs")]
    Checksum { section: &'static str },
    #[error("the artifact's plan cannot be decoded: {0}")]
    Decode(String),
    #[error("the artifact's plan is wrong")]
    Plan(#[from] PlanError),
    #[error("no memory for the artifact")]
    Memory(#[source] io::Error),
}
