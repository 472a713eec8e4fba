//! What a driver made, each with the one that gives it back.

use std::sync::Arc;

use super::GpuError;
use super::driver::{Driver, Grid, Handle};
use super::tensor::Parameter;

/// A device that is shared by what was made on it.
pub type Device = Arc<dyn Driver>;

/// Memory of the device.
pub struct Memory {
    at: u64,
    bytes: u64,
    device: Device,
}

impl Memory {
    /// Memory of that size; at least a byte, so that it has an address.
    pub fn new(device: &Device, bytes: u64) -> Result<Memory, GpuError> {
        let at = device.allocate(bytes.max(1))?;
        Ok(Memory { at, bytes, device: Arc::clone(device) })
    }

    /// The address of a byte.
    pub fn address(&self, offset: u64) -> u64 {
        self.at + offset
    }

    /// Writes bytes from the beginning on.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), GpuError> {
        self.holds(bytes.len());
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: this memory is as large.
        unsafe { self.device.write(self.at, bytes) }
    }

    /// Reads bytes from the beginning on.
    pub fn read(&self, bytes: &mut [u8]) -> Result<(), GpuError> {
        self.holds(bytes.len());
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: this memory is as large.
        unsafe { self.device.read(self.at, bytes) }
    }

    fn holds(&self, bytes: usize) {
        assert!(bytes as u64 <= self.bytes, "{bytes} bytes of memory that has {}", self.bytes);
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: made with this value, and nothing launched still uses it.
        unsafe { self.device.free(self.at) };
    }
}

/// An order of launches.
pub struct Stream {
    handle: Handle,
    device: Device,
}

impl Stream {
    /// A stream that waits for copies to the device, and they for it.
    pub fn new(device: &Device) -> Result<Stream, GpuError> {
        Ok(Stream { handle: device.stream()?, device: Arc::clone(device) })
    }

    /// Sets all of some memory to zero, in the order of launches.
    ///
    /// # Safety
    ///
    /// The memory lives until the device is waited for.
    pub unsafe fn clear(&self, memory: &Memory) -> Result<(), GpuError> {
        // SAFETY: as large as it is, and the caller's word for how long it lives.
        unsafe { self.device.clear(memory.at, memory.bytes, self.handle) }
    }

    /// Launches a kernel, with parameters; with `together`, one whose blocks wait
    /// for each other.
    ///
    /// # Safety
    ///
    /// The parameters are those of the kernel: numbers, and addresses of memory that lives until
    /// the device is waited for and is as large as the kernel believes.
    pub unsafe fn launch(
        &self,
        function: Function,
        grid: Grid,
        together: bool,
        parameters: &mut [Parameter],
    ) -> Result<(), GpuError> {
        // SAFETY: the stream is there; the rest is the caller's word.
        unsafe { self.device.launch(function.0, grid, together, parameters, self.handle) }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: made with this value; drivers wait for what is still launched.
        unsafe { self.device.end_stream(self.handle) };
    }
}

/// Launches that were recorded once, which the device starts without the host.
pub struct Graph {
    handle: Handle,
    device: Device,
}

impl Graph {
    /// Records what `launches` launches on the stream; nothing of it runs yet.
    ///
    /// # Safety
    ///
    /// The memory that the launches use lives as long as the graph.
    pub unsafe fn record(
        stream: &Stream,
        launches: impl FnOnce() -> Result<(), GpuError>,
    ) -> Result<Graph, GpuError> {
        let device = Arc::clone(&stream.device);
        // SAFETY: the stream is there; what begins here ends below, also after a failure.
        unsafe { device.begin_record(stream.handle)? };
        let launched = launches();
        // SAFETY: begun above.
        let recorded = unsafe { device.end_record(stream.handle) };
        // Given back where launching failed after all.
        let graph = recorded.map(|handle| Graph { handle, device });
        launched?;
        graph
    }

    /// Launches all of it.
    pub fn launch(&self, stream: &Stream) -> Result<(), GpuError> {
        // SAFETY: both are there, and `record` asked for memory that lives.
        unsafe { self.device.replay(self.handle, stream.handle) }
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: made with this value.
        unsafe { self.device.end_graph(self.handle) };
    }
}

/// A kernel of some [`Code`], which has to live as long.
#[derive(Clone, Copy)]
pub struct Function(Handle);

/// Loaded code.
pub struct Code {
    handle: Handle,
    device: Device,
}

impl Code {
    /// Loads code.
    ///
    /// # Safety
    ///
    /// What says that it is a code object is a whole one; the bytes live as long as this value.
    pub unsafe fn load(device: &Device, code: &[u8]) -> Result<Code, GpuError> {
        // SAFETY: the caller's word.
        let handle = unsafe { device.load(code)? };
        Ok(Code { handle, device: Arc::clone(device) })
    }

    /// The kernel of that name, whose blocks ask for so many bytes of shared memory.
    pub fn function(&self, symbol: &str, shared_bytes: u32) -> Result<Function, GpuError> {
        // SAFETY: the code is loaded.
        unsafe { self.device.function(self.handle, symbol, shared_bytes) }.map(Function)
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: loaded with this value, and nothing launched still uses it.
        unsafe { self.device.unload(self.handle) };
    }
}

/// A moment in the order of launches.
pub struct Moment {
    handle: Handle,
    device: Device,
}

impl Moment {
    /// The moment when everything launched so far is done.
    pub fn now(stream: &Stream) -> Result<Moment, GpuError> {
        let device = Arc::clone(&stream.device);
        // SAFETY: the stream is there.
        let handle = unsafe { device.moment(stream.handle)? };
        Ok(Moment { handle, device })
    }

    /// Milliseconds from an earlier moment to this one, both of which are past.
    pub fn since(&self, earlier: &Moment) -> Result<f64, GpuError> {
        // SAFETY: both are there.
        unsafe { self.device.between(earlier.handle, self.handle) }
    }
}

impl Drop for Moment {
    fn drop(&mut self) {
        // SAFETY: made with this value.
        unsafe { self.device.end_moment(self.handle) };
    }
}
