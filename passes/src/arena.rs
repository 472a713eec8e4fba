//! Placement of buffers in an arena; those whose live ranges do not overlap may share bytes.
//!
//! The largest buffer is placed first, each in the smallest gap that its
//! neighbours in time leave (best fit); ties go to the lower offset. A life is
//! the run that first touches the buffer to the run that last does, in the order
//! of the text. On more than one unit it ends [`LAG`] runs later, so that a run
//! does not have to wait for the readers of what was just freed.

use std::collections::BTreeMap;

use weft_runtime::plan::ALIGN;

/// Runs that freed memory rests where there is more than one unit.
pub const LAG: u32 = 1;

/// With more neighbours in time than these a buffer goes on top of them all.
const SEARCHED: usize = 2048;

/// A buffer before it has a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    /// The first run that touches it.
    pub first: u32,
    /// The last one.
    pub last: u32,
    /// Its size.
    pub bytes: u64,
}

/// Offsets of all buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arena {
    /// One per life, a multiple of 64.
    pub offsets: Vec<u64>,
    /// The size of the arena.
    pub bytes: u64,
}

/// Gives every buffer a place.
///
/// ```
/// # use weft_passes::arena::{place, Life};
/// let life = |first, last| Life { first, last, bytes: 100 };
/// let arena = place(&[life(0, 1), life(1, 2), life(2, 3)], 0);
/// assert_eq!(arena.offsets, [0, 128, 0]);
/// assert_eq!(arena.bytes, 256);
/// ```
pub fn place(lives: &[Life], lag: u32) -> Arena {
    let mut order: Vec<usize> = (0..lives.len()).filter(|&life| lives[life].bytes > 0).collect();
    order.sort_by_key(|&life| (std::cmp::Reverse(lives[life].bytes), lives[life].first));
    let runs = lives.iter().map(|life| life.last + lag + 1).max().unwrap_or(0);
    let mut placed = Placed::new(runs);
    let mut arena = Arena { offsets: vec![0; lives.len()], bytes: 0 };
    for life in order {
        let Life { first, last, bytes } = lives[life];
        let (last, bytes) = (last + lag, bytes.next_multiple_of(ALIGN));
        let mut taken = placed.meeting(first, last);
        let offset = best_gap(&mut taken, bytes);
        arena.offsets[life] = offset;
        arena.bytes = arena.bytes.max(offset + bytes);
        placed.add(first, last, (offset, offset + bytes));
    }
    arena
}

/// Returns the smallest gap of `bytes` between the `taken` ranges, or the end of them.
fn best_gap(taken: &mut [(u64, u64)], bytes: u64) -> u64 {
    let top = taken.iter().map(|&(_, end)| end).max().unwrap_or(0);
    if taken.len() > SEARCHED {
        return top;
    }
    taken.sort_unstable();
    let (mut free_from, mut best) = (0, (u64::MAX, top));
    for &(begin, end) in taken.iter() {
        if begin >= free_from + bytes {
            best = best.min((begin - free_from, free_from));
        }
        free_from = free_from.max(end);
    }
    best.1
}

/// Two lives that meet and whose places overlap, if there are such.
///
/// ```
/// # use weft_passes::arena::{clash, Arena, Life};
/// let lives = [Life { first: 0, last: 1, bytes: 8 }, Life { first: 1, last: 2, bytes: 8 }];
/// assert_eq!(clash(&lives, &Arena { offsets: vec![0, 0], bytes: 64 }), Some((0, 1)));
/// assert_eq!(clash(&lives, &Arena { offsets: vec![0, 64], bytes: 128 }), None);
/// ```
pub fn clash(lives: &[Life], arena: &Arena) -> Option<(usize, usize)> {
    // Sweeps over time; what lives now is kept by offset, where only neighbours
    // can overlap as long as nothing did so far.
    let mut events: Vec<(u32, bool, usize)> = Vec::new();
    for (life, &Life { first, last, bytes }) in lives.iter().enumerate() {
        if bytes > 0 {
            events.push((first, true, life));
            events.push((last + 1, false, life));
        }
    }
    // At the same run what ended goes before what begins.
    events.sort_unstable();
    let mut alive: BTreeMap<u64, usize> = BTreeMap::new();
    for (_, begins, life) in events {
        let offset = arena.offsets[life];
        if !begins {
            alive.remove(&offset);
            continue;
        }
        let below = alive.range(..=offset).next_back();
        let above = alive.range(offset..).next();
        if let Some((&begin, &other)) = below
            && begin + lives[other].bytes > offset
        {
            return Some((other.min(life), other.max(life)));
        }
        if let Some((&begin, &other)) = above
            && offset + lives[life].bytes > begin
        {
            return Some((other.min(life), other.max(life)));
        }
        alive.insert(offset, life);
    }
    None
}

/// Pieces of the arena by the time they are taken: finds those that meet a span
/// without looking at the others.
struct Placed {
    /// A binary tree over runs; a node holds the spans that cover its runs but
    /// not those of the node above.
    covering: Vec<Vec<(u64, u64)>>,
    leaves: usize,
    /// The placed buffers by the run they begin at.
    beginning: BTreeMap<u32, Vec<(u64, u64)>>,
}

impl Placed {
    fn new(runs: u32) -> Self {
        let leaves = (runs as usize).next_power_of_two();
        Self { covering: vec![Vec::new(); 2 * leaves], leaves, beginning: BTreeMap::new() }
    }

    fn add(&mut self, first: u32, last: u32, piece: (u64, u64)) {
        let (mut low, mut high) = (first as usize + self.leaves, last as usize + 1 + self.leaves);
        while low < high {
            if low % 2 == 1 {
                self.covering[low].push(piece);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                self.covering[high].push(piece);
            }
            (low, high) = (low / 2, high / 2);
        }
        self.beginning.entry(first).or_default().push(piece);
    }

    /// Returns every buffer whose span shares a run with `first..=last`, once.
    fn meeting(&self, first: u32, last: u32) -> Vec<(u64, u64)> {
        let mut found = Vec::new();
        let mut node = first as usize + self.leaves;
        while node > 0 {
            found.extend_from_slice(&self.covering[node]);
            node /= 2;
        }
        if first < last {
            found.extend(self.beginning.range(first + 1..=last).flat_map(|(_, pieces)| pieces));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lives() -> impl Strategy<Value = Vec<Life>> {
        let life = (0u32..40, 0u32..20, 0u64..1000);
        let life = life.prop_map(|(first, more, bytes)| Life { first, last: first + more, bytes });
        prop::collection::vec(life, 0..60)
    }

    fn overlap(lives: &[Life], arena: &Arena, a: usize, b: usize) -> bool {
        let (x, y) = (lives[a], lives[b]);
        let (at, bt) = (arena.offsets[a], arena.offsets[b]);
        x.first <= y.last && y.first <= x.last && at < bt + y.bytes && bt < at + x.bytes
    }

    /// Checks that no two buffers that live at once overlap, pair by pair.
    fn first_clash(lives: &[Life], arena: &Arena) -> Option<(usize, usize)> {
        let pairs = (0..lives.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        pairs.into_iter().find(|&(a, b)| overlap(lives, arena, a, b))
    }

    proptest! {
        #[test]
        fn what_lives_at_once_lies_apart(lives in lives(), lag in 0u32..3) {
            let arena = place(&lives, lag);
            prop_assert_eq!(first_clash(&lives, &arena), None);
            prop_assert_eq!(clash(&lives, &arena), None);
            for (life, &offset) in lives.iter().zip(&arena.offsets) {
                prop_assert_eq!(offset % ALIGN, 0);
                prop_assert!(offset + life.bytes <= arena.bytes);
            }
        }

        #[test]
        fn the_checker_finds_every_clash(
            lives in lives(),
            offsets in prop::collection::vec(0u64..3000, 60),
        ) {
            let arena = Arena { offsets, bytes: 4000 };
            let solid: Vec<Life> = lives.into_iter().filter(|life| life.bytes > 0).collect();
            match clash(&solid, &arena) {
                Some((a, b)) => prop_assert!(overlap(&solid, &arena, a, b)),
                None => prop_assert_eq!(first_clash(&solid, &arena), None),
            }
        }
    }

    /// A chain keeps two buffers, and three where what was freed rests.
    #[test]
    fn a_chain_takes_turns() {
        let lives: Vec<Life> =
            (0..9).map(|run| Life { first: run, last: run + 1, bytes: 64 }).collect();
        assert_eq!(place(&lives, 0).bytes, 128);
        assert_eq!(place(&lives, LAG).bytes, 192);
    }
}
