//! The walk of every construction (Roller, OSDI'22, section 4.2): a tile grows axis by axis, depth
//! first, until the machine ends.
//!
//! ```text
//! [1, 1] -> [1, 2] -> [2, 2] -> [2, 4] does not fit: [2, 2] is a border, go on with its other axes
//! ```
//!
//! Which sizes an axis takes (alignment), what fits, which axis goes first (reuse) and what is
//! kept are the walker's.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::steps::Steps;

/// Tiles that are enlarged step by step, and the search's callbacks.
pub trait Growth {
    /// A tile, in one memory or several.
    type Tile: Clone + Eq + Hash;

    /// Returns whether the machine has room for a tile.
    fn fits(&self, tile: &Self::Tile) -> bool;

    /// The tile with another size along one axis.
    fn with(&self, tile: &Self::Tile, axis: usize, size: u64) -> Self::Tile;

    /// The axes to enlarge, the most promising first; `next` is the size that each would have.
    fn order(&self, tile: &Self::Tile, next: &[Option<u64>]) -> Vec<usize>;

    /// Returns whether enough has been found.
    fn is_full(&self) -> bool;

    /// A tile that fits is reached for the first time.
    fn visit(&mut self, _tile: &Self::Tile) {}

    /// The tile behind `last` does not fit.
    fn overflow(&mut self, _last: &Self::Tile) {}

    /// All that grows from a tile has been visited; `grew` says whether any of it fits.
    fn leave(&mut self, _tile: &Self::Tile, _grew: bool) {}

    /// Tiles that were reached, and whether they fit; each is visited once.
    fn seen(&mut self) -> &mut FxHashMap<Self::Tile, bool>;
}

/// Grows `now`, whose axes have the sizes `at` of `steps`; `last` is what it grew from. Returns
/// whether it fits.
pub fn enlarge<G: Growth>(
    growth: &mut G,
    last: Option<&G::Tile>,
    now: &G::Tile,
    steps: &Steps,
    at: &mut [usize],
) -> bool {
    if let Some(&fits) = growth.seen().get(now) {
        return fits;
    }
    let full = growth.is_full();
    let fits = full || growth.fits(now);
    growth.seen().insert(now.clone(), fits);
    if full {
        return true;
    }
    if !fits {
        if let Some(last) = last {
            growth.overflow(last);
        }
        return false;
    }
    growth.visit(now);
    if growth.is_full() {
        return true;
    }
    let next: Vec<_> =
        steps.iter().zip(&*at).map(|(steps, &at)| steps.get(at + 1).copied()).collect();
    let mut grew = false;
    for axis in growth.order(now, &next) {
        let Some(size) = next[axis] else { continue };
        let wider = growth.with(now, axis, size);
        at[axis] += 1;
        grew |= enlarge(growth, Some(now), &wider, steps, at);
        at[axis] -= 1;
    }
    growth.leave(now, grew);
    true
}
