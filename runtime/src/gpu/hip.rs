//! AMD's driver, by the functions of HIP's library that are looked for when a model is loaded.
//!
//! Signatures are those of `hip_runtime_api.h`, which ROCm 5.5 to 7 have alike.

use std::error::Error as _;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;

use libloading::Library;

use super::GpuError;
use super::driver::{Driver, Grid, Handle, places};
use super::tensor::{Descriptor, Parameter, Tensor};

/// Its name, for people.
const NAME: &str = "HIP";

/// The library's names: the last one is that of the package for developers.
const LIBRARIES: [&str; 4] =
    ["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"];

/// `hipMemcpyHostToDevice`.
const TO_DEVICE: c_uint = 1;
/// `hipMemcpyDeviceToHost`.
const TO_HOST: c_uint = 2;
/// `hipStreamCaptureModeThreadLocal`.
const OF_THIS_THREAD: c_uint = 1;
/// The first device's number.
const FIRST: c_int = 0;

/// `hipError_t`, where 0 is success.
type Status = c_int;
type Pointer = *mut c_void;

/// Functions of a library, each by its symbol.
macro_rules! functions {
    ($($field:ident: $symbol:literal ($($argument:ty),*) -> $result:ty;)*) => {
        struct Functions {
            $($field: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl Functions {
            /// # Safety
            ///
            /// The library is HIP's; it is open as long as the functions are called.
            unsafe fn of(library: &Library) -> Result<Functions, GpuError> {
                Ok(Functions {
                    // SAFETY: the symbol is a function of this signature.
                    $($field: *unsafe { library.get($symbol) }.map_err(|error| {
                        let reason = error.to_string();
                        GpuError::Symbol { driver: NAME, symbol: $symbol, reason }
                    })?,)*
                })
            }
        }
    };
}

functions! {
    init: "hipInit"(c_uint) -> Status;
    set_device: "hipSetDevice"(c_int) -> Status;
    device_name: "hipDeviceGetName"(*mut c_char, c_int, c_int) -> Status;
    error_name: "hipGetErrorName"(Status) -> *const c_char;
    finish: "hipDeviceSynchronize"() -> Status;
    allocate: "hipMalloc"(*mut Pointer, usize) -> Status;
    free: "hipFree"(Pointer) -> Status;
    copy: "hipMemcpy"(Pointer, *const c_void, usize, c_uint) -> Status;
    clear: "hipMemsetAsync"(Pointer, c_int, usize, Pointer) -> Status;
    stream: "hipStreamCreate"(*mut Pointer) -> Status;
    end_stream: "hipStreamDestroy"(Pointer) -> Status;
    begin_record: "hipStreamBeginCapture"(Pointer, c_uint) -> Status;
    end_record: "hipStreamEndCapture"(Pointer, *mut Pointer) -> Status;
    prepare: "hipGraphInstantiate"(*mut Pointer, Pointer, *mut Pointer, *mut c_char, usize) -> Status;
    end_recorded: "hipGraphDestroy"(Pointer) -> Status;
    replay: "hipGraphLaunch"(Pointer, Pointer) -> Status;
    end_graph: "hipGraphExecDestroy"(Pointer) -> Status;
    load: "hipModuleLoadData"(*mut Pointer, *const c_void) -> Status;
    unload: "hipModuleUnload"(Pointer) -> Status;
    function: "hipModuleGetFunction"(*mut Pointer, Pointer, *const c_char) -> Status;
    launch: "hipModuleLaunchKernel"(
        Pointer, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Pointer, *mut Pointer,
        *mut Pointer
    ) -> Status;
    launch_together: "hipModuleLaunchCooperativeKernel"(
        Pointer, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Pointer, *mut Pointer
    ) -> Status;
    event: "hipEventCreate"(*mut Pointer) -> Status;
    record_event: "hipEventRecord"(Pointer, Pointer) -> Status;
    between: "hipEventElapsedTime"(*mut f32, Pointer, Pointer) -> Status;
    end_event: "hipEventDestroy"(Pointer) -> Status;
}

/// The library's functions. It is never closed: it has threads of its own.
static FUNCTIONS: OnceLock<Functions> = OnceLock::new();

/// The functions, of the library that is opened when they are first asked for.
fn functions() -> Result<&'static Functions, GpuError> {
    if let Some(known) = FUNCTIONS.get() {
        return Ok(known);
    }
    let library = open()?;
    // SAFETY: the library of that name is HIP's, and stays open.
    let found = unsafe { Functions::of(&library)? };
    std::mem::forget(library);
    Ok(FUNCTIONS.get_or_init(|| found))
}

/// The first library that is there.
fn open() -> Result<Library, GpuError> {
    for library in LIBRARIES {
        // SAFETY: loading the driver's library runs its initialisers, as every use of it does.
        match unsafe { Library::new(library) } {
            Ok(found) => return Ok(found),
            Err(error) => {
                let reason = error.source().map_or(error.to_string(), ToString::to_string);
                // One that is there and needs another that is not begins with the name of that.
                if !reason.starts_with(&format!("{library}: cannot open")) {
                    return Err(GpuError::Library { driver: NAME, library, reason });
                }
            }
        }
    }
    Err(GpuError::NoDriver { driver: NAME, library: LIBRARIES[LIBRARIES.len() - 1] })
}

/// The first device.
pub struct Hip {
    own: &'static Functions,
}

impl Hip {
    /// Opens the first device, and makes it current in this thread.
    pub fn open() -> Result<Hip, GpuError> {
        let hip = Hip { own: functions()? };
        // SAFETY: what every use begins with.
        hip.said("open the first device", unsafe { (hip.own.init)(0) })?;
        hip.enter()?;
        Ok(hip)
    }

    fn said(&self, doing: &str, status: Status) -> Result<(), GpuError> {
        if status == 0 {
            return Ok(());
        }
        let (driver, doing) = (NAME, doing.to_owned());
        Err(GpuError::Driver { driver, doing, code: self.name(status) })
    }

    /// What a call writes to a place that it is given.
    fn made(
        &self,
        doing: &str,
        call: impl FnOnce(*mut Pointer) -> Status,
    ) -> Result<Pointer, GpuError> {
        let mut made = null_mut();
        self.said(doing, call(&raw mut made))?;
        Ok(made)
    }

    /// `hipErrorOutOfMemory`, as the driver calls it.
    fn name(&self, status: Status) -> String {
        // SAFETY: any number is accepted.
        let name = unsafe { (self.own.error_name)(status) };
        if name.is_null() {
            return format!("error {status}");
        }
        // SAFETY: a text that lives as long as the library.
        unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
    }

    /// What the device is called.
    fn device(&self) -> String {
        let mut name = [0u8; 256];
        // SAFETY: a buffer of that size.
        let status =
            unsafe { (self.own.device_name)(name.as_mut_ptr().cast(), name.len() as c_int, FIRST) };
        let text = CStr::from_bytes_until_nul(&name).map(CStr::to_string_lossy);
        text.ok().filter(|_| status == 0).map_or_else(|| "unknown".to_owned(), Into::into)
    }
}

fn pointer(at: u64) -> Pointer {
    at as usize as Pointer
}

impl Driver for Hip {
    fn enter(&self) -> Result<(), GpuError> {
        // SAFETY: a device of that number, or an error.
        self.said("use the first device", unsafe { (self.own.set_device)(FIRST) })
    }

    fn finish(&self) -> Result<(), GpuError> {
        // SAFETY: a device is current.
        self.said("run the model", unsafe { (self.own.finish)() })
    }

    fn allocate(&self, bytes: u64) -> Result<u64, GpuError> {
        let doing = format!("get {bytes} bytes of memory");
        // SAFETY: given back by the owner.
        let at = self.made(&doing, |at| unsafe { (self.own.allocate)(at, bytes as usize) })?;
        Ok(at as usize as u64)
    }

    unsafe fn free(&self, at: u64) {
        // SAFETY: the caller's word. A failure leaves nothing to mend, here and below.
        let _ = unsafe { (self.own.free)(pointer(at)) };
    }

    unsafe fn write(&self, at: u64, bytes: &[u8]) -> Result<(), GpuError> {
        let from = bytes.as_ptr().cast();
        // SAFETY: the caller's word.
        let status = unsafe { (self.own.copy)(pointer(at), from, bytes.len(), TO_DEVICE) };
        self.said("copy to the device", status)
    }

    unsafe fn read(&self, at: u64, bytes: &mut [u8]) -> Result<(), GpuError> {
        let to = bytes.as_mut_ptr().cast();
        // SAFETY: the caller's word.
        let status = unsafe { (self.own.copy)(to, pointer(at), bytes.len(), TO_HOST) };
        self.said("copy from the device", status)
    }

    unsafe fn clear(&self, at: u64, bytes: u64, stream: Handle) -> Result<(), GpuError> {
        // SAFETY: the caller's word.
        let status = unsafe { (self.own.clear)(pointer(at), 0, bytes as usize, stream.0) };
        self.said("clear memory", status)
    }

    fn stream(&self) -> Result<Handle, GpuError> {
        // SAFETY: given back by the owner.
        self.made("make a stream", |stream| unsafe { (self.own.stream)(stream) }).map(Handle)
    }

    unsafe fn end_stream(&self, stream: Handle) {
        // SAFETY: the caller's word.
        let _ = unsafe { (self.own.end_stream)(stream.0) };
    }

    /// `hipModuleLaunchCooperativeKernel` does not look for a recording: it runs, and says success.
    fn records_together(&self) -> bool {
        false
    }

    unsafe fn begin_record(&self, stream: Handle) -> Result<(), GpuError> {
        // SAFETY: the caller's word.
        let status = unsafe { (self.own.begin_record)(stream.0, OF_THIS_THREAD) };
        self.said("record launches", status)
    }

    unsafe fn end_record(&self, stream: Handle) -> Result<Handle, GpuError> {
        // SAFETY: the caller's word.
        let recorded = self
            .made("record launches", |graph| unsafe { (self.own.end_record)(stream.0, graph) })?;
        // SAFETY: the graph was recorded; what can be launched does not need it any more.
        let ready = self.made("prepare recorded launches", |graph| unsafe {
            (self.own.prepare)(graph, recorded, null_mut(), null_mut(), 0)
        });
        // SAFETY: as above.
        let _ = unsafe { (self.own.end_recorded)(recorded) };
        ready.map(Handle)
    }

    unsafe fn replay(&self, graph: Handle, stream: Handle) -> Result<(), GpuError> {
        // SAFETY: the caller's word.
        self.said("launch recorded kernels", unsafe { (self.own.replay)(graph.0, stream.0) })
    }

    unsafe fn end_graph(&self, graph: Handle) {
        // SAFETY: the caller's word.
        let _ = unsafe { (self.own.end_graph)(graph.0) };
    }

    unsafe fn load(&self, code: &[u8]) -> Result<Handle, GpuError> {
        let mut module = null_mut();
        // SAFETY: the caller's word.
        let status = unsafe { (self.own.load)(&raw mut module, code.as_ptr().cast()) };
        if status == 0 {
            return Ok(Handle(module));
        }
        let log = format!("the device at hand is called `{}`", self.device());
        Err(GpuError::Rejected { code: self.name(status), log })
    }

    unsafe fn unload(&self, code: Handle) {
        // SAFETY: the caller's word.
        let _ = unsafe { (self.own.unload)(code.0) };
    }

    /// Shared memory is not asked for: a block has what its kernel's code says.
    unsafe fn function(&self, code: Handle, symbol: &str, _bytes: u32) -> Result<Handle, GpuError> {
        let doing = format!("find the kernel `{symbol}` in the code");
        let name = CString::new(symbol).unwrap_or_default();
        let found = self.made(&doing, |function| {
            // SAFETY: the caller's word, and a text that ends in NUL.
            unsafe { (self.own.function)(function, code.0, name.as_ptr()) }
        });
        found.map(Handle)
    }

    /// All threads of a launch are counted in 32 bits.
    fn most_blocks(&self, threads: u32) -> u32 {
        (u32::MAX / threads.max(1)).min(i32::MAX as u32)
    }

    fn describe(&self, tensor: &Tensor, _at: u64) -> Result<Descriptor, GpuError> {
        let doing = format!("describe a tensor of {:?}", tensor.extents);
        Err(GpuError::Driver {
            driver: NAME,
            doing,
            code: "that no device of its has such an engine".to_owned(),
        })
    }

    unsafe fn launch(
        &self,
        function: Handle,
        grid: Grid,
        together: bool,
        parameters: &mut [Parameter],
        stream: Handle,
    ) -> Result<(), GpuError> {
        let Grid { blocks, threads, shared_bytes } = grid;
        let (f, s, own) = (function.0, stream.0, self.own);
        let mut places = places(parameters);
        let at = places.as_mut_ptr();
        // SAFETY: the driver copies the parameters before it returns; the rest is the caller's word.
        let status = unsafe {
            if together {
                (own.launch_together)(f, blocks, 1, 1, threads, 1, 1, shared_bytes, s, at)
            } else {
                (own.launch)(f, blocks, 1, 1, threads, 1, 1, shared_bytes, s, at, null_mut())
            }
        };
        self.said(&grid.doing(together), status)
    }

    unsafe fn moment(&self, stream: Handle) -> Result<Handle, GpuError> {
        // SAFETY: given back by the owner.
        let event = self.made("make an event", |event| unsafe { (self.own.event)(event) })?;
        // SAFETY: the event was made, the stream is the caller's word.
        let status = unsafe { (self.own.record_event)(event, stream.0) };
        self.said("record an event", status).inspect_err(|_| {
            // SAFETY: made above, and nobody else has it.
            unsafe { self.end_moment(Handle(event)) }
        })?;
        Ok(Handle(event))
    }

    unsafe fn between(&self, earlier: Handle, later: Handle) -> Result<f64, GpuError> {
        let mut time_ms = 0f32;
        // SAFETY: the caller's word.
        let status = unsafe { (self.own.between)(&raw mut time_ms, earlier.0, later.0) };
        self.said("read an event", status)?;
        Ok(f64::from(time_ms))
    }

    unsafe fn end_moment(&self, moment: Handle) {
        // SAFETY: the caller's word.
        let _ = unsafe { (self.own.end_event)(moment.0) };
    }
}
