//! All kernels as one module: one text, or one object.
//!
//! Drivers load a module at a time, and its head, its metadata, stands in it once.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::targets::FileType;
use weft_runtime::gpu::LAUNCHES;

use super::super::CodegenError;
use super::super::compile::Object;
use super::super::native::Backend;
use super::super::target::Target;

/// The end of the head of PTX.
const HEAD_END: &str = ".address_size 64\n";

/// Texts of PTX for one target as one text.
///
/// # Errors
/// A text without the head that LLVM writes.
pub fn joined(texts: &[String]) -> Result<String, CodegenError> {
    let (mut head, mut bodies) = ("", String::new());
    for text in texts {
        let headless = || failed(format!("PTX whose head does not end in {HEAD_END:?}"));
        let (own, body) = text.split_once(HEAD_END).ok_or_else(headless)?;
        head = own;
        bodies.push_str(body);
    }
    Ok(format!("{head}{HEAD_END}{bodies}"))
}

/// The assembly of kernels, each optimised bitcode.
///
/// # Errors
/// LLVM's.
pub fn text(kernels: &[Vec<u8>], target: &Target) -> Result<String, CodegenError> {
    let bytes = emit(kernels, "", target, FileType::Assembly).map_err(failed)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// An ELF object of kernels, each optimised bitcode.
///
/// `launches`, comments about how they are launched, go into a section of their own, which is not
/// loaded.
///
/// # Errors
/// LLVM's.
pub fn object(
    kernels: &[Vec<u8>],
    launches: &str,
    target: &Target,
) -> Result<Object, CodegenError> {
    let bytes = emit(kernels, launches, target, FileType::Object).map_err(failed)?;
    Ok(Object { symbol: String::new(), bytes })
}

fn failed(message: String) -> CodegenError {
    CodegenError::Llvm { kernel: "(all)".to_owned(), message }
}

fn emit(
    kernels: &[Vec<u8>],
    launches: &str,
    target: &Target,
    kind: FileType,
) -> Result<Vec<u8>, String> {
    let backend = Backend::new(target)?;
    let context = Context::create();
    let whole = context.create_module("kernels");
    backend.prepare(&whole);
    for kernel in kernels {
        let buffer = MemoryBuffer::create_from_memory_range_copy(kernel, "kernel");
        let module = Module::parse_bitcode_from_buffer(&buffer, &context)
            .map_err(|error| error.to_string())?;
        whole.link_in_module(module).map_err(|error| error.to_string())?;
    }
    if !launches.is_empty() {
        whole.set_inline_assembly(&section(launches));
    }
    backend.emit(&whole, "(all)", kind)
}

/// Assembly of a section that holds a text.
fn section(text: &str) -> String {
    let bytes: Vec<String> = text.bytes().map(|byte| byte.to_string()).collect();
    let lines: String = bytes.chunks(64).map(|row| format!(".byte {}\n", row.join(","))).collect();
    format!(".pushsection {LAUNCHES},\"\",@progbits\n{lines}.popsection\n")
}
