//! A trace of a run, for Perfetto and other readers of Chrome's trace format.

use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};

use super::super::machine::Machine;
use super::{TICKS, Tick};
use crate::plan::Plan;
use crate::trace_events::Events;

/// Something that took time on a unit or an engine.
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub unit: u32,
    /// 0 for the unit itself, then its engines.
    pub track: u32,
    pub name: u32,
    pub begin: Tick,
    pub ticks: Tick,
}

/// Everything that ran, in simulated time.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    pub(super) spans: Vec<Span>,
    pub(super) names: Vec<String>,
    pub(super) units: u32,
    /// Number of units, the last ones, that stand for clusters.
    pub(super) clusters: u32,
    pub(super) unit: String,
    pub(super) engines: Vec<String>,
    /// Cycles in a microsecond.
    pub(super) clock_mhz: u64,
}

impl Trace {
    pub(super) fn new(machine: &Machine, plan: &Plan) -> Trace {
        Trace {
            units: plan.units,
            clusters: plan.clusters,
            unit: machine.unit.clone(),
            engines: machine.engines.iter().map(|engine| engine.name.clone()).collect(),
            clock_mhz: machine.clock_mhz.unwrap_or(1000),
            ..Trace::default()
        }
    }
}

/// A JSON array of events: one process per unit, one thread for it and for each engine.
impl Serialize for Trace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut events = Events(serializer.serialize_seq(None)?);
        for unit in 0..self.units {
            let name = match unit.checked_sub(self.units - self.clusters) {
                Some(cluster) => format!("cluster {cluster}"),
                None => format!("@{} {unit}", self.unit),
            };
            events.process(unit, &name)?;
            let tracks = std::iter::once("issue").chain(self.engines.iter().map(String::as_str));
            for (track, name) in tracks.enumerate() {
                events.track(unit, track as u32, name)?;
            }
        }
        let micros = |ticks: Tick| ticks as f64 / TICKS as f64 / self.clock_mhz as f64;
        for span in &self.spans {
            let name = &self.names[span.name as usize];
            let (begin, us) = (micros(span.begin), micros(span.ticks));
            events.span((span.unit, span.track), name, begin, us, None::<()>)?;
        }
        events.0.end()
    }
}
