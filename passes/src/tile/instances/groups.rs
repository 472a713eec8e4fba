//! Which runs are a sub-graph, and in how many instances it is done (GraphTurbo, section 4.2 of its
//! algorithm boxes: split info, best split, merging to a fixpoint).
//!
//! ```text
//! instances = max(⌈instances / cores⌉ · Σ (bytes in and out / rate of the core's moves
//!                                         + tensors in and out · latency + work),
//!                 bytes of all instances / rate of the shared memory)
//! whole     = Σ steps  max(one core's cycles / cores that share them, bytes / rate of the shared
//!                          memory) + latency in and out
//! ```
//!
//! What takes less whole is left to the passes behind, which share each step out among the cores.

use weft_dialects::device::{Machine, Memory};

use super::super::stream_host::flow::Flow;
use super::super::stream_host::segment::{Cut, Segment, arena_bytes, moved, samples};
use super::super::stream_host::spans::count;
use super::work::Work;
use crate::task::cost::latencies;
use crate::task::schedule::parts;

/// What instances may take.
pub(super) struct Limits {
    /// Bytes of the local buffer for what waits; the rest is for what is worked on.
    pub room: u64,
    pub cores: u64,
    /// Bytes a cycle of the shared memory.
    pub shared: f64,
    /// Bytes a cycle of one core's moves.
    pub link: f64,
    /// Cycles that a step is worth before cores share it.
    pub handover: u64,
    /// Cycles until what moves to the local buffer, and from there, has come.
    pub latency: [f64; 2],
}

impl Limits {
    pub fn of(machine: Machine<'_>, local: &Memory<'_>, shared: &Memory<'_>) -> Self {
        let link = machine.move_between(shared.name, local.name);
        let link =
            link.and_then(|way| way.bytes_per_cycle()).map_or(f64::INFINITY, |rate| rate as f64);
        let rate = shared.bytes_per_cycle().map_or(f64::INFINITY, |rate| rate as f64);
        let units = machine.units();
        let (cores, handover) =
            units.first().map_or((1, 0), |unit| (unit.count(), unit.handover_cycles()));
        let room = local.capacity_bytes() / 2;
        let latency = latencies(machine).unwrap_or([0.0; 2]);
        Self { room, cores, shared: rate, link, handover, latency }
    }
}

/// Steps that are done together.
pub(super) struct SubGraph {
    pub segment: Segment,
    /// Whether an instance may do all of them.
    suits: bool,
    /// How it is split; none where no instance fits.
    pub cut: Option<Cut>,
    /// What it takes so.
    pub cycles: f64,
    /// What its steps take one after the other, each shared out among the cores.
    pub whole: f64,
    /// Sub-graphs that were merged to it: what one alone makes need not stay in the local buffer,
    /// and how a kernel is tiled is the next passes' choice.
    pub parts: usize,
}

/// The sub-graphs of a flow, in its order; those that take less whole are not cut, unless `all` are.
pub(super) fn group(flow: &Flow<'_>, work: &Work, limits: &Limits, all: bool) -> Vec<SubGraph> {
    let mut found = merged(flow, work, limits);
    for own in found.iter_mut().filter(|own| !all && (own.parts == 1 || own.whole <= own.cycles)) {
        own.cut = None;
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
                Some(both) => {
                    all[at] = both;
                    all.remove(at + 1);
                    merged = true;
                }
                None => at += 1,
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
    let suits = (segment.from..segment.to).all(|step| work.suits[step]);
    let found = suits.then(|| best_split(flow, work, limits, &segment)).flatten();
    let (cut, cycles) = match found {
        Some((cut, cycles)) => (Some(cut), cycles),
        None => (None, f64::INFINITY),
    };
    SubGraph { segment, suits, cut, cycles, whole, parts: 1 }
}

/// Two neighbours as one, where an instance of that fits and both then take less.
fn merge(
    flow: &Flow<'_>,
    work: &Work,
    limits: &Limits,
    one: &SubGraph,
    other: &SubGraph,
) -> Option<SubGraph> {
    if !one.suits || !other.suits {
        return None;
    }
    let segment = Segment::of(flow, one.segment.from, other.segment.to)?;
    let mut both = subgraph(flow, work, limits, segment, one.whole + other.whole);
    both.parts = one.parts + other.parts;
    (both.cut.is_some() && both.cycles <= one.cycles + other.cycles).then_some(both)
}

/// What the steps of a segment take that all cores share.
fn whole(flow: &Flow<'_>, work: &Work, limits: &Limits, segment: &Segment) -> f64 {
    let Some((tiles, _)) = samples(flow, segment, &Cut { sizes: Vec::new() }) else { return 0.0 };
    let moved = tiles.first().map_or((0, 0), |tile| moved(flow, segment, tile));
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

/// The split that takes least of those whose instances fit the local buffer.
fn best_split(
    flow: &Flow<'_>,
    work: &Work,
    limits: &Limits,
    segment: &Segment,
) -> Option<(Cut, f64)> {
    let last = &flow.tensors[*segment.gives.last()?];
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
    let mut best: Option<(Cut, f64)> = None;
    for cut in cuts {
        let Some(cycles) = cycles(flow, work, limits, segment, &cut) else { continue };
        if best.as_ref().is_none_or(|(_, least)| cycles < *least) {
            best = Some((cut, cycles));
        }
    }
    best
}

/// What a sub-graph takes under a cut; none where an instance does not fit.
fn cycles(
    flow: &Flow<'_>,
    work: &Work,
    limits: &Limits,
    segment: &Segment,
    cut: &Cut,
) -> Option<f64> {
    let (some, tiles) = samples(flow, segment, cut)?;
    let (mut longest, mut bytes) = (0f64, 0f64);
    for tile in &some {
        let held = arena_bytes(flow, segment, std::slice::from_ref(tile));
        if held > limits.room {
            return None;
        }
        let (read, given) = moved(flow, segment, tile);
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
        let passes = (read + given + known) as f64;
        longest = longest.max(passes / limits.link + cycles);
        bytes = bytes.max(passes);
    }
    let rounds = (tiles as u64).div_ceil(limits.cores) as f64;
    Some((rounds * longest).max(tiles as f64 * bytes / limits.shared))
}
