//! What passes the memory that all units share.
//!
//! ```text
//! read by units     whole transactions, as often as each reads them
//! in clusters       once for each cluster, where that is less and the memory of a cluster keeps the tensor
//! ```
//!
//! Where units of a cluster read the same, `task/cluster_memory/` lets the cluster copy it once, so tiles that
//! differ in what they read again cost no more than those copies.

use weft_dialects::device::Machine;

use super::cluster_memory::ClusterMemory;

/// Facts of a machine about what passes the memory that all units share.
#[derive(Clone, Copy, Debug)]
pub struct Passing {
    /// Bytes that move together.
    pub transaction_bytes: u64,
    /// Bytes a cycle; `None` where the machine does not say.
    pub rate: Option<u64>,
    /// Number of clusters that copy tensors to a memory of theirs, and what that keeps.
    pub clusters: Option<(u64, u64)>,
}

impl Passing {
    /// Of a machine.
    pub fn of(machine: Machine<'_>) -> Self {
        let shared = machine.shared();
        let unit = machine.units().into_iter().next();
        let own = unit.and_then(|unit| ClusterMemory::of(machine, &unit, unit.count()));
        Self {
            transaction_bytes: shared.as_ref().and_then(|own| own.transaction_bytes()).unwrap_or(1),
            rate: shared.and_then(|own| own.bytes_per_cycle()),
            clusters: own.map(|own| (own.clusters.count(), own.bytes)),
        }
    }

    /// Of a memory whose bytes move one by one, without clusters.
    pub const fn plain() -> Self {
        Self { transaction_bytes: 1, rate: None, clusters: None }
    }

    /// Bytes that pass of a tensor of `whole` bytes of which units read `read`.
    pub fn bytes(&self, read: u64, whole: u64) -> u64 {
        match self.clusters {
            Some((clusters, keeps)) if whole <= keeps => read.min(clusters.saturating_mul(whole)),
            _ => read,
        }
    }

    /// Cycles in which so many bytes pass.
    pub fn cycles(&self, bytes: u64) -> f64 {
        self.rate.map_or(0.0, |rate| bytes as f64 / rate as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_brings_once_what_its_memory_keeps() {
        let own = Passing { rate: Some(128), clusters: Some((4, 1000)), ..Passing::plain() };
        assert_eq!(own.bytes(32 * 500, 500), 4 * 500);
        assert_eq!(own.bytes(700, 500), 700, "fewer bytes are read than the clusters would bring");
        assert_eq!(own.bytes(32 * 1001, 1001), 32 * 1001, "no cluster keeps it");
        assert_eq!(Passing { clusters: None, ..own }.bytes(32 * 500, 500), 32 * 500);
        assert_eq!([own, Passing::plain()].map(|own| own.cycles(256)), [2.0, 0.0]);
    }
}
