//! Installs what weft needs, runs the example, and checks everything.
//!
//! It stands on the standard library alone, so that it builds in seconds on a
//! machine that has only Rust. It knows the repository's layout, nothing of the
//! compiler.

mod bless;
mod bundle;
mod check;
mod chip_names;
mod conformance;
mod device_docs;
mod dialect_docs;
mod doctor;
mod file_lengths;
mod pages;
mod process;
mod ptxas;
mod pypi;
mod races;
mod run;
mod setup;
mod system;
mod test;
mod workspace;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use workspace::Workspace;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  doctor       say what is there, what is missing and the line that mends it
  setup        install what is missing
  run [IMAGE]  set up, build, and classify a handwritten digit (8x8 grey PNG)
  test [quick] [--host FILE]
               set up, build, and check everything; quick leaves out what takes minutes;
               FILE holds the facts of another host (devices/hosts, docs/host-facts.md)
  bundle [DEVICE]
               pack the runtime with compiled kernels and references, for a machine
               that has a GPU (h200 without a name) and no compiler
  races        run the runtime's threads under ThreadSanitizer; builds it anew for that
  bless        rewrite what is generated or recorded: format, pages, snapshots";

/// What `test` is asked for; nothing where it is asked for something else.
fn test_options(options: &[OsString]) -> Option<(test::Extent, Option<PathBuf>)> {
    let (extent, rest) = match options {
        [first, rest @ ..] if first == "quick" => (test::Extent::Quick, rest),
        rest => (test::Extent::Whole, rest),
    };
    match rest {
        [] => Some((extent, None)),
        [flag, file] if flag == "--host" => Some((extent, Some(file.into()))),
        _ => None,
    }
}

fn wrong_usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}

/// What was wrong, in words for the person at the terminal.
type Result<T = ()> = std::result::Result<T, String>;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let command = arguments.first().and_then(|command| command.to_str()).unwrap_or("");
    let rest = arguments.get(1..).unwrap_or_default();
    let workspace = Workspace::here();
    let outcome = match (command, rest) {
        ("doctor", []) => doctor::run(&workspace),
        ("setup", []) => setup::run(&workspace),
        ("run", []) => run::run(&workspace, None),
        ("run", [image]) => run::run(&workspace, Some(image)),
        ("test", options) => match test_options(options) {
            Some((extent, None)) => test::run(&workspace, extent),
            Some((extent, Some(host))) => {
                workspace.with_host(&host).and_then(|workspace| test::run(&workspace, extent))
            }
            None => return wrong_usage(),
        },
        ("bundle", []) => bundle::run(&workspace, "h200"),
        ("bundle", [device]) => bundle::run(&workspace, &device.to_string_lossy()),
        ("races", []) => races::run(&workspace),
        ("bless", []) => bless::run(&workspace),
        ("help" | "--help" | "-h", []) => {
            println!("{USAGE}");
            Ok(())
        }
        _ => return wrong_usage(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("error: {reason}");
            ExitCode::FAILURE
        }
    }
}
