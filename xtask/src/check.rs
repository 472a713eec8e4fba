//! What weft needs of a machine, one function per thing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{capture, cargo, on_path};
use crate::system;
use crate::workspace::Workspace;

/// What a machine must have for a thing to work.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// To build weft and run a model.
    Run,
    /// To check the sources.
    Test,
}

/// How a check came out.
pub enum State {
    /// It is there: what was found.
    There(String),
    /// It comes by itself: when.
    Later(String),
    /// It is not there.
    Missing {
        /// What was found instead.
        found: String,
        /// How it is mended.
        mend: Mend,
    },
}

/// How a missing thing is mended.
#[derive(Clone, PartialEq, Eq)]
pub enum Mend {
    /// By installing a Debian package.
    Package(&'static str),
    /// By adding components to the Rust toolchain.
    Rustup(&'static str),
    /// By hand: what to do.
    ByHand(String),
}

/// One line of the doctor's table.
pub struct Finding {
    /// What was looked for.
    pub name: &'static str,
    /// What needs it.
    pub need: Need,
    /// How it came out.
    pub state: State,
}

/// A Debian package and a file that nothing else provides.
struct Package {
    name: &'static str,
    proof: Proof,
    need: Need,
}

enum Proof {
    /// A file of the LLVM prefix.
    Llvm(&'static str),
    /// A file anywhere.
    File(&'static str),
    /// A program on the path.
    Program(&'static str),
}

const PACKAGES: &[Package] = &[
    package("llvm-22-dev", Proof::Llvm("lib/cmake/llvm/LLVMConfig.cmake")),
    package("libmlir-22-dev", Proof::Llvm("lib/libMLIRCAPIIR.a")),
    package("mlir-22-tools", Proof::Llvm("bin/mlir-tblgen")),
    package("clang-22", Proof::Llvm("bin/clang++")),
    package("libclang-22-dev", Proof::Llvm("lib/libclang.so")),
    package("lld-22", Proof::Llvm("bin/ld.lld")),
    package("liblld-22-dev", Proof::Llvm("include/lld/Common/Driver.h")),
    package("libpolly-22-dev", Proof::Llvm("lib/libPolly.a")),
    package("libzstd-dev", Proof::File("/usr/include/zstd.h")),
    package("zlib1g-dev", Proof::File("/usr/include/zlib.h")),
    package("gcc", Proof::Program("cc")),
    package("libc6-dev", Proof::File("/usr/include/stdio.h")),
    Package { name: "llvm-22-tools", proof: Proof::Llvm("bin/FileCheck"), need: Need::Test },
    // Opens the pages that `weft explain` writes.
    Package { name: "chromium", proof: Proof::Program("chromium"), need: Need::Test },
    // `lit` names this file as its interpreter.
    Package { name: "python3", proof: Proof::File("/usr/bin/python3"), need: Need::Test },
];

/// Where Debian's packages put LLVM.
pub const PACKAGED_LLVM: &str = "/usr/lib/llvm-22";

const fn package(name: &'static str, proof: Proof) -> Package {
    Package { name, proof, need: Need::Run }
}

/// The Debian packages, as one would type them.
pub fn package_names() -> Vec<&'static str> {
    PACKAGES.iter().map(|package| package.name).collect()
}

/// Everything that a machine needs.
pub fn all(workspace: &Workspace) -> Vec<Finding> {
    let finding = |name, need, state| Finding { name, need, state };
    let mut findings = vec![
        finding("rust", Need::Run, rust(workspace)),
        finding("rustfmt", Need::Test, component(workspace, "fmt", "rustfmt")),
        finding("clippy", Need::Test, component(workspace, "clippy", "clippy")),
        finding("processor", Need::Run, processor()),
    ];
    findings.extend(
        PACKAGES
            .iter()
            .map(|package| finding(package.name, package.need, installed(package, workspace))),
    );
    findings.extend([
        finding("LLVM", Need::Run, llvm(workspace)),
        finding("lit", Need::Test, lit(workspace)),
        finding("MLIR_SYS_220_PREFIX", Need::Run, prefix("MLIR_SYS_220_PREFIX")),
        finding("TABLEGEN_220_PREFIX", Need::Run, prefix("TABLEGEN_220_PREFIX")),
        finding("LLVM_SYS_221_PREFIX", Need::Run, prefix("LLVM_SYS_221_PREFIX")),
        finding("LIBCLANG_PATH", Need::Run, libclang_path()),
        finding("MLIR_SYS_LINK_SHARED", Need::Run, link_shared()),
        finding("libMLIR-C.so", Need::Run, c_library(workspace)),
    ]);
    findings
}

fn rust(workspace: &Workspace) -> State {
    match capture(&mut cargo(workspace, &["--version"])) {
        // Cargo itself refuses a version older than Cargo.toml's `rust-version`.
        Ok(version) => State::There(version.trim().to_owned()),
        Err(error) => by_hand(error, "install Rust with rustup"),
    }
}

fn component(workspace: &Workspace, subcommand: &str, component: &'static str) -> State {
    match capture(&mut cargo(workspace, &[subcommand, "--version"])) {
        Ok(version) => State::There(version.trim().to_owned()),
        Err(_) => State::Missing {
            found: format!("no `cargo {subcommand}`"),
            mend: Mend::Rustup(component),
        },
    }
}

#[cfg(target_arch = "x86_64")]
fn processor() -> State {
    let has = [
        ("avx2", is_x86_feature_detected!("avx2")),
        ("fma", is_x86_feature_detected!("fma")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
        ("avx512bw", is_x86_feature_detected!("avx512bw")),
        ("avx512dq", is_x86_feature_detected!("avx512dq")),
        ("avx512vl", is_x86_feature_detected!("avx512vl")),
    ];
    let found: Vec<_> = has.iter().filter(|feature| feature.1).map(|feature| feature.0).collect();
    let found = format!("x86-64 with {}", found.join(" "));
    if has[0].1 && has[1].1 {
        State::There(found)
    } else {
        by_hand(found, "use a processor with AVX2 and FMA; weft runs on no other yet")
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn processor() -> State {
    by_hand(
        std::env::consts::ARCH.to_owned(),
        "use an x86-64 processor with AVX2 and FMA; weft runs on no other yet",
    )
}

fn installed(package: &Package, workspace: &Workspace) -> State {
    let (there, proof) = match package.proof {
        Proof::Llvm(file) => {
            let path = workspace.llvm.join(file);
            (path.exists(), path.display().to_string())
        }
        Proof::File(file) => (Path::new(file).exists(), file.to_owned()),
        Proof::Program(name) => (on_path(name), name.to_owned()),
    };
    if there {
        return State::There(match system::package_version(package.name) {
            Some(version) => format!("{version}, {proof}"),
            None => proof,
        });
    }
    State::Missing {
        found: format!("no {proof}"),
        mend: match package.proof {
            Proof::Llvm(_) => in_prefix(package.name, workspace),
            Proof::File(_) | Proof::Program(_) => Mend::Package(package.name),
        },
    }
}

/// Packages fill their own folder, not one that somebody else chose.
fn in_prefix(package: &'static str, workspace: &Workspace) -> Mend {
    if workspace.llvm == Path::new(PACKAGED_LLVM) {
        return Mend::Package(package);
    }
    Mend::ByHand(format!(
        "unset MLIR_SYS_220_PREFIX to use Debian's {package}, or make it part of {}",
        workspace.llvm.display()
    ))
}

fn llvm(workspace: &Workspace) -> State {
    let tool = workspace.llvm_tool("llvm-config");
    match capture(Command::new(&tool).arg("--version")) {
        Ok(version) if version.starts_with("22.") => {
            State::There(format!("{}, {}", version.trim(), workspace.llvm.display()))
        }
        Ok(version) => by_hand(
            format!("{} is LLVM {}", workspace.llvm.display(), version.trim()),
            "set MLIR_SYS_220_PREFIX to the folder of LLVM 22",
        ),
        Err(_) => State::Later("comes with llvm-22-dev".to_owned()),
    }
}

/// Whether `lit` starts: it needs modules of Python beside itself.
fn lit(workspace: &Workspace) -> State {
    let tool = workspace.llvm_tool("lit");
    if !tool.exists() {
        return State::Later("comes with llvm-22-tools".to_owned());
    }
    match capture(Command::new(&tool).arg("--version")) {
        Ok(version) => State::There(format!("{}, {}", version.trim(), tool.display())),
        Err(_) => State::Missing {
            found: format!("{} does not start", tool.display()),
            mend: Mend::Package("python3"),
        },
    }
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn prefix(name: &'static str) -> State {
    let Some(folder) = variable(name) else {
        return unset(name);
    };
    if variable("MLIR_SYS_220_PREFIX").is_some_and(|first| first != folder) {
        by_hand(
            format!("{}, another folder than MLIR_SYS_220_PREFIX", folder.display()),
            "give all three prefixes the same value; one process cannot hold two LLVMs",
        )
    } else if folder.join("bin/llvm-config").exists() {
        State::There(folder.display().to_string())
    } else if folder == Path::new(PACKAGED_LLVM) {
        State::Later(format!("{}, filled by llvm-22-dev", folder.display()))
    } else {
        by_hand(
            format!("{}, where there is no LLVM", folder.display()),
            format!("unset {name}: .cargo/config.toml sets it"),
        )
    }
}

fn libclang_path() -> State {
    let Some(folder) = variable("LIBCLANG_PATH") else {
        return unset("LIBCLANG_PATH");
    };
    let holds_library = fs::read_dir(&folder).is_ok_and(|entries| {
        entries.flatten().any(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with("libclang") && name.contains(".so")
        })
    });
    if holds_library {
        State::There(folder.display().to_string())
    } else if folder.starts_with(PACKAGED_LLVM) {
        State::Later(format!("{}, filled by libclang-22-dev", folder.display()))
    } else {
        by_hand(
            format!("{}, where there is no libclang.so", folder.display()),
            "unset LIBCLANG_PATH: .cargo/config.toml sets it",
        )
    }
}

fn link_shared() -> State {
    match variable("MLIR_SYS_LINK_SHARED") {
        Some(value) => State::There(value.display().to_string()),
        None => unset("MLIR_SYS_LINK_SHARED"),
    }
}

fn unset(name: &str) -> State {
    by_hand("not set", format!("start this as `cargo xtask`: .cargo/config.toml sets {name}"))
}

fn c_library(workspace: &Workspace) -> State {
    let built: Vec<_> = ["release", "debug"]
        .iter()
        .map(|profile| workspace.target.join(profile).join("libMLIR-C.so"))
        .filter(|library| library.exists())
        .map(|library| library.display().to_string())
        .collect();
    if built.is_empty() {
        State::Later("made by the first build".to_owned())
    } else {
        State::There(built.join(", "))
    }
}

fn by_hand(found: impl Into<String>, mend: impl Into<String>) -> State {
    State::Missing { found: found.into(), mend: Mend::ByHand(mend.into()) }
}
