//! A model on a GPU, ready to run.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use object::{Object as _, ObjectSection as _};

use super::GpuError;
use super::cuda::Cuda;
use super::driver::Grid;
use super::hip::Hip;
use super::launch::{Call, LAUNCHES, Launch, Program, Work, calls, works};
use super::owned::{Code, Device, Function, Graph, Memory, Moment, Stream};
use super::tensor::{Parameter, Tensor};
use crate::artifact::Artifact;
use crate::measure::{Measurement, ProfileRow, of_times, peak_rss_mib};
use crate::plan::{Base, CodeKind, Plan, Port};

/// A model whose constants and buffers are on the device.
///
/// Fields are dropped in order: what was recorded goes before what it uses, and code before the artifact,
/// whose bytes a driver may go on using.
pub struct Model {
    /// All launches of a run, where there are several.
    graph: Option<Graph>,
    kernels: Vec<(Function, Launch, Vec<Tensor>)>,
    _code: Code,
    arena: Memory,
    host: Memory,
    constants: Memory,
    inputs: Vec<Memory>,
    outputs: Vec<Memory>,
    calls: Vec<Call>,
    works: Vec<Work>,
    programs: Vec<(Function, Program)>,
    /// For each unit the number of the last step that it has signalled in this run.
    counters: Memory,
    /// The addresses that programs count buffers from.
    bases: Memory,
    stream: Stream,
    artifact: Artifact,
    device: Device,
}

impl Model {
    /// Loads the artifact at `path`: compiles its code for the device and copies its
    /// constants there.
    ///
    /// # Errors
    ///
    /// A file that is no sound artifact or whose code is for no GPU, a machine without a driver or
    /// device, a device that cannot run the code or has too little memory.
    pub fn load(path: &Path) -> Result<Model, GpuError> {
        Model::new(Artifact::open(path)?)
    }

    /// As [`Model::load`], from an artifact that was already read.
    pub fn new(artifact: Artifact) -> Result<Model, GpuError> {
        let plan = artifact.plan();
        let text = head(&artifact)?;
        let launches = Launch::read(text);
        let tensors = Tensor::read(text).map_err(|line| GpuError::Box { line: line.to_owned() })?;
        let device: Device = match plan.code {
            CodeKind::Amdgcn => Arc::new(Hip::open()?),
            _ => Arc::new(Cuda::open()?),
        };
        // SAFETY: the artifact was checked against its checksums, and lives as long in the model.
        let code = unsafe { Code::load(&device, artifact.code())? };
        let kernels = plan
            .kernels
            .iter()
            .map(|kernel| {
                let symbol = kernel.symbol.as_str();
                let launch = launches.get(symbol).copied();
                let missing = || GpuError::Launch { symbol: symbol.to_owned() };
                let launch = launch.ok_or_else(missing)?;
                let tensors = tensors.get(symbol).cloned().unwrap_or_default();
                if let Some(wrong) = tensors.iter().find(|own| own.operand >= buffers(plan, symbol))
                {
                    return Err(GpuError::Box { line: wrong.line.clone() });
                }
                Ok((code.function(symbol, launch.shared_bytes)?, launch, tensors))
            })
            .collect::<Result<Vec<_>, GpuError>>()?;
        let ports = |ports: &[Port]| {
            ports
                .iter()
                .map(|port| Memory::new(&device, port.bytes().unwrap_or(0)))
                .collect::<Result<Vec<_>, _>>()
        };
        let mut constants = Memory::new(&device, plan.constant_bytes)?;
        constants.write(artifact.constants())?;
        let arena = Memory::new(&device, plan.arena_bytes)?;
        let host = Memory::new(&device, plan.host_bytes)?;
        let (inputs, outputs) = (ports(&plan.inputs)?, ports(&plan.outputs)?);
        let programs = Program::read(text)
            .into_iter()
            .map(|program| Ok((code.function(&program.symbol, program.shared_bytes)?, program)))
            .collect::<Result<Vec<_>, GpuError>>()?;
        let bases: Vec<u8> = [&arena, &host, &constants]
            .into_iter()
            .chain(inputs.iter().chain(&outputs))
            .flat_map(|memory| memory.address(0).to_le_bytes())
            .collect();
        let mut base_words = Memory::new(&device, bases.len() as u64)?;
        base_words.write(&bases)?;
        let counters = Memory::new(&device, counter_bytes(plan))?;
        let calls = calls(plan);
        let entries: Vec<Program> = programs.iter().map(|(_, program)| program.clone()).collect();
        let mut model = Model {
            graph: None,
            kernels,
            _code: code,
            arena,
            host,
            constants,
            inputs,
            outputs,
            works: works(&calls, &entries),
            calls,
            programs,
            counters,
            bases: base_words,
            stream: Stream::new(&device)?,
            artifact,
            device,
        };
        let several = model.works.len() > 1 || !model.programs.is_empty();
        if several && (model.programs.is_empty() || model.device.records_together()) {
            // SAFETY: all memory is the model's, which drops the graph first.
            model.graph = Some(unsafe { Graph::record(&model.stream, || model.launch_each())? });
        }
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

    /// Runs the model once: copies the inputs to the device and the outputs back.
    ///
    /// # Errors
    ///
    /// A number of inputs or outputs, or a size, that is not the plan's; what the driver says.
    pub fn run(&mut self, inputs: &[&[u8]], outputs: &mut [&mut [u8]]) -> Result<(), GpuError> {
        self.write(inputs)?;
        self.launch_all()?;
        self.device.finish()?;
        self.read(outputs)
    }

    /// As [`Model::run`], `repeat` times after warming up; what is measured is the device's time
    /// from the first launch until all are done, with the inputs on the device.
    ///
    /// # Errors
    ///
    /// As [`Model::run`].
    pub fn measure(
        &mut self,
        inputs: &[&[u8]],
        outputs: &mut [&mut [u8]],
        repeat: usize,
        profile: bool,
    ) -> Result<Measurement, GpuError> {
        let repeat = repeat.max(1);
        self.write(inputs)?;
        for _ in 0..(repeat / 10).max(1) {
            self.launch_all()?;
        }
        self.device.finish()?;
        let mut moments = Vec::with_capacity(repeat);
        for _ in 0..repeat {
            let start = Moment::now(&self.stream)?;
            self.launch_all()?;
            moments.push((start, Moment::now(&self.stream)?));
        }
        self.device.finish()?;
        let times_ms = moments.iter().map(|(start, end)| end.since(start));
        let times_ms = times_ms.collect::<Result<Vec<_>, _>>()?;
        let profile = if profile { Some(self.profile()?) } else { None };
        self.read(outputs)?;
        let rss_mb = peak_rss_mib().unwrap_or(0.0);
        Ok(of_times(times_ms, rss_mb, 1, self.plan().device.clone(), profile))
    }

    fn write(&mut self, inputs: &[&[u8]]) -> Result<(), GpuError> {
        // The thread may be another one than that which loaded the model.
        self.device.enter()?;
        check("input", &self.artifact.plan().inputs, inputs.iter().map(|bytes| bytes.len()))?;
        for (memory, bytes) in self.inputs.iter_mut().zip(inputs) {
            memory.write(bytes)?;
        }
        Ok(())
    }

    fn read(&self, outputs: &mut [&mut [u8]]) -> Result<(), GpuError> {
        check("output", &self.plan().outputs, outputs.iter().map(|bytes| bytes.len()))?;
        for (memory, bytes) in self.outputs.iter().zip(outputs) {
            memory.read(bytes)?;
        }
        Ok(())
    }

    fn launch_all(&self) -> Result<(), GpuError> {
        match &self.graph {
            Some(graph) => graph.launch(&self.stream),
            None => self.launch_each(),
        }
    }

    fn launch_each(&self) -> Result<(), GpuError> {
        if !self.programs.is_empty() {
            // SAFETY: the counters live as long as this model.
            unsafe { self.stream.clear(&self.counters)? };
        }
        self.works.iter().try_for_each(|work| match work {
            Work::Call(call) => self.launch(call),
            Work::Program(number) => {
                let (function, program) = &self.programs[*number];
                let words = [0, self.counters.address(0), self.bases.address(0)];
                let mut parameters = words.map(Parameter::Word);
                let &Program { blocks, threads, shared_bytes, .. } = program;
                let grid = Grid { blocks, threads, shared_bytes };
                // SAFETY: there is a counter for each unit and a base for each memory of the
                // plan, all of which live as long as this model.
                unsafe { self.stream.launch(*function, grid, true, &mut parameters) }
            }
        })
    }

    fn launch(&self, call: &Call) -> Result<(), GpuError> {
        let plan = self.plan();
        let step = &plan.steps[call.first];
        let (function, how, tensors) = &self.kernels[step.kernel as usize];
        let (function, how) = (*function, *how);
        let mut begin = call.begin;
        while begin < call.end {
            let most = self.device.most_blocks(how.threads);
            let blocks = how.blocks(call.end - begin).min(u64::from(most));
            let end = call.end.min(begin + blocks * u64::from(how.groups));
            let buffers = step.buffers.iter().map(|&buffer| {
                let buffer = &plan.buffers[buffer as usize];
                let memory = match buffer.base {
                    Base::Input(port) => &self.inputs[port as usize],
                    Base::Output(port) => &self.outputs[port as usize],
                    Base::Constant => &self.constants,
                    Base::Arena => &self.arena,
                    Base::Host => &self.host,
                    Base::Cluster(_) => unreachable!("only simulated code has clusters"),
                    Base::Lengths => unreachable!("only native code has lengths"),
                };
                memory.address(buffer.offset)
            });
            let buffers: Vec<u64> = buffers.collect();
            let words = [begin, end].into_iter().chain(buffers.iter().copied());
            let mut parameters: Vec<Parameter> = words.map(Parameter::Word).collect();
            for tensor in tensors {
                // The plan was checked for it.
                let described = self.device.describe(tensor, buffers[tensor.operand])?;
                parameters.push(Parameter::Tensor(described));
            }
            let Launch { threads, shared_bytes, .. } = how;
            let grid = Grid { blocks: blocks as u32, threads, shared_bytes };
            // SAFETY: the plan was validated against the sizes of all memories, which live as
            // long as this model; a trusted compiler wrote the kernels, and what they say of tensors.
            unsafe { self.stream.launch(function, grid, false, &mut parameters)? };
            begin = end;
        }
        Ok(())
    }

    /// Time per operator and kernel in one run on the inputs that were given last, the
    /// longest first; each kernel is launched by itself, also those that programs call.
    ///
    /// # Errors
    ///
    /// Errors of the driver.
    pub fn profile(&self) -> Result<Vec<ProfileRow>, GpuError> {
        self.device.enter()?;
        let mut moments = vec![Moment::now(&self.stream)?];
        for call in &self.calls {
            self.launch(call)?;
            moments.push(Moment::now(&self.stream)?);
        }
        self.device.finish()?;
        let plan = self.plan();
        let mut sums: BTreeMap<(u32, u32), (usize, f64, u64)> = BTreeMap::new();
        for (call, pair) in self.calls.iter().zip(moments.windows(2)) {
            let step = &plan.steps[call.first];
            let sum = sums.entry((step.op, step.kernel)).or_default();
            sum.0 += call.last - call.first;
            sum.1 += pair[1].since(&pair[0])?;
            sum.2 += plan.least_ps.iter().take(call.last).skip(call.first).sum::<u64>();
        }
        let mut rows: Vec<ProfileRow> = sums
            .into_iter()
            .map(|((op, kernel), (steps, total_ms, least_ps))| {
                let kernel = &plan.kernels[kernel as usize].symbol;
                // All units work at once, so they share what each would need alone.
                let floor_ms = least_ps as f64 / 1e9 / f64::from(plan.units.max(1));
                ProfileRow::new(&plan.ops[op as usize], kernel, steps, total_ms, floor_ms)
            })
            .collect();
        rows.sort_by(|a, b| b.total_ms.total_cmp(&a.total_ms));
        Ok(rows)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // The thread may be another one than that which loaded the model; a failure leaves nothing to mend.
        let _ = self.device.enter();
    }
}

/// Buffers of each call of a kernel, at least.
fn buffers(plan: &Plan, symbol: &str) -> usize {
    let own = plan.steps.iter().filter(|step| plan.kernels[step.kernel as usize].symbol == symbol);
    own.map(|step| step.buffers.len()).min().unwrap_or(usize::MAX)
}

/// A counter of 64 bits for each unit.
fn counter_bytes(plan: &Plan) -> u64 {
    8 * u64::from(plan.units)
}

/// The comments about launches: PTX begins with them, a code object has them in a section.
fn head(artifact: &Artifact) -> Result<&str, GpuError> {
    let (code, plan) = (artifact.code(), artifact.plan());
    let expected = match plan.code {
        CodeKind::Ptx => "PTX text",
        CodeKind::Amdgcn => "an AMD code object with its launches",
        CodeKind::Native | CodeKind::Simulated => "for a GPU",
    };
    let bytes = match plan.code {
        CodeKind::Ptx => Some(code),
        CodeKind::Amdgcn => object::File::parse(code)
            .ok()
            .and_then(|file| file.section_by_name(LAUNCHES)?.data().ok()),
        CodeKind::Native | CodeKind::Simulated => None,
    };
    let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
    text.ok_or_else(|| GpuError::Code { expected, device: plan.device.clone() })
}

fn check(
    kind: &'static str,
    ports: &[Port],
    given: impl ExactSizeIterator<Item = usize>,
) -> Result<(), GpuError> {
    if given.len() != ports.len() {
        return Err(GpuError::Count { kind, expected: ports.len(), found: given.len() });
    }
    for (port, found) in ports.iter().zip(given) {
        let (expected, found) = (port.bytes().unwrap_or(0), found as u64);
        if found != expected {
            return Err(GpuError::Size { kind, name: port.name.clone(), expected, found });
        }
    }
    Ok(())
}
