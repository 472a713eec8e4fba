//! Where things lie.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{Result, check};

/// The variable that names a file with the facts of another host (`docs/host-facts.md`).
pub const HOST_FACTS: &str = "WEFT_HOST_FACTS";

/// The folders that every command needs.
pub struct Workspace {
    /// The repository.
    pub root: PathBuf,
    /// Cargo's target folder.
    pub target: PathBuf,
    /// The LLVM and MLIR that weft is built on.
    pub llvm: PathBuf,
    /// A file of facts that programs take for those of the processor they run on.
    pub host_facts: Option<PathBuf>,
}

impl Workspace {
    /// The workspace that this program was built in.
    pub fn here() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .expect("xtask lies in the repository")
            .to_path_buf();
        // Cargo puts this program into TARGET/PROFILE/xtask.
        let target = std::env::current_exe()
            .ok()
            .and_then(|program| Some(program.ancestors().nth(2)?.to_path_buf()))
            .unwrap_or_else(|| root.join("target"));
        let llvm = std::env::var_os("MLIR_SYS_220_PREFIX")
            .unwrap_or_else(|| OsString::from(check::PACKAGED_LLVM));
        let host_facts = std::env::var_os(HOST_FACTS).map(PathBuf::from);
        Self { root, target, llvm: llvm.into(), host_facts }
    }

    /// The same, with the facts of a host in a file.
    pub fn with_host(self, facts: &Path) -> Result<Self> {
        // Programs are started in other folders than this one.
        let facts = fs::canonicalize(facts)
            .map_err(|error| format!("cannot read {}: {error}", facts.display()))?;
        Ok(Self { host_facts: Some(facts), ..self })
    }

    /// Where release binaries are.
    pub fn release(&self) -> PathBuf {
        self.target.join("release")
    }

    /// A program of the LLVM prefix.
    pub fn llvm_tool(&self, name: &str) -> PathBuf {
        self.llvm.join("bin").join(name)
    }
}

/// The files of a folder and of the folders in it, but for what is built and what is hidden.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |error| format!("cannot read {}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (path, name) = (entry.path(), entry.file_name());
        if !path.is_dir() {
            files.push(path);
        } else if name != "target" && !name.to_string_lossy().starts_with('.') {
            files.extend(self::files(&path)?);
        }
    }
    files.sort();
    Ok(files)
}
