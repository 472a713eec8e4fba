//! Which runs are a sub-graph, and in how many instances it is done (GraphTurbo, section 4.2 of its
//! algorithm boxes: split info, best split, merging to a fixpoint).
//!
//! ```text
//! instances = max(⌈instances / cores⌉ · Σ (bytes in and out / rate of the core's moves
//!                                         + tensors in and out · latency + work),
//!                 (bytes of all instances in whole transactions + what is known, once for each
//!                  cluster that has a memory for it) / rate of the shared memory)
//! whole     = Σ steps  max(one core's cycles / cores that share them, bytes / rate of the shared
//!                          memory) + latency in and out
//! ```
//!
//! Sub-graphs that take less whole are left to later passes, which share each step out among the
//! cores.

use weft_dialects::device::Machine;

use super::super::Stage;
use super::super::stream_host::flow::Flow;
use super::super::stream_host::segment::{Cut, Segment, arena_bytes, moved, samples};
use super::super::stream_host::spans::count;
use super::work::Work;
use crate::cost::home::{Beside, room};
use crate::cost::worth::parts;
use crate::remarks::Refused;
use crate::tile::passing::Passing;

/// Limits on instances.
pub(super) struct Limits {
    /// Bytes of the local buffer for what waits; the rest is for what is worked on.
    pub room: u64,
    pub cores: u64,
    /// Bytes a cycle of the shared memory.
    pub shared: f64,
    /// Smallest transfer.
    pub transaction: u64,
    /// Memories that clusters share and what each holds, where units of one get the same from it:
    /// that passes the shared memory once for each.
    pub clusters: Option<(u64, u64)>,
    /// Bytes a cycle of one core's moves.
    pub link: f64,
    /// Cycles that a step is worth before cores share it.
    pub handover: u64,
    /// Cycles until what moves to the local buffer, and from there, has come.
    pub latency: [f64; 2],
}

impl Limits {
    pub fn of(machine: Machine<'_>, buffer: &Stage<'_>) -> Self {
        let link = buffer.load.bytes_per_cycle().map_or(f64::INFINITY, |rate| rate as f64);
        let Passing { transaction_bytes: transaction, rate, clusters } = Passing::of(machine);
        let rate = rate.map_or(f64::INFINITY, |rate| rate as f64);
        let units = machine.units();
        let (cores, handover) =
            units.first().map_or((1, 0), |unit| (unit.count(), unit.handover_cycles()));
        let room = room(&buffer.memory, Beside::Stream);
        let latency = buffer.latencies();
        Self { room, cores, shared: rate, transaction, clusters, link, handover, latency }
    }
}

/// A cut, and the cycles that it takes.
type Judged = (Cut, f64);

/// Steps that are done together.
pub(super) struct SubGraph {
    pub segment: Segment,
    /// True if an instance may do all of them.
    suits: bool,
    /// Its split; none where no instance fits.
    pub cut: Option<Cut>,
    /// Predicted cycles with that split.
    pub cycles: f64,
    /// Predicted cycles of its steps one after the other, each shared out among the cores.
    pub whole: f64,
    /// Sub-graphs that were merged to it: what one alone makes need not stay in the local buffer,
    /// and how a kernel is tiled is the next passes' choice.
    pub parts: usize,
    /// The split that comes next, and what it takes.
    pub second: Option<Judged>,
    /// The reason that it is not split, where it is not.
    pub unsplit: Option<Refused>,
    /// The reason that it is not merged with the one behind it.
    pub ends: Option<Refused>,
}

impl SubGraph {
    fn keep_whole(&mut self, why: Refused) {
        (self.cut, self.unsplit) = (None, Some(why));
    }
}

/// The sub-graphs of a flow, in its order; those that take less whole are not cut, unless `all` are.
pub(super) fn group(flow: &Flow<'_>, work: &Work, limits: &Limits, all: bool) -> Vec<SubGraph> {
    let mut found = merged(flow, work, limits);
    for own in found.iter_mut().filter(|own| !all && own.cut.is_some()) {
        if own.parts == 1 {
            own.keep_whole(Refused::by("alone", "nothing is merged with it"));
        } else if own.whole <= own.cycles {
            let why = Refused::by("whole", "its steps one after the other take no more");
            own.keep_whole(
                why.met(format!("{:.0} cycles, in instances {:.0}", own.whole, own.cycles)),
            );
        }
    }
    found
}

/// Neighbours merged until no two of them take less together.
fn merged(flow: &Flow<'_>, work: &Work, limits: &Limits) -> Vec<SubGraph> {
    let mut all: Vec<SubGraph> = Vec::new();
    let mut from = 0;
    while from < flow.steps.len() {
        // A tensor that several steps write is made by one sub-graph.
        let ends = from + 1..=flow.steps.len();
        let segment = ends.filter_map(|to| Segment::of(flow, from, to)).next();
        let segment = segment.expect("all steps to the end make whole tensors");
        from = segment.to;
        let whole = whole(flow, work, limits, &segment);
        all.push(subgraph(flow, work, limits, segment, whole));
    }
    loop {
        let mut merged = false;
        let mut at = 0;
        while at + 1 < all.len() {
            match merge(flow, work, limits, &all[at], &all[at + 1]) {
                Ok(both) => {
                    all[at] = both;
                    all.remove(at + 1);
                    merged = true;
                }
                Err(why) => {
                    all[at].ends = Some(why);
                    at += 1;
                }
            }
        }
        if !merged {
            return all;
        }
    }
}

fn subgraph(
    flow: &Flow<'_>,
    work: &Work,
    limits: &Limits,
    segment: Segment,
    whole: f64,
) -> SubGraph {
    let misfit = (segment.from..segment.to).find(|&step| !work.suits[step]);
    let found = match misfit {
        None => splits(flow, work, limits, &segment),
        Some(step) => {
            let why = "it reads at computed addresses, makes several tensors or none";
            let name = flow.steps[step].kernel.symbol();
            Err(Refused::by("suits", why).met(format!("@{name}")))
        }
    };
    let suits = misfit.is_none();
    let (cut, cycles, second, unsplit) = match found {
        Ok(Splits { best: (cut, cycles), second }) => (Some(cut), cycles, second, None),
        Err(why) => (None, f64::INFINITY, None, Some(why)),
    };
    SubGraph { segment, suits, cut, cycles, whole, parts: 1, second, unsplit, ends: None }
}

/// Two neighbours as one, where an instance of that fits and both then take less.
///
/// # Errors
/// The reason that they stay two.
fn merge(
    flow: &Flow<'_>,
    work: &Work,
    limits: &Limits,
    one: &SubGraph,
    other: &SubGraph,
) -> Result<SubGraph, Refused> {
    if let Some(why) =
        [one, other].into_iter().find(|own| !own.suits).and_then(|own| own.unsplit.clone())
    {
        return Err(why);
    }
    let segment = Segment::of(flow, one.segment.from, other.segment.to);
    let segment = segment
        .ok_or_else(|| Refused::by("writers", "what both make is written by others, too"))?;
    let mut both = subgraph(flow, work, limits, segment, one.whole + other.whole);
    both.parts = one.parts + other.parts;
    if let Some(why) = both.unsplit.take() {
        return Err(why);
    }
    if both.cycles > one.cycles + other.cycles {
        let why = Refused::by("cycles", "both together take more");
        let (own, other) = (one.cycles, other.cycles);
        return Err(why.met(format!("{:.0} cycles, {own:.0} + {other:.0} apart", both.cycles)));
    }
    Ok(both)
}

/// Predicted cycles of the steps of a segment that all cores share.
fn whole(flow: &Flow<'_>, work: &Work, limits: &Limits, segment: &Segment) -> f64 {
    let Some((tiles, _)) = samples(flow, segment, &Cut { sizes: Vec::new() }) else { return 0.0 };
    let moved = tiles.first().map_or((0, 0), |tile| moved(flow, segment, tile, 1));
    let steps = segment.from..segment.to;
    let bytes = moved.0 + moved.1 + work.known[steps.clone()].iter().sum::<u64>();
    let cycles = work.cycles[steps].iter().sum::<f64>();
    let one = cycles + bytes as f64 / limits.link;
    let cores = parts(limits.cores, one as u64, limits.cores, limits.handover);
    let waits: f64 = limits.latency.iter().sum();
    (one / cores as f64).max(bytes as f64 / limits.shared) + waits
}

/// Pieces along a dimension that are tried: 1, 2, 4, ..., and single points.
fn factors(extent: u64) -> Vec<u64> {
    let mut found: Vec<u64> =
        (1..).map(|power| 1 << power).take_while(|own| *own < extent).collect();
    found.extend((extent > 1).then_some(extent));
    found
}

/// The split that takes least of those whose instances fit the local buffer, and the next one.
struct Splits {
    best: Judged,
    second: Option<Judged>,
}

/// Tries all splits of a sub-graph.
///
/// # Errors
/// Bytes of the smallest instance, where none fits.
fn splits(
    flow: &Flow<'_>,
    work: &Work,
    limits: &Limits,
    segment: &Segment,
) -> Result<Splits, Refused> {
    let last = segment.gives.last().ok_or_else(|| Refused::by("gives", "nobody reads it"))?;
    let last = &flow.tensors[*last];
    let dims: Vec<usize> = (0..last.shape.len()).filter(|&dim| last.shape[dim] > 1).collect();
    let along = |dim: usize| {
        let extent = last.shape[dim];
        factors(extent).into_iter().map(move |factor| (dim, extent.div_ceil(factor)))
    };
    let mut cuts = vec![Cut { sizes: Vec::new() }];
    for (place, &dim) in dims.iter().enumerate() {
        cuts.extend(along(dim).map(|one| Cut { sizes: vec![one] }));
        // The outermost dimension in single points, and another one beside it.
        if place > 0 {
            cuts.extend(along(dim).map(|one| Cut { sizes: vec![(dims[0], 1), one] }));
        }
    }
    let (mut best, mut second): (Option<Judged>, Option<Judged>) = (None, None);
    let less =
        |cycles: f64, than: &Option<Judged>| than.as_ref().is_none_or(|(_, least)| cycles < *least);
    let mut smallest = u64::MAX;
    for cut in cuts {
        match cycles(flow, work, limits, segment, &cut) {
            Ok(cycles) if less(cycles, &best) => second = best.replace((cut, cycles)),
            Ok(cycles) if less(cycles, &second) => second = Some((cut, cycles)),
            Ok(_) => {}
            Err(bytes) => smallest = smallest.min(bytes),
        }
    }
    best.map(|best| Splits { best, second }).ok_or_else(|| {
        let why = Refused::by("room", "no instance fits the local buffer");
        why.met(format!("{smallest} bytes, there is room for {}", limits.room))
    })
}

/// Predicted cycles of a sub-graph under a cut.
///
/// # Errors
/// Bytes of an instance that does not fit, or the most there are where there is no such cut.
fn cycles(
    flow: &Flow<'_>,
    work: &Work,
    limits: &Limits,
    segment: &Segment,
    cut: &Cut,
) -> Result<f64, u64> {
    let (some, tiles) = samples(flow, segment, cut).ok_or(u64::MAX)?;
    let (mut longest, mut bytes, mut fixed) = (0f64, 0f64, 0);
    for tile in &some {
        let held = arena_bytes(flow, segment, std::slice::from_ref(tile));
        if held > limits.room {
            return Err(held);
        }
        let (read, given) = moved(flow, segment, tile, 1);
        let whole = moved(flow, segment, tile, limits.transaction);
        let steps = (segment.from..segment.to).zip(&tile.points);
        let done = steps.filter_map(|(step, points)| Some((step, points.as_ref()?)));
        let [bring, take] = limits.latency;
        let (brought, taken) = (segment.reads.len() as f64, segment.gives.len() as f64);
        let (mut cycles, mut known) = (brought * bring + taken * take, 0);
        for (step, points) in done {
            let all: u64 = flow.touches[step].extents.iter().product();
            cycles += work.cycles[step] * count(points) as f64 / all.max(1) as f64;
            known += work.known[step];
            cycles += if work.known[step] > 0 { bring } else { 0.0 };
        }
        longest = longest.max((read + given + known) as f64 / limits.link + cycles);
        bytes = bytes.max((whole.0 + whole.1) as f64);
        fixed = fixed.max(known);
    }
    let rounds = (tiles as u64).div_ceil(limits.cores) as f64;
    // Constants are copied once for each cluster, if its memory holds them and copies them while
    // its units do something else.
    let times = match limits.clusters {
        Some((clusters, holds)) if fixed <= holds && segment.from > 0 => clusters.min(tiles as u64),
        _ => tiles as u64,
    };
    let all = tiles as f64 * bytes + (times * fixed) as f64;
    Ok((rounds * longest).max(all / limits.shared))
}
