//! Says what is there, what is missing and the line that mends it.

use std::collections::BTreeSet;

use crate::Result;
use crate::check::{self, Finding, Mend, State};
use crate::system;
use crate::workspace::Workspace;

/// Prints the table; an error when something is missing.
pub fn run(workspace: &Workspace) -> Result {
    println!("{}", system::name());
    let findings = check::all(workspace);
    for finding in &findings {
        print(finding);
    }
    let missing = findings.iter().filter(|finding| is_missing(finding)).count();
    if missing == 0 {
        println!("\nnothing is missing");
        return Ok(());
    }
    let packages: BTreeSet<_> = findings.iter().filter_map(missing_package).collect();
    if !packages.is_empty() && system::has_apt() {
        println!("\n`cargo xtask setup` installs the packages; by hand it is");
        println!("  {}", system::install_line(&packages.into_iter().collect::<Vec<_>>()));
    }
    let things = if missing == 1 { "thing is" } else { "things are" };
    Err(format!("{missing} {things} missing"))
}

/// Prints one line, and under it how a missing thing is mended.
pub fn print(finding: &Finding) {
    let (mark, found) = match &finding.state {
        State::There(found) => ("ok", found),
        State::Later(when) => ("later", when),
        State::Missing { found, .. } => ("MISSING", found),
    };
    println!("  {mark:<8} {:<21} {found}", finding.name);
    if let State::Missing { mend, .. } = &finding.state {
        println!("  {:<8} {:<21} mend: {}", "", "", line(mend));
    }
}

/// Whether the thing is missing.
pub fn is_missing(finding: &Finding) -> bool {
    matches!(finding.state, State::Missing { .. })
}

/// The package that a missing thing comes in.
pub fn missing_package(finding: &Finding) -> Option<&'static str> {
    match finding.state {
        State::Missing { mend: Mend::Package(name), .. } => Some(name),
        _ => None,
    }
}

fn line(mend: &Mend) -> String {
    match mend {
        Mend::Package(name) => system::install_line(&[name]),
        Mend::Rustup(component) => format!("rustup component add {component}"),
        Mend::ByHand(what) => what.clone(),
    }
}
