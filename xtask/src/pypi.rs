//! Packages from PyPI, in a Python environment of their own under Cargo's target folder.
//!
//! Only tests use them, and go on without: it takes a network.

use std::path::PathBuf;
use std::process::Command;

use crate::Result;
use crate::process::{capture, shown, stream};
use crate::workspace::Workspace;

/// Installs packages, without those that they depend on.
pub fn install(workspace: &Workspace, packages: &[&str]) -> Result {
    let tools = environment(workspace);
    if !tools.join("bin/pip").exists() {
        let mut make = Command::new("python3");
        make.args(["-m", "venv"]).arg(&tools);
        println!("setup: {}", shown(&make));
        capture(&mut make).map_err(|reason| {
            format!("{reason}\n  help: Debian's package python3-venv has what this needs")
        })?;
    }
    let mut pip = Command::new(tools.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check", "--no-deps"]).args(packages);
    println!("setup: {}", shown(&pip));
    stream(&mut pip)
}

/// A file or a folder that a package brought.
pub fn find(workspace: &Workspace, path: &str) -> Option<PathBuf> {
    let pythons = std::fs::read_dir(environment(workspace).join("lib")).ok()?;
    pythons
        .flatten()
        .map(|python| python.path().join("site-packages").join(path))
        .find(|path| path.exists())
}

fn environment(workspace: &Workspace) -> PathBuf {
    workspace.target.join("tools")
}
