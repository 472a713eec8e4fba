//! Installs what weft needs, runs the example, and checks everything.
//!
//! It stands on the standard library alone, so that it builds in seconds on a
//! machine that has only Rust. It knows the repository's layout, nothing of the
//! compiler.

mod bless;
mod bundle;
mod check;
mod device_docs;
mod dialect_docs;
mod doctor;
mod pages;
mod process;
mod ptxas;
mod races;
mod run;
mod setup;
mod system;
mod test;
mod workspace;

use std::process::ExitCode;

use workspace::Workspace;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  doctor       say what is there, what is missing and the line that mends it
  setup        install what is missing
  run [IMAGE]  set up, build, and classify a handwritten digit (8x8 grey PNG)
  test         set up, build, and check everything
  bundle [DEVICE]
               pack the runtime with compiled kernels and references, for a machine
               that has a CUDA device (h200 without a name) and no compiler
  races        run the runtime's threads under ThreadSanitizer; builds it anew for that
  bless        rewrite what is generated or recorded: format, pages, snapshots";

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
        ("test", []) => test::run(&workspace),
        ("bundle", []) => bundle::run(&workspace, "h200"),
        ("bundle", [device]) => bundle::run(&workspace, &device.to_string_lossy()),
        ("races", []) => races::run(&workspace),
        ("bless", []) => bless::run(&workspace),
        ("help" | "--help" | "-h", []) => {
            println!("{USAGE}");
            Ok(())
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("error: {reason}");
            ExitCode::FAILURE
        }
    }
}
