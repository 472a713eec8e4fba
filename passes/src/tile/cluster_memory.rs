//! The memory of a cluster, and the move that copies tensors there.

use weft_dialects::device::{Machine, Move, Scope, Unit};
use weft_dialects::task::Clusters;

use super::way::{move_cycles, piece_bytes};
use crate::arch::has_code;

/// The memory of a cluster, and what fills it.
pub(crate) struct ClusterMemory<'c> {
    machine: Machine<'c>,
    pub memory: &'c str,
    /// The device's memory.
    pub shared: &'c str,
    /// Capacity in bytes.
    pub bytes: u64,
    /// The move from the device's memory, by an engine of the cluster.
    pub fetch: Move<'c>,
    /// Bandwidth of the device's memory, in bytes a cycle.
    pub rate: f64,
    pub clusters: Clusters,
}

impl<'c> ClusterMemory<'c> {
    /// Returns the memory of a cluster with addresses within those of the device's memory, if an
    /// engine of the cluster moves from there; for a program on `units` of a kind. Only a simulated
    /// machine runs what clusters do.
    pub fn of(machine: Machine<'c>, unit: &Unit<'c>, units: u64) -> Option<Self> {
        let clusters = Clusters { units, each: machine.cluster_units(unit)? };
        let shared = machine.shared()?;
        let rate = shared.bytes_per_cycle().map_or(f64::INFINITY, |rate| rate as f64);
        let shared = shared.name;
        let of_cluster = |fetch: &Move<'c>| {
            let engine = fetch.engine().and_then(|name| machine.engine(name));
            engine.is_some_and(|engine| Some(engine.unit()) == unit.cluster())
        };
        let simulated = !has_code(machine);
        machine.memories().into_iter().filter(|_| simulated).find_map(|memory| {
            let own = memory.scope() == Scope::Cluster && memory.within() == Some(shared);
            let fetch = machine.move_between(shared, memory.name).filter(|_| own)?;
            let bytes = memory.capacity_bytes();
            let own = Self { machine, memory: memory.name, shared, bytes, fetch, rate, clusters };
            Some(own).filter(|own| of_cluster(&own.fetch))
        })
    }

    /// Cycles until so many bytes have come where so many clusters bring them: what its own moves
    /// take, part by part, or all of them in the device's memory.
    pub fn brings(&self, bytes: u64, clusters: u64) -> u64 {
        let latency = self.fetch.latency_cycles().unwrap_or(0);
        let piece = piece_bytes(&self.fetch).unwrap_or(bytes).max(1);
        let own = move_cycles(self.machine, &self.fetch, bytes as f64) as u64;
        let all = ((bytes * clusters) as f64 / self.rate) as u64;
        (own + bytes.div_ceil(piece) * latency).max(all + latency)
    }
}
