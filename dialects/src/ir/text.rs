//! Strings to and from MLIR.

use mlir_sys::MlirStringRef;
use std::ffi::c_void;

/// Lends a string to MLIR, which copies what it keeps.
pub(crate) fn string_ref(text: &str) -> MlirStringRef {
    MlirStringRef { data: text.as_ptr().cast(), length: text.len() }
}

/// A string that MLIR owns.
///
/// # Safety
/// The bytes of `text` must live for `'a`.
pub(crate) unsafe fn text_of<'a>(text: MlirStringRef) -> &'a str {
    if text.length == 0 {
        return "";
    }
    // SAFETY: the caller says it lives; MLIR's names are UTF-8, others become empty.
    let bytes = unsafe { std::slice::from_raw_parts(text.data.cast::<u8>(), text.length) };
    std::str::from_utf8(bytes).unwrap_or("")
}

/// Appends what MLIR prints to the `String` behind `user`.
///
/// # Safety
/// `user` points to a live `String` that nobody else uses.
pub(crate) unsafe extern "C" fn collect(text: MlirStringRef, user: *mut c_void) {
    // SAFETY: see above.
    let (string, bytes) = unsafe {
        (
            &mut *user.cast::<String>(),
            std::slice::from_raw_parts(text.data.cast::<u8>(), text.length),
        )
    };
    string.push_str(&String::from_utf8_lossy(bytes));
}
