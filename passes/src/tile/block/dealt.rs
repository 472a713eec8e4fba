//! How the groups of a block deal out the tile of an input that goes through their registers.
//!
//! ```text
//! tile of 64 x 128, 4 groups of 64 lanes, runs of 8      pieces of 4 x 16 lanes: 4 rows, 128 columns
//! 16 x 1 pieces, in 4 x 1 rounds                         group g brings pieces g, g + 4, g + 8, g + 12
//! ```
//!
//! A lane holds `rows` runs, one below the other. Where the tile lies the other way round than the
//! tensor, these are what it stores side by side: a transpose that costs no access.

use weft_dialects::ir::ty;

use super::{Block, K, power_of_two_in};
use crate::nest::{Nest, row_major};

/// A tile of an input, dealt out to lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dealt {
    /// The side of the tile along which the tensor's elements lie side by side: m or n, or k.
    pub along: usize,
    /// The other side.
    pub across: usize,
    /// Elements of a lane along the first, one run.
    pub run: u64,
    /// Runs of a lane, one below the other.
    pub rows: u64,
    /// True if the tile lies the other way round than the tensor.
    turned: bool,
    /// Lanes of a group across and along.
    pub lanes: [u64; 2],
    /// Columns of pieces, each of one group.
    pub columns: u64,
    /// Groups.
    groups: u64,
    /// Rounds in which the groups bring all pieces, across and along.
    pub rounds: [u64; 2],
}

impl Dealt {
    /// How an input's tile is dealt out that is to lie with `inner` fastest; `None` where groups
    /// would not have as much each. Of the ways to do that the one by the widest accesses, and
    /// where a tile is turned by accesses that are as wide on both sides.
    pub fn of(block: &Block<'_>, nest: &Nest<'_>, side: usize, inner: usize) -> Option<Self> {
        let access = &nest.inputs[block.inputs[side]];
        let (widest, along) = block.run(nest, access, [side, K]);
        let across = if along == K { side } else { K };
        let turned = block.axes[along] != inner;
        let most = block.widest(ty::byte_size(access.elem())?);
        let rows = if turned { power_of_two_in(most.min(widest), block.tile[across]) } else { 1 };
        let halves = |most: u64| std::iter::successors(Some(most), |n| (*n > 1).then_some(n / 2));
        let mut squares: Vec<[u64; 2]> = halves(rows)
            .flat_map(|rows| halves(widest).map(move |run| [rows, run]))
            .filter(|[rows, run]| turned || *run == widest && *rows == 1)
            .collect();
        squares.sort_by_key(|&[rows, run]| std::cmp::Reverse((rows * run, rows.min(run), rows)));
        let bytes = ty::byte_size(access.elem())?;
        squares.into_iter().find_map(|own| {
            let most = power_of_two_in(block.lanes, block.tile[along] / own[1]);
            // Lanes of a turned tile lie along what they store as soon as they read whole transactions.
            let least = match turned {
                true => most.min((block.transaction_bytes / (own[1] * bytes)).max(1)),
                false => most,
            };
            let mut wider = std::iter::successors(Some(least), |n| (*n < most).then_some(n * 2));
            wider.find_map(|columns| Self::by(block, [across, along], turned, (own, columns)))
        })
    }

    /// The same by squares of a lane that are so large, across and along, and so many lanes along.
    fn by(
        block: &Block<'_>,
        [across, along]: [usize; 2],
        turned: bool,
        ([rows, run], columns): ([u64; 2], u64),
    ) -> Option<Self> {
        let lanes = [block.lanes / columns, columns];
        let each = [lanes[0] * rows, lanes[1] * run];
        let sides = [block.tile[across], block.tile[along]];
        let groups: u64 = block.groups().iter().product();
        let pieces = [0, 1].map(|side| sides[side] / each[side]);
        let whole = (0..2).all(|side| sides[side].is_multiple_of(each[side]));
        // Rounds are as far apart for every group: whole rows of pieces, or a part of one.
        let [all, columns] = [pieces[0] * pieces[1], pieces[1]];
        let fair = all > 0 && all.is_multiple_of(groups);
        let rounds = match (groups.is_multiple_of(columns.max(1)), columns.is_multiple_of(groups)) {
            (true, _) => [all / groups, 1],
            (_, true) => [pieces[0], columns / groups],
            _ => return None,
        };
        let own = Self { along, across, run, rows, turned, lanes, columns, groups, rounds };
        (whole && fair).then_some(own)
    }

    /// The register memref of what a group holds: rounds, runs of a lane, elements of a run, lanes.
    pub fn shape(&self) -> Vec<u64> {
        let [across, along] = self.rounds;
        vec![across, along, self.rows, self.run, self.lanes.iter().product()]
    }

    /// The sides of what a group holds: rounds, lanes across, runs of a lane, lanes along, elements
    /// of a run.
    pub fn sizes(&self) -> Vec<u64> {
        let [across, along] = self.rounds;
        vec![across, along, self.lanes[0], self.rows, self.lanes[1], self.run]
    }

    /// The steps of these sides in the registers.
    pub fn in_registers(&self) -> Vec<i64> {
        let steps = row_major(&self.shape());
        vec![steps[0], steps[1], self.lanes[1] as i64, steps[2], 1, steps[3]]
    }

    /// For each of these sides whether it runs across (0) or along (1), and the points between
    /// neighbours.
    pub fn steps(&self) -> [(usize, u64); 6] {
        let [down, right] = self.round_steps();
        [(0, down), (1, right), (0, self.rows), (0, 1), (1, self.run), (1, 1)]
    }

    /// Rows of the tile between rounds across, and columns between rounds along.
    fn round_steps(&self) -> [u64; 2] {
        let [rows, columns] = self.apart();
        [rows * (self.groups / self.columns).max(1), columns * self.groups]
    }

    /// Rows and columns of the tile between pieces, across and along.
    pub fn apart(&self) -> [u64; 2] {
        [self.lanes[0] * self.rows, self.lanes[1] * self.run]
    }

    /// Elements that a lane stores at once.
    pub fn wide(&self) -> u64 {
        if self.turned { self.rows } else { self.run }
    }

    /// The first element, across and along, that each lane of a group stores: one list for each
    /// store of a round.
    pub fn stored(&self, round: u64, group: u64) -> Vec<Vec<[u64; 2]>> {
        let [_, along] = self.rounds;
        let round = [round / along, round % along];
        let piece = [group / self.columns, group % self.columns];
        let begin = [0, 1]
            .map(|side| piece[side] * self.apart()[side] + round[side] * self.round_steps()[side]);
        let places = |element: u64| {
            let place = move |lane: u64| {
                let at = [lane / self.lanes[1] * self.rows, lane % self.lanes[1] * self.run];
                [begin[0] + at[0], begin[1] + at[1] + element]
            };
            (0..self.lanes.iter().product()).map(place).collect()
        };
        (0..if self.turned { self.run } else { 1 }).map(places).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Pieces of one row of lanes after the other, as `of` cuts them.
    fn dealt(lanes: [u64; 2], rows: u64, run: u64, pieces: [u64; 2], groups: u64) -> Dealt {
        let columns = pieces[1];
        let rounds = match groups.is_multiple_of(columns) {
            true => [pieces[0] * pieces[1] / groups, 1],
            false => [pieces[0], columns / groups],
        };
        let turned = rows > 1;
        Dealt { along: 0, across: 1, run, rows, turned, lanes, columns, groups, rounds }
    }

    /// Whatever the lanes, runs and groups are, each element is stored once.
    #[test]
    fn all_groups_together_store_each_element_once() {
        let cases = [
            dealt([4, 8], 1, 8, [8, 1], 4),
            dealt([2, 16], 1, 4, [4, 2], 8),
            dealt([2, 16], 4, 4, [4, 4], 2),
            dealt([8, 8], 8, 8, [2, 2], 4),
            dealt([1, 32], 1, 1, [6, 3], 3),
            dealt([32, 1], 2, 2, [1, 6], 2),
        ];
        for own in cases {
            let mut stored = BTreeMap::new();
            for round in 0..own.rounds.iter().product() {
                for places in (0..own.groups).flat_map(|group| own.stored(round, group)) {
                    for [across, along] in places {
                        for n in 0..own.wide() {
                            let at =
                                if own.turned { [across + n, along] } else { [across, along + n] };
                            *stored.entry(at).or_insert(0) += 1;
                        }
                    }
                }
            }
            let [rows, columns] = own.apart();
            let pieces = own.rounds.iter().product::<u64>() * own.groups;
            let [rows, columns] = [rows * (pieces / own.columns), columns * own.columns];
            let all = (0..rows).flat_map(|row| (0..columns).map(move |column| [row, column]));
            assert!(all.eq(stored.keys().copied()), "{own:?}");
            assert!(stored.values().all(|&times| times == 1), "{own:?}");
        }
    }

    /// The strides of a transfer name the places that are counted.
    #[test]
    fn the_sides_of_a_transfer_are_the_places_that_are_counted() {
        let own = dealt([2, 16], 4, 4, [4, 4], 2);
        let along =
            |side: usize| own.steps().map(|(own, step)| if own == side { step as i64 } else { 0 });
        let (across, along) = (along(0), along(1));
        let sizes = own.sizes();
        let mut found = Vec::new();
        for number in 0..sizes.iter().product::<u64>() {
            let (mut rest, mut at) = (number, [0, 0]);
            for side in (0..sizes.len()).rev() {
                let place = (rest % sizes[side]) as i64;
                rest /= sizes[side];
                at = [at[0] + place * across[side], at[1] + place * along[side]];
            }
            found.push(at.map(|place| place as u64));
        }
        found.sort_unstable();
        let mut counted: Vec<_> = (0..own.rounds.iter().product())
            .flat_map(|round| own.stored(round, 0))
            .flatten()
            .flat_map(|[across, along]| (0..own.wide()).map(move |n| [across + n, along]))
            .collect();
        counted.sort_unstable();
        assert_eq!(found, counted);
    }
}
