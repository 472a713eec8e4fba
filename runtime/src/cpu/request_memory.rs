//! The memory of one request: arenas, scratch of workers, and the addresses of all operands.

use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use memmap2::MmapRaw;

use super::schedule::{Operand, Schedule};
use super::{CpuError, memory};
use crate::plan::{Base, Plan, Port};

/// The memory of the request in a slot. Between requests only the holder of the slot touches it;
/// posting the request publishes it.
pub struct RequestMemory {
    /// As [`Schedule::operands`], resolved.
    pub operands: Box<[AtomicPtr<u8>]>,
    inputs: Box<[PortMemory]>,
    outputs: Box<[PortMemory]>,
    profiling: AtomicBool,
    /// Locked when something has failed only.
    failure: Mutex<Option<Failure>>,
    _arena: MmapRaw,
    /// The arena of tensors that stay in the host's memory.
    _host: MmapRaw,
    _scratch: MmapRaw,
}

/// A port: its size, its address in the current request, and memory for callers whose own is not
/// aligned to the element's size.
struct PortMemory {
    bytes: usize,
    /// Alignment of an element.
    align: usize,
    at: AtomicPtr<u8>,
    staging: OnceLock<MmapRaw>,
}

/// A call that did not return.
pub struct Failure {
    pub worker: usize,
    /// Index in the plan.
    pub step: usize,
    pub reason: String,
}

impl RequestMemory {
    /// RequestMemory for requests of a plan, with the operands set that stay where they are.
    pub fn new(
        plan: &Plan,
        schedule: &Schedule,
        constants: *mut u8,
    ) -> Result<RequestMemory, CpuError> {
        let arena = MmapRaw::from(memory::zeroed(plan.arena_bytes as usize)?);
        let host = MmapRaw::from(memory::zeroed(plan.host_bytes as usize)?);
        let lent = schedule.scratch_bytes;
        let scratch = MmapRaw::from(memory::zeroed(lent * schedule.workers.len())?);
        let resolve = |operand: &Operand| {
            let (base, offset) = match *operand {
                Operand::Buffer { base: Base::Constant, offset } => (constants, offset),
                Operand::Buffer { base: Base::Arena, offset } => (arena.as_mut_ptr(), offset),
                Operand::Buffer { base: Base::Host, offset } => (host.as_mut_ptr(), offset),
                // Only simulated code has clusters.
                Operand::Buffer {
                    base: Base::Input(_) | Base::Output(_) | Base::Cluster(_),
                    ..
                } => {
                    return AtomicPtr::default();
                }
                Operand::Scratch { worker } => (scratch.as_mut_ptr(), worker * lent),
            };
            AtomicPtr::new(base.wrapping_add(offset))
        };
        Ok(RequestMemory {
            operands: schedule.operands.iter().map(resolve).collect(),
            inputs: plan.inputs.iter().map(PortMemory::new).collect(),
            outputs: plan.outputs.iter().map(PortMemory::new).collect(),
            profiling: AtomicBool::new(false),
            failure: Mutex::new(None),
            _arena: arena,
            _host: host,
            _scratch: scratch,
        })
    }

    /// Sets the operands that are in inputs and outputs; `moving` has their indices.
    ///
    /// Memory that begins at a multiple of its elements' size is used in place; other inputs are
    /// copied now, other outputs by [`RequestMemory::copy_out`].
    pub fn place(
        &self,
        schedule: &Schedule,
        moving: &[usize],
        inputs: &[&[u8]],
        outputs: &mut [&mut [u8]],
    ) -> Result<(), CpuError> {
        for (port, bytes) in self.inputs.iter().zip(inputs) {
            if port.settle(bytes.as_ptr().cast_mut())? {
                // SAFETY: the staging has the port's size, as has the input, and no other
                // request has it while this one holds the slot.
                unsafe { port.at().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
            }
        }
        for (port, bytes) in self.outputs.iter().zip(outputs) {
            port.settle(bytes.as_mut_ptr())?;
        }
        for &i in moving {
            let Operand::Buffer { base, offset } = schedule.operands[i] else { continue };
            let port = match base {
                Base::Input(p) => &self.inputs[p as usize],
                Base::Output(p) => &self.outputs[p as usize],
                Base::Constant | Base::Arena | Base::Host | Base::Cluster(_) => continue,
            };
            self.operands[i].store(port.at().wrapping_add(offset), Ordering::Relaxed);
        }
        Ok(())
    }

    /// Copies outputs to callers whose memory could not be used in place.
    pub fn copy_out(&self, outputs: &mut [&mut [u8]]) {
        for (port, bytes) in self.outputs.iter().zip(outputs) {
            if port.at() != bytes.as_mut_ptr() {
                // SAFETY: as for inputs in `place`; the workers have left the request.
                unsafe { bytes.as_mut_ptr().copy_from_nonoverlapping(port.at(), bytes.len()) };
            }
        }
    }

    /// Returns whether the current request records when its steps begin and end.
    pub fn is_profiling(&self) -> bool {
        self.profiling.load(Ordering::Relaxed)
    }

    /// As [`RequestMemory::is_profiling`].
    pub fn set_profiling(&self, on: bool) {
        self.profiling.store(on, Ordering::Relaxed);
    }

    /// Keeps the first failure of a request.
    pub fn fail(&self, failure: Failure) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
    }

    /// The failure of a request that has one.
    pub fn take_failure(&self) -> Option<Failure> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl PortMemory {
    fn new(port: &Port) -> PortMemory {
        PortMemory {
            bytes: port.bytes().unwrap_or(0) as usize,
            align: port.dtype.bytes(),
            at: AtomicPtr::default(),
            staging: OnceLock::new(),
        }
    }

    fn at(&self) -> *mut u8 {
        self.at.load(Ordering::Relaxed)
    }

    /// Sets the address of the port. Returns whether that is in staging memory, which is allocated
    /// when first needed.
    fn settle(&self, given: *mut u8) -> Result<bool, CpuError> {
        if given.addr().is_multiple_of(self.align) {
            self.at.store(given, Ordering::Relaxed);
            return Ok(false);
        }
        let staging = match self.staging.get() {
            Some(staging) => staging,
            None => {
                let made = MmapRaw::from(memory::zeroed(self.bytes)?);
                self.staging.get_or_init(|| made)
            }
        };
        self.at.store(staging.as_mut_ptr(), Ordering::Relaxed);
        Ok(true)
    }
}
