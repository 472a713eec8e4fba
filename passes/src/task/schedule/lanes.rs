//! Lanes: the time until which each virtual unit is busy, and the choice of the next one.
//!
//! Rammer (OSDI'20, section 4) and its artifact: an operator of `b` rTasks takes `min(b, units)`
//! units. They start together, at the first moment when so many are free: the lowest free ones,
//! or, so that the code's test for a unit is one comparison, the lowest that follow each other.
//!
//! ```
//! # use weft_passes::task::schedule::lanes::{Lanes, Placement};
//! let mut lanes = Lanes::new(4);
//! let a = lanes.place(3, 2, Placement::Lanes, |_| 0);
//! let b = lanes.place(2, 5, Placement::Lanes, |_| 0);
//! assert_eq!((a.start, a.units), (0, vec![0, 1, 2]));
//! assert_eq!((b.start, b.units), (2, vec![0, 1]));
//! // Waits for both, which are done at 7, and for a wait of 1.
//! assert_eq!(lanes.place(4, 3, Placement::Lanes, |_| 8).start, 8);
//! assert_eq!(lanes.length(), 11);
//! ```

use std::collections::VecDeque;

/// Which units an operator may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Any.
    Lanes,
    /// Consecutive units.
    Ranges,
}

/// Units of an operator, and when they start on it together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// In the unit of the lanes' lengths.
    pub start: u64,
    /// Ascending.
    pub units: Vec<usize>,
}

/// The times at which units become free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lanes {
    ends: Vec<u64>,
}

impl Lanes {
    /// Empty ones.
    pub fn new(units: usize) -> Self {
        Self { ends: vec![0; units] }
    }

    /// Returns the time at which the last one becomes free.
    pub fn length(&self) -> u64 {
        self.ends.iter().copied().max().unwrap_or(0)
    }

    /// Gives `count` units, at most all, work that takes each of them `duration`; none starts
    /// before what it waits for is `ready` for it.
    pub fn place(
        &mut self,
        count: usize,
        duration: u64,
        placement: Placement,
        ready: impl Fn(usize) -> u64,
    ) -> Placed {
        let count = count.clamp(1, self.ends.len());
        let free: Vec<u64> =
            self.ends.iter().enumerate().map(|(unit, &end)| end.max(ready(unit))).collect();
        let placed = match placement {
            Placement::Lanes => lowest(&free, count),
            Placement::Ranges => neighbours(&free, count),
        };
        for &unit in &placed.units {
            self.ends[unit] = placed.start + duration;
        }
        placed
    }
}

/// The first moment when `count` units are free, and the lowest of them.
fn lowest(free: &[u64], count: usize) -> Placed {
    let mut sorted = free.to_vec();
    let (_, &mut start, _) = sorted.select_nth_unstable(count - 1);
    let units = (0..free.len()).filter(|&unit| free[unit] <= start);
    Placed { start, units: units.take(count).collect() }
}

/// The first moment when `count` neighbours are free, and the lowest of those.
fn neighbours(free: &[u64], count: usize) -> Placed {
    // The latest in a window that moves up by one: a queue of falling ends.
    let mut queue: VecDeque<usize> = VecDeque::new();
    let mut best = (u64::MAX, 0);
    for (unit, &from) in free.iter().enumerate() {
        while queue.back().is_some_and(|&other| free[other] <= from) {
            queue.pop_back();
        }
        queue.push_back(unit);
        let Some(first) = (unit + 1).checked_sub(count) else { continue };
        while queue.front().is_some_and(|&other| other < first) {
            queue.pop_front();
        }
        best = best.min((queue.front().map_or(0, |&other| free[other]), first));
    }
    let (start, first) = best;
    Placed { start, units: (first..first + count).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// An operator starts when all its units are free, and not later than it could: the
        /// artifact's search for neighbours tested one lane only (nnfusion, pull request 320).
        #[test]
        fn units_are_free_and_no_earlier_ones_are(
            state in prop::collection::vec((0u64..20, 0u64..20), 1..12),
            count in 1usize..12,
            ranges in any::<bool>(),
        ) {
            let placement = if ranges { Placement::Ranges } else { Placement::Lanes };
            let mut lanes = Lanes { ends: state.iter().map(|&(end, _)| end).collect() };
            let placed = lanes.place(count, 7, placement, |unit| state[unit].1);
            let free: Vec<u64> = state.iter().map(|&(end, ready)| end.max(ready)).collect();
            let count = count.min(free.len());
            prop_assert_eq!(placed.units.len(), count);
            for (unit, &from) in free.iter().enumerate() {
                let own = placed.units.contains(&unit);
                prop_assert!(!own || from <= placed.start);
                let end = if own { placed.start + 7 } else { state[unit].0 };
                prop_assert_eq!(lanes.ends[unit], end);
            }
            let fits = |start: u64| match placement {
                Placement::Lanes => free.iter().filter(|&&from| from <= start).count() >= count,
                Placement::Ranges => free.windows(count).any(|w| w.iter().all(|&f| f <= start)),
            };
            prop_assert!(fits(placed.start));
            prop_assert!(placed.start == 0 || !fits(placed.start - 1));
            let beside = placed.units.windows(2).all(|pair| pair[1] == pair[0] + 1);
            prop_assert!(placement == Placement::Lanes || beside);
        }
    }
}
