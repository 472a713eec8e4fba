//! Rewrites what is generated or recorded; the difference is reviewed as code.

use std::fs;

use crate::Result;
use crate::check::Need;
use crate::process::{cargo, stream};
use crate::workspace::Workspace;
use crate::{conformance, device_docs, dialect_docs, setup};

/// Formats, writes the pages of dialects and machines, and records snapshots and the ONNX backend
/// tests that do not pass anew.
///
/// What `FileCheck` matches in lit tests is chosen by hand and left alone.
pub fn run(workspace: &Workspace) -> Result {
    setup::ensure(workspace, Need::Test)?;
    stream(&mut cargo(workspace, &["fmt", "--all"]))?;
    dialect_docs::write(workspace)?;
    stream(&mut cargo(workspace, &["build", "--release", "--workspace"]))?;
    device_docs::write(workspace)?;
    conformance::ensure(workspace);
    conformance::record(workspace)?;
    if has_snapshots(workspace) {
        stream(
            cargo(workspace, &["test", "--release", "--workspace"]).env("INSTA_UPDATE", "always"),
        )?;
    }
    println!("bless: done; `git diff` shows what changed");
    Ok(())
}

fn has_snapshots(workspace: &Workspace) -> bool {
    fs::read_to_string(workspace.root.join("Cargo.lock"))
        .is_ok_and(|lock| lock.contains("\nname = \"insta\"\n"))
}
