//! No file of Rust is longer than can be read in one sitting.

use std::fs;

use crate::Result;
use crate::workspace::{Workspace, files};

/// The most lines of a file, tests included.
const LINES_MAX: usize = 500;

/// Names every file of the repository that is longer, with its lines.
pub fn check(workspace: &Workspace) -> Result {
    let mut found = Vec::new();
    for path in files(&workspace.root)? {
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let text = fs::read_to_string(&path)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let name = path.strip_prefix(&workspace.root).unwrap_or(&path).display();
        if let Some(lines) = too_long(&text) {
            found.push(format!("  {name}: {lines} lines"));
        }
    }
    if found.is_empty() {
        return Ok(());
    }
    Err(format!(
        "a file holds one idea and at most {LINES_MAX} lines; split by idea:\n{}",
        found.join("\n")
    ))
}

/// The lines of a text that has too many.
fn too_long(text: &str) -> Option<usize> {
    Some(text.lines().count()).filter(|&lines| lines > LINES_MAX)
}

#[cfg(test)]
mod tests {
    use super::{LINES_MAX, too_long};

    #[test]
    fn counts_lines() {
        assert_eq!(too_long(&"line\n".repeat(LINES_MAX)), None);
        assert_eq!(too_long(&"line\n".repeat(LINES_MAX + 1)), Some(LINES_MAX + 1));
    }
}
