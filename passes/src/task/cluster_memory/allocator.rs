//! Places in the memory of a cluster.

use weft_runtime::plan::ALIGN;

/// Bytes of the memory of one cluster that are taken from a turn to another.
#[derive(Clone, Default)]
pub(super) struct Allocator {
    /// Begin, end, and the last turn in which they are used.
    taken: Vec<(u64, u64, usize)>,
}

/// A place in it, and the last turn in which others use some of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub at: u64,
    pub before: Option<usize>,
}

impl Allocator {
    /// A place for `bytes` that are free from turn `first` on, below `most`: the one whose bytes have
    /// been free for the longest, the lowest of those. Places are asked for in the order of `first`.
    pub fn find(&self, bytes: u64, first: usize, most: u64) -> Option<Found> {
        let bytes = bytes.next_multiple_of(ALIGN);
        let ends = |&(begin, end, _): &(u64, u64, usize)| [begin.checked_sub(bytes), Some(end)];
        let places = std::iter::once(0).chain(self.taken.iter().flat_map(ends).flatten());
        let places = places.filter(|at| at.checked_add(bytes).is_some_and(|end| end <= most));
        let before = |at: u64| {
            let over = self.taken.iter().filter(|own| own.0 < at + bytes && at < own.1);
            over.map(|own| own.2).max()
        };
        let found = places.map(|at| (before(at), at));
        let free = found.filter(|(before, _)| before.is_none_or(|turn| turn < first));
        free.min().map(|(before, at)| Found { at, before })
    }

    /// Takes a place that was found; says where it begins.
    pub fn take(
        &mut self,
        Found { at, .. }: Found,
        bytes: u64,
        (first, last): (usize, usize),
    ) -> u64 {
        let bytes = bytes.next_multiple_of(ALIGN);
        // Nobody comes to what others have taken since.
        self.taken.retain(|own| own.2 >= first || own.0 < at || at + bytes < own.1);
        self.taken.push((at, at + bytes, last));
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_has_been_free_for_the_longest_is_taken_first() {
        let mut allocator = Allocator::default();
        let mut take = |bytes, (first, last)| {
            let found = allocator.find(bytes, first, 192)?;
            Some((allocator.take(found, bytes, (first, last)), found.before))
        };
        assert_eq!(take(64, (0, 0)), Some((0, None)));
        assert_eq!(take(64, (1, 1)), Some((64, None)));
        assert_eq!(take(64, (2, 9)), Some((128, None)));
        // The bytes of the first one, not those of the second.
        assert_eq!(take(64, (3, 3)), Some((0, Some(0))));
        assert_eq!(take(128, (4, 4)), Some((0, Some(3))));
        assert_eq!(take(128, (4, 4)), None);
    }

    proptest! {
        /// GT-7: buffers whose live ranges overlap share no bytes, and all of them fit.
        #[test]
        fn what_lives_at_once_lies_apart(
            mut wanted in prop::collection::vec((1u64..500, 0usize..40, 0usize..12), 0..60),
            most in 0u64..2000,
        ) {
            wanted.sort_by_key(|(_, first, _)| *first);
            let mut allocator = Allocator::default();
            let mut placed: Vec<(u64, u64, usize, usize)> = Vec::new();
            for (bytes, first, more) in wanted {
                let Some(found) = allocator.find(bytes, first, most) else { continue };
                let at = allocator.take(found, bytes, (first, first + more));
                prop_assert!(at % ALIGN == 0 && at + bytes <= most);
                for &(begin, end, from, to) in &placed {
                    let apart = to < first || first + more < from;
                    prop_assert!(apart || end <= at || at + bytes <= begin);
                }
                placed.push((at, at + bytes, first, first + more));
            }
        }
    }
}
