//! From a fresh machine to a handwritten digit with a name.

use std::ffi::OsStr;
use std::path::absolute;
use std::process::Command;

use crate::Result;
use crate::check::Need;
use crate::process::{cargo, stream};
use crate::setup;
use crate::workspace::Workspace;

/// Sets up, builds and classifies `image`, or a 3.
pub fn run(workspace: &Workspace, image: Option<&OsStr>) -> Result {
    setup::ensure(workspace, Need::Run)?;
    // All of it, as the tests do: what one builds, the other one uses.
    stream(&mut cargo(workspace, &["build", "--release", "--workspace"]))?;

    let mut digits = Command::new(workspace.release().join("weft-digits"));
    digits.current_dir(&workspace.root);
    match image {
        // The program starts at the root, the person perhaps elsewhere.
        Some(image) => digits.arg(absolute(image).unwrap_or_else(|_| image.into())),
        None => digits.arg("examples/digits/images/3-a.png"),
    };
    stream(&mut digits)
}
