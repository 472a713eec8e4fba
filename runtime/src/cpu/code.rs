//! The artifact's code in this process: an ELF shared object, loaded from memory.

use std::ffi::{CStr, CString, c_void};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd};

use super::CpuError;

/// Runs rTasks `begin..end` on the operand buffers. Compiled kernels return; that others may unwind
/// costs a call nothing, and is how a worker learns that one failed.
pub type KernelFn = unsafe extern "C-unwind" fn(buffers: *const *mut u8, begin: i64, end: i64);

/// A loaded shared object; functions taken from it are valid for as long as it lives.
pub struct Code {
    handle: *mut c_void,
    /// Kept open: its number is part of the name the loader knows the object by, and an equal
    /// name would make the loader return this object for another one.
    _file: File,
}

// SAFETY: the handle is only looked up in and closed, both of which the loader synchronises.
unsafe impl Send for Code {}
// SAFETY: as above.
unsafe impl Sync for Code {}

impl Code {
    /// Loads the bytes of a shared object. Every symbol it needs is resolved now.
    pub fn load(elf: &[u8]) -> Result<Code, CpuError> {
        let system = |what| move |source| CpuError::System { what, source };
        // SAFETY: the name is a valid C string.
        let fd = unsafe { libc::memfd_create(c"weft".as_ptr(), libc::MFD_CLOEXEC) };
        if fd < 0 {
            return Err(system("create memory for the code")(io::Error::last_os_error()));
        }
        // SAFETY: the descriptor is new and has no other owner.
        let mut file = unsafe { File::from_raw_fd(fd) };
        file.write_all(elf).map_err(system("write the code to memory"))?;
        let path = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap_or_default();
        // SAFETY: loading runs the object's initialisers, as running its kernels later does: an
        // artifact is code, and who loads it trusts it. Its checksum was compared before.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err(CpuError::Code(loader_message()));
        }
        Ok(Code { handle, _file: file })
    }

    /// The kernel of that name.
    pub fn kernel(&self, symbol: &str) -> Result<KernelFn, CpuError> {
        let missing = || CpuError::Symbol { symbol: symbol.to_owned() };
        let name = CString::new(symbol).map_err(|_| missing())?;
        // SAFETY: the handle is open and the name a valid C string.
        let address = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        if address.is_null() {
            return Err(missing());
        }
        // SAFETY: a plan's kernels have this signature; the compiler that wrote the plan also
        // wrote the code.
        Ok(unsafe { std::mem::transmute::<*mut c_void, KernelFn>(address) })
    }
}

/// Loads a shared object and runs the first rTask of a kernel on buffers of the sizes that
/// it was compiled for, which it reads and writes.
///
/// Loads and runs code. As with an artifact, the caller has to trust it.
///
/// # Errors
/// An object that cannot be loaded, or has no such kernel.
pub fn run_once(elf: &[u8], kernel: &str, buffers: &mut [Vec<u8>]) -> Result<(), CpuError> {
    let code = Code::load(elf)?;
    let run = code.kernel(kernel)?;
    let places: Vec<*mut u8> = buffers.iter_mut().map(|buffer| buffer.as_mut_ptr()).collect();
    // SAFETY: the code was compiled for buffers of these sizes, which outlive the call.
    unsafe { run(places.as_ptr(), 0, 1) };
    Ok(())
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the handle is open, and no function taken from it outlives this value.
        unsafe { libc::dlclose(self.handle) };
    }
}

fn loader_message() -> String {
    // SAFETY: dlerror returns null or a C string that lives until the next call on this thread.
    unsafe {
        let message = libc::dlerror();
        if message.is_null() {
            return "no reason given".to_owned();
        }
        CStr::from_ptr(message).to_string_lossy().into_owned()
    }
}
