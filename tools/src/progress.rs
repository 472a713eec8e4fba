//! Progress messages on a terminal; none in a pipe.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A line on standard error that says what is being done, and for how long already.
///
/// A message that disappears when it is done or dropped.
#[derive(Default)]
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Shows messages only where `wanted`, and on a terminal.
    pub fn new(wanted: bool) -> Self {
        if !wanted || !std::io::stderr().is_terminal() {
            return Self::default();
        }
        let bar = ProgressBar::new_spinner();
        let style = ProgressStyle::with_template("{spinner} {msg} {elapsed:.dim}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar.enable_steady_tick(Duration::from_millis(100));
        Self { bar: Some(bar) }
    }

    /// Says what comes next.
    pub fn say(&self, what: impl Into<String>) {
        if let Some(bar) = &self.bar {
            bar.set_message(what.into());
        }
    }

    /// Prints lines on standard error, out of the way of the progress.
    pub fn print(&self, lines: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{lines}")),
            None => eprintln!("{lines}"),
        }
    }

    /// Takes the line away.
    pub fn done(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.done();
    }
}
