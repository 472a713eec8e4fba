//! The tiles of a group's members: how large, and where each lies.

use std::rc::Rc;

use weft_dialects::ir::Linear;

use super::placed::Placed;
use super::refusal::Refusal;
use crate::nest::Access;

/// Places of the group's tile that are tried for one axis, at most.
pub(super) const MOST_PLACES: u64 = 1 << 14;

/// Elements that a reader needs along a dimension that is handed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The member that asks.
    pub member: usize,
    /// First element, over the axes of that member, at its tile's first point.
    pub start: Linear,
    /// Number of elements.
    pub size: u64,
}

/// A tile along one axis of a member: from `lowest ask / over % within` on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Needs of the readers; none for a whole axis and for the group's tile itself.
    pub asks: Vec<Ask>,
    /// Elements of the dimension that one step along the axis is.
    pub over: u64,
    /// Points after which the axis begins anew along the dimension, if it is not the outermost.
    pub within: Option<u64>,
    /// Points of it.
    pub size: u64,
    /// Points of the axis.
    pub extent: u64,
    /// True if it would begin or end outside of the axis for some tile.
    pub clamped: bool,
    /// The axes of the last member that it moves with.
    pub moves: Vec<usize>,
    /// Where it begins, where that is one expression.
    pub placed: Option<Placed>,
    /// Where it begins otherwise, for each place of the group's tile along `moves`, the first of them
    /// fastest; nothing for what follows from another span's alone.
    pub starts: Option<Rc<[u32]>>,
}

impl Span {
    /// All points of an axis.
    pub fn whole(extent: u64) -> Self {
        Self { size: extent, extent, over: 1, ..Self::default() }
    }

    /// Where a tile begins whose lowest element is there.
    pub(super) fn place(&self, lowest: i64) -> i64 {
        let at = lowest.max(0) / self.over as i64;
        let at = self.within.map_or(at, |within| at % within as i64);
        at.clamp(0, (self.extent - self.size) as i64)
    }
}

/// The tiles of all members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// For each member a span per axis.
    pub spans: Vec<Vec<Span>>,
    /// Number of tiles of the last member along each of its axes; 1 where it reduces.
    pub grid: Vec<u64>,
}

/// The elements of a dimension that `index` reads for a tile of these spans: the first one, over
/// the positions of the spans, and their number.
pub(super) fn asked(index: &Linear, spans: &[Span]) -> (Linear, u64) {
    let (mut start, mut size) = (index.clone(), 1);
    for (&factor, span) in index.coefficients.iter().zip(spans) {
        let reach = span.size.saturating_sub(1);
        if factor < 0 {
            start.constant += factor * reach as i64;
        }
        size += factor.unsigned_abs() * reach;
    }
    (start, size)
}

/// The elements of a tensor that `access` touches in a tile of these spans, per dimension, not more
/// than there are.
pub fn reach(access: &Access<'_>, spans: &[Span]) -> Vec<u64> {
    let (dims, shape) = (access.index_in_memory(), access.shape_in_memory());
    dims.iter().zip(shape).map(|(index, dim)| asked(index, spans).1.min(dim)).collect()
}

impl Tiles {
    /// Number of tiles of the group.
    pub fn count(&self) -> u64 {
        self.grid.iter().product()
    }

    /// The sizes of a member's tile.
    pub fn sizes(&self, member: usize) -> Vec<u64> {
        self.spans[member].iter().map(|span| span.size).collect()
    }

    /// Calls `body` with each place of the group's tile along some axes.
    pub(super) fn each_place(
        &self,
        moves: &[usize],
        member: usize,
        body: &mut dyn FnMut(&[u64]),
    ) -> Result<(), Refusal> {
        let places: u64 = moves.iter().map(|&axis| self.grid[axis]).product();
        if places > MOST_PLACES {
            return Err(Refusal::Places { member, places });
        }
        let mut place = vec![0u64; self.grid.len()];
        for number in 0..places {
            let mut rest = number;
            for &axis in moves {
                place[axis] = rest % self.grid[axis];
                rest /= self.grid[axis];
            }
            body(&place);
        }
        Ok(())
    }

    /// First element of an ask for the group's tile at `place`, counted in tiles.
    pub(super) fn first(&self, ask: &Ask, place: &[u64]) -> i64 {
        let axes = ask.start.coefficients.iter().enumerate().filter(|(_, factor)| **factor != 0);
        axes.fold(ask.start.constant, |at, (axis, factor)| {
            at + factor * self.start(ask.member, axis, place)
        })
    }

    /// The first point of a member's tile along an axis for the group's tile at `place`,
    /// counted in tiles.
    pub fn start(&self, member: usize, axis: usize, place: &[u64]) -> i64 {
        let span = &self.spans[member][axis];
        if let Some(placed) = &span.placed {
            return placed.at(place);
        }
        if let Some(starts) = &span.starts {
            let moves = span.moves.iter().rev();
            let number = moves.fold(0, |number, &axis| number * self.grid[axis] + place[axis]);
            return starts[number as usize].into();
        }
        let lowest = span.asks.iter().map(|ask| self.first(ask, place)).min();
        lowest.map_or(0, |lowest| span.place(lowest))
    }

    /// First and last point on each axis of a member of all its tiles for the group's tiles whose
    /// places on each axis are from the first to the last of `places`.
    pub fn between(&self, member: usize, places: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let axis = |(axis, span): (usize, &Span)| {
            let all = (0, span.extent.max(1) - 1);
            let counts = span.moves.iter().map(|&own| places[own].1 - places[own].0 + 1);
            let count: u64 = counts.product();
            if count > MOST_PLACES {
                return all;
            }
            let mut place = vec![0u64; self.grid.len()];
            let mut found: Option<(u64, u64)> = None;
            for number in 0..count {
                let mut rest = number;
                for &own in &span.moves {
                    let (first, last) = places[own];
                    place[own] = first + rest % (last - first + 1);
                    rest /= last - first + 1;
                }
                let start = self.start(member, axis, &place) as u64;
                let end = (start + span.size).max(1) - 1;
                found = Some(found.map_or((start, end), |(a, z)| (a.min(start), z.max(end))));
            }
            found.unwrap_or(all)
        };
        self.spans[member].iter().enumerate().map(axis).collect()
    }

    /// Returns whether every point of a member is in exactly one tile of it: then its tensor can
    /// also be kept for others.
    pub fn partitions(&self, member: usize) -> bool {
        let points: u64 = self.spans[member].iter().map(|span| span.size).product();
        let whole: u64 = self.spans[member].iter().map(|span| span.extent).product();
        if points * self.count() != whole || self.count() > MOST_PLACES {
            return false;
        }
        let all: Vec<usize> = (0..self.grid.len()).collect();
        let mut seen = std::collections::HashSet::new();
        let done = self.each_place(&all, member, &mut |place| {
            let axes = 0..self.spans[member].len();
            seen.insert(axes.map(|axis| self.start(member, axis, place)).collect::<Vec<_>>());
        });
        // As many tiles of one size as fit, none of them twice, and all on a grid of that size.
        let on_grid = |starts: &Vec<i64>| {
            let spans = starts.iter().zip(&self.spans[member]);
            spans.into_iter().all(|(start, span)| *start % span.size as i64 == 0)
        };
        done.is_ok() && seen.len() as u64 == self.count() && seen.iter().all(on_grid)
    }
}
