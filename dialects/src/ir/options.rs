//! Values of passes' options: read once where a pass begins, and refused with what is accepted.

use std::str::FromStr;

use super::diag::Report;
use super::pass::{Failed, Run};

impl Run<'_> {
    /// Returns the value that an option's word stands for.
    ///
    /// # Errors
    /// Reported: a word that is not among `words`.
    pub fn word<T: Copy>(&self, option: &str, words: &[(&str, T)]) -> Result<T, Failed> {
        let names: Vec<_> = words.iter().map(|(word, _)| format!("'{word}'")).collect();
        let expected = match names.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, before)) => format!("{} or {last}", before.join(", ")),
            None => String::new(),
        };
        let meaning = |text: &str| words.iter().find(|(word, _)| *word == text).map(|own| own.1);
        self.value(option, &expected, meaning)
    }

    /// Returns whether an option is `true`.
    ///
    /// # Errors
    /// Reported: neither `true` nor `false`.
    pub fn flag(&self, option: &str) -> Result<bool, Failed> {
        self.word(option, &[("true", true), ("false", false)])
    }

    /// The number of an option.
    ///
    /// # Errors
    /// Reported: what is no number of the type.
    pub fn number<T: FromStr>(&self, option: &str) -> Result<T, Failed> {
        self.value(option, "a number", |text| text.parse().ok())
    }

    /// The number of an option; `None` where it is empty.
    ///
    /// # Errors
    /// Reported: what is no number of the type.
    pub fn given_number<T: FromStr>(&self, option: &str) -> Result<Option<T>, Failed> {
        if self.option(option).is_empty() { Ok(None) } else { self.number(option).map(Some) }
    }

    /// The value of an option, of which `meaning` is `None` where it is not what is `expected`.
    ///
    /// # Errors
    /// Reported: a value without a meaning.
    pub fn value<T>(
        &self,
        option: &str,
        expected: &str,
        meaning: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, Failed> {
        let text = self.option(option);
        meaning(text).ok_or_else(|| {
            let unknown = format!("unknown value '{text}' for option '{option}'");
            let what = format!("{}: {unknown}; expected {expected}", self.pass());
            Report::new(self.module.location(), what);
            Failed
        })
    }
}
