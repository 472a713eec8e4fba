//! LLVM's linker of ELF files, and LLVM's options, which it forgets.

use std::ffi::{CStr, CString, c_char};
use std::sync::{OnceLock, PoisonError, RwLock, RwLockReadGuard};

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

/// The options of all that makes code.
static WORDS: OnceLock<Vec<&'static CStr>> = OnceLock::new();

/// Sets LLVM's options for all that makes code in this process, from the first call on.
pub fn set_options(words: &[&'static CStr]) {
    WORDS.get_or_init(|| {
        set(words, false);
        words.to_vec()
    });
}

fn set(words: &[&CStr], anew: bool) {
    let words: Vec<*const c_char> = words.iter().map(|word| word.as_ptr()).collect();
    // SAFETY: the words outlive the call. Nothing makes code meanwhile: it asks for its options first, or the linker's lock is
    // held.
    unsafe { shim::weftSetOptions(words.len(), words.as_ptr(), anew) }
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
    // It has put all options back.
    if let Some(words) = WORDS.get() {
        set(words, true);
    }
    if linked { Ok(()) } else { Err(said.trim().to_owned()) }
}
