//! Who runs what, and what it waits for.
//!
//! Runs are taken in the order of the text. One that is worth more than the
//! threshold is split in contiguous ranges of nearly equal length, as many as
//! keep at least half a threshold of work each, at most one a unit; others stay
//! whole. A whole run goes to the unit that can start it first (list scheduling
//! with estimated times); on a tie to the unit whose result it waited for last,
//! then to the lowest.

use std::collections::HashMap;
use std::rc::Rc;

use super::arena::{self, Life};
use super::conflicts::{Access, Conflicts};
use super::kernels::Kernels;
use super::reduce::reduce;
use super::touch::Region;
use super::values::{Job, Lowered, Place};

/// How to place runs on units.
#[derive(Clone, Copy)]
pub(crate) struct Options {
    pub units: u64,
    /// Cycles above which a run is split.
    pub split_cycles: u64,
}

/// Some rTasks of a job, in order, on one unit.
pub(crate) struct Range {
    pub job: usize,
    pub begin: u64,
    pub end: u64,
    pub unit: u64,
    /// Earlier ranges.
    pub waits: Vec<u32>,
}

/// A program on a virtual device.
pub(crate) struct Schedule {
    /// One offset per storage, in the arena of its memory; zero outside.
    pub offsets: Vec<u64>,
    /// Each memory that buffers lie in, with the bytes of its arena.
    pub arenas: Vec<(String, u64)>,
    pub ranges: Vec<Range>,
}

/// Places buffers and ranges.
pub(crate) fn schedule(lowered: &Lowered<'_>, kernels: &Kernels<'_>, options: Options) -> Schedule {
    let lag = if options.units > 1 { arena::LAG } else { 0 };
    let (offsets, arenas) = arenas(lowered, lag);
    let mut placing = Placing {
        lowered,
        offsets: &offsets,
        arenas: &arenas,
        conflicts: Conflicts::new(arenas.len() + lowered.outputs.len()),
        free: vec![0; options.units as usize],
        finish: Vec::new(),
        ranges: Vec::new(),
        regions: HashMap::new(),
    };
    for (number, job) in lowered.jobs.iter().enumerate() {
        placing.job(number, job, kernels, options);
    }
    let mut ranges = placing.ranges;
    let mut waits: Vec<_> =
        ranges.iter_mut().map(|range| std::mem::take(&mut range.waits)).collect();
    reduce(&mut waits);
    for (range, waits) in ranges.iter_mut().zip(waits) {
        range.waits = waits;
    }
    Schedule { offsets, arenas, ranges }
}

/// In how many ranges a kernel of `tasks` rTasks is cut.
///
/// ```
/// # use weft_passes::task::schedule::parts;
/// assert_eq!(parts(8, 50_000, 2, 20_000), 2);
/// assert_eq!(parts(8, 20_000, 2, 20_000), 1); // not worth it
/// assert_eq!(parts(1, 50_000, 2, 20_000), 1); // an rTask is never cut
/// assert_eq!(parts(64, 50_000, 64, 20_000), 5);
/// ```
pub fn parts(tasks: u64, cycles: u64, units: u64, split_cycles: u64) -> u64 {
    if cycles <= split_cycles {
        return 1;
    }
    let worth = cycles.checked_div(split_cycles / 2).unwrap_or(u64::MAX);
    worth.clamp(1, units.min(tasks).max(1))
}

/// Places the buffers of every memory: an offset for each storage, and the arenas.
fn arenas(lowered: &Lowered<'_>, lag: u32) -> (Vec<u64>, Vec<(String, u64)>) {
    let all = lives(lowered);
    let mut offsets = vec![0; all.len()];
    let mut arenas: Vec<(String, u64)> = Vec::new();
    let memories = lowered.storages.iter().filter_map(|storage| storage.place.memory());
    for memory in memories.collect::<std::collections::BTreeSet<_>>() {
        let here = |storage: usize| lowered.storages[storage].place.memory() == Some(memory);
        let mut own = all.clone();
        let elsewhere = own.iter_mut().enumerate().filter(|(storage, _)| !here(*storage));
        elsewhere.for_each(|(_, life)| life.bytes = 0);
        let arena = arena::place(&own, lag);
        assert_eq!(arena::clash(&own, &arena), None, "buffers that live at once lie apart");
        for (storage, offset) in arena.offsets.into_iter().enumerate().filter(|(s, _)| here(*s)) {
            offsets[storage] = offset;
        }
        arenas.push((memory.to_owned(), arena.bytes));
    }
    (offsets, arenas)
}

/// The life of each storage in an arena; others take no bytes of it.
fn lives(lowered: &Lowered<'_>) -> Vec<Life> {
    let mut lives = vec![Life { first: u32::MAX, last: 0, bytes: 0 }; lowered.storages.len()];
    for (number, job) in lowered.jobs.iter().enumerate() {
        for arg in &job.args {
            let life = &mut lives[arg.storage];
            life.first = life.first.min(number as u32);
            life.last = life.last.max(number as u32);
        }
    }
    for (life, storage) in lives.iter_mut().zip(&lowered.storages) {
        if life.first == u32::MAX {
            life.first = 0;
        } else if matches!(storage.place, Place::Arena(_)) {
            life.bytes = storage.bytes;
        }
    }
    lives
}

struct Placing<'a, 'c> {
    lowered: &'a Lowered<'c>,
    offsets: &'a [u64],
    arenas: &'a [(String, u64)],
    conflicts: Conflicts,
    /// When each unit is done with what it has, in estimated cycles.
    free: Vec<u64>,
    /// When each range is done.
    finish: Vec<u64>,
    ranges: Vec<Range>,
    /// What some rTasks of a kernel touch.
    regions: HashMap<(usize, u64, u64), Rc<[Region]>>,
}

impl Placing<'_, '_> {
    fn job(&mut self, number: usize, job: &Job<'_>, kernels: &Kernels<'_>, options: Options) {
        let facts = kernels.facts(job.kernel);
        let parts = parts(facts.tasks, facts.cycles, options.units, options.split_cycles);
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
            accesses.iter().map(|accesses| self.conflicts.of(accesses)).collect();
        let units = match waits.as_slice() {
            [waits] => vec![self.first_free(waits)],
            _ => self.least_busy(parts as usize),
        };
        let cycles = facts.cycles.div_ceil(parts);
        for (((begin, end), waits), (unit, accesses)) in
            pieces.into_iter().zip(waits).zip(units.into_iter().zip(&accesses))
        {
            self.conflicts.enter(self.ranges.len() as u32, accesses);
            let done = self.free[unit].max(self.ready(&waits)).saturating_add(cycles);
            self.free[unit] = done;
            self.finish.push(done);
            self.ranges.push(Range { job: number, begin, end, unit: unit as u64, waits });
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

    fn ready(&self, waits: &[u32]) -> u64 {
        waits.iter().map(|&wait| self.finish[wait as usize]).max().unwrap_or(0)
    }

    fn first_free(&self, waits: &[u32]) -> usize {
        let ready = self.ready(waits);
        let last = waits.iter().find(|&&wait| self.finish[wait as usize] == ready);
        let near = last.map(|&wait| self.ranges[wait as usize].unit as usize);
        let start = |unit: usize| (self.free[unit].max(ready), near != Some(unit), unit);
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
