//! What LLVM knows of its targets and its C interface does not tell.

use std::ffi::c_void;

use super::{shim, text};

/// Returns whether LLVM has a processor of this name for a target.
///
/// # Safety
/// `machine` is an `LLVMTargetMachineRef` that lives.
pub unsafe fn knows_processor(machine: *const c_void, name: &str) -> bool {
    // SAFETY: the caller's promise; the name outlives the call.
    unsafe { shim::weftKnowsProcessor(machine, text::string_ref(name)) }
}
