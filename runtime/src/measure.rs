//! Measuring a model: time per run, memory, time per operator and kernel.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::Serialize;

use crate::model::{Model, ModelError};
use crate::timeline::Timeline;

/// One measurement, as the tools print it in JSON.
#[derive(Clone, Debug, Serialize)]
pub struct Measurement {
    /// Seconds spent compiling; `null` if a compiled artifact was measured.
    pub compile_s: Option<f64>,
    /// Median time of a run, in milliseconds.
    pub median_ms: f64,
    /// Shortest time of a run, in milliseconds.
    pub min_ms: f64,
    /// Nine of ten runs are faster than this, in milliseconds.
    pub p90_ms: f64,
    /// Most memory the process had resident, in MiB.
    pub peak_rss_mb: f64,
    /// Threads that ran the model.
    pub threads: usize,
    /// The device the model was compiled for.
    pub device: String,
    /// Bytes that one run takes over each move between the device's memory and the host's, where
    /// the model does not fit the former.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub moved_bytes: BTreeMap<String, u64>,
    /// Time per operator and kernel, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Vec<ProfileRow>>,
}

/// The steps of one operator that one kernel runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProfileRow {
    /// The operator's name in the model.
    pub op: String,
    /// The kernel's symbol.
    pub kernel: String,
    /// Steps of both.
    pub steps: usize,
    /// Time in all of them, over all units, in milliseconds.
    pub total_ms: f64,
    /// Time that they take at least by the facts of the machine that the model was compiled
    /// for, in milliseconds; `null` where that is not known.
    pub floor_ms: Option<f64>,
    /// The share of the floor in the time.
    pub share: Option<f64>,
}

impl ProfileRow {
    /// A row of `steps` steps that took `total_ms` and could have taken `floor_ms`.
    pub(crate) fn new(op: &str, kernel: &str, steps: usize, total_ms: f64, floor_ms: f64) -> Self {
        let floor_ms = (floor_ms > 0.0).then_some(floor_ms);
        let share = floor_ms.filter(|_| total_ms > 0.0).map(|floor| floor / total_ms);
        Self { op: op.to_owned(), kernel: kernel.to_owned(), steps, total_ms, floor_ms, share }
    }
}

/// Runs the model on the inputs `repeat` times, after warming up, and leaves the last results
/// in `outputs`.
///
/// # Errors
///
/// Those of [`Model::run`].
pub fn measure(
    model: &mut Model,
    inputs: &[&[u8]],
    outputs: &mut [&mut [u8]],
    repeat: usize,
    profile: bool,
) -> Result<Measurement, ModelError> {
    if let Model::Gpu(model) = model {
        return Ok(model.measure(inputs, outputs, repeat, profile)?);
    }
    let repeat = repeat.max(1);
    // Until memory is touched and clocks are up: a tenth of the runs, at least one.
    for _ in 0..(repeat / 10).max(1) {
        model.run(inputs, outputs)?;
    }
    let mut times_ms = Vec::with_capacity(repeat);
    for _ in 0..repeat {
        let start = Instant::now();
        model.run(inputs, outputs)?;
        times_ms.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let rss_mb = peak_rss_mib().unwrap_or(0.0);
    // A run of its own: taking times costs a little.
    let profile = if profile { Some(profile_run(model, inputs, outputs)?) } else { None };
    let device = model.plan().device.clone();
    let mut measurement = of_times(times_ms, rss_mb, model.threads(), device, profile);
    let moved = model.plan().moved.iter().map(|moved| (moved.name.clone(), moved.bytes));
    measurement.moved_bytes = moved.collect();
    Ok(measurement)
}

/// A measurement of at least one run.
pub(crate) fn of_times(
    mut times_ms: Vec<f64>,
    peak_rss_mb: f64,
    threads: usize,
    device: String,
    profile: Option<Vec<ProfileRow>>,
) -> Measurement {
    times_ms.sort_by(f64::total_cmp);
    Measurement {
        compile_s: None,
        median_ms: quantile(&times_ms, 0.5),
        min_ms: times_ms[0],
        p90_ms: quantile(&times_ms, 0.9),
        peak_rss_mb,
        threads,
        device,
        moved_bytes: BTreeMap::new(),
        profile,
    }
}

/// Time per operator and kernel in one run, the longest first.
pub fn profile_run(
    model: &mut Model,
    inputs: &[&[u8]],
    outputs: &mut [&mut [u8]],
) -> Result<Vec<ProfileRow>, ModelError> {
    if let Model::Gpu(model) = model {
        model.run(inputs, outputs)?;
        return Ok(model.profile()?);
    }
    profiled(model, inputs, outputs)?;
    let plan = model.plan();
    let mut sums: BTreeMap<(u32, u32), (usize, u64, u64)> = BTreeMap::new();
    for (number, (step, time)) in plan.steps.iter().zip(model.step_times()).enumerate() {
        let sum = sums.entry((step.op, step.kernel)).or_default();
        sum.0 += 1;
        sum.1 += time.end_ns.saturating_sub(time.begin_ns);
        sum.2 = sum.2.saturating_add(plan.least_ps.get(number).copied().unwrap_or(0));
    }
    let mut rows: Vec<ProfileRow> = sums
        .into_iter()
        .map(|((op, kernel), (steps, ns, least_ps))| {
            let kernel = &plan.kernels[kernel as usize].symbol;
            let (total_ms, floor_ms) = (ns as f64 / 1e6, least_ps as f64 / 1e9);
            ProfileRow::new(&plan.ops[op as usize], kernel, steps, total_ms, floor_ms)
        })
        .collect();
    rows.sort_by(|a, b| b.total_ms.total_cmp(&a.total_ms));
    Ok(rows)
}

/// Records when each step of one run started and ended, beside the prediction.
///
/// # Errors
///
/// Those of [`Model::run`].
pub fn timeline_run(
    model: &mut Model,
    inputs: &[&[u8]],
    outputs: &mut [&mut [u8]],
) -> Result<Timeline, ModelError> {
    profiled(model, inputs, outputs)?;
    Ok(Timeline::new(model.plan(), &model.step_times()))
}

/// Runs the model with profiling on.
fn profiled(
    model: &mut Model,
    inputs: &[&[u8]],
    outputs: &mut [&mut [u8]],
) -> Result<(), ModelError> {
    model.set_profiling(true);
    let done = model.run(inputs, outputs);
    model.set_profiling(false);
    done
}

/// Most memory this process had resident so far, in MiB; `None` where the system does not say.
pub fn peak_rss_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024.0)
}

/// A quantile of sorted times, between two where it falls between them.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let at = q * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    low + (high - low) * at.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles() {
        assert_eq!(quantile(&[1.0], 0.9), 1.0);
        assert_eq!(quantile(&[1.0, 2.0], 0.5), 1.5);
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.5), 3.0);
    }

    #[test]
    fn memory_is_known() {
        assert!(peak_rss_mib().is_some_and(|mib| mib > 0.1));
    }
}
