//! The operating system and its packages.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use crate::process::{capture, on_path};

/// The distribution's own name for itself.
pub fn name() -> String {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    release
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))
        .map_or_else(|| std::env::consts::OS.to_owned(), |name| name.trim_matches('"').to_owned())
}

/// Whether packages come through `apt-get`.
pub fn has_apt() -> bool {
    on_path("apt-get") && on_path("dpkg-query")
}

/// Whether this process may install packages by itself.
pub fn is_root() -> bool {
    // The folder of one's own process belongs to its effective user.
    fs::metadata("/proc/self").is_ok_and(|folder| folder.uid() == 0)
}

/// The installed version of a Debian package.
pub fn package_version(name: &str) -> Option<String> {
    let mut query = Command::new("dpkg-query");
    query.args(["--show", "--showformat", "${db:Status-Status} ${Version}", name]);
    let answer = capture(&mut query).ok()?;
    answer.strip_prefix("installed ").map(str::to_owned)
}

/// Whether the package lists hold an installable version.
pub fn is_available(package: &str) -> bool {
    capture(Command::new("apt-cache").args(["show", "--no-all-versions", package]))
        .is_ok_and(|text| text.contains("Package:"))
}

/// `apt-get` as root, asking nothing.
pub fn apt_get(arguments: &[&str]) -> Command {
    let mut command = if is_root() {
        Command::new("env")
    } else {
        let mut command = Command::new("sudo");
        command.arg("env");
        command
    };
    command
        .args(["DEBIAN_FRONTEND=noninteractive", "apt-get"])
        // Another installation may be running, as on a machine just started.
        .args(["-o", "DPkg::Lock::Timeout=300"])
        .args(arguments);
    command
}

/// The line that installs packages, as one would type it.
pub fn install_line(packages: &[&str]) -> String {
    let sudo = if is_root() { "" } else { "sudo " };
    let packages = packages.join(" ");
    if has_apt() {
        format!("{sudo}apt-get install -y --no-install-recommends {packages}")
    } else {
        format!("install what Debian calls {packages}")
    }
}
