//! The ONNX backend tests, held against the record of those that do not pass.
//!
//! They are the folders `node`, `light`, `simple`, `pytorch-operator` and `pytorch-converted` of the last package that has them on disk.

use std::process::Command;

use crate::process::{stream, without_own_build};
use crate::workspace::{HOST_FACTS, Workspace};
use crate::{Result, pypi};

const PACKAGE: &str = "onnx==1.22.0";
const DATA: &str = "onnx/backend/test/data";
const RECORD: &str = "lit-tests/conformance/expected.json";

/// Installs the tests where they are missing, or says why that was not possible.
pub fn ensure(workspace: &Workspace) {
    if pypi::find(workspace, DATA).is_some() {
        return;
    }
    if let Err(reason) = pypi::install(workspace, &[PACKAGE]) {
        eprintln!("setup: NO ONNX BACKEND TESTS, so none is run: {reason}");
    }
}

/// Runs all of them: what passes must not be in the record, what does not must.
pub fn check(workspace: &Workspace) -> Result {
    weft_conformance(workspace, "--expected")
}

/// Writes the record anew.
pub fn record(workspace: &Workspace) -> Result {
    weft_conformance(workspace, "--record")
}

fn weft_conformance(workspace: &Workspace, option: &str) -> Result {
    let Some(data) = pypi::find(workspace, DATA) else {
        println!("without {PACKAGE} there is nothing to run");
        return Ok(());
    };
    let processes = std::thread::available_parallelism().map_or(1, usize::from);
    let mut weft = Command::new(workspace.release().join("weft"));
    without_own_build(&mut weft, workspace);
    weft.arg("conformance").arg(data).arg(option).arg(workspace.root.join(RECORD));
    weft.args(["--threads", "1", "--jobs", "1", "--processes", &processes.to_string()]);
    weft.envs(workspace.host_facts.iter().map(|facts| (HOST_FACTS, facts)));
    // A cache would hide what is tested.
    stream(weft.arg("--no-cache").current_dir(&workspace.root))
}
