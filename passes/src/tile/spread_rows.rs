//! Which lanes hold a row of an instruction's operand.

/// How the elements along a dimension of an operand are spread.
///
/// ```text
/// sums of 16 x 8: lane l has (l / 4, 2 (l % 4)), the one beside it, and both of row l / 4 + 8
/// along 1         slots [0, 1] and [2, 3]; lanes of a row differ in the bits 1 and 2
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpreadRows {
    /// Slots that each lane has of one row; a list for each of its rows.
    pub slots: Vec<Vec<u64>>,
    /// The bits of their numbers in which the lanes of a row differ.
    pub bits: Vec<usize>,
}

impl SpreadRows {
    /// Rows of `extent` elements along a dimension, from the place that each lane has in each slot.
    /// `None` where an element is in several lanes, or the lanes of a row are not those that differ in some
    /// bits.
    pub fn of(slots: &[&[Vec<i64>]], along: usize, extent: u64) -> Option<Self> {
        // Everything about a place but where it is along the dimension.
        let others = |places: &&[Vec<i64>]| -> Vec<Vec<i64>> {
            let other = |place: &Vec<i64>| {
                let dims = place.iter().enumerate();
                dims.filter(|(dim, _)| *dim != along).map(|(_, at)| *at).collect()
            };
            places.iter().map(other).collect()
        };
        let keys: Vec<_> = slots.iter().map(others).collect();
        let mut rows: Vec<Vec<u64>> = Vec::new();
        for (slot, key) in keys.iter().enumerate() {
            match rows.iter_mut().find(|row| keys[row[0] as usize] == *key) {
                Some(row) => row.push(slot as u64),
                None => rows.push(vec![slot as u64]),
            }
        }
        let lanes = keys.first()?.len();
        let same = |bit: &usize| {
            keys.iter().all(|key| (0..lanes).all(|lane| key.get(lane ^ bit) == key.get(lane)))
        };
        let powers = std::iter::successors(Some(1), |bit| Some(bit * 2));
        let bits: Vec<usize> = powers.take_while(|bit| *bit < lanes).filter(same).collect();
        let whole = |row: &Vec<u64>| {
            let mut all: Vec<i64> = Vec::new();
            for number in 0..1usize << bits.len() {
                let set = bits.iter().enumerate().filter(|(at, _)| number >> at & 1 == 1);
                let lane: usize = set.map(|(_, bit)| bit).sum();
                all.extend(row.iter().map(|&slot| slots[slot as usize][lane][along]));
            }
            all.sort_unstable();
            all.into_iter().eq(0..extent as i64)
        };
        rows.iter().all(whole).then_some(Self { slots: rows, bits })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places of the sums of `mma.m16n8k16` and of a wavefront's 32 x 32 x 8.
    fn places(lanes: i64, slots: i64, at: impl Fn(i64, i64) -> Vec<i64>) -> Vec<Vec<Vec<i64>>> {
        (0..slots).map(|slot| (0..lanes).map(|lane| at(lane, slot)).collect()).collect()
    }

    fn of(places: &[Vec<Vec<i64>>], along: usize, extent: u64) -> Option<SpreadRows> {
        let slots: Vec<_> = places.iter().map(Vec::as_slice).collect();
        SpreadRows::of(&slots, along, extent)
    }

    #[test]
    fn rows_are_slots_and_bits() {
        let warp = places(32, 4, |l, s| vec![l / 4 + s / 2 * 8, l % 4 * 2 + s % 2]);
        let rows = SpreadRows { slots: vec![vec![0, 1], vec![2, 3]], bits: vec![1, 2] };
        assert_eq!(of(&warp, 1, 8), Some(rows));
        let columns = SpreadRows { slots: vec![vec![0, 2], vec![1, 3]], bits: vec![4, 8, 16] };
        assert_eq!(of(&warp, 0, 16), Some(columns));
        let wave = places(64, 16, |l, s| vec![s / 4 * 8 + l / 32 * 4 + s % 4, l % 32]);
        let columns = SpreadRows { slots: vec![(0..16).collect()], bits: vec![32] };
        assert_eq!(of(&wave, 0, 32), Some(columns));
    }

    #[test]
    fn elements_in_several_lanes_are_no_rows() {
        let twice = places(32, 1, |l, _| vec![l / 8, l % 4]);
        assert_eq!(of(&twice, 1, 4), None);
        let turned = places(32, 1, |l, _| vec![l / 4, (l % 4 + l / 4) % 4]);
        assert!(of(&turned, 1, 4).is_some());
        let part = places(32, 1, |l, _| vec![l / 2, l % 2]);
        assert_eq!(of(&part, 1, 4), None);
    }
}
