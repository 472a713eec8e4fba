//! A plan and its code, ready to be simulated; and both from an artifact.

use std::collections::HashSet;

use super::error::SimulateError;
use super::functional::{Functional, RunData};
use super::prepare::{self, Ready, ReadyMeaning};
use super::program::Code;
use super::timed::{Report, Timed, Trace};
use crate::artifact::Artifact;
use crate::plan::{Base, Buffer, Plan, Port};

/// A simulated artifact.
pub struct Model {
    artifact: Artifact,
    code: Code,
}

impl Model {
    /// Decodes and checks the code of an artifact.
    ///
    /// # Errors
    /// Code that is none, or does not fit the plan.
    pub fn new(artifact: Artifact) -> Result<Model, SimulateError> {
        let code = Code::from_bytes(artifact.code())?;
        Simulator::new(&code, artifact.plan())?;
        Ok(Model { artifact, code })
    }

    /// The artifact.
    pub fn artifact(&self) -> &Artifact {
        &self.artifact
    }

    /// The simulator of its plan.
    ///
    /// # Errors
    /// None that [`Model::new`] does not find.
    pub fn simulator(&self) -> Result<Simulator<'_>, SimulateError> {
        Simulator::new(&self.code, self.artifact.plan())
    }

    /// Runs the model functionally.
    ///
    /// # Errors
    /// As [`Simulator::run`].
    pub fn run(&self, inputs: &[&[u8]], outputs: &mut [&mut [u8]]) -> Result<(), SimulateError> {
        self.simulator()?.run(self.artifact.constants(), inputs, outputs)
    }
}

impl Code {
    /// The code as an artifact holds it.
    ///
    /// # Errors
    /// None in practice: it is plain data.
    pub fn to_bytes(&self) -> Result<Vec<u8>, SimulateError> {
        postcard::to_stdvec(self).map_err(|error| SimulateError::Decode(error.to_string()))
    }

    /// Decodes the result of [`Code::to_bytes`].
    ///
    /// # Errors
    /// Bytes that are something else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Code, SimulateError> {
        let (code, rest) = postcard::take_from_bytes(bytes)
            .map_err(|error| SimulateError::Decode(error.to_string()))?;
        if !rest.is_empty() {
            return Err(SimulateError::Decode(format!("{} bytes follow it", rest.len())));
        }
        Ok(code)
    }
}

/// A plan on a simulated machine, ready to run.
pub struct Simulator<'c> {
    code: &'c Code,
    plan: &'c Plan,
    kernels: Vec<Ready<'c>>,
    /// Per kernel of the plan, that of the code.
    calls: Vec<usize>,
    meanings: Vec<ReadyMeaning<'c>>,
}

impl<'c> Simulator<'c> {
    /// Checks code and plan against each other, and prepares what is run often.
    ///
    /// # Errors
    /// Code that [`Code::validate`] refuses, a plan for another machine, buffers that are not
    /// the kernels' arguments or do not fit the machine.
    pub fn new(code: &'c Code, plan: &'c Plan) -> Result<Simulator<'c>, SimulateError> {
        code.validate()?;
        let meanings = prepare::meanings(&code.machine)?;
        let kernels = (0..code.kernels.len()).map(|place| Ready::new(code, place, &meanings));
        let kernels = kernels.collect::<Result<Vec<_>, _>>()?;
        let call = |symbol: &String| {
            let found = code.kernels.iter().position(|kernel| kernel.name == *symbol);
            found.ok_or_else(|| SimulateError::Kernel { symbol: symbol.clone() })
        };
        let calls =
            plan.kernels.iter().map(|kernel| call(&kernel.symbol)).collect::<Result<_, _>>()?;
        let simulator = Simulator { code, plan, kernels, calls, meanings };
        simulator.check()?;
        Ok(simulator)
    }

    fn check(&self) -> Result<(), SimulateError> {
        let (code, plan) = (self.code, self.plan);
        let machine = &code.machine;
        let units = (plan.units - plan.clusters) as u64;
        if units > machine.units {
            let (machine, found) = (machine.name.clone(), machine.units);
            return Err(SimulateError::Units { units, machine, found });
        }
        let found = machine.cluster_memory().map_or(0, |_| units.div_ceil(machine.cluster_units));
        if plan.clusters > 0 && plan.clusters as u64 != found {
            let (machine, clusters) = (machine.name.clone(), plan.clusters);
            return Err(SimulateError::Clusters { clusters, units, machine, found });
        }
        // The place where a copy ends: a port, or a buffer.
        let numbered = |ports: &[Port], base: fn(u32) -> Base| -> Vec<_> {
            let sizes = (0..).zip(ports).filter_map(|(number, port)| Some((number, port.bytes()?)));
            sizes.map(|(number, bytes)| (base(number), bytes, bytes)).collect()
        };
        let ends = |buffer: &Buffer| (buffer.base, buffer.offset + buffer.bytes, buffer.bytes);
        let mut wholes: HashSet<_> = plan.buffers.iter().map(ends).collect();
        wholes.extend(numbered(&plan.inputs, Base::Input));
        wholes.extend(numbered(&plan.outputs, Base::Output));
        for (number, step) in plan.steps.iter().enumerate() {
            let kernel = &code.kernels[self.calls[step.kernel as usize]];
            let own = plan.cluster_of(step.unit, machine.cluster_units);
            let reached = |&&buffer: &&u32| match plan.buffers[buffer as usize].base {
                Base::Cluster(cluster) => cluster == own,
                _ => true,
            };
            if let Some(&buffer) = step.buffers.iter().find(|buffer| !reached(buffer)) {
                let (step, unit) = (number as u32, step.unit);
                return Err(SimulateError::Reach { step, unit, cluster: own, buffer });
            }
            let given = step.buffers.iter().map(|&b| plan.buffers[b as usize].bytes);
            let arguments = &kernel.memrefs[..kernel.arguments as usize];
            let expected = arguments.iter().map(|memref| memref.bytes());
            let fits = |(&number, expected): (&u32, u64)| {
                let buffer = &plan.buffers[number as usize];
                // A step may see a whole one from an element on: both end together.
                let whole = (buffer.base, buffer.offset + buffer.bytes, expected);
                buffer.bytes == expected || buffer.bytes < expected && wholes.contains(&whole)
            };
            let as_many = step.buffers.len() == arguments.len();
            if !as_many || !step.buffers.iter().zip(expected.clone()).all(fits) {
                return Err(SimulateError::Arguments {
                    step: number as u32,
                    kernel: kernel.name.clone(),
                    found: step.buffers.len(),
                    found_bytes: given.collect(),
                    expected: expected.collect(),
                });
            }
        }
        let near = machine.cluster_memory().map(|memory| (memory, plan.cluster_bytes));
        for (memory, wanted_bytes) in [(machine.shared, shared_bytes(plan))].into_iter().chain(near)
        {
            let memory = &machine.memories[memory as usize];
            let (name, capacity_bytes) = (&memory.name, memory.capacity_bytes);
            if wanted_bytes > capacity_bytes {
                let memory = format!("@{name}");
                return Err(SimulateError::PlanCapacity { memory, wanted_bytes, capacity_bytes });
            }
        }
        Ok(())
    }

    fn ready(&self) -> Vec<&Ready<'c>> {
        self.calls.iter().map(|&kernel| &self.kernels[kernel]).collect()
    }

    /// Runs the plan on its inputs and leaves its results in `outputs`.
    ///
    /// # Errors
    /// Everything that is wrong with the program, and inputs or outputs of the wrong number
    /// or size.
    pub fn run(
        &self,
        constants: &[u8],
        inputs: &[&[u8]],
        outputs: &mut [&mut [u8]],
    ) -> Result<(), SimulateError> {
        let plan = self.plan;
        let sizes: Vec<usize> = outputs.iter().map(|bytes| bytes.len()).collect();
        check_ports("input", &plan.inputs, inputs.iter().map(|bytes| bytes.len()))?;
        check_ports("output", &plan.outputs, sizes.into_iter())?;
        if constants.len() as u64 != plan.constant_bytes {
            return Err(SimulateError::Size {
                kind: "the section of constants",
                name: plan.name.clone(),
                expected: plan.constant_bytes,
                found: constants.len() as u64,
            });
        }
        let kernels = self.ready();
        let outputs = outputs.iter_mut().map(|bytes| &mut **bytes).collect();
        let data = RunData { constants, inputs, outputs };
        Functional::new(self.code, plan, &kernels, &self.meanings, data)?.run()
    }
}

/// A timed run.
impl Simulator<'_> {
    /// Runs the plan in simulated time, without data: what it takes, and, if `traced`, what ran
    /// when.
    ///
    /// # Errors
    /// Allocations beyond a memory, and programs that cannot terminate.
    pub fn time(&self, traced: bool) -> Result<(Report, Option<Trace>), SimulateError> {
        let kernels = self.ready();
        let mut timed = Timed::new(self.code, self.plan, &kernels, traced);
        timed.run()?;
        Ok(timed.finish())
    }
}

/// Bytes that all units share: ports, constants and the arena.
pub(super) fn shared_bytes(plan: &Plan) -> u64 {
    let ports = plan.inputs.iter().chain(&plan.outputs).filter_map(Port::bytes);
    ports.sum::<u64>() + plan.arena_bytes + plan.host_bytes + plan.constant_bytes
}

fn check_ports(
    kind: &'static str,
    ports: &[Port],
    given: impl ExactSizeIterator<Item = usize>,
) -> Result<(), SimulateError> {
    let (expected, found) = (ports.len(), given.len());
    if expected != found {
        return Err(SimulateError::Count { kind, expected, found });
    }
    for (port, found) in ports.iter().zip(given) {
        let (expected, found) = (port.bytes().unwrap_or(0), found as u64);
        if expected != found {
            return Err(SimulateError::Size { kind, name: port.name.clone(), expected, found });
        }
    }
    Ok(())
}
