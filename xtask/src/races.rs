//! The runtime's threads under ThreadSanitizer, which reports memory that two touch at once.
//!
//! A command of its own and no step of the test: everything is built anew, for minutes.

use crate::Result;
use crate::process::{cargo, stream};
use crate::workspace::Workspace;

/// Builds the tests of requests with the sanitizer and runs them.
pub fn run(workspace: &Workspace) -> Result {
    let reports = workspace.root.join("runtime/tests/races.txt");
    let options = format!("halt_on_error=1 suppressions={}", reports.display());
    let folder = workspace.target.join("races");
    let mut tests = cargo(workspace, &["test", "-p", "weft-runtime", "--no-default-features"]);
    tests
        // A target is named so that build scripts and macros stay as they are.
        .args(["--target", "x86_64-unknown-linux-gnu", "--target-dir"])
        .arg(folder)
        .args(["--test", "requests", "--test", "soak", "--test", "model"])
        // Sanitizers are not stable yet, but the stable compiler brings its runtime. The standard
        // library stays as it comes, without the sanitizer; the file above says what follows.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer")
        .env("TSAN_OPTIONS", options);
    stream(&mut tests)
}
