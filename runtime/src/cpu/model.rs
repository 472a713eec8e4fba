//! A model in memory, ready to run.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::MmapMut;

use super::cancel::Cancel;
use super::code::Code;
use super::pool::{Pool, Shared};
use super::request_memory::{Failure, RequestMemory};
use super::schedule::{Operand, Schedule};
use super::slot::End;
use super::{CpuError, features, memory};
use crate::artifact::Artifact;
use crate::plan::{Base, Binding, Plan, Port};

/// The times of a step, in nanoseconds since the model was loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepTime {
    /// The time at which its kernel was called.
    pub begin_ns: u64,
    /// The time at which it returned.
    pub end_ns: u64,
}

/// A loaded model with its workers.
///
/// [`Model::run`] is for one caller; [`Model::run_shared`] for any number of threads at once. At
/// most as many requests as the machine has processors, but at least four, are under way at a
/// time; the memory for the first is made on loading, for each other when it is first needed.
///
/// Fields are dropped in order: the workers end before what they work on goes away.
pub struct Model {
    pool: Pool,
    _code: Code,
    artifact: Artifact,
    /// Of those in the artifact, where there are many.
    constants: Option<MmapMut>,
    /// Operands that change from run to run, by index.
    moving: Vec<usize>,
    /// Lengths of runs that say none.
    bound: Option<Binding>,
    /// Shapes of outputs as the last run has found them.
    found: Option<Vec<Vec<u64>>>,
    profiling: bool,
    /// Numbers of the handles that cancel.
    cancels: AtomicU64,
}

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
        let constants = memory::copy_of_large(artifact.constants())?;
        let schedule = Schedule::new(plan, &kernels, threads);
        let moving = |i: &usize| {
            matches!(
                schedule.operands[*i],
                Operand::Buffer { base: Base::Input(_) | Base::Output(_), .. }
                    | Operand::Buffer { shift: Some(_), .. }
            )
        };
        let moving = (0..schedule.operands.len()).filter(moving).collect();
        let pool = Pool::new(schedule, plan.steps.len())?;
        let cancels = AtomicU64::new(0);
        let bound = if plan.has_lengths_of_callers() { None } else { Some(plan.bind_names(&[])?) };
        let profiling = false;
        let model = Model {
            pool,
            _code: code,
            artifact,
            constants,
            moving,
            bound,
            found: None,
            profiling,
            cancels,
        };
        model.memory(0)?;
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
        let bytes = |port: &Port| vec![0; port.bytes().unwrap_or(0) as usize];
        self.plan().outputs.iter().map(bytes).collect()
    }

    /// Runs the model once: reads each input, writes every byte of each output.
    ///
    /// Memory that begins at a multiple of its elements' size is used in place, other memory is
    /// copied.
    ///
    /// # Errors
    ///
    /// A number of inputs or outputs, or a size, that is not the plan's; lengths that nobody
    /// has said ([`Model::bind`]); a kernel that failed, after which the model can be used as
    /// before.
    pub fn run(&mut self, inputs: &[&[u8]], outputs: &mut [&mut [u8]]) -> Result<(), CpuError> {
        self.found = None;
        self.found = self.request(self.bound()?, inputs, outputs, None, self.profiling)?;
        Ok(())
    }

    /// Shape of each output: those of the last [`Model::run`] where data decide them, and those that
    /// were said ([`Model::bind`]). What is found is the first elements of the memory that was given for
    /// an output, dense.
    pub fn output_shapes(&self) -> Option<&[Vec<u64>]> {
        let bound = || self.bound.as_ref().map(|binding| &binding.outputs);
        self.found.as_ref().or_else(bound).map(Vec::as_slice)
    }

    /// Says the lengths of all later runs, where callers decide them ([`Plan::bind_shapes`]).
    ///
    /// Tensors of callers are dense: of the shapes that the binding says. Those whose rows the plan
    /// lays out further apart are copied. But an output that lies in the memory of an input
    /// ([`Plan::aliases`]) is as large as its greatest lengths need and laid out for them, and that input is
    /// given as no bytes.
    pub fn bind(&mut self, binding: Binding) {
        self.found = None;
        self.bound = Some(binding);
    }

    /// The lengths that were said last; of a model with fixed shapes these.
    pub fn binding(&self) -> Option<&Binding> {
        self.bound.as_ref()
    }

    /// As [`Model::run`], from any thread, while others do the same. `cancel` is a handle of this
    /// model, if the run may have to end early; `binding` says the lengths of this run, if not those
    /// of [`Model::bind`].
    ///
    /// Where data decide lengths, the shapes of all outputs are given: each is dense at the beginning of the
    /// memory that was given for it, which is as large as the most that there may be.
    ///
    /// Each request works in memory of its own. The caller is one of the model's threads for its
    /// own request; the others take requests in the order in which they were made. Where more are
    /// made than there is memory for, callers wait.
    ///
    /// # Errors
    ///
    /// As [`Model::run`]; [`CpuError::Cancelled`]; a handle of another model; a system that refuses
    /// the memory of one request more.
    pub fn run_shared(
        &self,
        binding: Option<&Binding>,
        inputs: &[&[u8]],
        outputs: &mut [&mut [u8]],
        cancel: Option<&Cancel>,
    ) -> Result<Option<Vec<Vec<u64>>>, CpuError> {
        let binding = binding.map_or_else(|| self.bound(), Ok)?;
        self.request(binding, inputs, outputs, cancel, false)
    }

    fn bound(&self) -> Result<&Binding, CpuError> {
        self.bound.as_ref().ok_or_else(|| CpuError::Lengths {
            symbols: self.plan().lengths.symbols.iter().map(ToString::to_string).collect(),
        })
    }

    /// A new handle that cancels runs of this model which are given it.
    pub fn cancel_handle(&self) -> Cancel {
        let number = self.cancels.fetch_add(1, Ordering::Relaxed) + 1;
        Cancel::new(Arc::clone(&self.pool.shared().queue), number)
    }

    fn request(
        &self,
        binding: &Binding,
        inputs: &[&[u8]],
        outputs: &mut [&mut [u8]],
        cancel: Option<&Cancel>,
        profiling: bool,
    ) -> Result<Option<Vec<Vec<u64>>>, CpuError> {
        let plan = self.plan();
        check("input", plan, &binding.inputs, inputs.iter().map(|b| b.len()), false)?;
        check("output", plan, &binding.outputs, outputs.iter().map(|b| b.len()), false)?;
        for alias in &plan.aliases {
            let number = alias.output as usize;
            let (port, at) = (&plan.outputs[number], outputs[number].as_ptr());
            let (name, align) = (port.name.clone(), port.dtype.bytes());
            if !at.addr().is_multiple_of(align) {
                return Err(CpuError::Misaligned { name, align });
            }
        }
        let Shared { queue, schedule, .. } = self.pool.shared();
        let mut request = match cancel {
            None => queue.open(0),
            Some(cancel) if cancel.is_of(queue) => cancel.begin(queue),
            Some(_) => return Err(CpuError::OtherModel),
        };
        let memory = self.memory(request.index())?;
        memory.set_profiling(profiling);
        memory.place(schedule, &self.moving, binding, inputs, outputs)?;
        // SAFETY: operands of ports point into memory borrowed for this call or into staging,
        // others into memory that this model owns, none of it but the constants and inputs shared
        // with another request; the plan was validated against the sizes of all of them, and a
        // trusted compiler wrote the kernels.
        match unsafe { self.pool.run(&mut request) } {
            End::Cancelled => {
                memory.take_failure();
                return Err(CpuError::Cancelled);
            }
            End::Failed => return Err(self.failed(memory)),
            End::Complete | End::Closed => {}
        }
        if plan.lengths.finds.is_empty() {
            memory.copy_out(&binding.outputs, outputs);
            return Ok(None);
        }
        let shapes = plan.lengths_of(&memory.symbols()).outputs()?;
        check("output", plan, &shapes, outputs.iter().map(|bytes| bytes.len()), true)?;
        memory.copy_out(&shapes, outputs);
        Ok(Some(shapes))
    }

    /// The memory of a slot that the caller holds.
    fn memory(&self, slot: usize) -> Result<&RequestMemory, CpuError> {
        let shared = self.pool.shared();
        let place = &shared.memories[slot];
        if let Some(memory) = place.get() {
            return Ok(memory);
        }
        let constants =
            self.constants.as_ref().map_or(self.artifact.constants().as_ptr(), |c| c.as_ptr());
        let memory = RequestMemory::new(self.plan(), &shared.schedule, constants.cast_mut())?;
        Ok(place.get_or_init(|| memory))
    }

    fn failed(&self, memory: &RequestMemory) -> CpuError {
        let none = || Failure { worker: 0, step: 0, reason: "no reason given".to_owned() };
        let Failure { worker, step, reason } = memory.take_failure().unwrap_or_else(none);
        let step = &self.plan().steps[step];
        CpuError::Kernel {
            worker,
            op: self.plan().ops[step.op as usize].clone(),
            kernel: self.plan().kernels[step.kernel as usize].symbol.clone(),
            reason,
        }
    }

    /// Returns whether [`Model::run`] records when each step begins and ends; off at first.
    pub fn set_profiling(&mut self, on: bool) {
        self.profiling = on;
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
}

fn check(
    kind: &'static str,
    plan: &Plan,
    shapes: &[Vec<u64>],
    given: impl ExactSizeIterator<Item = usize>,
    may_be_more: bool,
) -> Result<(), CpuError> {
    let ports = if kind == "input" { &plan.inputs } else { &plan.outputs };
    if given.len() != ports.len() || shapes.len() != ports.len() {
        return Err(CpuError::Count { kind, expected: ports.len(), found: given.len() });
    }
    for (number, ((port, shape), found)) in ports.iter().zip(shapes).zip(given).enumerate() {
        let dense = shape.iter().product::<u64>() * port.dtype.bytes() as u64;
        let expected = match kind {
            // It is given as the output that lies there.
            "input" if plan.output_within(number).is_some() => 0,
            "output" if plan.input_around(number).is_some() => port.bytes().unwrap_or(0),
            _ => dense,
        };
        let found = found as u64;
        if found < expected || found > expected && !may_be_more {
            return Err(CpuError::Size { kind, name: port.name.clone(), expected, found });
        }
    }
    Ok(())
}
