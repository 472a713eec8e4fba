//! Ranges on units, and what each waits for.
//!
//! Jobs come in the turns that the policy gives, each on its units: it is cut in contiguous
//! ranges of nearly equal length, one a unit, so that range after range goes up. What a range
//! waits for follows from the bytes that it touches, those of memory that is used again among
//! them.

use std::collections::HashMap;
use std::rc::Rc;

use super::super::cluster_memory::ClusterBuffers;
use super::super::conflicts::{Access, Conflicts};
use super::super::kernels::Kernels;
use super::super::touch::{Region, seen_from};
use super::super::values::{Lowered, StorageClass};
use super::policy::Turn;
use super::{Arena, Range};

/// Ranges so far.
pub(super) struct Placing<'a, 'c> {
    lowered: &'a Lowered<'c>,
    kernels: &'a Kernels<'c>,
    offsets: &'a [u64],
    arenas: &'a [Arena],
    in_clusters: &'a ClusterBuffers,
    /// True if ranges wait for whole operators.
    whole_waits: bool,
    conflicts: Conflicts,
    pub ranges: Vec<Range>,
    /// The first range of each job, and the one after its last.
    of_job: Vec<(u32, u32)>,
    /// The regions that some rTasks of a kernel touch.
    regions: HashMap<(usize, u64, u64), Rc<[Region]>>,
}

impl<'a, 'c> Placing<'a, 'c> {
    /// None so far, for buffers at `offsets` of `arenas`, or in the memory of a cluster.
    pub fn new(
        lowered: &'a Lowered<'c>,
        kernels: &'a Kernels<'c>,
        (offsets, arenas): (&'a [u64], &'a [Arena]),
        in_clusters: &'a ClusterBuffers,
        whole_waits: bool,
    ) -> Self {
        Self {
            lowered,
            kernels,
            offsets,
            arenas,
            in_clusters,
            whole_waits,
            conflicts: Conflicts::new(
                arenas.len() + lowered.outputs.len() + in_clusters.clusters() as usize,
            ),
            ranges: Vec::new(),
            of_job: vec![(0, 0); lowered.jobs.len()],
            regions: HashMap::new(),
        }
    }

    /// Cuts a job in ranges, behind all others.
    pub fn turn(&mut self, turn: &Turn) {
        let job = &self.lowered.jobs[turn.job];
        let facts = self.kernels.facts(job.kernel);
        let parts = turn.units.len() as u64;
        // How many rTasks there are is known when they run: any part may be any of them.
        let shared = facts.length.is_some();
        let pieces = match shared {
            true => vec![(0, facts.tasks); parts as usize],
            false => pieces(facts.tasks, parts),
        };
        let regions: Vec<Rc<[Region]>> = pieces
            .iter()
            .map(|&(begin, end)| {
                let touched = || facts.touches.of_tasks(begin, end).into();
                let own = self.regions.entry((job.kernel, begin, end)).or_insert_with(touched);
                seen_from(own, |arg| job.args[arg].place())
            })
            .collect();
        let own = regions.iter().zip(&turn.units);
        let accesses: Vec<Vec<Access<'_>>> =
            own.map(|(regions, &unit)| self.accesses(turn.job, unit as u64, regions)).collect();
        // The rTasks of one kernel are independent: a range does not look at its siblings.
        let waits: Vec<Vec<u32>> =
            accesses.iter().map(|accesses| self.conflicts.of(accesses)).collect();
        let finders = job.after.iter().map(|&job| self.of_job[job as usize].0);
        let finders: Vec<u32> = finders.collect();
        let all = waits.into_iter().map(|waits| self.widened([waits, finders.clone()].concat()));
        let waits: Vec<Vec<u32>> = all.collect();
        let first = self.ranges.len() as u32;
        self.of_job[turn.job] = (first, first + parts as u32);
        for (((begin, end), waits), (&unit, accesses)) in
            pieces.into_iter().zip(waits).zip(turn.units.iter().zip(&accesses))
        {
            let number = self.ranges.len() as u32;
            self.conflicts.enter(number, accesses);
            let part = shared.then_some([u64::from(number - first), parts]);
            let unit = unit as u64;
            self.ranges.push(Range { job: turn.job, begin, end, part, unit, waits });
        }
    }

    /// Accesses to what is written somewhere; inputs and constants never are.
    fn accesses<'r>(&self, job: usize, unit: u64, regions: &'r [Region]) -> Vec<Access<'r>> {
        let access = |region: &'r Region| {
            let storage = self.lowered.jobs[job].args[region.arg].storage;
            let storage = self.in_clusters.storage(job, storage, unit);
            let (space, base) = match self.lowered.storages[storage].class {
                StorageClass::Input | StorageClass::Constant => return None,
                StorageClass::Output(number) => (self.arenas.len() + number, 0),
                StorageClass::Cluster { cluster, offset, .. } => {
                    (self.arenas.len() + self.lowered.outputs.len() + cluster as usize, offset)
                }
                StorageClass::Arena(memory) => {
                    let arena = self.arenas.iter().position(|(name, _)| name == memory);
                    (arena.expect("every memory has an arena"), self.offsets[storage])
                }
            };
            Some(Access { space, base, storage, region })
        };
        regions.iter().filter_map(access).collect()
    }

    /// Every range of the jobs that are waited for, where that is asked for or each of them may
    /// have done what is waited for.
    fn widened(&self, waits: Vec<u32>) -> Vec<u32> {
        let all = waits.iter().flat_map(|&wait| {
            let range = &self.ranges[wait as usize];
            match self.whole_waits || range.part.is_some() {
                true => {
                    let (first, end) = self.of_job[range.job];
                    first..end
                }
                false => wait..wait + 1,
            }
        });
        let mut all: Vec<u32> = all.collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// The rTasks of each of so many ranges, nearly as many in each.
pub(crate) fn pieces(tasks: u64, parts: u64) -> Vec<(u64, u64)> {
    let cut = |part: u64| (u128::from(tasks) * u128::from(part) / u128::from(parts)) as u64;
    (0..parts).map(|part| (cut(part), cut(part + 1))).collect()
}
