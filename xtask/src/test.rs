//! Everything that must hold, in order.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::Result;
use crate::check::Need;
use crate::process::{capture, cargo, stream, without_own_build};
use crate::workspace::{HOST_FACTS, Workspace};
use crate::{chip_names, conformance, device_docs, dialect_docs, file_lengths, ptxas, setup};

/// What is tried.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Format, clippy, the length of files, unit tests of the crates and lit: what is asked again
    /// and again while one writes.
    Quick,
    /// Everything.
    Whole,
}

/// One thing that must hold.
struct Step {
    name: &'static str,
    check: fn(&Workspace) -> Result,
    quick: bool,
}

/// One profile for all steps: what one builds, the next one uses.
const STEPS: &[Step] = &[
    quick("format", format),
    quick("clippy", clippy),
    quick("length of files", file_lengths::check),
    quick("build", build),
    quick("unit tests", unit_tests),
    whole("integration tests", integration_tests),
    quick("lit tests", lit_tests),
    whole("ONNX backend tests", conformance::check),
    whole("tests as on another host", on_another_host),
    whole("documentation", documentation),
    whole("dialect pages", dialect_docs::compare),
    whole("machine pages", device_docs::compare),
    whole("no chip named in passes", chip_names::none),
    whole("no compiler in the runtime", no_compiler_in_runtime),
];

const fn quick(name: &'static str, check: fn(&Workspace) -> Result) -> Step {
    Step { name, check, quick: true }
}

const fn whole(name: &'static str, check: fn(&Workspace) -> Result) -> Step {
    Step { name, check, quick: false }
}

/// Sets up and takes every step, also after one that does not hold.
///
/// Where the workspace has facts of another host, all programs that are started take those.
pub fn run(workspace: &Workspace, extent: Extent) -> Result {
    let start = Instant::now();
    setup::ensure(workspace, Need::Test)?;
    ptxas::ensure(workspace);
    if extent == Extent::Whole {
        conformance::ensure(workspace);
    }
    let (mut passed, mut failed) = (0, Vec::new());
    for Step { name, check, quick } in STEPS {
        if extent == Extent::Quick && !quick {
            continue;
        }
        println!("== {name}");
        let start = Instant::now();
        let outcome = check(workspace);
        let time_s = start.elapsed().as_secs_f64();
        match outcome {
            Ok(()) => {
                println!("== {name}: passed in {time_s:.1} s\n");
                passed += 1;
            }
            Err(reason) => {
                println!("== {name}: FAILED after {time_s:.1} s\n{reason}\n");
                failed.push((*name, reason));
            }
        }
    }
    println!("in all {:.1} s", start.elapsed().as_secs_f64());
    for (name, reason) in &failed {
        println!("FAILED {name}: {}", reason.lines().next().unwrap_or_default());
    }
    println!("{passed} passed, {} failed", failed.len());
    match failed.len() {
        0 => Ok(()),
        1 => Err(format!("`{}` does not hold", failed[0].0)),
        several => Err(format!("{several} steps do not hold")),
    }
}

fn format(workspace: &Workspace) -> Result {
    stream(&mut cargo(workspace, &["fmt", "--all", "--check"]))
        .map_err(|reason| format!("{reason}\n`cargo xtask bless` formats"))
}

fn clippy(workspace: &Workspace) -> Result {
    let mut arguments = vec!["clippy", "--release", "--workspace", "--all-targets"];
    arguments.extend(["--", "-D", "warnings"]);
    stream(&mut cargo(workspace, &arguments))
}

fn build(workspace: &Workspace) -> Result {
    stream(&mut cargo(workspace, &["build", "--release", "--workspace"]))
}

/// Tests inside the crates, and of what their documentation shows.
fn unit_tests(workspace: &Workspace) -> Result {
    let tests = ["test", "--release", "--workspace", "--no-fail-fast", "--lib", "--bins"];
    stream(&mut cargo(workspace, &tests))?;
    stream(&mut cargo(workspace, &["test", "--release", "--workspace", "--doc"]))
}

fn integration_tests(workspace: &Workspace) -> Result {
    let tests = ["test", "--release", "--workspace", "--no-fail-fast", "--test", "*"];
    stream(&mut cargo(workspace, &tests))
}

/// Tests that let weft choose for the processor they run on: the command line, kernels of every
/// kind, and how they are joined.
const OF_THE_HOST: &[&str] = &["cli", "kernels", "welder"];

/// Those once more with the facts of another machine, unless they were replaced for all steps: one with no
/// more features than weft asks of a processor, so that its code runs on the one that tests.
fn on_another_host(workspace: &Workspace) -> Result {
    if workspace.host_facts.is_some() {
        println!("all tests ran with other facts than those of this processor");
        return Ok(());
    }
    let mut tests = cargo(workspace, &["test", "--release", "--workspace", "--no-fail-fast"]);
    tests.args(OF_THE_HOST.iter().flat_map(|test| ["--test", test]));
    stream(tests.env(HOST_FACTS, workspace.root.join("devices/hosts/avx2.toml")))
}

fn lit_tests(workspace: &Workspace) -> Result {
    let mut lit = Command::new(workspace.llvm_tool("lit"));
    without_own_build(&mut lit, workspace);
    lit.current_dir(&workspace.root).env("WEFT_BIN", workspace.release());
    lit.envs(workspace.host_facts.iter().map(|facts| (HOST_FACTS, facts)));
    stream(lit.args(["--succinct", "--verbose", "lit-tests"]))
}

fn documentation(workspace: &Workspace) -> Result {
    stream(
        cargo(workspace, &["doc", "--release", "--workspace", "--no-deps"])
            .env("RUSTDOCFLAGS", "-Dwarnings"),
    )
}

/// The runtime is built and runs where there is no LLVM.
fn no_compiler_in_runtime(workspace: &Workspace) -> Result {
    const COMPILERS: &[&str] = &["inkwell", "llvm-sys", "melior", "mlir-sys", "weft-dialects"];

    let mut tree = cargo(workspace, &["tree", "-p", "weft-runtime", "-e", "no-dev"]);
    let tree = capture(tree.args(["--prefix", "none", "--format", "{p}"]))?;
    let crates = tree.lines().filter_map(|line| line.split(' ').next());
    if let Some(name) = crates.into_iter().find(|name| COMPILERS.contains(name)) {
        return Err(format!(
            "weft-runtime depends on {name}; `cargo tree -p weft-runtime -i {name}` says through what"
        ));
    }
    for name in ["weft-run", "libweft_runtime.so"] {
        let file = workspace.release().join(name);
        if file.exists() {
            links_no_compiler(workspace, &file)?;
        }
    }
    Ok(())
}

fn links_no_compiler(workspace: &Workspace, file: &Path) -> Result {
    let mut read = Command::new(workspace.llvm_tool("llvm-readelf"));
    let needed = capture(read.arg("--needed-libs").arg(file))?;
    match needed.lines().map(str::trim).find(|line| {
        ["LLVM", "MLIR", "clang"].iter().any(|library| line.contains(&format!("lib{library}")))
    }) {
        Some(library) => Err(format!("{} links {library}", file.display())),
        None => Ok(()),
    }
}
