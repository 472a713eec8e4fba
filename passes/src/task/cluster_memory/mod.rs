//! Placement of tensors in the memory that the units of a cluster share, GraphTurbo's global
//! buffer, decided when jobs have their units.
//!
//! ```text
//! kept      all that touch it are units of one cluster: it is there and nowhere else
//! fetched   units of a cluster read more bytes of it than it has: the cluster copies it once,
//!           ahead where it is known before the program starts, behind who makes it otherwise
//! ```
//!
//! Tensors get their places in the order in which they are needed, each where the bytes have been
//! free for the longest, so that a cluster copies what is needed next while its units still work
//! on what was copied before. A tensor without a place stays in the device's memory; one that is
//! read again much later may be copied twice.
//!
//! ```text
//! memory.rs     the memory of a cluster, and the time to copy something there
//! request.rs       which tensors may be there, and which units use them when
//! traffic.rs    the times of turns that wait for each other's bytes
//! allocator.rs  offsets
//! report.rs     what is said of it
//! ```

mod allocator;
mod memory;
mod report;
mod request;
mod traffic;

use std::collections::{BTreeMap, HashMap};

use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::ty;
use weft_dialects::task::Clusters;
use weft_runtime::plan::ALIGN;

use super::kernels::Kernels;
use super::schedule::Turn;
use super::values::{Arg, Job, Lowered, Storage, StorageClass};
use allocator::Allocator;
pub(crate) use memory::ClusterMemory;
use report::{Decision, line};
use request::{How, Request, Uses, requests_of};
use traffic::Traffic;

/// The buffers that ranges are given instead of a storage.
#[derive(Default)]
pub(crate) struct ClusterBuffers {
    /// By job, storage and cluster.
    instead: HashMap<(usize, usize, u64), usize>,
    clusters: Option<Clusters>,
    /// Tensors that are kept.
    kept: usize,
    bytes: u64,
    /// The decision on each request.
    told: Vec<(Request, Decision)>,
}

impl ClusterBuffers {
    /// Returns the storage that a range of `job` on a unit uses instead of `storage`.
    pub fn storage(&self, job: usize, storage: usize, unit: u64) -> usize {
        let Some(clusters) = self.clusters else { return storage };
        self.instead.get(&(job, storage, clusters.of(unit))).copied().unwrap_or(storage)
    }

    /// Returns the number of clusters whose memory is used.
    pub fn clusters(&self) -> u64 {
        self.clusters.map_or(0, |clusters| clusters.count())
    }

    /// Bytes that are needed in the memory of each.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the decision on each tensor, with a job that touches it.
    pub fn report(
        &self,
        lowered: &Lowered<'_>,
        cluster: &ClusterMemory<'_>,
    ) -> Vec<(usize, String)> {
        let mut told: Vec<_> = self.told.iter().collect();
        told.sort_by_key(|(request, _)| (request.storage, request.uses[0].turn));
        let of_one = told.chunk_by(|one, other| one.0.storage == other.0.storage);
        of_one.map(|own| line(own, lowered, cluster)).collect()
    }

    /// Returns whether some tensor is in a cluster's memory and nowhere else.
    pub fn keeps(&self) -> bool {
        self.kept > 0
    }
}

/// Decides what is in clusters' memories, and returns the turns that copy it, each with the number
/// of the turn that it comes before.
///
/// # Errors
/// Reported: no kernel can be made that copies it.
pub(crate) fn place<'c>(
    lowered: &mut Lowered<'c>,
    kernels: &mut Kernels<'c>,
    turns: &[Turn],
    cluster: &ClusterMemory<'c>,
) -> Result<(ClusterBuffers, Vec<(usize, Turn)>), Failed> {
    let mut buffers =
        ClusterBuffers { clusters: Some(cluster.clusters), ..ClusterBuffers::default() };
    let mut fetches = Vec::new();
    let mut allocators = vec![Allocator::default(); cluster.clusters.count() as usize];
    let uses = Uses::of(lowered, kernels, turns, cluster.clusters);
    let traffic = Traffic::of(turns, &uses.bytes, cluster.rate);
    // In the order in which they are first needed.
    let mut requests: BTreeMap<(usize, usize, u64), Request> = BTreeMap::new();
    let key = |request: &Request| (request.uses[0].turn, request.storage, request.cluster);
    requests.extend(
        requests_of(lowered, turns, &uses, cluster.shared)
            .into_iter()
            .map(|request| (key(&request), request)),
    );
    // When the launch of each turn begins.
    let launched: Vec<u64> = turns
        .iter()
        .scan(0, |begin, turn| {
            *begin = if turn.launch { turn.span.0 } else { *begin };
            Some(*begin)
        })
        .collect();
    // The time at which each cluster is done with its copies.
    let mut free = vec![0; cluster.clusters.count() as usize];
    while let Some((_, request)) = requests.pop_first() {
        let (first, last) = (request.uses[0].turn, request.uses[request.uses.len() - 1].turn);
        if request.how != How::Kept && request.read() <= request.bytes {
            buffers.told.push((request, Decision::Once));
            continue;
        }
        if request.how == How::Part {
            buffers.told.push((request, Decision::Part));
            continue;
        }
        let allocator = &mut allocators[request.cluster as usize];
        let Some(place) = allocator.find(request.bytes, first, cluster.bytes) else {
            let parts = request.clone().cut();
            if parts.is_none() {
                buffers.told.push((request, Decision::Full));
            }
            requests.extend(parts.into_iter().flatten().map(|part| (key(&part), part)));
            continue;
        };
        if request.how != How::Kept {
            let from = match request.how {
                How::Behind => turns[first].span.0,
                _ => place.before.map_or(0, |turn| turns[turn].span.1),
            };
            let from = from.max(launched[first]);
            let begin = traffic.when(from).max(free[request.cluster as usize]);
            let done = begin + cluster.brings(request.bytes, request.sharers);
            let (start, end) = (turns[first].span.0, turns[last].span.1);
            let waits = done.saturating_sub(traffic.when(start));
            // The time that readers take beyond their own, because all load their inputs at once.
            let saves = traffic.when(end).saturating_sub(traffic.when(start) + end - start);
            if waits > 0 && (saves <= waits || request.read() < 2 * request.bytes) {
                buffers.told.push((request, Decision::Idle { saves, waits }));
                continue;
            }
            free[request.cluster as usize] = done;
        }
        let offset = allocator.take(place, request.bytes, (first, last));
        let class =
            StorageClass::Cluster { memory: cluster.memory, cluster: request.cluster, offset };
        buffers.bytes = buffers.bytes.max(offset + request.bytes.next_multiple_of(ALIGN));
        if request.how == How::Kept {
            lowered.storages[request.storage].class = class;
            buffers.kept += 1;
            buffers.told.push((request, Decision::Given));
            continue;
        }
        let Storage { ty, bytes, .. } = lowered.storages[request.storage];
        let copy = lowered.storages.len();
        lowered.storages.push(Storage { ty, bytes, class });
        let readers = request.uses.iter().map(|own| turns[own.turn].job);
        buffers.instead.extend(readers.map(|job| ((job, request.storage, request.cluster), copy)));
        let (name, op) = (lowered.jobs[turns[first].job].name, lowered.jobs[turns[first].job].op);
        let (count, elem) = (ty::count(ty).ok_or(Failed)?, ty::elem(ty).ok_or(Failed)?);
        let kernel = kernels.copying(op, count, elem, Some(&cluster.fetch))?;
        let flat = ty::tensor(&[count], elem);
        let args = [request.storage, copy].map(|storage| Arg { storage, ty: flat, at: 0 }).to_vec();
        let job = lowered.jobs.len();
        lowered.jobs.push(Job { name, op, kernel, others: Vec::new(), args });
        let units = vec![cluster.clusters.number(request.cluster) as usize];
        fetches.push((first, Turn { job, kernel: 0, units, past: 0, launch: false, span: (0, 0) }));
        buffers.told.push((request, Decision::Given));
    }
    if buffers.bytes == 0 {
        buffers.clusters = None;
    }
    fetches.sort_by_key(|(before, _)| *before);
    Ok((buffers, fetches))
}
