//! The record: the cases that are known not to pass, and why.
//!
//! ```json
//! { "node/test_strnormalizer": { "verdict": "unsupported", "reason": "..." } }
//! ```
//!
//! A case is named by its folder and itself. What the record does not name must pass, and what it
//! names must not: so it only shrinks.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Row, Verdict};
use crate::Failure;

/// Cases that do not pass, by name.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Record(BTreeMap<String, Entry>);

#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    verdict: Verdict,
    reason: String,
}

impl Record {
    /// The record of what did not pass.
    pub(super) fn of(rows: &[Row]) -> Self {
        let rows = rows.iter().filter(|row| row.verdict != Verdict::Passed);
        // What follows the first line are notes, which name the machine's instructions and more.
        let entry = |row: &Row| Entry {
            verdict: row.verdict,
            reason: row.reason.lines().next().unwrap_or_default().to_owned(),
        };
        Self(rows.map(|row| (name(row), entry(row))).collect())
    }

    /// Reads a record.
    ///
    /// # Errors
    /// A file that cannot be read or is none.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let text = std::fs::read_to_string(path).map_err(|source| Failure::File {
            doing: "read",
            path: path.to_owned(),
            source,
        })?;
        serde_json::from_str(&text).map_err(|error| {
            Failure::said(
                format!("{} is no record of cases: {error}", path.display()),
                "an object of cases, each with a verdict and a reason; --record writes one",
            )
        })
    }

    /// Writes the record.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(super) fn write(&self, path: &Path) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(self).expect("a record is plain data");
        std::fs::write(path, text + "\n").map_err(|source| Failure::File {
            doing: "write",
            path: path.to_owned(),
            source,
        })
    }

    /// What differs from the record, a line for each case.
    pub(super) fn differences(&self, rows: &[Row]) -> Vec<String> {
        let differs = |row: &Row| {
            let (name, verdict) = (name(row), row.verdict);
            match (self.0.get(&name).map(|entry| entry.verdict), verdict) {
                (None, Verdict::Passed) => None,
                (Some(expected), verdict) if expected == verdict => None,
                (Some(_), Verdict::Passed) => Some(format!("{name} passes, and is in the record")),
                (_, _) => {
                    let reason = row.reason.lines().next().unwrap_or_default();
                    Some(format!("{name} {verdict}: {reason}"))
                }
            }
        };
        rows.iter().filter_map(differs).collect()
    }
}

/// A case with its folder.
fn name(row: &Row) -> String {
    format!("{}/{}", row.suite, row.case)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(case: &str, verdict: Verdict) -> Row {
        let [suite, case] = ["node", case].map(str::to_owned);
        Row { suite, case, verdict, reason: "a reason\n  note: more".to_owned() }
    }

    #[test]
    fn says_what_became_better_and_what_worse() {
        let before = [row("a", Verdict::Unsupported), row("b", Verdict::Unsupported)];
        let record = Record::of(&before);
        assert!(record.differences(&before).is_empty());
        let after = [
            row("a", Verdict::Passed),
            row("b", Verdict::Failed),
            row("c", Verdict::Unsupported),
            row("d", Verdict::Passed),
        ];
        assert_eq!(
            record.differences(&after),
            [
                "node/a passes, and is in the record",
                "node/b failed: a reason",
                "node/c unsupported: a reason",
            ]
        );
    }
}
