//! Errors between a device program and its object code.

use weft_dialects::ir::ParseError;

/// Why kernels did not become native code.
#[derive(Debug, thiserror::Error)]
pub enum CodegenError {
    /// The machine is of an architecture that LLVM here has no code for.
    #[error(
        "LLVM has no code for the architecture {0:?}, only for `x86-64`, `sm_...` and `gfx...`, as `weft devices` lists them; --emit asm lists the machine's own"
    )]
    Architecture(String),
    /// The machine has no code of this form.
    #[error("a machine of the architecture {arch:?} has no {form}")]
    Form {
        /// The architecture.
        arch: String,
        /// The form that was asked for.
        form: &'static str,
    },
    /// A stage refused the kernel.
    #[error("kernel {kernel}: {stage} failed\n  {message}")]
    Stage {
        /// The kernel.
        kernel: String,
        /// The stage that refused it.
        stage: &'static str,
        /// Why: its diagnostics, a line each.
        message: String,
    },
    /// The text of a kernel did not parse in the worker.
    #[error("kernel {kernel}: {source}")]
    Parse {
        /// The kernel.
        kernel: String,
        /// Why.
        source: ParseError,
    },
    /// LLVM said no.
    #[error("kernel {kernel}: LLVM: {message}")]
    Llvm {
        /// The kernel.
        kernel: String,
        /// In LLVM's words.
        message: String,
    },
}
