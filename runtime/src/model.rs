//! A loaded artifact, whatever runs its code.

use std::path::Path;

use crate::artifact::{Artifact, ArtifactError};
use crate::cpu::{self, CpuError, StepTime};
use crate::gpu::{self, GpuError};
use crate::plan::{Binding, CodeKind, Plan, Port};
use crate::simulate::{self, SimulateError};

/// A model that is ready to run.
pub enum Model {
    /// Native code, on this processor.
    Cpu(Box<cpu::Model>),
    /// On a simulated machine.
    Simulated(Box<simulate::Model>),
    /// On a GPU.
    Gpu(Box<gpu::Model>),
}

/// Why loading or running a model failed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ModelError {
    #[error(transparent)]
    Cpu(#[from] CpuError),
    #[error(transparent)]
    Simulate(Box<SimulateError>),
    #[error(transparent)]
    Gpu(#[from] GpuError),
}

impl From<SimulateError> for ModelError {
    fn from(error: SimulateError) -> ModelError {
        ModelError::Simulate(Box::new(error))
    }
}

impl From<ArtifactError> for ModelError {
    fn from(error: ArtifactError) -> ModelError {
        ModelError::Cpu(error.into())
    }
}

/// Zeroed memory of the size of each port.
pub fn output_buffers(ports: &[Port]) -> Vec<Vec<u8>> {
    ports.iter().map(|port| vec![0; port.bytes().unwrap_or(0) as usize]).collect()
}

impl Model {
    /// Loads the artifact at `path`; see [`cpu::Model::load`] for the threads. A simulated
    /// machine takes one.
    ///
    /// # Errors
    /// A file that is no sound artifact, or what its kind of code refuses.
    pub fn load(path: &Path, threads: Option<usize>) -> Result<Model, ModelError> {
        Model::new(Artifact::open(path)?, threads)
    }

    /// As [`Model::load`], from the bytes of an artifact, which are copied.
    ///
    /// # Errors
    /// As [`Model::load`].
    pub fn from_bytes(bytes: &[u8], threads: Option<usize>) -> Result<Model, ModelError> {
        Model::new(Artifact::from_bytes(bytes)?, threads)
    }

    /// As [`Model::load`], from an artifact that was already read.
    ///
    /// # Errors
    /// As [`Model::load`].
    pub fn new(artifact: Artifact, threads: Option<usize>) -> Result<Model, ModelError> {
        match artifact.plan().code {
            CodeKind::Native => Ok(Model::Cpu(Box::new(cpu::Model::new(artifact, threads)?))),
            CodeKind::Simulated => Ok(Model::Simulated(Box::new(simulate::Model::new(artifact)?))),
            CodeKind::Ptx | CodeKind::Amdgcn => {
                Ok(Model::Gpu(Box::new(gpu::Model::new(artifact)?)))
            }
        }
    }

    /// The model's plan.
    pub fn plan(&self) -> &Plan {
        self.artifact().plan()
    }

    /// The artifact the model was loaded from.
    pub fn artifact(&self) -> &Artifact {
        match self {
            Model::Cpu(model) => model.artifact(),
            Model::Simulated(model) => model.artifact(),
            Model::Gpu(model) => model.artifact(),
        }
    }

    /// Number of threads that run it, the caller's among them.
    pub fn threads(&self) -> usize {
        match self {
            Model::Cpu(model) => model.threads(),
            Model::Simulated(_) | Model::Gpu(_) => 1,
        }
    }

    /// Zeroed memory of the size of each output.
    pub fn output_buffers(&self) -> Vec<Vec<u8>> {
        output_buffers(&self.plan().outputs)
    }

    /// Runs the model once: reads each input, writes every byte of each output.
    ///
    /// # Errors
    /// A number of inputs or outputs, or a size, that is not the plan's; on a simulated
    /// machine, whatever is wrong with the program.
    pub fn run(&mut self, inputs: &[&[u8]], outputs: &mut [&mut [u8]]) -> Result<(), ModelError> {
        match self {
            Model::Cpu(model) => Ok(model.run(inputs, outputs)?),
            Model::Simulated(model) => Ok(model.run(inputs, outputs)?),
            Model::Gpu(model) => Ok(model.run(inputs, outputs)?),
        }
    }

    /// Says the lengths of all later runs, where callers decide them ([`Plan::bind_shapes`]).
    pub fn bind(&mut self, binding: Binding) {
        // The shapes of others are fixed.
        if let Model::Cpu(model) = self {
            model.bind(binding);
        }
    }

    /// Shape of each output, as the last run has found it where data decide it; none before anybody has
    /// said the lengths that callers decide.
    pub fn output_shapes(&self) -> Option<Vec<Vec<u64>>> {
        match self {
            Model::Cpu(model) => model.output_shapes().map(<[_]>::to_vec),
            Model::Simulated(_) | Model::Gpu(_) => {
                Some(self.plan().outputs.iter().map(|port| port.shape.clone()).collect())
            }
        }
    }

    /// Returns whether runs record when each step begins and ends; off at first.
    pub fn set_profiling(&mut self, on: bool) {
        if let Model::Cpu(model) = self {
            model.set_profiling(on);
        }
    }

    /// When each step of the plan ran, in the last run with profiling on; nothing of a
    /// simulated machine, whose time is not ours, and of a GPU, which is measured by
    /// its own events.
    pub fn step_times(&self) -> Vec<StepTime> {
        match self {
            Model::Cpu(model) => model.step_times(),
            Model::Simulated(_) | Model::Gpu(_) => Vec::new(),
        }
    }
}
