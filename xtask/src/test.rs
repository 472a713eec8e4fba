//! Everything that must hold, in order.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::Result;
use crate::check::Need;
use crate::process::{capture, cargo, stream};
use crate::workspace::Workspace;
use crate::{device_docs, dialect_docs, ptxas, setup};

/// One thing that must hold.
struct Step {
    name: &'static str,
    check: fn(&Workspace) -> Result,
}

/// One profile for all steps: what one builds, the next one uses.
const STEPS: &[Step] = &[
    step("format", format),
    step("clippy", clippy),
    step("build", build),
    step("unit tests", unit_tests),
    step("lit tests", lit_tests),
    step("documentation", documentation),
    step("dialect pages", dialect_docs::compare),
    step("machine pages", device_docs::compare),
    step("no chip named in passes", no_chip_names),
    step("no compiler in the runtime", no_compiler_in_runtime),
];

const fn step(name: &'static str, check: fn(&Workspace) -> Result) -> Step {
    Step { name, check }
}

/// Sets up and takes every step, as far as they hold.
pub fn run(workspace: &Workspace) -> Result {
    let start = Instant::now();
    setup::ensure(workspace, Need::Test)?;
    ptxas::ensure(workspace);
    let mut passed = 0;
    let mut failure = None;
    for Step { name, check } in STEPS {
        println!("== {name}");
        let start = Instant::now();
        let outcome = check(workspace);
        let time_s = start.elapsed().as_secs_f64();
        match outcome {
            Ok(()) => println!("== {name}: passed in {time_s:.1} s\n"),
            Err(reason) => {
                println!("== {name}: FAILED after {time_s:.1} s");
                println!("{reason}\n");
                failure = Some(*name);
                break;
            }
        }
        passed += 1;
    }
    println!("in all {:.1} s", start.elapsed().as_secs_f64());
    match failure {
        None => {
            println!("{passed} passed, 0 failed");
            Ok(())
        }
        Some(name) => {
            println!("{passed} passed, 1 failed, {} not tried", STEPS.len() - passed - 1);
            Err(format!("`{name}` does not hold"))
        }
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

fn unit_tests(workspace: &Workspace) -> Result {
    stream(&mut cargo(workspace, &["test", "--release", "--workspace", "--no-fail-fast"]))
}

fn lit_tests(workspace: &Workspace) -> Result {
    stream(
        Command::new(workspace.llvm_tool("lit"))
            .current_dir(&workspace.root)
            .env("WEFT_BIN", workspace.release())
            .args(["--succinct", "--verbose", "lit-tests"]),
    )
}

fn documentation(workspace: &Workspace) -> Result {
    stream(
        cargo(workspace, &["doc", "--release", "--workspace", "--no-deps"])
            .env("RUSTDOCFLAGS", "-Dwarnings"),
    )
}

/// Passes ask the machine description what it can, never which chip it is.
fn no_chip_names(workspace: &Workspace) -> Result {
    let mut found = Vec::new();
    for path in files(&workspace.root.join("passes"))? {
        // What is not text names nothing.
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let shown = path.strip_prefix(&workspace.root).unwrap_or(&path).display();
        for (number, line) in text.lines().enumerate() {
            if let Some(word) = words(line).find(|word| names_chip(word)) {
                found.push(format!("  {shown}:{}: {word}", number + 1));
            }
        }
    }
    if found.is_empty() {
        return Ok(());
    }
    Err(format!(
        "passes must ask the machine description for a fact, not for a chip:\n{}",
        found.join("\n")
    ))
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |error| format!("cannot read {}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if !path.is_dir() {
            files.push(path);
        } else if path.file_name().is_some_and(|name| name != "target") {
            files.extend(self::files(&path)?);
        }
    }
    files.sort();
    Ok(files)
}

/// Words in lower case; an underscore stays inside a word.
fn words(line: &str) -> impl Iterator<Item = String> + '_ {
    line.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
}

/// Whether a word holds the name of a chip, of its family or of its target.
fn names_chip(word: &str) -> bool {
    const NAMES: &[&str] = &[
        "k80",
        "p100",
        "v100",
        "a100",
        "h100",
        "h200",
        "gh200",
        "b100",
        "b200",
        "gb200",
        "gb300",
        "epyc",
        "ryzen",
        "threadripper",
        "zen",
        "xeon",
        "haswell",
        "broadwell",
        "skylake",
        "cascadelake",
        "icelake",
        "sapphirerapids",
        "graniterapids",
        "neoverse",
        "graviton",
        "ipu",
    ];
    /// What stands before how many digits: `gfx942`, `mi250x`, `sm90`, `zen4`.
    const FAMILIES: &[(&str, usize)] =
        &[("gfx", 3), ("mi", 2), ("sm", 2), ("stcp", 2), ("zen", 1), ("znver", 1)];

    let parts: Vec<_> = word.split('_').collect();
    let is_named = |part: &str| {
        NAMES.contains(&part)
            || FAMILIES.iter().any(|(family, count)| {
                part.strip_prefix(family).is_some_and(|rest| digits(rest) >= *count)
            })
    };
    // `sm_90a`, `compute_90`
    let is_target = |pair: &[&str]| matches!(pair[0], "sm" | "compute") && digits(pair[1]) >= 2;
    parts.iter().any(|part| is_named(part)) || parts.windows(2).any(is_target)
}

/// How many digits the text begins with.
fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
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

#[cfg(test)]
mod tests {
    use super::{names_chip, words};

    fn named(line: &str) -> Vec<String> {
        words(line).filter(|word| names_chip(word)).collect()
    }

    #[test]
    fn finds_chips() {
        assert_eq!(named("if arch == \"sm_90a\" {"), ["sm_90a"]);
        assert_eq!(named("GFX942, MI300X and Zen4"), ["gfx942", "mi300x", "zen4"]);
        assert_eq!(named("fn tile_for_h100()"), ["tile_for_h100"]);
    }

    #[test]
    fn passes_over_what_only_looks_alike() {
        assert!(named("let (mi0, sm1) = frozen(zenith, compute_0, gfx)").is_empty());
    }
}
