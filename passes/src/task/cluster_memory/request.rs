//! Tensors that want a place in the memory of a cluster, and who uses them when.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use weft_dialects::task::Clusters;

use super::super::kernels::{Facts, Kernels};
use super::super::schedule::{Turn, pieces};
use super::super::touch::{Region, seen_from};
use super::super::values::{Job, Lowered, Storage, StorageClass};

/// The bytes that the units of a cluster read of a tensor in one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Use {
    pub turn: usize,
    /// Bytes, each as often as it is read.
    pub read: u64,
}

/// A tensor that wants a place in the memory of a cluster.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub storage: usize,
    pub cluster: u64,
    pub bytes: u64,
    pub how: How,
    /// In the order of turns.
    pub uses: Vec<Use>,
    /// A job that touches it.
    pub job: usize,
    /// Number of clusters that touch the tensor.
    pub sharers: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// The tensor is in that memory alone.
    Kept,
    /// It is copied while units compute.
    Ahead,
    /// The program makes it, so units wait until it is copied.
    Behind,
    /// Other jobs have still to write a part of it, so it is not copied.
    Part,
}

impl Request {
    /// Bytes that units of the cluster read, each as often as it is read.
    pub fn read(&self) -> u64 {
        self.uses.iter().map(|own| own.read).sum()
    }

    /// The first turn that uses it.
    pub fn first(&self) -> usize {
        self.uses[0].turn
    }

    /// The last turn that uses it.
    pub fn last(&self) -> usize {
        self.uses[self.uses.len() - 1].turn
    }

    /// Splits the request at the longest time without a reader.
    pub fn cut(mut self) -> Option<[Self; 2]> {
        let gaps = self.uses.windows(2).map(|pair| pair[1].turn - pair[0].turn);
        let (widest, _) =
            gaps.enumerate().max_by_key(|(_, gap)| *gap).filter(|_| self.how != How::Kept)?;
        let behind = self.uses.split_off(widest + 1);
        let later = Self { uses: behind, ..self.clone() };
        Some([self, later])
    }
}

/// Every tensor that may be in a cluster's memory, for each cluster that uses it.
pub(super) fn requests_of(
    lowered: &Lowered<'_>,
    turns: &[Turn],
    all: &Uses,
    shared: &str,
) -> Vec<Request> {
    let Uses { reads, writes, .. } = all;
    let mut users: BTreeMap<usize, BTreeSet<u64>> = BTreeMap::new();
    for &(storage, cluster) in reads.keys().chain(writes.keys()) {
        users.entry(storage).or_default().insert(cluster);
    }
    let mut requests = Vec::new();
    for (storage, clusters) in users {
        let Storage { bytes, class, .. } = lowered.storages[storage];
        // Tensors in the host's memory are copied by moves of their own.
        if matches!(class, StorageClass::Arena(memory) if memory != shared) {
            continue;
        }
        let written = |cluster: &u64| writes.get(&(storage, *cluster)).into_iter().flatten();
        let mut written: Vec<usize> = clusters.iter().flat_map(written).copied().collect();
        written.sort_unstable();
        let sharers = clusters.len() as u64;
        for &cluster in &clusters {
            let request = |how, uses: Vec<Use>| {
                let job = turns[uses[0].turn].job;
                Request { storage, cluster, bytes, how, uses, job, sharers }
            };
            let uses = reads.get(&(storage, cluster)).cloned().unwrap_or_default();
            if matches!(class, StorageClass::Arena(_)) && clusters.len() == 1 {
                let mut uses = uses;
                uses.extend(written.iter().map(|&turn| Use { turn, read: 0 }));
                uses.sort_by_key(|own| own.turn);
                requests.push(request(How::Kept, uses));
                continue;
            }
            // A copy is valid until the tensor is written again.
            let version = |own: &Use| written.partition_point(|&turn| turn <= own.turn);
            for uses in uses.chunk_by(|one, other| version(one) == version(other)) {
                let how = match version(&uses[0]) {
                    0 if written.is_empty() => How::Ahead,
                    _ if writes_whole(all, storage, bytes, uses[0].turn) => How::Behind,
                    _ => How::Part,
                };
                requests.push(request(how, uses.to_vec()));
            }
        }
    }
    requests.retain(|request| request.bytes > 0);
    requests
}

/// Returns whether every byte of a tensor has been written when a turn reads it: by one job, or by
/// several in boxes that are apart.
fn writes_whole(uses: &Uses, storage: usize, bytes: u64, turn: usize) -> bool {
    let known = uses.boxes.get(&storage).into_iter().flatten();
    let before: Vec<_> = known.filter(|(written, _)| *written < turn).map(|own| &own.1).collect();
    if before.iter().any(|own| own.is_none()) {
        return true;
    }
    let boxes: Vec<&Region> = before.into_iter().flatten().collect();
    let meet = |one: &Region, other: &Region| {
        let mut dims = one.dims.iter().zip(other.dims.iter());
        one.shape != other.shape || dims.all(|(a, b)| a.0 <= b.1 && b.0 <= a.1)
    };
    let apart = |at: usize| boxes[..at].iter().all(|other| !meet(boxes[at], other));
    boxes.iter().map(|own| own.box_bytes()).sum::<u64>() == bytes && (0..boxes.len()).all(apart)
}

/// The reads and writes of tensors, by cluster and turn.
#[derive(Default)]
pub(super) struct Uses {
    /// By storage and cluster, in the order of turns.
    pub reads: BTreeMap<(usize, u64), Vec<Use>>,
    /// The turns, by storage and cluster.
    pub writes: BTreeMap<(usize, u64), Vec<usize>>,
    /// The bytes that each turn reads and writes.
    pub bytes: Vec<u64>,
    /// By storage, what jobs write of it in which turns; `None` for all of it.
    pub boxes: BTreeMap<usize, Vec<(usize, Option<Region>)>>,
}

impl Uses {
    pub fn of(
        lowered: &Lowered<'_>,
        kernels: &Kernels<'_>,
        turns: &[Turn],
        clusters: Clusters,
    ) -> Self {
        let mut uses = Self::default();
        // The bytes that an rTask of a kernel touches of each argument, and whether the kernel
        // writes it.
        let mut known: HashMap<(usize, u64), Vec<(u64, bool)>> = HashMap::new();
        for (number, turn) in turns.iter().enumerate() {
            let job = &lowered.jobs[turn.job];
            let facts = kernels.facts(job.kernel);
            let parts = pieces(facts.tasks, turn.units.len() as u64);
            uses.bytes.push(0);
            uses.written(number, job, facts);
            for ((begin, end), &unit) in parts.into_iter().zip(&turn.units) {
                let cluster = clusters.of(unit as u64);
                let own = known.entry((job.kernel, begin)).or_insert_with(|| {
                    let inputs = job.args.len() - facts.keeps.len();
                    let mut own: Vec<_> =
                        (0..job.args.len()).map(|arg| (0, arg >= inputs)).collect();
                    for region in facts.touches.of_tasks(begin, (begin + 1).min(end)) {
                        own[region.arg].0 += region.box_bytes();
                    }
                    own
                });
                for (arg, &(bytes, written)) in job.args.iter().zip(own.iter()) {
                    let key = (arg.storage, cluster);
                    let read = bytes.saturating_mul(end - begin);
                    uses.bytes[number] += read;
                    if written {
                        uses.writes.entry(key).or_default().push(number);
                        continue;
                    }
                    let own = uses.reads.entry(key).or_default();
                    match own.last_mut().filter(|last| last.turn == number) {
                        Some(last) => last.read += read,
                        None => own.push(Use { turn: number, read }),
                    }
                }
            }
        }
        uses
    }

    /// Adds what a job writes.
    fn written(&mut self, turn: usize, job: &Job<'_>, facts: &Facts) {
        let inputs = job.args.len() - facts.keeps.len();
        let fills = |arg: usize| job.args[arg].at == 0 && facts.touches.fill(arg);
        for arg in (inputs..job.args.len()).filter(|&arg| fills(arg)) {
            self.boxes.entry(job.args[arg].storage).or_default().push((turn, None));
        }
        if (inputs..job.args.len()).all(fills) {
            return;
        }
        let all: Rc<[Region]> = facts.touches.of_tasks(0, facts.tasks).into();
        for region in seen_from(&all, |arg| job.args[arg].place()).iter().filter(|own| own.write) {
            if !fills(region.arg) {
                let own = self.boxes.entry(job.args[region.arg].storage).or_default();
                own.push((turn, Some(region.clone())));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_gap_is_cut() {
        let uses = [0, 2, 9, 10].map(|turn| Use { turn, read: 64 }).to_vec();
        let request = Request {
            storage: 0,
            cluster: 0,
            bytes: 100,
            how: How::Ahead,
            uses,
            job: 0,
            sharers: 1,
        };
        let [one, other] = request.clone().cut().expect("it has several uses");
        assert_eq!([one.uses.len(), other.uses.len(), other.uses[0].turn], [2, 2, 9]);
        assert_eq!([one.read(), other.read()], [128, 128]);
        assert!(Request { how: How::Kept, ..request }.cut().is_none());
    }
}
