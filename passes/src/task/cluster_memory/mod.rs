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
//! request.rs    which tensors may be there, and which units use them when
//! traffic.rs    the times of turns that wait for each other's bytes
//! allocator.rs  offsets
//! report.rs     what is said of it
//! ```

mod allocator;
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
use crate::tile::cluster_memory::ClusterMemory;
use allocator::{Allocator, Found};
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
    let uses = Uses::of(lowered, kernels, turns, cluster.clusters);
    // In the order in which they are first needed.
    let mut requests: BTreeMap<(usize, usize, u64), Request> = BTreeMap::new();
    let key = |request: &Request| (request.uses[0].turn, request.storage, request.cluster);
    requests.extend(
        requests_of(lowered, turns, &uses, cluster.shared)
            .into_iter()
            .map(|request| (key(&request), request)),
    );
    let mut placing = Placing::new(lowered, turns, cluster, &uses);
    let mut fetches = Vec::new();
    while let Some((_, request)) = requests.pop_first() {
        let decision = match placing.find(&request) {
            Ok(found) => {
                let class = placing.take(&request, found);
                match request.how {
                    How::Kept => placing.keep(&request, class),
                    _ => fetches.push(placing.fetch(kernels, &request, class)?),
                }
                Decision::Given
            }
            Err(Decision::Full) => {
                if let Some(parts) = request.clone().cut() {
                    requests.extend(parts.into_iter().map(|part| (key(&part), part)));
                    continue;
                }
                Decision::Full
            }
            Err(decision) => decision,
        };
        placing.buffers.told.push((request, decision));
    }
    let mut buffers = placing.buffers;
    if buffers.bytes == 0 {
        buffers.clusters = None;
    }
    fetches.sort_by_key(|(before, _)| *before);
    Ok((buffers, fetches))
}

/// The state of the decisions, taken in the order in which tensors are first needed.
struct Placing<'a, 'c> {
    lowered: &'a mut Lowered<'c>,
    turns: &'a [Turn],
    cluster: &'a ClusterMemory<'c>,
    traffic: Traffic,
    /// When the launch of each turn begins.
    launched: Vec<u64>,
    /// One for the memory of each cluster.
    allocators: Vec<Allocator>,
    /// The time at which each cluster is done with its copies.
    free: Vec<u64>,
    buffers: ClusterBuffers,
}

impl<'a, 'c> Placing<'a, 'c> {
    fn new(
        lowered: &'a mut Lowered<'c>,
        turns: &'a [Turn],
        cluster: &'a ClusterMemory<'c>,
        uses: &Uses,
    ) -> Self {
        let launched = turns.iter().scan(0, |begin, turn| {
            *begin = if turn.launch { turn.span.0 } else { *begin };
            Some(*begin)
        });
        let clusters = cluster.clusters.count() as usize;
        Self {
            lowered,
            turns,
            cluster,
            traffic: Traffic::of(turns, &uses.bytes, cluster.rate),
            launched: launched.collect(),
            allocators: vec![Allocator::default(); clusters],
            free: vec![0; clusters],
            buffers: ClusterBuffers {
                clusters: Some(cluster.clusters),
                ..ClusterBuffers::default()
            },
        }
    }

    /// Returns a free place for a tensor, if a copy that it takes is done in time; otherwise the reason
    /// for none.
    fn find(&mut self, request: &Request) -> Result<Found, Decision> {
        if request.how != How::Kept && request.read() <= request.bytes {
            return Err(Decision::Once);
        }
        if request.how == How::Part {
            return Err(Decision::Part);
        }
        let cluster = request.cluster as usize;
        let found =
            self.allocators[cluster].find(request.bytes, request.first(), self.cluster.bytes);
        let found = found.ok_or(Decision::Full)?;
        if request.how != How::Kept {
            self.free[cluster] = self.copied(request, found.before)?;
        }
        Ok(found)
    }

    /// Returns the time at which a cluster has copied a tensor to a place that others use up to the
    /// turn `before`; or that its readers would only wait for the copy.
    fn copied(&self, request: &Request, before: Option<usize>) -> Result<u64, Decision> {
        let (turns, traffic) = (self.turns, &self.traffic);
        let (first, last) = (request.first(), request.last());
        let from = match request.how {
            How::Behind => turns[first].span.0,
            _ => before.map_or(0, |turn| turns[turn].span.1),
        };
        let from = from.max(self.launched[first]);
        let begin = traffic.when(from).max(self.free[request.cluster as usize]);
        let done = begin + self.cluster.brings(request.bytes, request.sharers);
        let (start, end) = (turns[first].span.0, turns[last].span.1);
        let waits = done.saturating_sub(traffic.when(start));
        // The time that readers take beyond their own, because all load their inputs at once.
        let saves = traffic.when(end).saturating_sub(traffic.when(start) + end - start);
        match waits > 0 && (saves <= waits || request.read() < 2 * request.bytes) {
            true => Err(Decision::Idle { saves, waits }),
            false => Ok(done),
        }
    }

    fn take(&mut self, request: &Request, found: Found) -> StorageClass<'c> {
        let allocator = &mut self.allocators[request.cluster as usize];
        let offset = allocator.take(found, request.bytes, (request.first(), request.last()));
        self.buffers.bytes = self.buffers.bytes.max(offset + request.bytes.next_multiple_of(ALIGN));
        StorageClass::Cluster { memory: self.cluster.memory, cluster: request.cluster, offset }
    }

    /// Puts the tensor into the cluster's memory, and nowhere else.
    fn keep(&mut self, request: &Request, class: StorageClass<'c>) {
        self.lowered.storages[request.storage].class = class;
        self.buffers.kept += 1;
    }

    /// Lets the cluster make a copy of the tensor, which its units read instead. Returns the turn that
    /// copies it, and the number of the turn that it comes before.
    fn fetch(
        &mut self,
        kernels: &mut Kernels<'c>,
        request: &Request,
        class: StorageClass<'c>,
    ) -> Result<(usize, Turn), Failed> {
        let (lowered, turns) = (&mut *self.lowered, self.turns);
        let Storage { ty, bytes, .. } = lowered.storages[request.storage];
        let copy = lowered.storages.len();
        lowered.storages.push(Storage { ty, bytes, class });
        let readers = request.uses.iter().map(|own| turns[own.turn].job);
        self.buffers
            .instead
            .extend(readers.map(|job| ((job, request.storage, request.cluster), copy)));
        let first = request.first();
        let Job { name, op, .. } = lowered.jobs[turns[first].job];
        let (count, elem) = (ty::count(ty).ok_or(Failed)?, ty::elem(ty).ok_or(Failed)?);
        let kernel = kernels.copying(op, count, elem, Some(&self.cluster.fetch))?;
        let flat = ty::tensor(&[count], elem);
        let args = [request.storage, copy]
            .map(|storage| Arg { storage, ty: flat, at: 0, shift: None })
            .to_vec();
        let job = lowered.jobs.len();
        let (others, after) = (Vec::new(), Vec::new());
        lowered.jobs.push(Job { name, op, kernel, others, args, after });
        let units = vec![self.cluster.clusters.number(request.cluster) as usize];
        Ok((first, Turn { job, kernel: 0, units, past: 0, launch: false, span: (0, 0) }))
    }
}
