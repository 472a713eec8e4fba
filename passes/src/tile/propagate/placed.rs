//! Where a member's tile begins, as one expression of the place of the group's.
//!
//! ```text
//! pool at 2 p  ->  relu at min(2 p, 110)  ->  conv at min(2 p, 110)        p: which tile of the group
//! ```
//!
//! A place follows from those of the readers' tiles, whose places follow from their readers'. In most chains
//! all of that is one linear expression, held between two numbers where tiles are pushed inside; with it a
//! place takes no more than the expression does, however long the chain is.

use weft_dialects::ir::Linear;

use super::tiles::{Ask, Span, Tiles};

/// `at`, held between two numbers; over the axes of the last member's grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    at: Linear,
    low: i64,
    high: i64,
}

/// Bounds that bind nothing, with room to add to them.
const FREE: i64 = i64::MAX / 4;

impl Placed {
    /// The place of the group's own tile of `size` points along an axis.
    pub(super) fn group(grid: usize, axis: usize, size: u64) -> Self {
        Self { at: Linear::axis(grid, axis).scale(size as i64), low: -FREE, high: FREE }
    }

    /// At the beginning, whatever the group's place is.
    pub(super) fn first(grid: usize) -> Self {
        Self { at: Linear::constant(grid, 0), low: -FREE, high: FREE }
    }

    /// The place for the group's tile at `place`, counted in tiles.
    pub(super) fn at(&self, place: &[u64]) -> i64 {
        let axes = self.at.coefficients.iter().zip(place);
        let at = axes.fold(self.at.constant, |at, (factor, place)| at + factor * *place as i64);
        at.clamp(self.low, self.high)
    }

    /// The least and the greatest place.
    pub(super) fn range(&self, grid: &[u64]) -> (i64, i64) {
        let (low, high) = self.at.range(grid);
        (low.clamp(self.low, self.high), high.clamp(self.low, self.high))
    }

    /// Whether the bounds bind nowhere.
    fn is_linear(&self, grid: &[u64]) -> bool {
        let (low, high) = self.at.range(grid);
        self.low <= low && high <= self.high
    }
}

impl Tiles {
    /// The first element of an ask as one expression, if it is one.
    pub(super) fn asked_at(&self, ask: &Ask) -> Option<Placed> {
        let mut at = Linear::constant(self.grid.len(), ask.start.constant);
        let mut bound: Option<(i64, &Placed)> = None;
        for (axis, &factor) in ask.start.coefficients.iter().enumerate() {
            if factor == 0 {
                continue;
            }
            let placed = self.spans[ask.member][axis].placed.as_ref()?;
            if !placed.is_linear(&self.grid) && bound.replace((factor, placed)).is_some() {
                return None;
            }
            at = at.add(&placed.at.clone().scale(factor));
        }
        let Some((factor, placed)) = bound else {
            return Some(Placed { at, low: -FREE, high: FREE });
        };
        // The bounds are those of one term, so the others may not move.
        let others = at.clone().add(&placed.at.clone().scale(-factor));
        let moved = |bound: i64| bound * factor + others.constant;
        let may = factor > 0 && others.is_constant();
        may.then(|| Placed { low: moved(placed.low), high: moved(placed.high), at })
    }

    /// The elements that asks need which all begin at one place, and whether they begin or end outside of the
    /// `whole` for some tile. `None` where they begin apart, or no tile has them all inside.
    pub(super) fn asked_once(&self, asks: &[Ask], whole: u64) -> Option<(u64, bool)> {
        let (first, others) = asks.split_first()?;
        let placed = self.asked_at(first)?;
        if others.iter().any(|ask| self.asked_at(ask).as_ref() != Some(&placed)) {
            return None;
        }
        let size = asks.iter().map(|ask| ask.size).max()?;
        let (low, high) = placed.range(&self.grid);
        let fits = |at: i64| at >= 0 && at as u64 + size <= whole;
        fits(low).then_some((size, !fits(high)))
    }

    /// A span with its place as one expression, if it has one; asks that come from one place are one.
    pub(super) fn placed(&self, mut span: Span) -> Span {
        let mut asks: Vec<(Ask, Option<Placed>)> = Vec::new();
        for ask in std::mem::take(&mut span.asks) {
            let own = self.asked_at(&ask);
            match asks.iter_mut().find(|(_, other)| own.is_some() && *other == own) {
                Some((known, _)) => known.size = known.size.max(ask.size),
                None => asks.push((ask, own)),
            }
        }
        span.placed = match &asks[..] {
            [] => Some(Placed::first(self.grid.len())),
            [(_, Some(one))] => self.along(&span, one),
            _ => None,
        };
        if span.placed.is_some() {
            span.starts = None;
        }
        span.asks = asks.into_iter().map(|(ask, _)| ask).collect();
        span
    }

    /// The place along an axis of a tile whose lowest element is there: `Span::place` as one expression.
    fn along(&self, span: &Span, lowest: &Placed) -> Option<Placed> {
        let over = span.over as i64;
        let divides = |number: &i64| number % over == 0;
        if !lowest.at.coefficients.iter().chain([&lowest.at.constant]).all(divides) {
            return None;
        }
        let mut at = lowest.at.clone();
        at.coefficients.iter_mut().for_each(|factor| *factor /= over);
        at.constant /= over;
        let bound = |number: i64| number.max(0) / over;
        let mut placed = Placed { at, low: bound(lowest.low), high: bound(lowest.high) };
        let (_, high) = placed.range(&self.grid);
        if span.within.is_some_and(|within| high >= within as i64) {
            return None;
        }
        let last = (span.extent - span.size) as i64;
        placed.low = placed.low.clamp(0, last);
        placed.high = placed.high.clamp(0, last);
        Some(placed)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Tiles of members with one axis each, the last one's first; every span but that follows from the
    /// asks of later members.
    #[derive(Clone, Debug)]
    struct Member {
        asks: Vec<(usize, i64, i64)>,
        over: u64,
        within: Option<u64>,
        size: u64,
        extent: u64,
    }

    fn members() -> impl Strategy<Value = Vec<Member>> {
        let ask = (0usize..4, 0i64..4, -3i64..4);
        let within = proptest::option::of(2u64..30);
        let member = (prop::collection::vec(ask, 1..3), 1u64..3, within, 1u64..6, 0u64..40);
        let member = member.prop_map(|(asks, over, within, size, more)| Member {
            asks,
            over,
            within,
            size,
            extent: size + more,
        });
        prop::collection::vec(member, 1..5)
    }

    fn tiles(members: &[Member], grid: u64, size: u64, placed: bool) -> Tiles {
        let last = members.len();
        let mut tiles = Tiles { spans: vec![Vec::new(); last + 1], grid: vec![grid] };
        let own = Some(Placed::group(1, 0, size));
        tiles.spans[last] = vec![Span { size, placed: own, ..Span::whole(grid * size) }];
        for (number, member) in members.iter().enumerate().rev() {
            let asks = member.asks.iter().map(|&(by, factor, constant)| {
                let by = number + 1 + by % (last - number);
                let start = Linear::axis(1, 0).scale(factor).offset(constant);
                Ask { member: by, start, size: member.size }
            });
            let Member { over, within, size, extent, .. } = *member;
            let whole = Span::whole(extent);
            let span = Span { asks: asks.collect(), over, within, size, ..whole };
            let span = if placed { tiles.placed(span) } else { span };
            tiles.spans[number] = vec![span];
        }
        tiles
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        /// One expression says what following all readers says.
        #[test]
        fn a_place_is_that_of_its_readers(members in members(), grid in 1u64..7, size in 1u64..5) {
            let [quick, slow] = [true, false].map(|placed| tiles(&members, grid, size, placed));
            for place in 0..grid {
                for member in 0..=members.len() {
                    let starts = [&quick, &slow].map(|tiles| tiles.start(member, 0, &[place]));
                    prop_assert_eq!(starts[0], starts[1], "member {} at {}", member, place);
                }
            }
        }
    }

    #[test]
    fn most_chains_have_one_expression() {
        let even = |factor| Member {
            asks: vec![(0, factor, 0)],
            over: 1,
            within: None,
            size: 4,
            extent: 22,
        };
        let tiles = tiles(&[even(1), even(2)], 6, 2, true);
        let placed = tiles.spans[0][0].placed.as_ref().expect("it has one");
        assert_eq!(
            (0..6).map(|place| placed.at(&[place])).collect::<Vec<_>>(),
            [0, 4, 8, 12, 16, 18]
        );
    }
}
