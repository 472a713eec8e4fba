//! Error reports for people, with the text that they are about, if there is one.

mod lexer;
mod panics;

pub use lexer::{Token, extent};
pub use panics::{caught, quiet_panics};

use std::error::Error;
use std::ops::Range;

use ariadne::{Config, IndexType, Label as Drawn, Report as Drawing, ReportKind};

use crate::Failure;
use crate::failure::Diagnostic;
use crate::sources::{Source, Sources, line_around};

/// The most errors that are shown.
const ERRORS_MAX: usize = 8;

/// A longer line, such as one with a large literal, is not shown.
const LINE_MAX: usize = 300;

/// An error: a message and labels on text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The message: the facts that disagree, in one sentence.
    pub message: String,
    /// Places in texts; the first is where the error is.
    pub labels: Vec<Label>,
    /// Further facts.
    pub notes: Vec<String>,
    /// The values that would be accepted.
    pub helps: Vec<String>,
}

/// A place in a text, and what is said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The number of the text.
    pub source: usize,
    /// Its bytes.
    pub span: Range<usize>,
    /// The text of the label; may be empty.
    pub text: String,
}

impl Report {
    /// A report without a place.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    /// A report at a place.
    pub fn at(source: usize, span: Range<usize>, message: impl Into<String>) -> Self {
        Self::new(message).label(source, span, "")
    }

    /// Points at one more place.
    pub fn label(mut self, source: usize, span: Range<usize>, text: impl Into<String>) -> Self {
        self.labels.push(Label { source, span, text: text.into() });
        self
    }

    /// Adds a fact.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Says what would be accepted.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.helps.push(help.into());
        self
    }

    /// A report from text whose later lines may begin with `note:` and `help:`.
    fn of_text(text: &str) -> Self {
        let mut report = Self::default();
        for line in text.lines() {
            let trimmed = line.trim();
            if let Some(help) = trimmed.strip_prefix("help: ") {
                report.helps.push(help.to_owned());
            } else if let Some(note) = trimmed.strip_prefix("note: ") {
                report.notes.push(note.to_owned());
            } else if report.message.is_empty() {
                report.message = line.to_owned();
            } else {
                report.notes.push(trimmed.to_owned());
            }
        }
        report
    }

    /// A diagnostic on the texts it points into.
    fn of_diagnostic(diagnostic: &Diagnostic, sources: &Sources) -> Self {
        let find = |place: Option<(usize, usize)>| {
            let (source, at) = place.and_then(|(line, column)| sources.find(line, column))?;
            Some((source, extent(&sources.get(source).text, at)))
        };
        let mut report = Self::of_text(&diagnostic.message);
        let place = find(diagnostic.place);
        if let Some((source, span)) = place.clone() {
            report = report.label(source, span, "");
        }
        for (at, text) in &diagnostic.notes {
            if let Some(help) = text.strip_prefix("help: ") {
                report = report.help(help);
                continue;
            }
            // MLIR repeats the operation, in its longest form; the place shows it better.
            if text.starts_with("see current operation") {
                continue;
            }
            report = match find(*at) {
                Some((source, span))
                    if place.is_some() && place != Some((source, span.clone())) =>
                {
                    report.label(source, span, text.clone())
                }
                _ => report.note(text.clone()),
            };
        }
        report
    }
}

/// The reports of a failure.
fn reports(failure: &Failure) -> Vec<Report> {
    match failure {
        Failure::Reported(reported) => {
            let errors = reported.diagnostics.iter().filter(|diagnostic| diagnostic.is_error);
            let mut reports: Vec<Report> = Vec::new();
            for error in errors {
                let report = Report::of_diagnostic(error, &reported.sources);
                if !reports.contains(&report) {
                    reports.push(report);
                }
            }
            if reports.is_empty() {
                reports.push(Report::new("the compiler stopped without an error message"));
            }
            let more = reports.len().saturating_sub(ERRORS_MAX);
            reports.truncate(ERRORS_MAX);
            if let Some(last) = reports.last_mut().filter(|_| more > 0) {
                last.notes.push(format!("there are {more} more errors"));
            }
            reports
        }
        Failure::Report(report) => vec![report.report.clone()],
        Failure::Import(error) if error.report().is_some() => {
            let report = error.report().expect("it was just seen");
            let told = Report::new(&report.message);
            let told = report.notes.iter().fold(told, |told, note| told.note(note));
            vec![report.help.iter().fold(told, |told, help| told.help(help))]
        }
        other => {
            let text = other.to_string();
            let mut report = Report::of_text(&text);
            let mut cause = other.source();
            while let Some(error) = cause {
                let said = error.to_string();
                if !text.contains(&said) {
                    report.notes.push(said);
                }
                cause = error.source();
            }
            vec![report]
        }
    }
}

/// A failure as text for a terminal or a file: each error once, with the lines it is about.
pub fn draw(failure: &Failure, colour: bool) -> String {
    let none = Sources::default();
    let sources = match failure {
        Failure::Reported(reported) => &reported.sources,
        Failure::Report(placed) => &placed.sources,
        _ => &none,
    };
    reports(failure).iter().map(|report| draw_one(report, sources, colour)).collect()
}

fn draw_one(report: &Report, sources: &Sources, colour: bool) -> String {
    let shown = |label: &&Label| {
        let text = &sources.get(label.source).text;
        line_around(text, label.span.start).len() <= LINE_MAX
    };
    if report.labels.is_empty() || !report.labels.iter().all(|label| shown(&label)) {
        return plain(report, sources);
    }
    let spans: Vec<_> = report
        .labels
        .iter()
        .map(|label| {
            let Source { name, text } = sources.get(label.source);
            (name.clone(), characters(text, &label.span))
        })
        .collect();
    let config = Config::default().with_color(colour).with_index_type(IndexType::Char);
    let mut drawing = Drawing::build(ReportKind::Error, spans[0].clone())
        .with_config(config)
        .with_message(&report.message);
    for (number, (label, span)) in report.labels.iter().zip(&spans).enumerate() {
        // A label without text still needs some to be underlined.
        let words = if label.text.is_empty() { "here" } else { &label.text };
        // From the top, so that the places in one text are drawn as one piece of it.
        let drawn = Drawn::new(span.clone()).with_message(words).with_order(span.1.start as i32);
        drawing.add_label(match number {
            0 => drawn.with_color(ariadne::Color::Red),
            _ => drawn,
        });
    }
    drawing.with_notes(&report.notes);
    drawing.with_helps(&report.helps);
    let texts = sources.iter().map(|source| (source.name.clone(), source.text.as_str()));
    let mut out = Vec::new();
    match drawing.finish().write(ariadne::sources(texts), &mut out) {
        Ok(()) => String::from_utf8_lossy(&out).replacen("Error:", "error:", 1),
        Err(_) => plain(report, sources),
    }
}

/// A span of bytes as one of characters.
fn characters(text: &str, span: &Range<usize>) -> Range<usize> {
    let begin = text[..span.start].chars().count();
    begin..begin + text[span.clone()].chars().count()
}

/// Draws a warning, for a terminal or a file.
pub fn warning(report: &Report) -> String {
    plain(report, &Sources::default()).replacen("error:", "warning:", 1)
}

/// A report in words alone.
fn plain(report: &Report, sources: &Sources) -> String {
    let mut text = format!("error: {}\n", report.message);
    for label in &report.labels {
        let Source { name, text: source } = sources.get(label.source);
        let line = source[..label.span.start].matches('\n').count() + 1;
        let column = label.span.start - line_around(source, label.span.start).start + 1;
        let said = if label.text.is_empty() { "" } else { ": " };
        text += &format!("  at {name}:{line}:{column}{said}{}\n", label.text);
    }
    for note in &report.notes {
        text += &format!("  note: {note}\n");
    }
    for help in &report.helps {
        text += &format!("  help: {help}\n");
    }
    text
}

#[cfg(test)]
mod tests;
