//! Pages of documentation that programs write.

use std::fs;
use std::path::PathBuf;

use crate::Result;
use crate::workspace::Workspace;

/// One page: where it belongs and what it must say.
pub struct Page {
    /// The file.
    pub path: PathBuf,
    /// All of it.
    pub text: String,
}

/// Writes pages anew.
pub fn write(pages: &[Page]) -> Result {
    let failed = |page: &Page, error| format!("cannot write {}: {error}", page.path.display());
    for page in pages {
        if let Some(folder) = page.path.parent() {
            fs::create_dir_all(folder).map_err(|error| failed(page, error))?;
        }
        fs::write(&page.path, &page.text).map_err(|error| failed(page, error))?;
    }
    Ok(())
}

/// Holds pages against what `from` says now.
pub fn compare(workspace: &Workspace, pages: &[Page], from: &str) -> Result {
    let mut stale = Vec::new();
    for page in pages {
        let kept = fs::read_to_string(&page.path).unwrap_or_default();
        if let Some(line) = first_difference(&kept, &page.text) {
            let path = page.path.strip_prefix(&workspace.root).unwrap_or(&page.path);
            stale.push(format!("  {}:{line}", path.display()));
        }
    }
    if stale.is_empty() {
        return Ok(());
    }
    Err(format!(
        "pages differ from {from}, first at\n{}\n`cargo xtask bless` writes them anew",
        stale.join("\n")
    ))
}

/// The number of the first line that is not the same in both.
fn first_difference(kept: &str, wanted: &str) -> Option<usize> {
    let (mut kept, mut wanted) = (kept.split('\n'), wanted.split('\n'));
    (1..).find_map(|line| match (kept.next(), wanted.next()) {
        (None, None) => Some(None),
        (left, right) if left == right => None,
        _ => Some(Some(line)),
    })?
}

#[cfg(test)]
mod tests {
    use super::first_difference;

    #[test]
    fn equal_texts_do_not_differ() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
    }

    #[test]
    fn names_the_first_line_that_differs() {
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
    }

    #[test]
    fn a_missing_end_differs() {
        assert_eq!(first_difference("a\n", "a\nb\n"), Some(2));
        assert_eq!(first_difference("", "a\n"), Some(1));
    }
}
