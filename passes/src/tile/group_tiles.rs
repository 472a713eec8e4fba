//! The tiles of a group that are compared, constructed by Roller's rules (OSDI'22, section 4) over
//! Welder's traffic and footprint (OSDI'23, section 4.2).
//!
//! ```text
//! last member [768, 128, 128]:  [1, 1, 1] -> [1, 1, 128] -> [1, 2, 128] -> ... -> [1, 64, 128]
//! priority  (traffic of a tile + 1) · waves · units,  waves = ⌈tiles / units⌉
//! ```
//!
//! The tile of the last member grows from the least one on, always along the axis that saves the
//! most traffic for a byte that waits, in sizes that are whole registers or instructions (rule 1)
//! and waste at most ε of their axis (rule 4), until what waits does not fit. Every tile on the way
//! is compared by its priority, for small ones leave work to other units.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use weft_dialects::ir::ty;

use super::passing::Passing;
use super::placements::HandedOver;
use super::propagate::{Chain, Span, Tiles, propagate, reach};
use super::roller::ladder::EPSILONS;
use super::roller::path::path;
use super::roller::steps::{Steps, is_thrifty};
use super::traffic::{Traffic, handed_over, traffic};
use crate::nest::{Access, Border};
use crate::remarks::Refused;

/// Limits on the tiles of a group.
#[derive(Clone, Debug)]
pub struct Limits<'l> {
    /// Bytes for tiles that wait.
    pub room: u64,
    /// Units that work beside each other.
    pub units: u64,
    /// What passes the memory that all units share.
    pub passing: Passing,
    /// Of what the last member's tile is a multiple, per axis, if such a one fits.
    pub steps: &'l [u64],
    /// Members that others read, too.
    pub leaves: &'l [bool],
    /// Whether planes that are read past their ends are laid out there, with their borders.
    pub lays_out: bool,
}

/// A tile of the last member, and what the group is with it.
#[derive(Clone, Debug)]
pub struct Config {
    /// Sizes of the tile.
    pub sizes: Vec<u64>,
    /// All members' tiles.
    pub tiles: Tiles,
    /// Bytes that wait.
    pub footprint: u64,
    /// Bytes from and to the shared memory.
    pub traffic: Traffic,
    /// Key by which configurations are sorted.
    pub priority: u64,
}

/// At most `keep` tiles that fit, that of the least priority first.
///
/// # Errors
/// The limit that the smallest tile exceeds, or the reason that the group has none.
pub fn configs(
    chain: &Chain<'_, '_>,
    limits: &Limits<'_>,
    keep: usize,
) -> Result<Vec<Config>, Refused> {
    let whole = chain.nests[chain.nests.len() - 1].extents();
    construct(chain, limits, keep).or_else(|why| {
        // Less than a step where not even one fits.
        propagate(chain, &whole).map_err(|_| why)?;
        construct(chain, &Limits { steps: &vec![1; whole.len()], ..limits.clone() }, keep)
    })
}

/// The same in whole steps.
fn construct(
    chain: &Chain<'_, '_>,
    limits: &Limits<'_>,
    keep: usize,
) -> Result<Vec<Config>, Refused> {
    let construction = Construction {
        chain,
        limits,
        wait: handed_over(chain, limits.leaves),
        known: RefCell::default(),
    };
    for epsilon in EPSILONS {
        construction.grow(epsilon);
    }
    let known = construction.known.into_inner();
    let mut found: Vec<_> = known.values().filter_map(|config| config.as_deref().ok()).collect();
    found.retain(|config| config.footprint <= limits.room && whole_leaves(limits, &config.tiles));
    found.sort_by(|one, other| {
        one.priority.cmp(&other.priority).then_with(|| other.sizes.cmp(&one.sizes))
    });
    found.truncate(keep);
    if !found.is_empty() {
        return Ok(found.into_iter().cloned().collect());
    }
    let smallest = known.values().filter_map(|config| Some(config.as_ref().ok()?.footprint)).min();
    Err(match smallest {
        Some(smallest) => {
            let says = "what waits does not fit near a unit";
            let values = format!("{smallest} bytes, there is room for {}", limits.room);
            Refused::by("room", says).met(values)
        }
        None => {
            let first = known.into_iter().min_by(|one, other| one.0.cmp(&other.0));
            let why = first.and_then(|(_, config)| config.err());
            why.unwrap_or_else(|| Refused::by("tiles", "no tile of it fits"))
        }
    })
}

/// A construction with the tiles that it came by.
struct Construction<'l, 'n, 'c> {
    chain: &'l Chain<'n, 'c>,
    limits: &'l Limits<'l>,
    wait: HandedOver<'l, 'n, 'c>,
    known: RefCell<FxHashMap<Vec<u64>, Found>>,
}

/// What a tile makes of the group, or why it makes nothing.
type Found = Result<Rc<Config>, Refused>;

impl Construction<'_, '_, '_> {
    /// The tiles of which every axis wastes at most ε.
    fn grow(&self, epsilon: f64) {
        let root = self.chain.nests[self.chain.nests.len() - 1];
        // Of axes that save as much the innermost one grows, so that rows are long: axes are
        // counted from the innermost one here.
        let extents = root.extents().into_iter().enumerate().rev();
        let sizes = extents.map(|(axis, extent)| match root.reduces(axis) {
            true => vec![extent],
            false => sizes(extent, self.limits.steps[axis], epsilon),
        });
        let steps: Steps = sizes.collect();
        let config = |tile: &[u64]| self.config(&tile.iter().rev().copied().collect::<Vec<_>>());
        // A tile that the group refuses may grow to one that it takes.
        let fits = |tile: &[u64]| config(tile).is_none_or(|own| own.footprint <= self.limits.room);
        let score = |now: &[u64], wider: &[u64]| match (config(now), config(wider)) {
            (Some(now), Some(wider)) => {
                let saved = now.traffic.moved as f64 - wider.traffic.moved as f64;
                saved / wider.footprint.saturating_sub(now.footprint).max(1) as f64
            }
            (None, Some(_)) => f64::INFINITY,
            (_, None) => f64::NEG_INFINITY,
        };
        path(&steps, &fits, &score);
    }

    /// The configuration of the group with a tile; `None` where the group refuses it.
    fn config(&self, sizes: &[u64]) -> Option<Rc<Config>> {
        if let Some(known) = self.known.borrow().get(sizes) {
            return known.clone().ok();
        }
        let found = config(self.chain, self.limits, &self.wait, sizes).map(Rc::new);
        self.known.borrow_mut().insert(sizes.to_vec(), found.clone());
        found.ok()
    }
}

/// The configuration of a group with a tile of `sizes`.
fn config(
    chain: &Chain<'_, '_>,
    limits: &Limits<'_>,
    handed_over: &HandedOver<'_, '_, '_>,
    sizes: &[u64],
) -> Result<Config, Refused> {
    let tiles = propagate(chain, sizes).map_err(|why| Refused::by(why.rule(), why.to_string()))?;
    let traffic = traffic(chain, &tiles, limits.leaves, &limits.passing);
    let waves = tiles.count().div_ceil(limits.units);
    let plane = if limits.lays_out { largest_plane(chain, &tiles) } else { 0 };
    Ok(Config {
        sizes: sizes.to_vec(),
        footprint: handed_over.placements(&tiles).bytes + plane,
        traffic,
        // Of one tile a wave, for as many units.
        priority: (traffic.passing / tiles.count() + 1).saturating_mul(waves * limits.units),
        tiles,
    })
}

/// Bytes of the largest plane that a member reads past its ends: one at a time is laid out.
fn largest_plane(chain: &Chain<'_, '_>, tiles: &Tiles) -> u64 {
    let plane = |access: &Access<'_>, spans: &[Span]| {
        let border = Border::of(access)?;
        let points: u64 = reach(access, spans).iter().rev().take(border.rank()).product();
        Some(points * ty::byte_size(access.elem()).unwrap_or(8))
    };
    let members = chain.nests.iter().zip(&tiles.spans);
    let planes = members
        .flat_map(|(nest, spans)| nest.reads().into_iter().filter_map(|own| plane(own, spans)));
    planes.max().unwrap_or(0)
}

/// Sizes of an axis, the least first: whole steps that waste at most ε, each by a third or more
/// longer than the one before, and the whole axis.
fn sizes(extent: u64, step: u64, epsilon: f64) -> Vec<u64> {
    let step = step.max(1).min(extent.max(1));
    let mut sizes = vec![step];
    for count in 2..extent.div_ceil(step) {
        let (size, last) = (count * step, sizes[sizes.len() - 1]);
        if size * 3 >= last * 4 && is_thrifty(extent, size, epsilon) {
            sizes.push(size);
        }
    }
    if extent > step {
        sizes.push(extent);
    }
    sizes
}

/// Returns whether each tensor that leaves the group is computed once.
fn whole_leaves(limits: &Limits<'_>, tiles: &Tiles) -> bool {
    let last = tiles.spans.len() - 1;
    (0..last).all(|member| !limits.leaves[member] || tiles.partitions(member))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_whole_steps_that_waste_little() {
        assert_eq!(sizes(128, 1, 0.0), [1, 2, 4, 8, 16, 32, 64, 128]);
        assert_eq!(sizes(96, 16, 0.0), [16, 32, 48, 96]);
        assert_eq!(sizes(7, 2, 1.0), [2, 4, 6, 7]);
        assert_eq!(sizes(5, 8, 0.0), [5]);
        assert_eq!(sizes(0, 8, 0.0), [1]);
    }
}
