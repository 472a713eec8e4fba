//! Errors that name the place and the facts that disagree.

use melior::ir::Location;
use mlir_sys::{MlirLocation, MlirStringRef};

use super::handle::Op;
use super::shim;
use super::text::string_ref;

/// Collects what is wrong with an operation; each error is reported when dropped.
#[derive(Default)]
pub struct Diagnostics {
    errors: usize,
}

impl Diagnostics {
    /// Starts without errors.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns whether nothing was found.
    pub fn is_ok(&self) -> bool {
        self.errors == 0
    }

    /// Begins an error at `op`.
    pub fn error<'c>(&mut self, op: Op<'c>, message: impl Into<String>) -> Report<'c> {
        self.errors += 1;
        Report::new(op.location(), message)
    }
}

/// One error with its notes; it goes out when it is dropped.
pub struct Report<'c> {
    location: Location<'c>,
    message: String,
    notes: Vec<(Location<'c>, String)>,
}

impl<'c> Report<'c> {
    /// An error at a place.
    pub fn new(location: Location<'c>, message: impl Into<String>) -> Self {
        Self { location, message: message.into(), notes: Vec::new() }
    }

    /// Points at the other fact.
    pub fn note(mut self, op: Op<'c>, text: impl Into<String>) -> Self {
        self.notes.push((op.location(), text.into()));
        self
    }

    /// Says what would be accepted.
    pub fn help(mut self, text: impl std::fmt::Display) -> Self {
        self.notes.push((self.location, format!("help: {text}")));
        self
    }
}

impl Drop for Report<'_> {
    fn drop(&mut self) {
        let places: Vec<MlirLocation> =
            self.notes.iter().map(|(place, _)| place.to_raw()).collect();
        let notes: Vec<MlirStringRef> =
            self.notes.iter().map(|(_, text)| string_ref(text)).collect();
        // SAFETY: the arrays have the length given and outlive the call.
        unsafe {
            shim::weftEmitError(
                self.location.to_raw(),
                string_ref(&self.message),
                places.as_ptr(),
                notes.as_ptr(),
                notes.len(),
            );
        }
    }
}

/// Reports a choice or a refusal where it was made.
pub fn remark(op: Op<'_>, message: &str) {
    // SAFETY: the text outlives the call.
    unsafe { shim::weftEmitRemark(op.location().to_raw(), string_ref(message)) }
}

/// Line and column of a place in a file, counted from one; `None` elsewhere.
pub fn line_column(location: Location<'_>) -> Option<(usize, usize)> {
    // SAFETY: any location may be asked.
    let (line, column) = unsafe {
        (shim::weftLocationLine(location.to_raw()), shim::weftLocationColumn(location.to_raw()))
    };
    (line > 0).then_some((line as usize, column as usize))
}

/// Line and column of another place, and what is said of it.
pub type Note = (Option<(usize, usize)>, String);

/// Gives every diagnostic of a context to `tell`, instead of printing it: whether
/// it is an error, its place, its message, its notes. Warnings count as remarks.
pub fn listen(
    context: &melior::Context,
    mut tell: impl FnMut(bool, Option<(usize, usize)>, String, Vec<Note>),
) {
    context.attach_diagnostic_handler(move |diagnostic| {
        let is_error =
            matches!(diagnostic.severity(), melior::diagnostic::DiagnosticSeverity::Error);
        let notes = (0..diagnostic.note_count())
            .filter_map(|index| diagnostic.note(index).ok())
            .map(|note| (line_column(note.location()), note.to_string()))
            .collect();
        tell(is_error, line_column(diagnostic.location()), diagnostic.to_string(), notes);
        true
    });
}
