//! The job of `weft-run` and of `weft run`: inputs from a file or at random, a run, results to
//! a file or compared with expected ones.

use std::path::PathBuf;

use crate::compare::{Difference, Tolerance, compare};
use crate::cpu::spread;
use crate::measure::{Measurement, measure, timeline_run};
use crate::model::{Model, ModelError, output_buffers};
use crate::npz::{self, Npz, NpzError};
use crate::plan::{Alias, BindError, Binding, CodeKind, Plan, Port};
use crate::random;
use crate::tensor::Tensor;
use crate::timeline::Timeline;

/// A job: a loaded model's inputs, outputs and comparison.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// Inputs, by tensor name; random ones without.
    pub inputs: Option<PathBuf>,
    /// Lengths of random inputs by name; the largest of those that are not said.
    pub lengths: Vec<(String, u64)>,
    /// File for the outputs, by tensor name.
    pub outputs: Option<PathBuf>,
    /// File with the expected outputs.
    pub expect: Option<PathBuf>,
    /// The accepted difference.
    pub tolerance: Tolerance,
    /// Seed of random inputs.
    pub seed: u64,
    /// Measured runs; 0 runs once, unmeasured.
    pub bench: usize,
    /// True if a measurement lists operators and kernels.
    pub profile: bool,
    /// True if to say what ran when, in one run more.
    pub timeline: bool,
}

/// Why a job failed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum JobError {
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Bind(#[from] BindError),
    #[error(transparent)]
    Npz(#[from] NpzError),
    #[error(transparent)]
    Difference(#[from] Difference),
    #[error("a trace of {} code was asked for; only the steps of native code are timed", kind.name())]
    Timeline { kind: CodeKind },
}

/// The result of a job.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The results, in the order of the plan's outputs.
    pub outputs: Vec<Tensor>,
    /// If [`Job::bench`] asked for it.
    pub measurement: Option<Measurement>,
    /// If [`Job::timeline`] asked for it.
    pub timeline: Option<Timeline>,
}

/// Returns the part of `buffer` from the first multiple of a cache line on, and grows it by as much:
/// a result that begins there can be written past the caches.
fn whole_lines(buffer: &mut Vec<u8>) -> &mut [u8] {
    const LINE_BYTES: usize = 64;
    let bytes = buffer.len();
    buffer.resize(bytes + LINE_BYTES, 0);
    let begin = buffer.as_ptr().align_offset(LINE_BYTES).min(LINE_BYTES);
    &mut buffer[begin..begin + bytes]
}

/// The outputs that lie in the memory of an input, with that.
fn inputs_within<'t>(plan: &Plan, inputs: &'t [Tensor]) -> Vec<(usize, &'t Tensor)> {
    let pair = |alias: &Alias| (alias.output as usize, &inputs[alias.input as usize]);
    plan.aliases.iter().map(pair).collect()
}

/// Puts the rows of a dense tensor where the port of which `whole` is laid out has them.
fn spread_into(port: &Port, input: &Tensor, whole: &mut [u8]) {
    let size = port.dtype.bytes();
    spread::runs(&input.shape, &port.shape, |dense, own, count| {
        let [dense, own, bytes] = [dense, own, count].map(|elements| elements * size);
        whole[own..own + bytes].copy_from_slice(&input.bytes[dense..dense + bytes]);
    });
}

/// The dense tensor of a port of which `whole` is laid out.
fn part_of(whole: &Port, port: &Port, bytes: &[u8]) -> Vec<u8> {
    let (mut part, size) = (vec![0; port.bytes().unwrap_or(0) as usize], port.dtype.bytes());
    spread::runs(&port.shape, &whole.shape, |dense, own, count| {
        let [dense, own, count] = [dense, own, count].map(|elements| elements * size);
        part[dense..dense + count].copy_from_slice(&bytes[own..own + count]);
    });
    part
}

impl Job {
    /// Does the job. Outputs are written before they are compared, so that those of a failed
    /// comparison can be looked at.
    pub fn run(&self, model: &mut Model) -> Result<Outcome, JobError> {
        let kind = model.plan().code;
        if self.timeline && kind != CodeKind::Native {
            return Err(JobError::Timeline { kind });
        }
        let inputs = self.read_inputs(model)?;
        let ports = self.bind(model, &inputs)?;
        let shared = inputs_within(model.plan(), &inputs);
        let mut rooms = output_buffers(&ports);
        for (port, _) in &shared {
            rooms[*port] = vec![0; model.plan().outputs[*port].bytes().unwrap_or(0) as usize];
        }
        let mut places: Vec<&mut [u8]> = rooms.iter_mut().map(whole_lines).collect();
        for (port, input) in &shared {
            spread_into(&model.plan().outputs[*port], input, places[*port]);
        }
        let mut inputs: Vec<&[u8]> = inputs.iter().map(|t| t.bytes.as_slice()).collect();
        for alias in &model.plan().aliases {
            inputs[alias.input as usize] = &[];
        }
        let measurement = if self.bench > 0 {
            Some(measure(model, &inputs, &mut places, self.bench, self.profile)?)
        } else {
            model.run(&inputs, &mut places)?;
            None
        };
        let timeline =
            if self.timeline { Some(timeline_run(model, &inputs, &mut places)?) } else { None };
        let plan = model.plan();
        // Where data decide lengths, what they are is known now.
        let ports = match model.output_shapes() {
            Some(shapes) => Binding::ports(&plan.outputs, &shapes),
            None => ports,
        };
        let dense = |(number, port): (usize, &Port), bytes: &[u8]| match plan.input_around(number) {
            Some(_) => part_of(&plan.outputs[number], port, bytes),
            None => bytes[..port.bytes().unwrap_or(0) as usize].to_vec(),
        };
        let own = ports.iter().enumerate().zip(places);
        let outputs: Vec<Tensor> =
            own.map(|(port, bytes)| Tensor::of_port(port.1, dense(port, bytes))).collect();
        if let Some(path) = &self.outputs {
            npz::write(path, ports.iter().map(|p| p.name.as_str()).zip(&outputs))?;
        }
        if let Some(path) = &self.expect {
            let mut expected = Npz::read(path)?;
            for (i, (port, got)) in ports.iter().zip(&outputs).enumerate() {
                compare(&port.name, got, &expected.take_expected(port, i)?, self.tolerance)?;
            }
        }
        Ok(Outcome { outputs, measurement, timeline })
    }

    /// Lets the model have the lengths of its inputs; gives its outputs with theirs.
    fn bind(&self, model: &mut Model, inputs: &[Tensor]) -> Result<Vec<Port>, JobError> {
        let plan = model.plan();
        if !plan.has_lengths() {
            return Ok(plan.outputs.clone());
        }
        let shapes: Vec<&[u64]> = inputs.iter().map(|tensor| tensor.shape.as_slice()).collect();
        // Random inputs need not say all of them.
        let binding = match &self.inputs {
            Some(_) => plan.bind_shapes(&shapes)?,
            None => plan.bind_names(&self.lengths)?,
        };
        let ports = Binding::ports(&plan.outputs, &binding.outputs);
        model.bind(binding);
        Ok(ports)
    }

    fn read_inputs(&self, model: &Model) -> Result<Vec<Tensor>, JobError> {
        let plan = model.plan();
        let Some(path) = &self.inputs else {
            let binding = plan.bind_names(&self.lengths)?;
            let ports = Binding::ports(&plan.inputs, &binding.inputs);
            return Ok(ports.iter().map(|port| random::tensor(port, self.seed)).collect());
        };
        let mut npz = Npz::read(path)?;
        let tensor = |(number, port): (usize, &Port)| match plan.lengths.inputs.get(number) {
            Some(lengths) if !lengths.is_empty() => npz.take_of_any_shape(port, number),
            _ => npz.take(port, number),
        };
        Ok(plan.inputs.iter().enumerate().map(tensor).collect::<Result<_, _>>()?)
    }
}
