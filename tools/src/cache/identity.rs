//! The identity of the compiler: artifacts of another compiler or library are not used.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use object::Object as _;
use object::read::ReadCache;

/// The compiler and the libraries that make and link its code, each by what its own linker
/// wrote into it; `None` if it has none.
pub(super) fn inputs() -> Option<Vec<(String, String)>> {
    let program = build_of(&std::env::current_exe().ok()?)?;
    let libraries = libraries().iter().map(|path| build_of(path)).collect::<Option<Vec<_>>>()?;
    Some(vec![
        ("weft".to_owned(), format!("{} {program}", env!("CARGO_PKG_VERSION"))),
        ("LLVM".to_owned(), libraries.join(" ")),
    ])
}

/// The libraries of LLVM and MLIR that this process has loaded.
fn libraries() -> BTreeSet<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let paths = maps.lines().filter_map(|line| line.find('/').map(|at| Path::new(&line[at..])));
    let ours = |path: &&Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        ["libLLVM", "libMLIR"].iter().any(|begin| name.starts_with(begin))
    };
    paths.filter(ours).map(Path::to_owned).collect()
}

/// The build id of an ELF file, else the hash of the whole file.
fn build_of(path: &Path) -> Option<String> {
    let cache = ReadCache::new(File::open(path).ok()?);
    let file = object::File::parse(&cache).ok();
    match file.and_then(|file| file.build_id().ok().flatten()) {
        Some(id) => Some(id.iter().map(|byte| format!("{byte:02x}")).collect()),
        None => super::store::hash_file(path).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What our library does not export would be found in Debian's, and a process would have two
    /// LLVMs.
    #[test]
    fn one_library_holds_mlir_and_llvm() {
        let _context = weft_dialects::ir::context();
        let names: Vec<_> =
            libraries().iter().filter_map(|path| Some(path.file_name()?.to_owned())).collect();
        assert_eq!(names, ["libMLIR-C.so"]);
    }
}
