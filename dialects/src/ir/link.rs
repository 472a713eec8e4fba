//! LLVM's linker of ELF files.

use std::ffi::{CString, c_char};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use super::shim;
use super::text::collect;

/// The linker sets LLVM's options, which all that makes code reads.
static OPTIONS: RwLock<()> = RwLock::new(());

/// Keeps the linker waiting while it lives: whoever makes code with LLVM holds one meanwhile, and one
/// only, for a second could wait for a linker that waits for the first.
pub fn compiling() -> RwLockReadGuard<'static, ()> {
    // Nothing is written under the lock that a panic could leave half done.
    OPTIONS.read().unwrap_or_else(PoisonError::into_inner)
}

/// Does what `ld.lld` does with these arguments.
///
/// # Errors
/// What the linker says, where it fails.
pub fn link(arguments: &[CString]) -> Result<(), String> {
    let arguments: Vec<*const c_char> = arguments.iter().map(|text| text.as_ptr()).collect();
    let mut said = String::new();
    let _alone = OPTIONS.write().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the strings and the text outlive the call, nothing makes code meanwhile, and
    // `collect` gets the text that it wants.
    let linked = unsafe {
        let user = (&raw mut said).cast();
        shim::weftLink(arguments.len(), arguments.as_ptr(), Some(collect), user)
    };
    if linked { Ok(()) } else { Err(said.trim().to_owned()) }
}
