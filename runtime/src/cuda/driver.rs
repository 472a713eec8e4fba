//! The CUDA driver: a device, its memory, its code, launches.
//!
//! Everything that is taken from the driver is given back when its owner goes away.

use std::ffi::{CStr, CString, c_void};
use std::mem::MaybeUninit;

use cudarc::driver::{DriverError, result, sys};

use super::CudaError;

/// The first device.
pub struct Device {
    device: sys::CUdevice,
    context: sys::CUcontext,
}

// SAFETY: the driver's handles may be used by any thread in which the context is current.
unsafe impl Send for Device {}

impl Device {
    /// Opens the first device, and makes it current in this thread.
    pub fn open() -> Result<Device, CudaError> {
        // SAFETY: loading the driver's library runs its initialisers, as every use of it does.
        if !unsafe { sys::is_culib_present() } {
            return Err(CudaError::NoDriver);
        }
        let opened = || {
            result::init()?;
            let device = result::device::get(0)?;
            // SAFETY: the device exists; its context is released by `drop`.
            let context = unsafe { result::primary_ctx::retain(device)? };
            Ok(Device { device, context })
        };
        let opened: Device = opened().map_err(said("open the first device"))?;
        opened.enter()?;
        Ok(opened)
    }

    /// Makes the device current in this thread, as everything below needs it.
    pub fn enter(&self) -> Result<(), CudaError> {
        // SAFETY: the context was retained and not yet released.
        unsafe { result::ctx::set_current(self.context) }.map_err(said("use the device"))
    }

    /// Waits until everything that was launched is done.
    pub fn finish(&self) -> Result<(), CudaError> {
        result::ctx::synchronize().map_err(said("run the model"))
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: retained when this value was made; a failure leaves nothing to mend.
        let _ = unsafe { result::primary_ctx::release(self.device) };
    }
}

/// Memory of the device.
pub struct Memory {
    at: sys::CUdeviceptr,
}

impl Memory {
    /// Memory of that size; at least a byte, so that it has an address.
    pub fn new(bytes: u64) -> Result<Memory, CudaError> {
        // SAFETY: freed by `drop`.
        let made = unsafe { result::malloc_sync(bytes.max(1) as usize) };
        let at = made.map_err(said(&format!("get {bytes} bytes of memory")))?;
        Ok(Memory { at })
    }

    /// The address of a byte.
    pub fn address(&self, offset: u64) -> u64 {
        self.at + offset
    }

    /// Writes bytes from the beginning on; the memory has at least as many.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), CudaError> {
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: callers keep to the size that they asked for.
        unsafe { result::memcpy_htod_sync(self.at, bytes) }.map_err(said("copy to the device"))
    }

    /// Reads bytes from the beginning on; the memory has at least as many.
    pub fn read(&self, bytes: &mut [u8]) -> Result<(), CudaError> {
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: callers keep to the size that they asked for.
        unsafe { result::memcpy_dtoh_sync(bytes, self.at) }.map_err(said("copy from the device"))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated when this value was made, and nothing launched still uses it.
        let _ = unsafe { result::free_sync(self.at) };
    }
}

/// An order of launches.
pub struct Stream(sys::CUstream);

// SAFETY: as for `Device`.
unsafe impl Send for Stream {}

impl Stream {
    /// A stream that waits for copies to the device, and they for it.
    pub fn new() -> Result<Stream, CudaError> {
        let made = result::stream::create(result::stream::StreamKind::Default);
        made.map(Stream).map_err(said("make a stream"))
    }

    /// Sets memory to zero, in the order of launches.
    pub fn clear(&self, memory: &Memory, bytes: usize) -> Result<(), CudaError> {
        // SAFETY: callers keep to the size that they asked for, and to memory that lives until
        // the device is waited for.
        unsafe { result::memset_d8_async(memory.at, 0, bytes, self.0) }
            .map_err(said("clear memory"))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: made when this value was; the driver waits for what is still launched.
        let _ = unsafe { result::stream::destroy(self.0) };
    }
}

/// Launches that were recorded once, which the device starts without the host.
pub struct Graph(sys::CUgraphExec);

// SAFETY: as for `Device`.
unsafe impl Send for Graph {}

impl Graph {
    /// Records what `launches` launches on the stream; nothing of it runs yet.
    ///
    /// # Safety
    ///
    /// The memory that the launches use lives as long as the graph.
    pub unsafe fn record(
        stream: &Stream,
        launches: impl FnOnce() -> Result<(), CudaError>,
    ) -> Result<Graph, CudaError> {
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream is there; what begins here ends below, also after a failure.
        unsafe { result::stream::begin_capture(stream.0, mode) }
            .map_err(said("record launches"))?;
        let launched = launches();
        // SAFETY: begun above.
        let graph = unsafe { result::stream::end_capture(stream.0) };
        launched?;
        let graph = graph.map_err(said("record launches"))?;
        let flags = sys::CUgraphInstantiate_flags(0);
        // SAFETY: the graph was recorded; what can be launched does not need it any more.
        let ready = unsafe { result::graph::instantiate(graph, flags) };
        // SAFETY: as above; a failure leaves nothing to mend.
        let _ = unsafe { result::graph::destroy(graph) };
        ready.map(Graph).map_err(said("prepare recorded launches"))
    }

    /// Launches all of it.
    pub fn launch(&self, stream: &Stream) -> Result<(), CudaError> {
        // SAFETY: both are there, and `record` asked for memory that lives.
        unsafe { result::graph::launch(self.0, stream.0) }.map_err(said("launch recorded kernels"))
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: made when this value was.
        let _ = unsafe { result::graph::exec_destroy(self.0) };
    }
}

/// A kernel of some [`Code`], which has to live as long.
#[derive(Clone, Copy)]
pub struct Function(sys::CUfunction);

// SAFETY: as for `Device`.
unsafe impl Send for Function {}

/// Loaded code.
pub struct Code {
    module: sys::CUmodule,
}

// SAFETY: as for `Device`.
unsafe impl Send for Code {}

impl Code {
    /// Compiles PTX for the device at hand.
    pub fn load(ptx: &str) -> Result<Code, CudaError> {
        let text = CString::new(ptx).map_err(|_| CudaError::Rejected {
            code: "the text holds a NUL".to_owned(),
            log: String::new(),
        })?;
        let mut log = vec![0u8; 16384];
        let mut module = MaybeUninit::uninit();
        let mut options = [
            sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
            sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        let mut values = [log.as_mut_ptr().cast::<c_void>(), log.len() as *mut c_void];
        // SAFETY: the text ends in NUL; options and values go in pairs, of which the first is
        // a buffer of the size that the second one is.
        let loaded = unsafe {
            sys::cuModuleLoadDataEx(
                module.as_mut_ptr(),
                text.as_ptr().cast(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        loaded.result().map_err(|error| CudaError::Rejected {
            code: name(error),
            log: CStr::from_bytes_until_nul(&log)
                .map(|log| log.to_string_lossy().into_owned())
                .unwrap_or_default(),
        })?;
        // SAFETY: set where loading succeeded.
        Ok(Code { module: unsafe { module.assume_init() } })
    }

    /// The kernel of that name, whose blocks ask for so many bytes of shared memory.
    pub fn function(&self, symbol: &str, shared_bytes: u32) -> Result<Function, CudaError> {
        let doing = said(&format!("find the kernel `{symbol}` in the code"));
        let name = CString::new(symbol).unwrap_or_default();
        // SAFETY: the module is loaded.
        let function = unsafe { result::module::get_function(self.module, name) }.map_err(doing)?;
        if shared_bytes > 0 {
            let most = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            let bytes = i32::try_from(shared_bytes).unwrap_or(i32::MAX);
            let asked = format!("give `{symbol}` {shared_bytes} bytes of shared memory a block");
            // SAFETY: the function is there.
            unsafe { result::function::set_function_attribute(function, most, bytes) }
                .map_err(said(&asked))?;
        }
        Ok(Function(function))
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: loaded when this value was made, and nothing launched still uses it.
        let _ = unsafe { result::module::unload(self.module) };
    }
}

/// The blocks of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    pub blocks: u32,
    /// Threads of each.
    pub threads: u32,
    /// Bytes of shared memory that each asks for.
    pub shared_bytes: u32,
}

/// Launches a kernel, with parameters of 64 bits each.
///
/// # Safety
///
/// The parameters are those of the kernel: numbers, and addresses of memory that lives until
/// the device is waited for and is as large as the kernel believes.
pub unsafe fn launch(
    stream: &Stream,
    function: Function,
    grid: Grid,
    parameters: &mut [u64],
) -> Result<(), CudaError> {
    let mut pointers: Vec<*mut c_void> =
        parameters.iter_mut().map(|value| (&raw mut *value).cast()).collect();
    // SAFETY: the driver copies the parameters before it returns; the rest is the caller's word.
    let launched = unsafe {
        result::launch_kernel(
            function.0,
            (grid.blocks, 1, 1),
            (grid.threads, 1, 1),
            grid.shared_bytes,
            stream.0,
            &mut pointers,
        )
    };
    launched.map_err(said("launch a kernel"))
}

/// Launches a kernel whose blocks wait for each other; the driver refuses one whose blocks do not
/// all fit the device at once.
///
/// # Safety
///
/// As [`launch`].
pub unsafe fn launch_together(
    stream: &Stream,
    function: Function,
    grid: Grid,
    parameters: &mut [u64],
) -> Result<(), CudaError> {
    let mut pointers: Vec<*mut c_void> =
        parameters.iter_mut().map(|value| (&raw mut *value).cast()).collect();
    // SAFETY: the driver copies the parameters before it returns; the rest is the caller's word.
    let launched = unsafe {
        result::launch_cooperative_kernel(
            function.0,
            (grid.blocks, 1, 1),
            (grid.threads, 1, 1),
            grid.shared_bytes,
            stream.0,
            &mut pointers,
        )
    };
    let Grid { blocks, threads, .. } = grid;
    let what = format!("launch {blocks} blocks of {threads} threads that wait for each other");
    launched.map_err(said(&what))
}

/// A moment in the order of launches.
pub struct Moment(sys::CUevent);

impl Moment {
    /// The moment when everything launched so far is done.
    pub fn now(stream: &Stream) -> Result<Moment, CudaError> {
        let made = result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT)
            .map_err(said("make an event"))?;
        let moment = Moment(made);
        // SAFETY: the event exists.
        unsafe { result::event::record(moment.0, stream.0) }.map_err(said("record an event"))?;
        Ok(moment)
    }

    /// Milliseconds from an earlier moment to this one, both of which are past.
    pub fn since(&self, earlier: &Moment) -> Result<f64, CudaError> {
        // SAFETY: both events were recorded.
        let time_ms = unsafe { result::event::elapsed(earlier.0, self.0) };
        time_ms.map(f64::from).map_err(said("read an event"))
    }
}

impl Drop for Moment {
    fn drop(&mut self) {
        // SAFETY: made when this value was.
        let _ = unsafe { result::event::destroy(self.0) };
    }
}

fn said(doing: &str) -> impl FnOnce(DriverError) -> CudaError + use<> {
    let doing = doing.to_owned();
    move |error| CudaError::Driver { doing, code: name(error) }
}

/// `CUDA_ERROR_OUT_OF_MEMORY`, as the driver calls it.
fn name(error: DriverError) -> String {
    match error.error_name() {
        Ok(name) => name.to_string_lossy().into_owned(),
        Err(_) => format!("{:?}", error.0),
    }
}
