//! From a fresh machine to a handwritten digit with a name.

use std::ffi::OsStr;
use std::path::absolute;

use crate::Result;
use crate::check::Need;
use crate::process::{cargo, stream};
use crate::setup;
use crate::workspace::Workspace;

/// Sets up, builds and classifies `image`, or a 3.
pub fn run(workspace: &Workspace, image: Option<&OsStr>) -> Result {
    setup::ensure(workspace, Need::Run)?;
    stream(&mut cargo(workspace, &["build", "--release"]))?;

    let mut digits = cargo(workspace, &["run", "--release", "--quiet", "-p", "weft-digits", "--"]);
    match image {
        // Cargo starts at the root, the person perhaps elsewhere.
        Some(image) => digits.arg(absolute(image).unwrap_or_else(|_| image.into())),
        None => digits.arg("examples/digits/images/3-a.png"),
    };
    stream(&mut digits)
}
