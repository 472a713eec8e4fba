//! The extents of axes, as `--shape` gives them.

use super::syntax::{Result, Span};
use crate::reports::Report;

/// More bytes than a process can address.
pub(super) const BYTES_MAX: i64 = 1 << 47;

/// Which text a report points into.
pub(super) const SHAPE: usize = 1;

/// An extent that was given, and where.
pub(super) struct Given {
    pub name: String,
    pub extent: u64,
    pub span: Span,
}

/// Reads `m=128,n=256`.
pub(super) fn extents(text: &str) -> Result<Vec<Given>> {
    let mut all: Vec<Given> = Vec::new();
    let mut begin = 0;
    for part in text.split(',') {
        let span = begin..begin + part.len();
        begin = span.end + 1;
        if part.trim().is_empty() {
            continue;
        }
        let at = |message: String| Report::at(SHAPE, span.clone(), message);
        let Some((name, extent)) = part.split_once('=') else {
            let report = at(format!("`{}` is not an extent", part.trim()));
            return Err(Box::new(report.help("AXIS=NUMBER, with commas between")));
        };
        let (name, extent) = (name.trim().to_owned(), extent.trim());
        let number = match extent.parse::<u64>() {
            Ok(0) => {
                return Err(Box::new(
                    at(format!("the axis {name} has no points")).help("1 or more"),
                ));
            }
            Ok(number) if number <= BYTES_MAX as u64 => number,
            Ok(_) => {
                return Err(Box::new(
                    at(format!("the axis {name} has {extent} points"))
                        .help(format!("at most {BYTES_MAX}")),
                ));
            }
            Err(_) => {
                let report = at(format!("the extent of {name} is `{extent}`"));
                return Err(Box::new(report.help("a whole number from 1")));
            }
        };
        if let Some(first) = all.iter().find(|given| given.name == name) {
            let report = at(format!("the axis {name} is given twice"));
            return Err(Box::new(report.label(SHAPE, first.span.clone(), "first here")));
        }
        all.push(Given { name, extent: number, span });
    }
    Ok(all)
}
