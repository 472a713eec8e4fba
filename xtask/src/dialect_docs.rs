//! The pages of `docs/dialects/`, generated from the dialects' definitions.

use std::process::Command;

use crate::Result;
use crate::pages::{self, Page};
use crate::process::capture;
use crate::workspace::Workspace;

/// The definition's file and the dialect's name.
const DIALECTS: [(&str, &str); 4] =
    [("Graph", "graph"), ("Tile", "tile"), ("Task", "task"), ("Device", "device")];

/// Writes every page anew.
pub fn write(workspace: &Workspace) -> Result {
    pages::write(&pages(workspace)?)
}

/// Holds every page against its definition.
pub fn compare(workspace: &Workspace) -> Result {
    pages::compare(workspace, &pages(workspace)?, "dialects/include")
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
