//! The tiles that feed an instruction, constructed by Roller's rules (OSDI'22, section 4), or every
//! one that fits.
//!
//! ```text
//! c[m, n] += a[m, k] * b[k, n]    instruction of 16 x 16 x 16
//!   ->  [16, 16, 16] -> [32, 16, 16] -> [32, 32, 16] -> ...    each with k 16, 32, ... 256
//! ```
//!
//! A tile is whole instructions (rule 1) and, along what is contiguous, whole transactions (rule 2);
//! it wastes at most ε of each axis (rule 4), for ε from nothing to everything. It grows by the
//! traffic that a byte more saves, until a memory is full. Every tile on the way is compared, for
//! small ones leave work to other units. Reductions grow last: their steps save moves, not bytes,
//! but for windows that overlap.

use std::collections::HashSet;

use super::super::roller::ladder::EPSILONS;
use super::super::roller::path::path;
use super::super::roller::steps::{Steps, is_thrifty, lcm};
use super::super::why::{Rule, percent};
use super::cost::Mapped;

/// The tiles that Roller constructs from one instruction on, whose sizes are `least`.
pub(super) fn constructed(mapped: &Mapped<'_, '_>, least: &[u64]) -> Vec<(Vec<u64>, Rule)> {
    let mut seen = HashSet::new();
    let rounds = EPSILONS.iter().flat_map(|&epsilon| {
        let rule = Rule::Reuse(percent(epsilon));
        round(mapped, least, epsilon).into_iter().map(move |tile| (tile, rule))
    });
    rounds.filter(|(tile, _)| seen.insert(tile.clone())).collect()
}

/// The tiles of which every axis wastes at most ε.
fn round(mapped: &Mapped<'_, '_>, least: &[u64], epsilon: f64) -> Vec<Vec<u64>> {
    let fits = |tile: &[u64]| mapped.overfull(tile).is_none();
    // A deeper step moves no more but where rows are cut: reductions count whole here.
    let whole = |tile: &[u64]| mapped.traffic(&mapped.with_whole_reductions(tile));
    let across = |now: &[u64], wider: &[u64]| {
        let held = mapped.footprint(wider) - mapped.footprint(now);
        (whole(now) - whole(wider)) / held.max(1.0)
    };
    let along = |now: &[u64], wider: &[u64]| mapped.traffic(now) - mapped.traffic(wider);
    let axes = || 0..least.len();
    let wider: Steps = axes().map(|axis| widths(mapped, least, epsilon, axis)).collect();
    let mut found = Vec::new();
    for tile in path(&wider, &fits, &across) {
        let deeper: Steps = axes().map(|axis| depths(mapped, &tile, epsilon, axis)).collect();
        found.extend(path(&deeper, &fits, &along));
    }
    found
}

/// Sizes of a parallel axis in rising order, of which each makes fewer tiles than the one before:
/// doubled up to a transaction, and multiples of that; the least of another axis.
fn widths(mapped: &Mapped<'_, '_>, least: &[u64], epsilon: f64, axis: usize) -> Vec<u64> {
    let (extent, first) = (mapped.nest.axes[axis].extent, least[axis]);
    let mut sizes = vec![first];
    if mapped.nest.reduces(axis) {
        return sizes;
    }
    let base = lcm(mapped.mapping.quantum(axis).max(1), mapped.transaction_of(axis));
    let below = doubled(first, base.min(extent));
    let multiples = (1..=extent.div_ceil(base)).map(|times| (times * base).min(extent));
    let mut tiles = extent.div_ceil(first);
    for size in below.into_iter().chain(multiples) {
        let fewer = extent.div_ceil(size);
        if fewer < tiles && is_thrifty(extent, size, epsilon) {
            tiles = fewer;
            sizes.push(size);
        }
    }
    sizes
}

/// Sizes of an axis that reduces in rising order: all of it, a half, a quarter and so on, in whole
/// instructions; that of the tile for another axis.
fn depths(mapped: &Mapped<'_, '_>, tile: &[u64], epsilon: f64, axis: usize) -> Vec<u64> {
    let first = tile[axis];
    let mut sizes = vec![first];
    if mapped.nest.reduces(axis) {
        let extent = mapped.nest.axes[axis].extent;
        let quantum = mapped.mapping.quantum(axis).max(1);
        let padded = extent.next_multiple_of(quantum);
        let steps = (0..u64::BITS - extent.leading_zeros()).rev().map(|power| 1 << power);
        let parts = steps.map(|steps| extent.div_ceil(steps).next_multiple_of(quantum));
        let thrifty = parts.filter(|&size| is_thrifty(padded, size, epsilon));
        sizes.extend(thrifty.map(|size| size.min(extent)).filter(|&size| size > first));
        sizes.dedup();
    }
    sizes
}

/// From a size on, each twice the one before, and the whole extent.
fn doubled(first: u64, extent: u64) -> Vec<u64> {
    let sizes = std::iter::successors(Some(first.max(1)), |size| Some(size * 2));
    sizes.take_while(|&size| size < extent).chain([extent.max(first)]).collect()
}

/// Every tile that fits: sizes are one instruction, doubled, or all of an axis.
pub(super) fn enumerated(mapped: &Mapped<'_, '_>, least: &[u64]) -> Vec<(Vec<u64>, Rule)> {
    let mut found = vec![least.to_vec()];
    for (axis, &first) in least.iter().enumerate() {
        let sizes = doubled(first, mapped.nest.axes[axis].extent);
        let wider = found.iter().flat_map(|tile| {
            sizes.iter().map(move |&size| {
                let mut wider = tile.clone();
                wider[axis] = size;
                wider
            })
        });
        found = wider.filter(|tile| mapped.overfull(tile).is_none()).collect();
    }
    found.into_iter().map(|tile| (tile, Rule::Enumerated)).collect()
}
