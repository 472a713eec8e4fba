//! NVIDIA's assembler, which says whether generated PTX is sound.
//!
//! It comes from PyPI into a Python environment of its own under Cargo's target
//! folder. Tests that need it say so and go on where it is missing: it takes a
//! network, and nothing that is built or shipped needs it.

use std::path::PathBuf;
use std::process::Command;

use crate::Result;
use crate::process::{capture, shown, stream};
use crate::workspace::Workspace;

/// The newer one has left the oldest architectures behind; each lies in a folder of its own.
const PACKAGES: [&str; 2] = ["nvidia-cuda-nvcc==13.5.37", "nvidia-cuda-nvcc-cu12==12.9.86"];
const FOLDERS: [&str; 2] = ["cu13", "cuda_nvcc"];

/// Installs what is missing, or says why that was not possible.
pub fn ensure(workspace: &Workspace) {
    if FOLDERS.iter().all(|folder| assembler(workspace, folder).is_some()) {
        return;
    }
    if let Err(reason) = install(workspace) {
        eprintln!("setup: NO PTXAS, so tests will not assemble PTX: {reason}");
    }
}

fn install(workspace: &Workspace) -> Result {
    let tools = workspace.target.join("tools");
    if !tools.join("bin/pip").exists() {
        let mut make = Command::new("python3");
        make.args(["-m", "venv"]).arg(&tools);
        println!("setup: {}", shown(&make));
        capture(&mut make).map_err(|reason| {
            format!("{reason}\n  help: Debian's package python3-venv has what this needs")
        })?;
    }
    let mut pip = Command::new(tools.join("bin/pip"));
    // The assembler alone: compilers and libraries that come with it are not used.
    pip.args(["install", "--quiet", "--disable-pip-version-check", "--no-deps"]).args(PACKAGES);
    println!("setup: {}", shown(&pip));
    stream(&mut pip)
}

fn assembler(workspace: &Workspace, folder: &str) -> Option<PathBuf> {
    let pythons = std::fs::read_dir(workspace.target.join("tools/lib")).ok()?;
    pythons
        .flatten()
        .map(|python| python.path().join("site-packages/nvidia").join(folder).join("bin/ptxas"))
        .find(|path| path.is_file())
}
