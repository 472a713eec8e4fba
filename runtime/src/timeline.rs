//! A model's predicted and measured schedule side by side, for Perfetto and other readers of
//! Chrome's trace format.

use std::ops::Range;

use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};

use crate::cpu::StepTime;
use crate::plan::Plan;
use crate::replay::replay;
use crate::trace_events::Events;

/// A timeline: two processes, "predicted" and "measured", with one track for each unit and one
/// span for each step. Serializes as the JSON array that viewers read.
#[derive(Clone, Debug)]
pub struct Timeline {
    units: u32,
    steps: Vec<Step>,
    predicted: Vec<Range<u64>>,
    measured: Vec<Range<u64>>,
}

/// A step, for the one who looks at it.
#[derive(Clone, Debug)]
struct Step {
    unit: u32,
    /// Operator and kernel.
    name: String,
    rtasks: Range<u64>,
}

/// Values that a viewer shows beside a span.
#[derive(Serialize)]
struct Args {
    /// Index in the plan.
    step: usize,
    /// First rTask.
    begin: u64,
    /// One past the last rTask.
    end: u64,
}

impl Timeline {
    /// The schedule of a valid plan as [`replay`] predicts it, and as it was measured in one run;
    /// see [`crate::Model::step_times`].
    pub fn new(plan: &Plan, measured: &[StepTime]) -> Timeline {
        let step = |step: &crate::plan::Step| Step {
            unit: step.unit,
            name: format!(
                "{} {}",
                plan.ops[step.op as usize], plan.kernels[step.kernel as usize].symbol
            ),
            rtasks: step.begin..step.end,
        };
        // Both begin at 0.
        let origin = measured.iter().map(|time| time.begin_ns).min().unwrap_or(0);
        let ps = |ns: u64| ns.saturating_sub(origin).saturating_mul(1000);
        Timeline {
            units: plan.units,
            steps: plan.steps.iter().map(step).collect(),
            predicted: replay(plan),
            measured: measured.iter().map(|time| ps(time.begin_ns)..ps(time.end_ns)).collect(),
        }
    }
}

impl Serialize for Timeline {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut events = Events(serializer.serialize_seq(None)?);
        for (pid, (name, times)) in
            [("predicted", &self.predicted), ("measured", &self.measured)].into_iter().enumerate()
        {
            let pid = pid as u32;
            events.process(pid, name)?;
            for unit in 0..self.units {
                events.track(pid, unit, &format!("unit {unit}"))?;
            }
            for (i, (step, time)) in self.steps.iter().zip(times).enumerate() {
                let args = Args { step: i, begin: step.rtasks.start, end: step.rtasks.end };
                let us = |ps: u64| ps as f64 / 1e6;
                let (begin, length) = (us(time.start), us(time.end - time.start));
                events.span((pid, step.unit), &step.name, begin, length, Some(args))?;
            }
        }
        events.0.end()
    }
}
