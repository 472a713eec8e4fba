//! One shared object from the objects of the kernels.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use object::{Object as _, ObjectSymbol as _};

use super::Object;

/// Functions that generated code may call: LLVM makes these of loops that copy and fill.
const RUNTIME_SYMBOLS: [&str; 3] = ["memcpy", "memmove", "memset"];

/// Why objects did not become a shared object.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// There is no linker.
    #[error(
        "no ld.lld: not in WEFT_LLD, not beside LLVM, not in PATH\n  help: install lld-22, or set WEFT_LLD to the linker"
    )]
    NoLinker,
    /// A temporary file could not be handled.
    #[error("linking: {doing}: {source}")]
    File {
        /// The action that failed.
        doing: String,
        /// Why not.
        source: io::Error,
    },
    /// The linker said no.
    #[error("{linker} failed: {message}")]
    Linker {
        /// Which.
        linker: PathBuf,
        /// The linker's output.
        message: String,
    },
    /// Code calls something that nothing provides.
    #[error("kernel {kernel} calls {symbol}, which nothing provides")]
    Undefined {
        /// The missing symbol.
        symbol: String,
        /// The kernel that calls it.
        kernel: String,
    },
    /// An object is no ELF file.
    #[error("the code of {kernel} cannot be read: {source}")]
    Malformed {
        /// The kernel.
        kernel: String,
        /// Why.
        source: object::Error,
    },
}

/// Links objects, in their order, into a shared object.
///
/// # Errors
/// When there is no linker, it fails, or a kernel calls what nothing provides.
pub fn link(objects: &[Object]) -> Result<Vec<u8>, LinkError> {
    check_symbols(objects)?;
    let folder = tempfile::tempdir().map_err(file("making a temporary folder"))?;
    let mut command = Command::new(linker().ok_or(LinkError::NoLinker)?);
    // File names are numbers: nothing of a path may reach the output.
    command.current_dir(folder.path()).args([
        "-shared",
        "-nostdlib",
        "--build-id=none",
        "-Bsymbolic",
    ]);
    command.args(["-z", "noexecstack", "-z", "now", "--hash-style=gnu", "-o", "kernels.so"]);
    for (number, object) in objects.iter().enumerate() {
        let name = format!("{number}.o");
        fs::write(folder.path().join(&name), &object.bytes).map_err(file("writing an object"))?;
        command.arg(name);
    }
    let linker = PathBuf::from(command.get_program());
    let done = command.output().map_err(file("starting the linker"))?;
    if !done.status.success() {
        let message = String::from_utf8_lossy(&done.stderr).trim().to_owned();
        return Err(LinkError::Linker { linker, message });
    }
    fs::read(folder.path().join("kernels.so")).map_err(file("reading the shared object"))
}

/// Refuses objects that need anything but each other and the runtime's symbols.
fn check_symbols(objects: &[Object]) -> Result<(), LinkError> {
    let defined: Vec<&str> = objects.iter().map(|object| object.symbol.as_str()).collect();
    for Object { symbol: kernel, bytes } in objects {
        let elf = object::File::parse(bytes.as_slice())
            .map_err(|source| LinkError::Malformed { kernel: kernel.clone(), source })?;
        let missing = elf
            .symbols()
            .filter(|symbol| symbol.is_undefined())
            .filter_map(|symbol| symbol.name().ok())
            .find(|name| {
                !name.is_empty() && !RUNTIME_SYMBOLS.contains(name) && !defined.contains(name)
            });
        if let Some(symbol) = missing {
            return Err(LinkError::Undefined { symbol: symbol.to_owned(), kernel: kernel.clone() });
        }
    }
    Ok(())
}

fn file(doing: &str) -> impl Fn(io::Error) -> LinkError {
    move |source| LinkError::File { doing: doing.to_owned(), source }
}

/// `WEFT_LLD`, the linker beside LLVM, or the one in `PATH`.
pub fn linker() -> Option<PathBuf> {
    if let Some(chosen) = env::var_os("WEFT_LLD") {
        return Some(chosen.into());
    }
    let prefixes = ["LLVM_SYS_221_PREFIX", "MLIR_SYS_220_PREFIX"].map(env::var_os);
    let beside = prefixes.into_iter().flatten().map(|prefix| Path::new(&prefix).join("bin"));
    // The path on Debian.
    let packaged = std::iter::once(PathBuf::from("/usr/lib/llvm-22/bin"));
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = beside.chain(packaged).chain(env::split_paths(&path));
    folders
        .flat_map(|folder| ["ld.lld", "ld.lld-22"].map(|name| folder.join(name)))
        .find(|linker| linker.is_file())
}
