//! The pages of `docs/dialects/`, generated from the dialects' definitions.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::Result;
use crate::process::capture;
use crate::workspace::Workspace;

/// The definition's file and the dialect's name.
const DIALECTS: [(&str, &str); 4] =
    [("Graph", "graph"), ("Tile", "tile"), ("Task", "task"), ("Device", "device")];

/// One page: where it belongs and what it must say.
struct Page {
    path: PathBuf,
    text: String,
}

/// Writes every page anew.
pub fn write(workspace: &Workspace) -> Result {
    let failed = |page: &Page, error| format!("cannot write {}: {error}", page.path.display());
    for page in pages(workspace)? {
        if let Some(folder) = page.path.parent() {
            fs::create_dir_all(folder).map_err(|error| failed(&page, error))?;
        }
        fs::write(&page.path, &page.text).map_err(|error| failed(&page, error))?;
    }
    Ok(())
}

/// Holds every page against its definition.
pub fn compare(workspace: &Workspace) -> Result {
    let mut stale = Vec::new();
    for page in pages(workspace)? {
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
        "pages differ from dialects/include, first at\n{}\n`cargo xtask bless` writes them anew",
        stale.join("\n")
    ))
}

fn pages(workspace: &Workspace) -> Result<Vec<Page>> {
    DIALECTS.iter().map(|(file, dialect)| page(workspace, file, dialect)).collect()
}

fn page(workspace: &Workspace, file: &str, dialect: &str) -> Result<Page> {
    let mut generate = Command::new(workspace.llvm_tool("mlir-tblgen"));
    generate
        .current_dir(&workspace.root)
        .arg("-gen-dialect-doc")
        .arg(format!("-dialect={dialect}"))
        .args(["-I", "dialects/include"])
        .arg("-I")
        .arg(workspace.llvm.join("include"))
        .arg(format!("dialects/include/{file}.td"));
    Ok(Page {
        path: workspace.root.join("docs/dialects").join(format!("{dialect}.md")),
        text: capture(&mut generate)?,
    })
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
