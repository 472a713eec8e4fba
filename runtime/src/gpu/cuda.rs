//! The CUDA driver.

use std::ffi::{CStr, CString, c_void};
use std::mem::MaybeUninit;

use cudarc::driver::{DriverError, result, sys};

use super::GpuError;
use super::driver::{Driver, Grid, Handle, places};
use super::tensor::{Descriptor, Parameter, Tensor};

/// Its name, for people.
const NAME: &str = "CUDA";

/// The first device.
pub struct Cuda {
    device: sys::CUdevice,
    context: sys::CUcontext,
}

// SAFETY: the driver's handles may be used by any thread in which the context is current.
unsafe impl Send for Cuda {}
// SAFETY: as above; the driver serialises what threads ask of one context.
unsafe impl Sync for Cuda {}

impl Cuda {
    /// Opens the first device, and makes it current in this thread.
    pub fn open() -> Result<Cuda, GpuError> {
        // SAFETY: loading the driver's library runs its initialisers, as every use of it does.
        if !unsafe { sys::is_culib_present() } {
            return Err(GpuError::NoDriver { driver: NAME, library: "libcuda.so.1" });
        }
        let opened = || {
            result::init()?;
            let device = result::device::get(0)?;
            // SAFETY: the device exists; its context is released by `drop`.
            let context = unsafe { result::primary_ctx::retain(device)? };
            Ok(Cuda { device, context })
        };
        let opened: Cuda = opened().map_err(said("open the first device"))?;
        opened.enter()?;
        Ok(opened)
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        // SAFETY: retained when this value was made; a failure leaves nothing to mend.
        let _ = unsafe { result::primary_ctx::release(self.device) };
    }
}

impl Driver for Cuda {
    fn enter(&self) -> Result<(), GpuError> {
        // SAFETY: the context was retained and not yet released.
        unsafe { result::ctx::set_current(self.context) }.map_err(said("use the device"))
    }

    fn finish(&self) -> Result<(), GpuError> {
        result::ctx::synchronize().map_err(said("run the model"))
    }

    fn allocate(&self, bytes: u64) -> Result<u64, GpuError> {
        // SAFETY: given back by the owner.
        let made = unsafe { result::malloc_sync(bytes as usize) };
        made.map_err(said(&format!("get {bytes} bytes of memory")))
    }

    unsafe fn free(&self, at: u64) {
        // SAFETY: the caller's word. A failure leaves nothing to mend, here and below.
        let _ = unsafe { result::free_sync(at) };
    }

    unsafe fn write(&self, at: u64, bytes: &[u8]) -> Result<(), GpuError> {
        // SAFETY: the caller's word.
        unsafe { result::memcpy_htod_sync(at, bytes) }.map_err(said("copy to the device"))
    }

    unsafe fn read(&self, at: u64, bytes: &mut [u8]) -> Result<(), GpuError> {
        // SAFETY: the caller's word.
        unsafe { result::memcpy_dtoh_sync(bytes, at) }.map_err(said("copy from the device"))
    }

    unsafe fn clear(&self, at: u64, bytes: u64, stream: Handle) -> Result<(), GpuError> {
        // SAFETY: the caller's word.
        unsafe { result::memset_d8_async(at, 0, bytes as usize, stream.0.cast()) }
            .map_err(said("clear memory"))
    }

    fn stream(&self) -> Result<Handle, GpuError> {
        let made = result::stream::create(result::stream::StreamKind::Default);
        made.map(|stream| Handle(stream.cast())).map_err(said("make a stream"))
    }

    unsafe fn end_stream(&self, stream: Handle) {
        // SAFETY: the caller's word.
        let _ = unsafe { result::stream::destroy(stream.0.cast()) };
    }

    fn records_together(&self) -> bool {
        true
    }

    unsafe fn begin_record(&self, stream: Handle) -> Result<(), GpuError> {
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the caller's word.
        unsafe { result::stream::begin_capture(stream.0.cast(), mode) }
            .map_err(said("record launches"))
    }

    unsafe fn end_record(&self, stream: Handle) -> Result<Handle, GpuError> {
        // SAFETY: the caller's word.
        let graph = unsafe { result::stream::end_capture(stream.0.cast()) };
        let graph = graph.map_err(said("record launches"))?;
        let flags = sys::CUgraphInstantiate_flags(0);
        // SAFETY: the graph was recorded; what can be launched does not need it any more.
        let ready = unsafe { result::graph::instantiate(graph, flags) };
        // SAFETY: as above.
        let _ = unsafe { result::graph::destroy(graph) };
        ready.map(|graph| Handle(graph.cast())).map_err(said("prepare recorded launches"))
    }

    unsafe fn replay(&self, graph: Handle, stream: Handle) -> Result<(), GpuError> {
        // SAFETY: the caller's word.
        unsafe { result::graph::launch(graph.0.cast(), stream.0.cast()) }
            .map_err(said("launch recorded kernels"))
    }

    unsafe fn end_graph(&self, graph: Handle) {
        // SAFETY: the caller's word.
        let _ = unsafe { result::graph::exec_destroy(graph.0.cast()) };
    }

    unsafe fn load(&self, code: &[u8]) -> Result<Handle, GpuError> {
        let text = CString::new(code).map_err(|_| GpuError::Rejected {
            code: "the text holds a NUL".to_owned(),
            log: String::new(),
        })?;
        let mut log = vec![0u8; 16384];
        let mut module = MaybeUninit::<sys::CUmodule>::uninit();
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
        loaded.result().map_err(|error| GpuError::Rejected {
            code: name(error),
            log: CStr::from_bytes_until_nul(&log)
                .map(|log| log.to_string_lossy().into_owned())
                .unwrap_or_default(),
        })?;
        // SAFETY: set where loading succeeded.
        Ok(Handle(unsafe { module.assume_init() }.cast()))
    }

    unsafe fn unload(&self, code: Handle) {
        // SAFETY: the caller's word.
        let _ = unsafe { result::module::unload(code.0.cast()) };
    }

    unsafe fn function(&self, code: Handle, symbol: &str, bytes: u32) -> Result<Handle, GpuError> {
        let doing = said(&format!("find the kernel `{symbol}` in the code"));
        let name = CString::new(symbol).unwrap_or_default();
        // SAFETY: the caller's word.
        let function =
            unsafe { result::module::get_function(code.0.cast(), name) }.map_err(doing)?;
        if bytes > 0 {
            let most = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            let asked = format!("give `{symbol}` {bytes} bytes of shared memory a block");
            let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
            // SAFETY: the function is there.
            unsafe { result::function::set_function_attribute(function, most, bytes) }
                .map_err(said(&asked))?;
        }
        Ok(Handle(function.cast()))
    }

    /// The largest extent of a grid's dimension.
    fn most_blocks(&self, _threads: u32) -> u32 {
        i32::MAX as u32
    }

    fn describe(&self, tensor: &Tensor, at: u64) -> Result<Descriptor, GpuError> {
        use sys::CUtensorMapDataType_enum as Type;
        use sys::CUtensorMapSwizzle_enum as Swizzle;
        let Tensor { elem_bytes, extents, strides, points, swizzle, .. } = tensor;
        let elem = match elem_bytes {
            1 => Type::CU_TENSOR_MAP_DATA_TYPE_UINT8,
            2 => Type::CU_TENSOR_MAP_DATA_TYPE_UINT16,
            4 => Type::CU_TENSOR_MAP_DATA_TYPE_UINT32,
            _ => Type::CU_TENSOR_MAP_DATA_TYPE_UINT64,
        };
        let swizzle = match swizzle {
            0 => Swizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
            1 => Swizzle::CU_TENSOR_MAP_SWIZZLE_32B,
            2 => Swizzle::CU_TENSOR_MAP_SWIZZLE_64B,
            _ => Swizzle::CU_TENSOR_MAP_SWIZZLE_128B,
        };
        let steps = vec![1; extents.len()];
        let mut map = MaybeUninit::<sys::CUtensorMap>::uninit();
        // SAFETY: there are as many extents, points and steps as dimensions, and one stride less.
        let made = unsafe {
            sys::cuTensorMapEncodeTiled(
                map.as_mut_ptr(),
                elem,
                extents.len() as u32,
                at as *mut c_void,
                extents.as_ptr(),
                strides.as_ptr(),
                points.as_ptr(),
                steps.as_ptr(),
                sys::CUtensorMapInterleave_enum::CU_TENSOR_MAP_INTERLEAVE_NONE,
                swizzle,
                sys::CUtensorMapL2promotion_enum::CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                sys::CUtensorMapFloatOOBfill_enum::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )
        };
        let doing = format!("describe a tensor of {extents:?} in boxes of {points:?}");
        made.result().map_err(said(&doing))?;
        // SAFETY: the driver wrote it.
        Ok(Descriptor(unsafe { map.assume_init() }.opaque))
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
        let launch =
            if together { result::launch_cooperative_kernel } else { result::launch_kernel };
        // SAFETY: the driver copies the parameters before it returns; the rest is the caller's word.
        let launched = unsafe {
            launch(
                function.0.cast(),
                (blocks, 1, 1),
                (threads, 1, 1),
                shared_bytes,
                stream.0.cast(),
                &mut places(parameters),
            )
        };
        launched.map_err(said(&grid.doing(together)))
    }

    unsafe fn moment(&self, stream: Handle) -> Result<Handle, GpuError> {
        let event = result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT)
            .map_err(said("make an event"))?;
        // SAFETY: the event was made, the stream is the caller's word.
        let recorded = unsafe { result::event::record(event, stream.0.cast()) };
        let moment = Handle(event.cast());
        recorded.map_err(said("record an event")).inspect_err(|_| {
            // SAFETY: made above, and nobody else has it.
            unsafe { self.end_moment(moment) }
        })?;
        Ok(moment)
    }

    unsafe fn between(&self, earlier: Handle, later: Handle) -> Result<f64, GpuError> {
        // SAFETY: the caller's word.
        let time_ms = unsafe { result::event::elapsed(earlier.0.cast(), later.0.cast()) };
        time_ms.map(f64::from).map_err(said("read an event"))
    }

    unsafe fn end_moment(&self, moment: Handle) {
        // SAFETY: the caller's word.
        let _ = unsafe { result::event::destroy(moment.0.cast()) };
    }
}

fn said(doing: &str) -> impl FnOnce(DriverError) -> GpuError + use<> {
    let doing = doing.to_owned();
    move |error| GpuError::Driver { driver: NAME, doing, code: name(error) }
}

/// `CUDA_ERROR_OUT_OF_MEMORY`, as the driver calls it.
fn name(error: DriverError) -> String {
    match error.error_name() {
        Ok(name) => name.to_string_lossy().into_owned(),
        Err(_) => format!("{:?}", error.0),
    }
}
