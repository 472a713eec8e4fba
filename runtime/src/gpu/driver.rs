//! What a GPU's driver does.

use std::ffi::c_void;

use super::GpuError;
use super::tensor::{Descriptor, Parameter, Tensor};

/// Something of the driver's: a stream, an event, loaded code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(pub *mut c_void);

// SAFETY: drivers' handles may be used by any thread in which the device is current.
unsafe impl Send for Handle {}

/// The blocks of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Blocks.
    pub blocks: u32,
    /// Threads of each.
    pub threads: u32,
    /// Bytes of shared memory that each asks for.
    pub shared_bytes: u32,
}

impl Grid {
    /// What a launch of these blocks does, for errors about it.
    pub fn doing(self, together: bool) -> String {
        let Self { blocks, threads, .. } = self;
        let waits = if together { " that wait for each other" } else { "" };
        format!("launch {blocks} blocks of {threads} threads{waits}")
    }
}

/// The first device of a driver. What it makes is given back once, by the owners of [`super::owned`].
///
/// # Safety
///
/// Of all methods that are unsafe: addresses and handles are those that this driver made and that
/// were not given back. Memory is at least as large as what is read, written or cleared, and lives
/// until the device is done with it.
pub trait Driver: Send + Sync {
    /// Makes the device current in this thread, as everything below needs it.
    fn enter(&self) -> Result<(), GpuError>;
    /// Waits until everything that was launched is done.
    fn finish(&self) -> Result<(), GpuError>;

    /// Memory of so many bytes, of which there is at least one.
    fn allocate(&self, bytes: u64) -> Result<u64, GpuError>;
    /// Gives memory back.
    unsafe fn free(&self, at: u64);
    /// Copies to the device.
    unsafe fn write(&self, at: u64, bytes: &[u8]) -> Result<(), GpuError>;
    /// Copies from the device.
    unsafe fn read(&self, at: u64, bytes: &mut [u8]) -> Result<(), GpuError>;
    /// Sets memory to zero, in the order of launches.
    unsafe fn clear(&self, at: u64, bytes: u64, stream: Handle) -> Result<(), GpuError>;

    /// An order of launches. Copies wait for what was launched before them, and launches for copies.
    fn stream(&self) -> Result<Handle, GpuError>;
    /// Gives a stream back.
    unsafe fn end_stream(&self, stream: Handle);
    /// Whether blocks that wait for each other can be recorded; elsewhere they would run at once, and
    /// what was recorded would lack them.
    fn records_together(&self) -> bool;
    /// Records what is launched on a stream from now on, which does not run.
    unsafe fn begin_record(&self, stream: Handle) -> Result<(), GpuError>;
    /// What was recorded, ready to be launched.
    unsafe fn end_record(&self, stream: Handle) -> Result<Handle, GpuError>;
    /// Launches what was recorded.
    unsafe fn replay(&self, graph: Handle, stream: Handle) -> Result<(), GpuError>;
    /// Gives what was recorded back.
    unsafe fn end_graph(&self, graph: Handle);

    /// Loads code for the device: text, or a code object whose header says how long it is. It lives as
    /// long as what is made of it.
    unsafe fn load(&self, code: &[u8]) -> Result<Handle, GpuError>;
    /// Gives code back.
    unsafe fn unload(&self, code: Handle);
    /// The kernel of that name, whose blocks may ask for so many bytes of shared memory.
    unsafe fn function(&self, code: Handle, symbol: &str, bytes: u32) -> Result<Handle, GpuError>;
    /// The most blocks of so many threads that one launch has.
    fn most_blocks(&self, threads: u32) -> u32;
    /// What a kernel takes to find a tensor at an address.
    fn describe(&self, tensor: &Tensor, at: u64) -> Result<Descriptor, GpuError>;
    /// Launches a kernel, with parameters, which are those that it takes. Blocks
    /// that are `together` wait for each other: where not all of them fit the device at once, that
    /// is an error.
    unsafe fn launch(
        &self,
        function: Handle,
        grid: Grid,
        together: bool,
        parameters: &mut [Parameter],
        stream: Handle,
    ) -> Result<(), GpuError>;

    /// The moment when everything launched so far is done.
    unsafe fn moment(&self, stream: Handle) -> Result<Handle, GpuError>;
    /// Milliseconds from one moment to a later one, both of which are past.
    unsafe fn between(&self, earlier: Handle, later: Handle) -> Result<f64, GpuError>;
    /// Gives a moment back.
    unsafe fn end_moment(&self, moment: Handle);
}

/// The addresses of parameters, as launches take them.
pub fn places(parameters: &mut [Parameter]) -> Vec<*mut c_void> {
    parameters.iter_mut().map(Parameter::place).collect()
}
