//! Starting other programs.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Result;
use crate::workspace::{HOST_FACTS, Workspace};

/// Cargo, at the root of the repository.
pub fn cargo(workspace: &Workspace, arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&workspace.root);
    without_own_build(&mut command, workspace);
    command.envs(workspace.host_facts.iter().map(|facts| (HOST_FACTS, facts)));
    command
}

/// Takes out what Cargo set for this program alone.
///
/// Its library path would make release binaries load debug libraries, and its
/// package variables would look like those of the package being built.
pub fn without_own_build(command: &mut Command, workspace: &Workspace) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    let Some(path) = std::env::var_os("LD_LIBRARY_PATH") else {
        return;
    };
    let kept: Vec<_> = std::env::split_paths(&path)
        .filter(|folder| !folder.starts_with(&workspace.target))
        .collect();
    match std::env::join_paths(&kept) {
        Ok(kept) if !kept.is_empty() => command.env("LD_LIBRARY_PATH", kept),
        _ => command.env_remove("LD_LIBRARY_PATH"),
    };
}

/// Runs a command, its output streaming through.
pub fn stream(command: &mut Command) -> Result {
    let line = shown(command);
    let status = command
        .stdin(Stdio::null())
        .status()
        .map_err(|error| format!("cannot start `{line}`: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{line}` failed ({status})")) }
}

/// Runs a command and returns what it printed.
pub fn capture(command: &mut Command) -> Result<String> {
    let line = shown(command);
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot start `{line}`: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let said = String::from_utf8_lossy(&output.stderr);
        Err(format!("`{line}` failed ({})\n{said}", output.status))
    }
}

/// Whether a program of this name is on the path.
pub fn on_path(name: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(name).is_file()))
}

/// The command as one would type it.
pub fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut line = program.file_name().map_or(OsString::new(), OsString::from);
    for argument in command.get_args() {
        line.push(" ");
        line.push(argument);
    }
    line.to_string_lossy().into_owned()
}
