//! The processor that compiles: what is measured of it, or said in a file.
//!
//! A machine file of `devices/` is fixed. The host is the first of them whose features the
//! processor has, with the processor's own counts and sizes in place of those marked `host`.
//! `WEFT_HOST_FACTS=FILE` replaces what is measured, so that the choices made for one machine can
//! be seen on another (`docs/host-facts.md`).

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use weft_passes::device::load_machine::HostFacts;
use weft_runtime::cpu;

use crate::Failure;

/// The environment variable that names a file of facts.
pub const VARIABLE: &str = "WEFT_HOST_FACTS";

/// The facts that weft takes from a processor; nothing else of the host decides what it compiles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Instruction sets, by LLVM's names.
    pub features: Vec<String>,
    /// Cores that are online.
    pub cores: u64,
    /// Main memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// The first data cache of a core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l1d_bytes: Option<u64>,
    /// The second cache of a core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l2_bytes: Option<u64>,
    /// The cache that cores share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l3_bytes: Option<u64>,
}

impl Host {
    /// The facts in the file that `WEFT_HOST_FACTS` names; without one, what is measured.
    ///
    /// # Errors
    /// A file that cannot be read, or that says something else than facts.
    pub fn current() -> Result<Self, Failure> {
        match std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
            Some(path) => Self::read(&PathBuf::from(path)),
            None => Ok(Self::measure()),
        }
    }

    /// The facts in a file.
    ///
    /// # Errors
    /// As [`Host::current`].
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let text = std::fs::read_to_string(path).map_err(|source| Failure::File {
            doing: "read the host's facts from",
            path: path.to_owned(),
            source,
        })?;
        let wrong = |what: String| {
            Failure::said(
                format!("{} does not hold facts of a host: {what}", path.display()),
                "write it with `weft devices --host-facts`: features, cores, and in bytes \
                 memory_bytes, l1d_bytes, l2_bytes, l3_bytes",
            )
        };
        let host: Self = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        let sizes = [
            ("cores", Some(host.cores)),
            ("memory_bytes", host.memory_bytes),
            ("l1d_bytes", host.l1d_bytes),
            ("l2_bytes", host.l2_bytes),
            ("l3_bytes", host.l3_bytes),
        ];
        match sizes.iter().find(|(_, size)| *size == Some(0)) {
            Some((name, _)) => Err(wrong(format!("{name} is 0, a number above it is accepted"))),
            None => Ok(host),
        }
    }

    /// Measures the machine that this runs on: all of it, whatever this process may use.
    pub fn measure() -> Self {
        Self {
            features: cpu::features().into_iter().map(str::to_owned).collect(),
            cores: cores().unwrap_or(1),
            memory_bytes: memory_bytes(),
            l1d_bytes: cache_bytes(1),
            l2_bytes: cache_bytes(2),
            l3_bytes: cache_bytes(3),
        }
    }

    /// The facts as a file.
    ///
    /// # Errors
    /// None that is known; errors of the format.
    pub fn text(&self) -> Result<String, Failure> {
        toml::to_string(self).map_err(|error| {
            Failure::said(format!("the facts cannot be written: {error}"), "please report it")
        })
    }

    /// Returns those of the `required` features that this host lacks.
    pub fn lacks<'a>(&self, required: &[&'a str]) -> Vec<&'a str> {
        let has = |name: &&&str| !self.features.iter().any(|feature| feature == **name);
        required.iter().filter(has).copied().collect()
    }

    /// The numbers that a machine file may mark `host`.
    pub fn facts(&self) -> HostFacts {
        HostFacts {
            features: self.features.clone(),
            cores: Some(self.cores),
            memory_bytes: self.memory_bytes,
            l1d_bytes: self.l1d_bytes,
            l2_bytes: self.l2_bytes,
            l3_bytes: self.l3_bytes,
        }
    }
}

/// Cores that are online, from a list such as `0-3,6`.
fn cores() -> Option<u64> {
    let list = std::fs::read_to_string("/sys/devices/system/cpu/online").ok()?;
    let counts = list.trim().split(',').map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(last.parse::<u64>().ok()?.checked_sub(first.parse().ok()?)? + 1)
    });
    counts.sum::<Option<u64>>().filter(|&count| count > 0)
}

fn memory_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024).filter(|&bytes| bytes > 0)
}

/// Size of the first core's data (or unified) cache of a level.
fn cache_bytes(level: u32) -> Option<u64> {
    let size = (0..8).find_map(|index| {
        let folder = format!("/sys/devices/system/cpu/cpu0/cache/index{index}");
        let read = |file: &str| std::fs::read_to_string(format!("{folder}/{file}")).ok();
        let here: u32 = read("level")?.trim().parse().ok()?;
        if here != level || read("type")?.trim() == "Instruction" {
            return None;
        }
        let size = read("size")?;
        let digits = size.trim().trim_end_matches(['K', 'M']);
        let scale = match size.trim().chars().last()? {
            'K' => 1024,
            'M' => 1024 * 1024,
            _ => 1,
        };
        Some(digits.parse::<u64>().ok()? * scale)
    });
    size.filter(|&bytes| bytes > 0)
}
