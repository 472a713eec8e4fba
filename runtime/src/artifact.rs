//! The `.weft` file: a plan, the code it calls, and packed constants.
//!
//! `docs/artifact.md` describes the layout. [`write()`] makes a file, [`Artifact`] reads one.

mod error;
mod format;
mod read;
mod write;

pub use error::ArtifactError;
pub use format::{MAGIC, PAGE_BYTES, VERSION};
pub use read::Artifact;
pub use write::{BoxError, Constants, write, write_to};
