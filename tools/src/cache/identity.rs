//! The identity of the compiler: artifacts of another compiler, library or linker are not used.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use object::Object as _;
use object::read::ReadCache;

/// The compiler, the libraries that make its code, and the linker, each by what its own linker
/// wrote into it; `None` if it has none.
pub(super) fn inputs() -> Option<Vec<(String, String)>> {
    let program = build_of(&std::env::current_exe().ok()?)?;
    let libraries = libraries().iter().map(|path| build_of(path)).collect::<Option<Vec<_>>>()?;
    let linker = weft_passes::codegen::linker();
    let linker = linker.map_or_else(|| Some("none".to_owned()), |path| build_of(&path))?;
    Some(vec![
        ("weft".to_owned(), format!("{} {program}", env!("CARGO_PKG_VERSION"))),
        ("LLVM".to_owned(), libraries.join(" ")),
        ("the linker".to_owned(), linker),
    ])
}

/// The libraries of LLVM and MLIR that this process has loaded.
fn libraries() -> BTreeSet<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let paths = maps.lines().filter_map(|line| line.find('/').map(|at| Path::new(&line[at..])));
    let ours = |path: &&Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        ["libLLVM", "libMLIR", "liblld"].iter().any(|begin| name.starts_with(begin))
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
