//! The pages of `docs/devices/`, which `weft devices --page` writes of each machine.

use std::fs;
use std::process::Command;

use crate::Result;
use crate::pages::{self, Page};
use crate::process::capture;
use crate::workspace::Workspace;

/// Writes every page anew; `weft` has to be built.
pub fn write(workspace: &Workspace) -> Result {
    pages::write(&pages(workspace)?)
}

/// Holds every page against its machine.
pub fn compare(workspace: &Workspace) -> Result {
    pages::compare(workspace, &pages(workspace)?, "devices")
}

fn pages(workspace: &Workspace) -> Result<Vec<Page>> {
    let folder = workspace.root.join("devices");
    let failed = |error| format!("cannot read {}: {error}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "mlir")
            && let Some(name) = path.file_stem().and_then(|name| name.to_str())
        {
            names.push(name.to_owned());
        }
    }
    names.sort();
    names.iter().map(|name| page(workspace, name)).collect()
}

fn page(workspace: &Workspace, name: &str) -> Result<Page> {
    let mut write = Command::new(workspace.release().join("weft"));
    write.current_dir(&workspace.root);
    write.args(["devices", &format!("devices/{name}.mlir"), "--page"]);
    Ok(Page {
        path: workspace.root.join("docs/devices").join(format!("{name}.md")),
        text: capture(&mut write)?,
    })
}
