//! Times of kernels and of whole models on the processor that compiles.

use std::path::{Path, PathBuf};
use std::time::Instant;

use weft_runtime::Model;
use weft_runtime::plan::CodeKind;
use weft_runtime::session::JobError;

use super::program::Job;
use super::report::Measured;
use crate::commands::read_inputs;
use crate::{Failure, Unit};

/// Options of the measurement.
#[derive(Clone, Debug)]
pub struct Measure {
    /// Inputs by tensor name; random ones without.
    pub inputs: Option<PathBuf>,
    /// Threads; as many as the model has units where it is not said.
    pub threads: Option<usize>,
    /// Runs of every way to join kernels.
    pub repeat: usize,
}

/// Number of runs with times of kernels, whose median is reported.
const PROFILED: usize = 5;

/// A model that is ready to be measured, with its inputs.
pub(super) struct Runner {
    model: Model,
    inputs: Vec<Vec<u8>>,
    outputs: Vec<Vec<u8>>,
    times_ms: Vec<f64>,
}

impl Runner {
    /// Compiles the rest of the way and loads the code.
    pub fn new(unit: &mut Unit<'_>, folder: &Path, measure: &Measure) -> Result<Self, Failure> {
        let path = folder.join("model.weft");
        unit.write_artifact(&path)?;
        let mut model = Model::load(&path, measure.threads)?;
        let plan = model.plan();
        if plan.code != CodeKind::Native {
            return Err(Failure::said(
                format!("kernels of @{} do not run on this processor", plan.device),
                "leave --run out for predicted times; `weft simulate` counts cycles",
            ));
        }
        if plan.has_lengths() {
            // The greatest are those that all figures of the report are for.
            let binding = plan.bind_names(&[]).map_err(JobError::from)?;
            model.bind(binding);
        }
        let mut inputs = read_inputs(measure.inputs.as_deref(), 0, &model)?;
        // An output that lies in one is given as that.
        model.plan().aliases.iter().for_each(|alias| inputs[alias.input as usize].clear());
        let outputs = model.output_buffers();
        Ok(Self { model, inputs, outputs, times_ms: Vec::new() })
    }

    fn run(&mut self) -> Result<f64, Failure> {
        let inputs: Vec<&[u8]> = self.inputs.iter().map(Vec::as_slice).collect();
        let mut outputs: Vec<&mut [u8]> = self.outputs.iter_mut().map(Vec::as_mut_slice).collect();
        let begin = Instant::now();
        self.model.run(&inputs, &mut outputs)?;
        Ok(begin.elapsed().as_secs_f64() * 1e3)
    }

    /// The median of the runs so far.
    pub fn median_ms(&self) -> Option<f64> {
        median(self.times_ms.clone())
    }

    /// From each job's first begin to its last end: the medians of some runs.
    pub fn jobs_ms(&mut self, jobs: &[Job]) -> Result<Vec<Option<f64>>, Failure> {
        let mut times: Vec<Vec<f64>> = vec![Vec::new(); jobs.len()];
        self.model.set_profiling(true);
        for _ in 0..PROFILED {
            self.run()?;
            let mut steps = self.model.step_times().into_iter();
            // A step of the plan is a range of the program, in its order.
            for (job, times) in jobs.iter().zip(&mut times) {
                let own: Vec<_> = steps.by_ref().take(job.ranges.len()).collect();
                let begin = own.iter().map(|step| step.begin_ns).min();
                let end = own.iter().map(|step| step.end_ns).max();
                times.extend(begin.zip(end).map(|(begin, end)| (end - begin) as f64 / 1e6));
            }
        }
        self.model.set_profiling(false);
        Ok(times.into_iter().map(median).collect())
    }

    /// When each range of the program started and ended in the last run with times of kernels,
    /// in milliseconds since the first started.
    pub fn ranges_ms(&self) -> Vec<[f64; 2]> {
        let steps = self.model.step_times();
        let first = steps.iter().map(|step| step.begin_ns).min().unwrap_or(0);
        let since = |ns: u64| ns.saturating_sub(first) as f64 / 1e6;
        steps.iter().map(|step| [since(step.begin_ns), since(step.end_ns)]).collect()
    }
}

/// Runs all of them, alternating.
pub(super) fn in_turns(runners: &mut [Runner], measure: &Measure) -> Result<Measured, Failure> {
    let runs = measure.repeat.max(1);
    for runner in runners.iter_mut() {
        // Until memory is touched.
        for _ in 0..(runs / 10).max(1) {
            runner.run()?;
        }
    }
    for _ in 0..runs {
        for runner in runners.iter_mut() {
            let time = runner.run()?;
            runner.times_ms.push(time);
        }
    }
    let threads = runners.first().map_or(0, |runner| runner.model.threads());
    Ok(Measured { threads, runs, profiled_runs: PROFILED })
}

fn median(mut times: Vec<f64>) -> Option<f64> {
    times.sort_by(f64::total_cmp);
    let (low, high) = (times.get(times.len().checked_sub(1)? / 2)?, times.get(times.len() / 2)?);
    Some((low + high) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn medians() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0]), Some(3.0));
        assert_eq!(median(vec![4.0, 1.0, 3.0, 2.0]), Some(2.5));
    }
}
