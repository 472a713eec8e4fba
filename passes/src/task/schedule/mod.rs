//! The schedule of a program: the unit, order and waits of every job.
//!
//! ```text
//! operators.rs   jobs as sets of rTasks with times, and what comes before what
//! policy.rs      the order of jobs: as the text has it, by critical path, or wave by wave
//!   critical.rs, wavefront.rs, depth.rs over fill.rs and lanes.rs
//! buffers.rs     places in the arenas, for that order
//! ../cluster_memory/   buffers in the memory of a cluster instead
//! place.rs       ranges on units, and what each waits for
//! ```

mod buffers;
pub mod critical;
pub mod depth;
pub mod fill;
pub mod lanes;
pub mod operators;
mod place;
mod policy;
pub mod wavefront;

pub(crate) use operators::ways;
pub(crate) use place::pieces;
pub(crate) use policy::{Order, Policy, Turn};

use weft_dialects::ir::pass::Failed;

use super::cluster_memory::{self, ClusterBuffers};
use super::kernels::Kernels;
use super::reduce::reduce;
use super::values::Lowered;
use crate::arena;
use crate::tile::cluster_memory::ClusterMemory;
use lanes::Placement;
use operators::Target;
use place::Placing;

/// Options of the placement of runs on units.
#[derive(Clone, Copy)]
pub(crate) struct Options {
    pub target: Target,
    pub policy: Policy,
    pub placement: Placement,
    /// True if a range waits for whole operators, and not only for the ranges it touches.
    pub whole_waits: bool,
    pub launches: Launches,
}

/// The places where a program is cut in launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Launches {
    /// As the policy decides.
    Policy,
    /// Nowhere.
    One,
    /// Before every operator.
    Each,
}

/// Some rTasks of a job, in order, on one unit.
pub(crate) struct Range {
    pub job: usize,
    pub begin: u64,
    pub end: u64,
    /// Which of how many parts of all rTasks, where callers decide how many those are.
    pub part: Option<[u64; 2]>,
    pub unit: u64,
    /// Earlier ranges.
    pub waits: Vec<u32>,
}

/// A memory that holds buffers, and the bytes of its arena.
pub(crate) type Arena = (String, u64);

/// A program on a virtual device.
pub(crate) struct Schedule {
    /// One offset per storage, in the arena of its memory; zero outside.
    pub offsets: Vec<u64>,
    pub arenas: Vec<Arena>,
    pub ranges: Vec<Range>,
    /// The buffers that some ranges are given instead of a storage.
    pub in_clusters: ClusterBuffers,
    /// Number of the program's own jobs; those behind them copy tensors to clusters' memories.
    pub own_jobs: usize,
    /// Ranges before which a launch ends, ascending.
    pub launches: Vec<usize>,
    /// The alternatives that were compared.
    pub order: Order,
}

/// An arena that does not fit its memory.
#[derive(Clone)]
pub(crate) struct TooLarge {
    pub memory: String,
    pub bytes: u64,
    pub capacity: u64,
}

/// Chooses the kernel of each job, places buffers and ranges; `fits` says which arena does not fit.
///
/// # Errors
/// Reported: a machine that has no way to move elements.
pub(crate) fn schedule<'c>(
    lowered: &mut Lowered<'c>,
    kernels: &mut Kernels<'c>,
    options: Options,
    cluster_memory: Option<&ClusterMemory<'c>>,
    fits: &dyn Fn(&[Arena]) -> Result<(), TooLarge>,
) -> Result<Schedule, Failed> {
    let operators = operators::of(lowered, kernels, &options.target);
    let mut order = policy::order(&operators, &options);
    let mut lag = if options.target.units > 1 { arena::LAG } else { 0 };
    let (mut offsets, mut arenas) = buffers::arenas(lowered, &order.turns, lag);
    if let Err(why) = fits(&arenas) {
        // One after the other takes the least memory, and waits for it.
        order.as_in_text(why);
        lag = 0;
        (offsets, arenas) = buffers::arenas(lowered, &order.turns, lag);
    }
    for turn in &order.turns {
        let job = &mut lowered.jobs[turn.job];
        job.kernel = operators::ways(job, kernels, &options.target)[turn.kernel].0;
    }
    let own_jobs = lowered.jobs.len();
    let (in_clusters, fetches) = match cluster_memory {
        Some(cluster_memory) => {
            cluster_memory::place(lowered, kernels, &order.turns, cluster_memory)?
        }
        None => Default::default(),
    };
    if in_clusters.keeps() {
        // Tensors in a cluster's memory take no bytes of an arena; fewer buffers may still be
        // placed worse.
        let left = buffers::arenas(lowered, &order.turns, lag);
        let bytes = |arenas: &[Arena]| arenas.iter().map(|(_, bytes)| bytes).sum::<u64>();
        if bytes(&left.1) <= bytes(&arenas) {
            (offsets, arenas) = left;
        }
    }
    offsets.resize(lowered.storages.len(), 0);
    let lowered = &*lowered;
    let mut placing =
        Placing::new(lowered, kernels, (&offsets, &arenas), &in_clusters, options.whole_waits);
    let mut launches = Vec::new();
    let mut fetches = fetches.into_iter().peekable();
    for (number, turn) in order.turns.iter().enumerate() {
        let cut = match options.launches {
            Launches::Policy => turn.launch,
            Launches::One => false,
            Launches::Each => number > 0,
        };
        if cut {
            launches.push(placing.ranges.len());
        }
        while let Some((_, fetch)) = fetches.next_if(|(before, _)| *before == number) {
            placing.turn(&fetch);
        }
        placing.turn(turn);
    }
    let mut ranges = placing.ranges;
    let mut waits: Vec<_> =
        ranges.iter_mut().map(|range| std::mem::take(&mut range.waits)).collect();
    reduce(&mut waits);
    for (range, waits) in ranges.iter_mut().zip(waits) {
        range.waits = waits;
    }
    Ok(Schedule { offsets, arenas, in_clusters, own_jobs, ranges, launches, order })
}
