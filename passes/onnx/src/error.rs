//! Errors of a model, and their messages.

use std::fmt;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The result of anything that reads a model.
pub type Result<T, E = ImportError> = std::result::Result<T, E>;

/// Why a model was not imported.
#[derive(Debug, Error)]
pub enum ImportError {
    /// The operating system refused a file.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// The action that failed, as a verb: "open", "map".
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The bytes are not an ONNX model, or a tensor's data contradicts its type.
    #[error("{0}")]
    Malformed(Report),
    /// The model reads well but means nothing: a cycle, a missing input, shapes that disagree.
    #[error("{0}")]
    Invalid(Report),
    /// The model may be right; this importer cannot take it.
    #[error("{0}")]
    Unsupported(Report),
}

impl ImportError {
    /// A failure of the operating system while `doing` something to `path`.
    pub fn io(doing: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::Io { doing, path: path.to_owned(), source }
    }

    /// True when the model may be right and only lies outside of what is imported.
    pub fn is_unsupported(&self) -> bool {
        matches!(self, Self::Unsupported(_))
    }

    /// The message, notes and help apart, for a tool that draws them.
    pub fn report(&self) -> Option<&Report> {
        match self {
            Self::Io { .. } => None,
            Self::Malformed(report) | Self::Invalid(report) | Self::Unsupported(report) => {
                Some(report)
            }
        }
    }
}

/// One error: what disagreed, the facts behind it, what would be accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// One sentence, without a full stop.
    pub message: String,
    /// Further facts, in order.
    pub notes: Vec<String>,
    /// The values that would be accepted.
    pub help: Option<String>,
}

impl Report {
    /// A report that says `message`.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), notes: Vec::new(), help: None }
    }

    /// Adds a fact.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Says what would be accepted.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// As [`ImportError::Malformed`].
    pub fn malformed(self) -> ImportError {
        ImportError::Malformed(self)
    }

    /// As [`ImportError::Invalid`].
    pub fn invalid(self) -> ImportError {
        ImportError::Invalid(self)
    }

    /// As [`ImportError::Unsupported`].
    pub fn unsupported(self) -> ImportError {
        ImportError::Unsupported(self)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for note in &self.notes {
            write!(f, "\n  note: {note}")?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}
