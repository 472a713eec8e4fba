//! Contexts that know our dialects, and text that becomes modules.

use melior::Context;
use melior::dialect::DialectRegistry;
use melior::ir::Module;
use melior::utility::{register_all_dialects, register_all_llvm_translations};
use mlir_sys::*;
use std::sync::Once;

use super::shim;
use super::text::{string_ref, text_of};

/// The deepest nesting of brackets that is accepted in text from outside, as MLIR's parser
/// recurses.
const DEPTH: usize = 256;

/// The dialects whose operations passes build. Others are loaded when text names them, or by the
/// upstream pass that builds in them: every thread that compiles has a context, and waits for it.
const PASSES_BUILD: [&str; 16] = [
    "affine", "arith", "device", "func", "graph", "irdl", "linalg", "llvm", "math", "memref",
    "nvvm", "scf", "task", "tensor", "tile", "vector",
];

/// A context with weft's and upstream's dialects.
pub fn context() -> Context {
    install_verifiers();
    let registry = DialectRegistry::new();
    register_all_dialects(&registry);
    // SAFETY: the registry lives; our dialects are added to it.
    unsafe { shim::weftRegisterDialects(registry.to_raw()) };
    let context = Context::new();
    context.append_dialect_registry(&registry);
    for dialect in PASSES_BUILD {
        context.get_or_load_dialect(dialect);
    }
    register_all_llvm_translations(&context);
    context
}

/// Returns a number that is unique among live contexts.
pub(crate) fn id_of(context: &Context) -> usize {
    context.to_raw().ptr as usize
}

/// Installs the Rust verifiers, once for the process.
pub fn install_verifiers() {
    static ONCE: Once = Once::new();
    // SAFETY: the callbacks catch panics and live as long as the process.
    ONCE.call_once(|| unsafe {
        shim::weftSetVerifier(verify);
        shim::weftSetDepthCheck(nests_not_too_deep);
    });
}

unsafe extern "C" fn nests_not_too_deep(text: MlirStringRef, place: *mut usize) -> bool {
    // SAFETY: the text outlives the call.
    match check_depth(unsafe { text_of(text) }) {
        // SAFETY: the caller has space for the line.
        Err(ParseError::TooDeep { line }) => unsafe {
            *place = line;
            false
        },
        _ => true,
    }
}

unsafe extern "C" fn verify(op: MlirOperation) -> bool {
    let op = super::handle::Op::new(op);
    match std::panic::catch_unwind(|| crate::verify::verify(op)) {
        Ok(good) => good,
        Err(_) => {
            super::diag::Report::new(
                op.location(),
                format!("weft's verifier of {} failed; please report this", op.name()),
            );
            false
        }
    }
}

/// Why text did not become a module.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    /// Brackets nest too deep for MLIR's parser.
    #[error("line {line}: brackets nest deeper than {DEPTH}")]
    TooDeep {
        /// Line of the bracket, from one.
        line: usize,
    },
    /// MLIR reported what is wrong.
    #[error("this is not a valid module")]
    Invalid,
}

/// A module from text or bytecode; dialects that it declares itself, by `irdl.dialect`,
/// become dialects of the context.
///
/// # Errors
/// Diagnostics go to the context's handlers first.
pub fn parse<'c>(context: &'c Context, text: &str) -> Result<Module<'c>, ParseError> {
    check_depth(text)?;
    // Its own operations are known before they are read.
    if text.contains("irdl.dialect") {
        // SAFETY: the context lives, the text outlives the call.
        let known = unsafe { shim::weftLoadVendorDialects(context.to_raw(), string_ref(text)) };
        if !known {
            return Err(ParseError::Invalid);
        }
    }
    Module::parse(context, text).ok_or(ParseError::Invalid)
}

/// Refuses text whose brackets nest so deep that the parser's stack would overflow.
pub fn check_depth(text: &str) -> Result<(), ParseError> {
    let (mut depth, mut line) = (0usize, 1usize);
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\n' => line += 1,
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            // `->` closes nothing.
            b'-' if bytes.peek() == Some(&b'>') => {
                bytes.next();
            }
            b'>' => depth = depth.saturating_sub(1),
            b'"' => {
                while let Some(byte) = bytes.next() {
                    match byte {
                        b'\\' => {
                            bytes.next();
                        }
                        b'"' => break,
                        b'\n' => line += 1,
                        _ => {}
                    }
                }
            }
            b'/' if bytes.peek() == Some(&b'/') => {
                for byte in bytes.by_ref() {
                    if byte == b'\n' {
                        line += 1;
                        break;
                    }
                }
            }
            _ => {}
        }
        if depth > DEPTH {
            return Err(ParseError::TooDeep { line });
        }
    }
    Ok(())
}
