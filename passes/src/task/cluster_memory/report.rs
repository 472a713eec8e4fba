//! The remarks on the memory of a cluster.

use super::super::values::Lowered;
use super::request::{How, Request};
use crate::remarks::Refused;
use crate::tile::cluster_memory::ClusterMemory;

/// The decision on a tensor that may be in a cluster's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Given,
    /// Units of the cluster read no more than what it has.
    Once,
    /// They hardly read it twice, or the cycles that they wait for each other's bytes are not above
    /// those that they would wait for it.
    Idle {
        saves: u64,
        waits: u64,
    },
    /// No memory is free for it.
    Full,
    /// Other jobs have still to write a part of it.
    Part,
}

/// Formats the decisions on one tensor.
pub(super) fn line(
    told: &[&(Request, Decision)],
    lowered: &Lowered<'_>,
    cluster_memory: &ClusterMemory<'_>,
) -> (usize, String) {
    let (request, decision) = &told.iter().find(|own| own.1 == Decision::Given).unwrap_or(&told[0]);
    let Request { storage, bytes, cluster, job, .. } = *request;
    let memory = cluster_memory.memory;
    let argument = lowered.jobs[job].args.iter().position(|arg| arg.storage == storage);
    let what = format!("argument {} of {bytes} bytes", argument.unwrap_or(0));
    let refused = |refused: Refused, values: String| {
        format!("{what} is read from the device's memory: {}", refused.met(values))
    };
    let line = match (decision, request.how) {
        (Decision::Given, How::Kept) => {
            format!("{what} is in @{memory} of cluster {cluster}, whose units alone use it")
        }
        (Decision::Given, _) => {
            let given = told.iter().filter(|own| own.1 == Decision::Given);
            let (times, read) = given.fold((0, 0), |all, own| (all.0 + 1, all.1 + own.0.read()));
            format!(
                "{what} is copied to @{memory} {times} times, for {read} bytes that units read there"
            )
        }
        (Decision::Idle { saves, waits }, _) => {
            let why =
                Refused::by("worth", "copying it to the cluster's memory saves less than it takes");
            let read = request.read();
            refused(why, format!("{read} bytes in a cluster, saves {saves} cycles, waits {waits}"))
        }
        (Decision::Once, _) => {
            let why = Refused::by("again", "the cluster reads it no more than once");
            refused(why, format!("{} bytes of {bytes}", request.read()))
        }
        (Decision::Part, _) => {
            let why = Refused::by("whole", "some of it is not written yet, or written twice");
            refused(why, format!("{} bytes in a cluster", request.read()))
        }
        (Decision::Full, _) => {
            let why = Refused::by("room", "no memory is free while it is needed");
            refused(why, format!("@{memory} holds {}", cluster_memory.bytes))
        }
    };
    (job, line)
}
