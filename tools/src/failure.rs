//! Failures of a command, and their messages.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use weft_dialects::ir::{Context, diag};

use crate::reports::Report;
use crate::sources::Sources;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The system refused something with a file.
    #[error("cannot {doing} {}: {source}", path.display())]
    File {
        /// A verb: `read`, `write`.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// Diagnostics of MLIR or weft's passes, in their order.
    #[error("{}", said(&.0.diagnostics))]
    Reported(Reported),
    /// Something else with places in texts, notes or several helps.
    #[error("{}", .0.report.message)]
    Report(Box<Placed>),
    /// The importer refused the model.
    #[error(transparent)]
    Import(#[from] weft_onnx::ImportError),
    /// The code generator refused a kernel.
    #[error(transparent)]
    Codegen(#[from] weft_passes::codegen::CodegenError),
    /// The objects did not become a library.
    #[error(transparent)]
    Link(#[from] weft_passes::codegen::LinkError),
    /// The task program has no plan.
    #[error(transparent)]
    Planning(#[from] weft_passes::task::PlanningError),
    /// A constant could not be evaluated.
    #[error(transparent)]
    Interpret(#[from] weft_passes::interpret::InterpretError),
    /// The artifact could not be written or read.
    #[error(transparent)]
    Artifact(#[from] weft_runtime::ArtifactError),
    /// The environment says nothing that the cache can follow.
    #[error(transparent)]
    Cache(#[from] crate::cache::SettingsError),
    /// The artifact did not run.
    #[error(transparent)]
    Model(#[from] weft_runtime::ModelError),
    /// The kernels have no simulated form.
    #[error(transparent)]
    Translate(Box<weft_passes::simulate::TranslateError>),
    /// The simulated program is wrong.
    #[error(transparent)]
    Simulate(Box<weft_runtime::simulate::SimulateError>),
    /// Inputs, outputs or a comparison failed.
    #[error(transparent)]
    Job(Box<weft_runtime::session::JobError>),
    /// Anything else: what disagrees, and what would be accepted.
    #[error("{message}\n  help: {help}")]
    Said {
        /// The facts that disagree.
        message: String,
        /// The values that would be accepted.
        help: String,
    },
}

impl From<weft_passes::simulate::TranslateError> for Failure {
    fn from(error: weft_passes::simulate::TranslateError) -> Self {
        Self::Translate(Box::new(error))
    }
}

impl From<weft_runtime::simulate::SimulateError> for Failure {
    fn from(error: weft_runtime::simulate::SimulateError) -> Self {
        Self::Simulate(Box::new(error))
    }
}

impl From<weft_runtime::session::JobError> for Failure {
    fn from(error: weft_runtime::session::JobError) -> Self {
        Self::Job(Box::new(error))
    }
}

impl Failure {
    /// Returns a failure with the facts that disagree and what would be accepted.
    pub fn said(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Said { message: message.into(), help: help.into() }
    }

    /// A report on texts.
    pub fn placed(report: Report, sources: Sources) -> Self {
        Self::Report(Box::new(Placed { report, sources }))
    }

    /// A panic, which is our mistake; `said` is what it said.
    pub fn mistake(said: &str) -> Self {
        Self::said(
            format!("internal error of weft: {said}"),
            "please report it, with the command and the model",
        )
    }

    /// Returns whether the input may be right and weft only cannot take it.
    pub fn is_unsupported(&self) -> bool {
        match self {
            Self::Import(error) => error.is_unsupported(),
            Self::Reported(_) | Self::Codegen(_) => true,
            _ => false,
        }
    }
}

/// Diagnostics, and the texts that they point into.
#[derive(Clone, Debug)]
pub struct Reported {
    /// In the order in which they came.
    pub diagnostics: Vec<Diagnostic>,
    /// The sources that were parsed.
    pub sources: Sources,
}

/// A report, and the texts that it points into.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The error.
    pub report: Report,
    /// The sources that were read.
    pub sources: Sources,
}

fn said(diagnostics: &[Diagnostic]) -> String {
    let lines = diagnostics.iter().filter(|diagnostic| diagnostic.is_error).map(|diagnostic| {
        let notes = diagnostic.notes.iter().map(|(_, note)| format!("\n  {note}"));
        format!("{}{}", diagnostic.message, notes.collect::<String>())
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A diagnostic of MLIR or of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error, or remark.
    pub is_error: bool,
    /// Line and column, from one, in the text that was read.
    pub place: Option<(usize, usize)>,
    /// The facts that disagree.
    pub message: String,
    /// Other places, and what would be accepted.
    pub notes: Vec<(Option<(usize, usize)>, String)>,
}

/// Collects a context's diagnostics instead of printing them.
#[derive(Clone, Default)]
pub struct Collector {
    found: Rc<RefCell<Vec<Diagnostic>>>,
    sources: Rc<RefCell<Sources>>,
}

impl Collector {
    /// Listens to a context for as long as that lives.
    pub fn listen(context: &Context) -> Self {
        let collector = Self::default();
        let found = collector.found.clone();
        diag::listen(context, move |is_error, place, message, notes| {
            found.borrow_mut().push(Diagnostic { is_error, place, message, notes });
        });
        collector
    }

    /// Remembers a text that diagnostics will point into; gives it as it has to be parsed.
    pub fn source(&self, name: &str, text: &str) -> String {
        self.sources.borrow_mut().add(name, text)
    }

    /// The texts that diagnostics point into.
    pub fn sources(&self) -> Sources {
        self.sources.borrow().clone()
    }

    /// Returns the diagnostics since the last call.
    pub fn take(&self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.found.borrow_mut())
    }

    /// Returns the collected diagnostics as a failure.
    pub fn failure(&self) -> Failure {
        Failure::Reported(Reported { diagnostics: self.take(), sources: self.sources() })
    }
}
