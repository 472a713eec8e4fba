//! Which steps are neighbours in the device's memory, and how large their tiles are.
//!
//! Every partition of the steps into segments is a way; the one that takes least is found by
//! dynamic programming. A segment takes the bytes that pass the link, and the points it does:
//! a longer one moves less, and does more of its points twice, at the borders of its tiles.

use std::collections::HashMap;

use weft_dialects::device::{Machine, Memory};
use weft_dialects::ir::Context;

use super::flow::Flow;
use super::segment::{Cut, Segment, arena_bytes, moved, samples, tiles, work};

/// Steps in one segment at most.
const LONGEST: usize = 96;

/// Longer segments are not looked at once this many, one after the other, did not fit.
const PATIENCE: usize = 6;

/// Rates of moving and computing, by the machine's facts.
pub(super) struct Rates {
    pub link_bytes_per_cycle: f64,
    pub points_per_cycle: f64,
}

impl Rates {
    pub fn of(
        context: &Context,
        machine: Machine<'_>,
        host: &Memory<'_>,
        near: &Memory<'_>,
    ) -> Self {
        let link = machine.move_between(host.name, near.name);
        let link = link.and_then(|link| link.bytes_per_cycle());
        let link = link.or(host.bytes_per_cycle()).or(near.bytes_per_cycle()).unwrap_or(1);
        let float = weft_dialects::ir::ty::parse(context, "f32");
        let lanes = machine.lanes_units().into_iter().next().zip(float);
        let points = lanes.and_then(|(unit, float)| {
            Some(unit.lanes_for(float)? as f64 / unit.issue_cycles().max(f64::MIN_POSITIVE))
        });
        let units = machine.units().first().map_or(1, |unit| unit.count()) as f64;
        Self { link_bytes_per_cycle: link as f64, points_per_cycle: points.unwrap_or(1.0) * units }
    }
}

/// A segment with its cut.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    pub segment: Segment,
    pub cut: Cut,
    /// Its predicted cycles.
    pub cycles: f64,
    /// The cut that comes next, and what it takes; none where the whole fits.
    pub second: Option<(Cut, f64)>,
}

/// Steps that fit in no tiles: the first of them, and what the smallest tile takes.
pub(super) struct TooLarge {
    pub step: usize,
    pub bytes: u64,
}

/// The partition that takes least where tiles may take `capacity` bytes.
pub(super) fn choose(
    flow: &Flow<'_>,
    rates: &Rates,
    capacity: u64,
) -> Result<Vec<Chosen>, TooLarge> {
    let mut budget = capacity;
    loop {
        let chosen = partition(flow, rates, budget)?;
        // Chosen by a few of their tiles, held against all of them.
        let needs = |one: &Chosen| {
            let all = tiles(flow, &one.segment, &one.cut).expect("it was cut before");
            arena_bytes(flow, &one.segment, &all)
        };
        let most = chosen.iter().map(needs).max().unwrap_or(0);
        if most <= capacity {
            return Ok(chosen);
        }
        budget = budget.saturating_sub((most - capacity).max(budget / 32));
    }
}

fn partition(flow: &Flow<'_>, rates: &Rates, budget: u64) -> Result<Vec<Chosen>, TooLarge> {
    let count = flow.steps.len();
    // For each end the least that leads there, and the last segment on that way.
    let mut best: Vec<Option<(f64, Option<Chosen>)>> = vec![None; count + 1];
    best[0] = Some((0.0, None));
    let mut smallest: HashMap<usize, u64> = HashMap::new();
    for from in 0..count {
        let Some((before, _)) = best[from] else { continue };
        let mut failures = 0;
        for (to, best) in best.iter_mut().enumerate().take(from + LONGEST + 1).skip(from + 1) {
            let Some(segment) = Segment::of(flow, from, to) else { continue };
            match cut(flow, segment, rates, budget) {
                Ok(chosen) => {
                    failures = 0;
                    let all = before + chosen.cycles;
                    if best.as_ref().is_none_or(|(known, _)| all < *known) {
                        *best = Some((all, Some(chosen)));
                    }
                }
                Err(bytes) => {
                    let least = smallest.entry(from).or_insert(bytes);
                    *least = (*least).min(bytes);
                    failures += 1;
                    if failures == PATIENCE {
                        break;
                    }
                }
            }
        }
    }
    let mut chosen = Vec::new();
    let mut at = count;
    while at > 0 {
        let Some((_, Some(one))) = &best[at] else {
            let reached = (0..=count).rev().find(|&end| best[end].is_some()).unwrap_or(0);
            let bytes = smallest.get(&reached).copied().unwrap_or(u64::MAX);
            return Err(TooLarge { step: reached, bytes });
        };
        at = one.segment.from;
        chosen.push(one.clone());
    }
    chosen.reverse();
    Ok(chosen)
}

/// The cut of a segment that fits and takes least; else what the smallest tile takes.
fn cut(flow: &Flow<'_>, segment: Segment, rates: &Rates, budget: u64) -> Result<Chosen, u64> {
    let (cut, cycles, second) = cuts(flow, &segment, rates, budget)?;
    Ok(Chosen { segment, cut, cycles, second })
}

/// A cut, what it takes, and the next best one.
type Cuts = (Cut, f64, Option<(Cut, f64)>);

fn cuts(flow: &Flow<'_>, segment: &Segment, rates: &Rates, budget: u64) -> Result<Cuts, u64> {
    let mut smallest = u64::MAX;
    let mut fits = |cut: &Cut| -> Option<f64> {
        let (some, count) = samples(flow, segment, cut)?;
        // Three tiles of the largest kind: two at once, and what rests in between.
        let busiest = some.iter().max_by_key(|tile| work(flow, segment, tile))?;
        let turn = vec![busiest.clone(); count.min(3)];
        let bytes = arena_bytes(flow, segment, &turn);
        smallest = smallest.min(bytes);
        if bytes > budget {
            return None;
        }
        let takes = some.iter().map(|tile| {
            let (read, given) = moved(flow, segment, tile, 1);
            (read + given) as f64 / rates.link_bytes_per_cycle
                + work(flow, segment, tile) as f64 / rates.points_per_cycle
        });
        let takes: Vec<f64> = takes.collect();
        // Those in the middle are alike.
        let middle = takes.get(1).copied().unwrap_or(0.0);
        Some(takes.iter().sum::<f64>() + count.saturating_sub(takes.len()) as f64 * middle)
    };
    let whole = Cut { sizes: Vec::new() };
    if segment.gives.is_empty() {
        return Ok((whole, 0.0, None));
    }
    if let Some(cycles) = fits(&whole) {
        return Ok((whole, cycles, None));
    }
    let last = &flow.tensors[segment.gives[segment.gives.len() - 1]];
    let dims: Vec<usize> = (0..last.shape.len()).filter(|&dim| last.shape[dim] > 1).collect();
    let one = |dim: usize| {
        let sizes = sizes(last.shape[dim]).into_iter();
        sizes.map(move |size| Cut { sizes: vec![(dim, size)] }).collect::<Vec<_>>()
    };
    let two = |(first, second): (usize, usize)| {
        let sizes = sizes(last.shape[first]).into_iter().zip(sizes(last.shape[second]));
        sizes.map(|(a, b)| Cut { sizes: vec![(first, a), (second, b)] }).collect::<Vec<_>>()
    };
    let pairs = || {
        let after = |&first: &usize| dims.iter().filter(move |&&second| second > first);
        dims.iter().flat_map(move |first| after(first).map(move |second| (*first, *second)))
    };
    let mut best: Option<Cuts> = None;
    let ways = dims.iter().map(|&dim| one(dim)).collect::<Vec<_>>();
    for ways in [ways, pairs().map(two).collect()] {
        for cuts in ways {
            // Smaller tiles take less memory and more time: the largest that fits.
            let mut found = None;
            let (mut low, mut high) = (0, cuts.len());
            while low < high {
                let middle = (low + high) / 2;
                match fits(&cuts[middle]) {
                    Some(cycles) => {
                        found = Some((cuts[middle].clone(), cycles));
                        high = middle;
                    }
                    None => low = middle + 1,
                }
            }
            let Some((cut, cycles)) = found else { continue };
            best = Some(match best {
                None => (cut, cycles, None),
                Some((won, least, _)) if cycles < least => (cut, cycles, Some((won, least))),
                Some((won, least, second)) => {
                    let next = second.filter(|(_, known)| *known <= cycles);
                    (won, least, Some(next.unwrap_or((cut, cycles))))
                }
            });
        }
        // Slabs before tiles of two dimensions, which have a border on every side.
        if best.is_some() {
            break;
        }
    }
    best.ok_or(smallest)
}

/// Sizes of pieces to try for a dimension, the largest first: whole eighths where there are
/// that many, so that what lies behind a pool or before a stride is whole as well.
fn sizes(extent: u64) -> Vec<u64> {
    let mut sizes = Vec::new();
    let mut count = 2;
    while count <= extent {
        for pieces in [count, count + count / 2] {
            let size = extent.div_ceil(pieces);
            let size = if size > 8 { size.next_multiple_of(8) } else { size };
            if size < extent && sizes.last().is_none_or(|&last| size < last) {
                sizes.push(size);
            }
        }
        count *= 2;
    }
    sizes
}

#[cfg(test)]
mod tests {
    #[test]
    fn sizes_go_down_to_single_points() {
        assert_eq!(super::sizes(48), [24, 16, 8, 6, 4, 3, 2, 1]);
        assert_eq!(super::sizes(3), [2, 1]);
        assert!(super::sizes(1).is_empty());
    }
}
