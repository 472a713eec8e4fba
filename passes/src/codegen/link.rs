//! One shared object from the objects of the kernels.

use std::ffi::CString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::{fs, io};

use object::{Object as _, ObjectSymbol as _};
use weft_dialects::ir;

use super::Object;

/// Functions that generated code may call: LLVM makes these of loops that copy and fill.
const RUNTIME_SYMBOLS: [&str; 3] = ["memcpy", "memmove", "memset"];

/// Why objects did not become a shared object.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// A temporary file could not be handled.
    #[error("linking: {doing}: {source}")]
    File {
        /// The action that failed.
        doing: String,
        /// Why not.
        source: io::Error,
    },
    /// The linker said no.
    #[error("the linker failed: {message}")]
    Linker {
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

/// Links objects, in their order, into a shared object, with LLVM's linker.
///
/// # Errors
/// When it fails, or a kernel calls what nothing provides.
pub fn link(objects: &[Object]) -> Result<Vec<u8>, LinkError> {
    check_symbols(objects)?;
    let folder = tempfile::tempdir().map_err(file("making a temporary folder"))?;
    let output = folder.path().join("kernels.so");
    // Nothing of a path reaches the output.
    let fixed = ["-shared", "-nostdlib", "--build-id=none", "-Bsymbolic", "--hash-style=gnu"];
    // Threads take longer to start than kernels to link.
    let fixed = fixed.iter().chain(&["-z", "noexecstack", "-z", "now", "--threads=1", "-o"]);
    let mut arguments: Vec<_> = fixed.map(|argument| argument.as_bytes().to_vec()).collect();
    arguments.push(output.as_os_str().as_bytes().to_vec());
    for (number, object) in objects.iter().enumerate() {
        let path = folder.path().join(format!("{number}.o"));
        fs::write(&path, &object.bytes).map_err(file("writing an object"))?;
        arguments.push(path.into_os_string().into_vec());
    }
    let arguments = arguments.into_iter().map(CString::new).collect::<Result<Vec<_>, _>>();
    let arguments = arguments.expect("the paths of a folder that was made have no NUL");
    ir::link::link(&arguments).map_err(|message| LinkError::Linker { message })?;
    fs::read(output).map_err(file("reading the shared object"))
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
