//! Installs what is missing.

use std::collections::BTreeSet;
use std::process::Command;

use crate::Result;
use crate::check::{self, Finding, Mend, Need, State};
use crate::process::{on_path, shown, stream};
use crate::workspace::Workspace;
use crate::{conformance, doctor, ptxas, system};

/// Installs all that building and testing need.
pub fn run(workspace: &Workspace) -> Result {
    ensure(workspace, Need::Test)?;
    ptxas::ensure(workspace);
    conformance::ensure(workspace);
    println!("setup: everything is there");
    Ok(())
}

/// Installs what is missing for `need`; silent where nothing is.
pub fn ensure(workspace: &Workspace, need: Need) -> Result {
    let missing = missing(workspace, need);
    let packages: BTreeSet<_> = missing.iter().filter_map(doctor::missing_package).collect();
    if !packages.is_empty() {
        install(&packages.into_iter().collect::<Vec<_>>())?;
    }
    let components: Vec<_> = missing.iter().filter_map(missing_component).collect();
    if !components.is_empty() {
        add_components(&components)?;
    }

    let left = if missing.is_empty() { missing } else { self::missing(workspace, need) };
    if left.is_empty() {
        return Ok(());
    }
    println!("setup: still missing");
    left.iter().for_each(doctor::print);
    Err("setup cannot mend this by itself; the lines above say what to do".to_owned())
}

fn missing(workspace: &Workspace, need: Need) -> Vec<Finding> {
    let mut findings = check::all(workspace);
    findings.retain(|finding| finding.need <= need && doctor::is_missing(finding));
    findings
}

fn missing_component(finding: &Finding) -> Option<&'static str> {
    match finding.state {
        State::Missing { mend: Mend::Rustup(component), .. } => Some(component),
        _ => None,
    }
}

fn install(packages: &[&str]) -> Result {
    if !system::has_apt() {
        return Err(unknown_system("has no apt-get"));
    }
    println!("setup: installing {}", packages.join(" "));
    if !system::is_root() && !on_path("sudo") {
        return Err(format!(
            "there is no sudo here; as root:\n  apt-get update && {}",
            system::install_line(packages).trim_start_matches("sudo ")
        ));
    }
    // Lists that are old name files that mirrors no longer hold.
    streamed(&mut system::apt_get(&["update"]))
        .unwrap_or_else(|reason| eprintln!("setup: going on with the old lists: {reason}"));
    if let Some(absent) = packages.iter().find(|package| !system::is_available(package)) {
        return Err(unknown_system(&format!("offers no package {absent}")));
    }
    let mut arguments = vec!["install", "-y", "--no-install-recommends"];
    arguments.extend(packages);
    streamed(&mut system::apt_get(&arguments))
}

fn add_components(components: &[&str]) -> Result {
    println!("setup: adding {} to Rust", components.join(" "));
    if !on_path("rustup") {
        return Err(format!(
            "there is no rustup here; install {} beside Rust by hand",
            components.join(" and ")
        ));
    }
    streamed(Command::new("rustup").args(["component", "add"]).args(components))
}

/// Says what it starts, for it changes the machine.
fn streamed(command: &mut Command) -> Result {
    println!("setup: {}", shown(command));
    stream(command)
}

fn unknown_system(why: &str) -> String {
    format!(
        "weft installs its packages on Debian 12, whose security updates hold LLVM 22; {} {why}.\n\
         Install what Debian calls\n  {}\n\
         and where LLVM 22 is not in /usr/lib/llvm-22, set MLIR_SYS_220_PREFIX, TABLEGEN_220_PREFIX\n\
         and LLVM_SYS_221_PREFIX to its folder and LIBCLANG_PATH to the folder of libclang.so.\n\
         `cargo xtask doctor` says what is still missing.",
        system::name(),
        check::package_names().join(" "),
    )
}
