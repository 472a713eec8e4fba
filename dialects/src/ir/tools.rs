//! Upstream's tools with our dialects.

use std::ffi::{CString, c_char, c_int};

use super::shim;

type Main = unsafe extern "C" fn(c_int, *mut *mut c_char) -> c_int;

fn call(main: Main) -> i32 {
    super::install_verifiers();
    let arguments: Vec<CString> = std::env::args()
        .map(|argument| CString::new(argument).expect("the system gives arguments without NUL"))
        .collect();
    let mut pointers: Vec<*mut c_char> =
        arguments.iter().map(|argument| argument.as_ptr().cast_mut()).collect();
    let count = pointers.len() as c_int;
    pointers.push(std::ptr::null_mut());
    // SAFETY: argc and argv are as C wants them and outlive the call.
    unsafe { main(count, pointers.as_mut_ptr()) }
}

/// Runs `mlir-opt`'s main function with the process's arguments.
pub fn opt() -> i32 {
    call(shim::weftOptMain)
}

/// Runs `mlir-lsp-server`'s main function with the process's arguments.
pub fn lsp_server() -> i32 {
    call(shim::weftLspServerMain)
}

/// Runs `mlir-reduce`'s main function with the process's arguments.
pub fn reduce() -> i32 {
    call(shim::weftReduceMain)
}
