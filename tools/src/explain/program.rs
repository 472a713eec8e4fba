//! From a task program: the kernels in the order they run, and the arena.

use std::collections::{BTreeMap, HashMap};

use weft_dialects::device::Machine;
use weft_dialects::ir::{Op, Val, ty};
use weft_dialects::repeat;
use weft_dialects::task;

use super::kernels::{Facts, Kernels};
use super::report::{Arena, Buffer, Predicted, Range, Summary};
use crate::Failure;

/// A task program as a report counts it.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    /// In the order of the text, which satisfies every wait.
    pub jobs: Vec<Job>,
    pub arenas: Vec<Arena>,
    pub summary: Summary,
    /// The kind of unit that it runs on.
    pub unit: String,
}

/// One kernel that runs.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub name: String,
    pub kernel: String,
    pub ranges: Vec<Range>,
    pub facts: Facts,
    /// The least time on all units.
    pub floor_total_ms: Option<f64>,
    /// The least time of its busiest unit.
    pub floor_ms: Option<f64>,
    /// Predicted time of its busiest unit.
    pub predicted_ms: Option<f64>,
}

/// Reads the program of a module of the stage `task`; `joined` has the cycles of kernels that
/// are more than one loop nest, by the names of their operators.
pub(super) fn read<'c>(
    module: Op<'c>,
    machine: Machine<'c>,
    kernels: &mut Kernels<'c>,
    joined: &HashMap<String, f64>,
) -> Result<Program, Failure> {
    let program = repeat::others(module).find_map(task::Program::of).ok_or_else(|| {
        Failure::said("the module holds no task.program", "a model, or text of an earlier stage")
    })?;
    let unit = machine.unit(program.unit);
    let wait = unit.as_ref().map(|unit| unit.wait_cycles());
    let clock = unit.and_then(|unit| unit.clock_mhz());
    // Clusters have numbers behind those of the units.
    let clusters = program.clusters(machine).map_or(0, |clusters| clusters.count());
    let mut reader = Reader {
        clock_mhz: clock.map(|mhz| mhz as f64).filter(|&mhz| mhz > 0.0),
        kernels,
        joined,
        jobs: Vec::new(),
        running: Vec::new(),
        lives: HashMap::new(),
        times: Times::new(program.units + clusters, wait.unwrap_or(0) as f64),
    };
    for op in program.body.iter() {
        if let Some(range) = task::Range::of(op) {
            reader.range(&range);
        }
    }
    let Reader { jobs, lives, times, clock_mhz, .. } = reader;
    let (arenas, intermediate_bytes) = arenas(&program, &lives, jobs.len());
    let planned = weft_passes::task::plan(&program, machine)?.plan;
    let constants = program.body.iter().filter(|op| op.is("task.constant")).count();
    let names: std::collections::BTreeSet<_> = jobs.iter().map(|job| &job.kernel).collect();
    let moved = jobs.iter().flat_map(|job| &job.facts.moved);
    let summary = Summary {
        kernels: jobs.len(),
        distinct_kernels: names.len(),
        ranges: jobs.iter().map(|job| job.ranges.len()).sum(),
        units: program.units,
        constants,
        constant_bytes: planned.constant_bytes,
        operations: jobs.iter().map(|job| job.facts.operations).sum(),
        argument_bytes: moved.map(|moved| moved.read + moved.written).sum(),
        intermediate_bytes,
        arena_bytes: program.arena,
        live_bytes: arenas.iter().map(|arena| arena.live_bytes).sum(),
        floor_ms: milliseconds(Some(times.floor.end()), clock_mhz),
        predicted_ms: milliseconds(Some(times.predicted.end()), clock_mhz),
        ..Summary::default()
    };
    Ok(Program { jobs, arenas, summary, unit: program.unit.to_owned() })
}

/// Cycles as time, where the machine has a clock.
fn milliseconds(cycles: Option<f64>, clock_mhz: Option<f64>) -> Option<f64> {
    Some(cycles? / (clock_mhz? * 1e3))
}

/// Returns whether ranges that are given these are of one run: each cluster may have a buffer of
/// its own.
fn alike(one: &[Val<'_>], other: &[Val<'_>]) -> bool {
    let near = |value: Val<'_>| {
        let buffer = task::viewed(value).def().and_then(task::Buffer::of);
        buffer.is_some_and(|buffer| buffer.cluster.is_some())
    };
    let same = |(one, other): (&Val<'_>, &Val<'_>)| one == other || near(*one) || near(*other);
    one.len() == other.len() && one.iter().zip(other).all(same)
}

struct Reader<'c, 'k> {
    clock_mhz: Option<f64>,
    kernels: &'k mut Kernels<'c>,
    joined: &'k HashMap<String, f64>,
    jobs: Vec<Job>,
    /// The buffers of the last job, under the names that it has for them.
    running: Vec<Val<'c>>,
    /// The first and the last job that touch a buffer.
    lives: HashMap<Val<'c>, (usize, usize)>,
    times: Times<'c>,
}

impl<'c> Reader<'c, '_> {
    fn range(&mut self, range: &task::Range<'c>) {
        let goes_on = self.jobs.last().is_some_and(|job| {
            let end = job.ranges.last().map_or(0, |last| last.end);
            range.begin > 0
                && range.begin == end
                && (job.name.as_str(), job.kernel.as_str()) == (range.name, range.kernel)
                && alike(&self.running, &range.buffers)
        });
        if !goes_on {
            self.begin(range);
        }
        let number = self.jobs.len() - 1;
        for &buffer in &range.buffers {
            let life = self.lives.entry(task::viewed(buffer)).or_insert((number, number));
            life.1 = number;
        }
        let job = &mut self.jobs[number];
        let share = (range.end - range.begin) as f64 / job.facts.tasks.max(1) as f64;
        let floor = range.cycles.map(|cycles| cycles as f64);
        let floor = floor.unwrap_or(0.0);
        // The model of costs counts what a tile does, the least time what all of them move.
        let known = job.facts.predicted.as_ref();
        let predicted = known.map_or(0.0, |known| known.cycles * share).max(floor);
        let times = self.times.range(range, floor, predicted);
        let clock = self.clock_mhz;
        let [start, end] = times.map(|cycles| milliseconds(Some(cycles), clock));
        job.ranges.push(Range {
            unit: range.unit,
            begin: range.begin,
            end: range.end,
            predicted_ms: start.zip(end).map(|(start, end)| [start, end]),
            measured_ms: None,
        });
        let add = |to: &mut Option<f64>, cycles| {
            *to = milliseconds(Some(cycles), clock).map(|time| to.unwrap_or(0.0) + time);
        };
        add(&mut job.floor_total_ms, floor);
        job.floor_ms = milliseconds(Some(self.times.floor.busiest()), clock);
        job.predicted_ms = milliseconds(Some(self.times.predicted.busiest()), clock);
    }

    fn begin(&mut self, range: &task::Range<'c>) {
        self.running.clone_from(&range.buffers);
        self.times.job();
        let mut facts = self.kernels.facts(range.kernel).clone();
        let known = self.joined.get(range.name).filter(|_| facts.computes.len() > 1);
        facts.predicted = facts.predicted.or_else(|| {
            Some(Predicted {
                what: format!("{} loop nests, each as it was chosen alone", facts.computes.len()),
                cycles: *known?,
                terms: Vec::new(),
                second: None,
                second_cycles: None,
            })
        });
        self.jobs.push(Job {
            name: range.name.to_owned(),
            kernel: range.kernel.to_owned(),
            ranges: Vec::new(),
            facts,
            floor_total_ms: None,
            floor_ms: None,
            predicted_ms: None,
        });
    }
}

/// The program run in thought: when each range ends, by floors and as predicted.
struct Times<'c> {
    floor: Clock<'c>,
    predicted: Clock<'c>,
}

impl<'c> Times<'c> {
    fn new(units: u64, wait: f64) -> Self {
        Self { floor: Clock::new(units, 0.0), predicted: Clock::new(units, wait) }
    }

    fn job(&mut self) {
        self.floor.own.fill(0.0);
        self.predicted.own.fill(0.0);
    }

    /// The cycles at which it starts and ends as predicted.
    fn range(&mut self, range: &task::Range<'c>, floor: f64, predicted: f64) -> [f64; 2] {
        self.floor.range(range, floor);
        self.predicted.range(range, predicted)
    }
}

/// Cycles of each unit.
struct Clock<'c> {
    /// The time at which it becomes free.
    free: Vec<f64>,
    /// The part of each job that it has done.
    own: Vec<f64>,
    /// The times at which tokens are given, and by which unit.
    given: HashMap<Val<'c>, (f64, u64)>,
    /// Cycles of a wait for another unit.
    wait: f64,
}

impl<'c> Clock<'c> {
    fn new(units: u64, wait: f64) -> Self {
        let idle = vec![0.0; units as usize];
        Self { free: idle.clone(), own: idle, given: HashMap::new(), wait }
    }

    /// A range begins when its unit is free and all that it waits for is done. Gives its begin
    /// and its end.
    fn range(&mut self, range: &task::Range<'c>, cycles: f64) -> [f64; 2] {
        let unit = range.unit as usize;
        let waits = range.waits.iter().filter_map(|wait| {
            let &(end, on) = self.given.get(wait)?;
            Some(if on == range.unit { end } else { end + self.wait })
        });
        let begin = waits.fold(self.free[unit], f64::max);
        let end = begin + cycles;
        self.free[unit] = end;
        self.own[unit] += cycles;
        self.given.insert(range.token(), (end, range.unit));
        [begin, end]
    }

    fn end(&self) -> f64 {
        self.free.iter().copied().fold(0.0, f64::max)
    }

    fn busiest(&self) -> f64 {
        self.own.iter().copied().fold(0.0, f64::max)
    }
}

/// The buffers by memory, and the bytes of them all together, one after the other.
fn arenas(
    program: &task::Program<'_>,
    lives: &HashMap<Val<'_>, (usize, usize)>,
    jobs: usize,
) -> (Vec<Arena>, u64) {
    let mut found: BTreeMap<String, Vec<Buffer>> = BTreeMap::new();
    let mut bytes = 0;
    for op in program.body.iter() {
        let Some(buffer) = task::Buffer::of(op) else { continue };
        let Some(&(first, last)) = lives.get(&op.result(0)) else { continue };
        bytes += buffer.bytes;
        let place = match buffer.cluster {
            Some(cluster) => format!("{} of {cluster}", buffer.memory),
            None => buffer.memory.to_owned(),
        };
        found.entry(place).or_default().push(Buffer {
            offset: buffer.offset,
            bytes: buffer.bytes,
            tensor: shape(op.result(0)),
            first,
            last,
        });
    }
    let arenas = found.into_iter().map(|(memory, buffers)| {
        let ends = buffers.iter().map(|buffer| buffer.offset + buffer.bytes);
        Arena { memory, bytes: ends.max().unwrap_or(0), live_bytes: live(&buffers, jobs), buffers }
    });
    (arenas.collect(), bytes)
}

/// The most bytes that are of use during one job.
fn live(buffers: &[Buffer], jobs: usize) -> u64 {
    let mut change = vec![0i64; jobs + 1];
    for buffer in buffers {
        change[buffer.first] += buffer.bytes as i64;
        change[buffer.last + 1] -= buffer.bytes as i64;
    }
    let mut now = 0;
    let sums = change.into_iter().map(|change| {
        now += change;
        now
    });
    sums.max().unwrap_or(0) as u64
}

/// `96x112x112xf32`.
pub(super) fn shape(value: Val<'_>) -> String {
    let dims = ty::shape(value.ty()).unwrap_or_default();
    let dims: String = dims.iter().map(|dim| format!("{dim}x")).collect();
    dims + &ty::elem(value.ty()).map(|elem| elem.to_string()).unwrap_or_default()
}
