//! Ranges on units, and what each waits for.
//!
//! Jobs come in the order that the policy gives. One that is worth more than the threshold is
//! split in contiguous ranges of nearly equal length, as many as keep at least half a threshold
//! of work each, at most one a unit; others stay whole. Where the policy names no unit, a whole
//! run goes to the unit that can start it first (list scheduling with estimated times); on a tie
//! to the unit whose result it waited for last, then to the lowest.

use std::collections::HashMap;
use std::rc::Rc;

use super::super::conflicts::{Access, Conflicts};
use super::super::kernels::Kernels;
use super::super::touch::Region;
use super::super::values::{Job, Lowered, Place};
use super::policy::Turn;
use super::{Options, Range, parts};

/// Ranges so far.
pub(super) struct Placing<'a, 'c> {
    lowered: &'a Lowered<'c>,
    kernels: &'a Kernels<'c>,
    offsets: &'a [u64],
    arenas: &'a [(String, u64)],
    options: Options,
    conflicts: Conflicts,
    /// When each unit is done with what it has, in estimated cycles.
    free: Vec<u64>,
    /// When each range is done.
    finish: Vec<u64>,
    pub ranges: Vec<Range>,
    /// The first range of each job, and the one after its last.
    of_job: Vec<(u32, u32)>,
    /// What some rTasks of a kernel touch.
    regions: HashMap<(usize, u64, u64), Rc<[Region]>>,
}

impl<'a, 'c> Placing<'a, 'c> {
    /// None so far, for buffers that lie at `offsets` of `arenas`.
    pub fn new(
        lowered: &'a Lowered<'c>,
        kernels: &'a Kernels<'c>,
        (offsets, arenas): (&'a [u64], &'a [(String, u64)]),
        options: Options,
    ) -> Self {
        Self {
            lowered,
            kernels,
            offsets,
            arenas,
            options,
            conflicts: Conflicts::new(arenas.len() + lowered.outputs.len()),
            free: vec![0; options.target.units as usize],
            finish: Vec::new(),
            ranges: Vec::new(),
            of_job: vec![(0, 0); lowered.jobs.len()],
            regions: HashMap::new(),
        }
    }

    /// Cuts a job in ranges, behind all others.
    pub fn turn(&mut self, turn: &Turn) {
        let job = &self.lowered.jobs[turn.job];
        let facts = self.kernels.facts(job.kernel);
        let target = self.options.target;
        let parts = match &turn.units {
            Some(units) => units.len() as u64,
            None => parts(facts.tasks, facts.cycles, target.units, target.split_cycles),
        };
        let cut =
            |part: u64| (u128::from(facts.tasks) * u128::from(part) / u128::from(parts)) as u64;
        let pieces: Vec<(u64, u64)> = (0..parts).map(|part| (cut(part), cut(part + 1))).collect();
        let regions: Vec<Rc<[Region]>> = pieces
            .iter()
            .map(|&(begin, end)| {
                let touched = || facts.touches.of_tasks(begin, end).into();
                self.regions.entry((job.kernel, begin, end)).or_insert_with(touched).clone()
            })
            .collect();
        let accesses: Vec<Vec<Access<'_>>> =
            regions.iter().map(|regions| self.accesses(job, regions)).collect();
        // The rTasks of one kernel are independent: a range does not look at its siblings.
        let waits: Vec<Vec<u32>> =
            accesses.iter().map(|accesses| self.widened(self.conflicts.of(accesses))).collect();
        let units = match (&turn.units, waits.as_slice()) {
            (Some(units), _) => units.clone(),
            (None, [waits]) => vec![self.first_free(waits)],
            (None, _) => self.least_busy(parts as usize),
        };
        let cycles = facts.cycles.div_ceil(parts);
        let first = self.ranges.len() as u32;
        self.of_job[turn.job] = (first, first + parts as u32);
        for (((begin, end), waits), (unit, accesses)) in
            pieces.into_iter().zip(waits).zip(units.into_iter().zip(&accesses))
        {
            self.conflicts.enter(self.ranges.len() as u32, accesses);
            let done = self.start(unit, &waits).saturating_add(cycles);
            self.free[unit] = done;
            self.finish.push(done);
            let unit = unit as u64;
            self.ranges.push(Range { job: turn.job, begin, end, unit, waits });
        }
    }

    /// Accesses to what is written somewhere; inputs and constants never are.
    fn accesses<'r>(&self, job: &Job<'_>, regions: &'r [Region]) -> Vec<Access<'r>> {
        let access = |region: &'r Region| {
            let storage = job.args[region.arg].storage;
            let (space, base) = match self.lowered.storages[storage].place {
                Place::Input | Place::Constant => return None,
                Place::Output(number) => (self.arenas.len() + number, 0),
                Place::Arena(memory) => {
                    let arena = self.arenas.iter().position(|(name, _)| name == memory);
                    (arena.expect("every memory has an arena"), self.offsets[storage])
                }
            };
            Some(Access { space, base, storage, region })
        };
        regions.iter().filter_map(access).collect()
    }

    /// Every range of the jobs that are waited for, where that is asked for.
    fn widened(&self, waits: Vec<u32>) -> Vec<u32> {
        if !self.options.whole_waits {
            return waits;
        }
        let all = waits.iter().flat_map(|&wait| {
            let (first, end) = self.of_job[self.ranges[wait as usize].job];
            first..end
        });
        let mut all: Vec<u32> = all.collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// When a range that waits for those could start on a unit.
    fn start(&self, unit: usize, waits: &[u32]) -> u64 {
        let ready = waits.iter().map(|&wait| {
            let elsewhere = self.ranges[wait as usize].unit as usize != unit;
            let cost = if elsewhere { self.options.target.wait_cycles } else { 0 };
            self.finish[wait as usize].saturating_add(cost)
        });
        ready.max().unwrap_or(0).max(self.free[unit])
    }

    fn first_free(&self, waits: &[u32]) -> usize {
        let finish = |wait: &&u32| self.finish[**wait as usize];
        let last = waits.iter().rev().max_by_key(finish);
        let near = last.map(|&wait| self.ranges[wait as usize].unit as usize);
        let start = |unit: usize| (self.start(unit, waits), near != Some(unit), unit);
        (0..self.free.len()).min_by_key(|&unit| start(unit)).expect("there is a unit")
    }

    /// The units for the ranges of one run, so that range after range goes up.
    fn least_busy(&self, count: usize) -> Vec<usize> {
        let mut units: Vec<usize> = (0..self.free.len()).collect();
        units.sort_by_key(|&unit| (self.free[unit], unit));
        units.truncate(count);
        units.sort_unstable();
        units
    }
}
