//! A model in memory, ready to run.

use std::path::Path;
use std::sync::atomic::Ordering;

use memmap2::MmapMut;

use super::code::Code;
use super::pool::Pool;
use super::schedule::{Operand, Schedule};
use super::{CpuError, features, memory};
use crate::artifact::Artifact;
use crate::plan::{Base, Plan, Port};

/// When a step ran, in nanoseconds since the model was loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepTime {
    /// When its kernel was called.
    pub begin_ns: u64,
    /// When it returned.
    pub end_ns: u64,
}

/// A loaded model with its workers.
///
/// Fields are dropped in order: the workers end before what they work on goes away.
pub struct Model {
    pool: Pool,
    _code: Code,
    artifact: Artifact,
    arena: MmapMut,
    /// What workers lend to their calls, one after the other.
    scratch: MmapMut,
    /// What does not fit a device that is not the processor itself.
    host: MmapMut,
    /// Of those in the artifact, where there are many.
    constants: Option<MmapMut>,
    inputs: Vec<Place>,
    outputs: Vec<Place>,
    /// Operands that change from run to run, by index.
    moving: Vec<usize>,
}

/// A port's size, where it lies in the current run, and memory for callers whose own does not
/// lie at a multiple of an element's size.
struct Place {
    bytes: usize,
    /// Of an element.
    align: usize,
    at: *mut u8,
    staging: Option<MmapMut>,
}

// SAFETY: the pointers in `Place` are set and used within one call of `run`.
unsafe impl Send for Model {}

impl Model {
    /// Loads the artifact at `path` with that many threads, the caller's among them; without a
    /// number, as many as the plan has units and the machine has processors.
    ///
    /// # Errors
    ///
    /// A file that is no sound artifact, a processor without the features the code needs, more
    /// threads than units, or a system that refuses memory or threads.
    pub fn load(path: &Path, threads: Option<usize>) -> Result<Model, CpuError> {
        Model::new(Artifact::open(path)?, threads)
    }

    /// As [`Model::load`], from the bytes of an artifact, which are copied.
    pub fn from_bytes(bytes: &[u8], threads: Option<usize>) -> Result<Model, CpuError> {
        Model::new(Artifact::from_bytes(bytes)?, threads)
    }

    /// As [`Model::load`], from an artifact that was already read.
    pub fn new(artifact: Artifact, threads: Option<usize>) -> Result<Model, CpuError> {
        let plan = artifact.plan();
        features::check(&plan.cpu_features)?;
        let units = plan.units;
        let threads = threads.unwrap_or_else(|| {
            let processors = std::thread::available_parallelism().map_or(1, |n| n.get());
            processors.min(units as usize)
        });
        if threads == 0 || threads > units as usize {
            return Err(CpuError::Threads { threads, units });
        }
        let code = Code::load(artifact.code())?;
        let kernels =
            plan.kernels.iter().map(|k| code.kernel(&k.symbol)).collect::<Result<Vec<_>, _>>()?;
        let arena = memory::zeroed(plan.arena_bytes as usize)?;
        let host = memory::zeroed(plan.host_bytes as usize)?;
        let constants = memory::copy_of_large(artifact.constants())?;
        let schedule = Schedule::new(plan, &kernels, threads);
        let scratch = memory::zeroed(schedule.scratch_bytes * threads)?;
        let moving = |i: &usize| {
            matches!(
                schedule.operands[*i],
                Operand::Buffer { base: Base::Input(_) | Base::Output(_), .. }
            )
        };
        let moving = (0..schedule.operands.len()).filter(moving).collect();
        let system = |source| CpuError::System { what: "start the workers", source };
        let pool = Pool::new(schedule, plan.steps.len()).map_err(system)?;
        let place = |p: &Port| Place {
            bytes: p.bytes().unwrap_or(0) as usize,
            align: p.dtype.bytes(),
            at: std::ptr::null_mut(),
            staging: None,
        };
        let (inputs, outputs) =
            (plan.inputs.iter().map(place).collect(), plan.outputs.iter().map(place).collect());
        let mut model = Model {
            pool,
            _code: code,
            artifact,
            arena,
            scratch,
            host,
            constants,
            inputs,
            outputs,
            moving,
        };
        model.resolve_fixed();
        Ok(model)
    }

    /// The model's plan.
    pub fn plan(&self) -> &Plan {
        self.artifact.plan()
    }

    /// The artifact the model was loaded from.
    pub fn artifact(&self) -> &Artifact {
        &self.artifact
    }

    /// Number of threads that run it, the caller's among them.
    pub fn threads(&self) -> usize {
        self.pool.shared().schedule.workers.len()
    }

    /// Zeroed memory of the size of each output.
    pub fn output_buffers(&self) -> Vec<Vec<u8>> {
        self.outputs.iter().map(|p| vec![0; p.bytes]).collect()
    }

    /// Runs the model once: reads each input, writes every byte of each output.
    ///
    /// Memory that begins at a multiple of its elements' size is used in place, other memory is
    /// copied.
    ///
    /// # Errors
    ///
    /// A number of inputs or outputs, or a size, that is not the plan's.
    pub fn run(&mut self, inputs: &[&[u8]], outputs: &mut [&mut [u8]]) -> Result<(), CpuError> {
        let plan = self.artifact.plan();
        check("input", &plan.inputs, &self.inputs, inputs.iter().map(|b| b.len()))?;
        check("output", &plan.outputs, &self.outputs, outputs.iter().map(|b| b.len()))?;
        for (place, bytes) in self.inputs.iter_mut().zip(inputs) {
            place.at = bytes.as_ptr().cast_mut();
            if !place.is_aligned() {
                let staging = place.staging()?;
                staging.copy_from_slice(bytes);
                place.at = staging.as_mut_ptr();
            }
        }
        for (place, bytes) in self.outputs.iter_mut().zip(&mut *outputs) {
            place.at = bytes.as_mut_ptr();
            if !place.is_aligned() {
                place.at = place.staging()?.as_mut_ptr();
            }
        }
        let shared = self.pool.shared();
        for &i in &self.moving {
            let Operand::Buffer { base, offset } = shared.schedule.operands[i] else { continue };
            let place = match base {
                Base::Input(p) => &self.inputs[p as usize],
                Base::Output(p) => &self.outputs[p as usize],
                Base::Constant | Base::Arena | Base::Host => continue,
            };
            shared.operands[i].store(place.at.wrapping_add(offset), Ordering::Relaxed);
        }
        // SAFETY: operands of ports point into memory borrowed for this call or into staging,
        // others were resolved on loading into memory this model owns; the plan was validated
        // against the sizes of all of them, and a trusted compiler wrote the kernels.
        unsafe { self.pool.run() };
        for (place, bytes) in self.outputs.iter().zip(outputs) {
            if let Some(staging) = place.staging.as_ref().filter(|_| place.at != bytes.as_mut_ptr())
            {
                bytes.copy_from_slice(&staging[..place.bytes]);
            }
        }
        Ok(())
    }

    /// Whether runs record when each step begins and ends; off at first.
    pub fn set_profiling(&mut self, on: bool) {
        self.pool.shared().profiling.store(on, Ordering::Relaxed);
    }

    /// When each step of the plan ran, in the last run with profiling on.
    pub fn step_times(&self) -> Vec<StepTime> {
        let times = self.pool.shared().times.iter();
        times
            .map(|[begin, end]| StepTime {
                begin_ns: begin.load(Ordering::Relaxed),
                end_ns: end.load(Ordering::Relaxed),
            })
            .collect()
    }

    /// Sets the operands that stay where they are.
    fn resolve_fixed(&mut self) {
        let constants =
            self.constants.as_ref().map_or(self.artifact.constants().as_ptr(), |c| c.as_ptr());
        let constants = constants.cast_mut();
        let arena = self.arena.as_mut_ptr();
        let host = self.host.as_mut_ptr();
        let scratch = self.scratch.as_mut_ptr();
        let shared = self.pool.shared();
        let lent = shared.schedule.scratch_bytes;
        for (operand, pointer) in shared.schedule.operands.iter().zip(&shared.operands) {
            let (base, offset) = match *operand {
                Operand::Buffer { base: Base::Constant, offset } => (constants, offset),
                Operand::Buffer { base: Base::Arena, offset } => (arena, offset),
                Operand::Buffer { base: Base::Host, offset } => (host, offset),
                Operand::Buffer { base: Base::Input(_) | Base::Output(_), .. } => continue,
                Operand::Scratch { worker } => (scratch, worker * lent),
            };
            pointer.store(base.wrapping_add(offset), Ordering::Relaxed);
        }
    }
}

impl Place {
    /// Whether kernels may work where the port lies in this run.
    fn is_aligned(&self) -> bool {
        self.at.addr().is_multiple_of(self.align)
    }

    /// Aligned memory of the port's size, made when it is first needed.
    fn staging(&mut self) -> Result<&mut [u8], CpuError> {
        if self.staging.is_none() {
            self.staging = Some(memory::zeroed(self.bytes)?);
        }
        Ok(self.staging.as_mut().map_or(&mut [], |m| &mut m[..self.bytes]))
    }
}

fn check(
    kind: &'static str,
    ports: &[Port],
    places: &[Place],
    given: impl ExactSizeIterator<Item = usize>,
) -> Result<(), CpuError> {
    if given.len() != ports.len() {
        return Err(CpuError::Count { kind, expected: ports.len(), found: given.len() });
    }
    for ((port, place), found) in ports.iter().zip(places).zip(given) {
        if found != place.bytes {
            let (expected, found) = (place.bytes as u64, found as u64);
            return Err(CpuError::Size { kind, name: port.name.clone(), expected, found });
        }
    }
    Ok(())
}
