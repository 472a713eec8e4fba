//! The one form in which passes say what they chose and what they refused.
//!
//! ```text
//! @mm: @fma, lanes on axis 1 x2 with 96 cycles predicted; second @valu, one point at a time with 512
//! @relu stays apart from @mm: something else reads it, too [readers: 2 runs read it]
//! ```

use std::borrow::Cow;
use std::fmt;

/// Why something was not done: in words, and in brackets the rule's name and what it met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    rule: &'static str,
    why: Cow<'static, str>,
    values: Option<String>,
}

impl Refused {
    /// The rule's name, and the rule in words.
    pub fn by(rule: &'static str, why: impl Into<Cow<'static, str>>) -> Self {
        Self { rule, why: why.into(), values: None }
    }

    /// The rule's name.
    pub fn rule(&self) -> &'static str {
        self.rule
    }

    /// The two values that disagree.
    pub fn met(self, values: impl Into<String>) -> Self {
        Self { values: Some(values.into()), ..self }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}", self.why, self.rule)?;
        if let Some(values) = &self.values {
            write!(f, ": {values}")?;
        }
        write!(f, "]")
    }
}

impl std::error::Error for Refused {}

/// Formats a choice and the runner-up, each with its predicted cycles.
///
/// ```
/// # use weft_passes::remarks::chosen;
/// assert_eq!(chosen("4 parts", 50.4, None), "4 parts with 50 cycles predicted");
/// let second = ("2 parts", 80.0);
/// assert_eq!(chosen("4 parts", 50.4, Some(second)), "4 parts with 50 cycles predicted; second 2 parts with 80");
/// ```
pub fn chosen(what: &str, cycles: f64, second: Option<(&str, f64)>) -> String {
    let second = second.map(|(what, cycles)| format!("; second {what} with {cycles:.0}"));
    format!("{what} with {cycles:.0} cycles predicted{}", second.unwrap_or_default())
}
