//! Sets of byte ranges that grow by many small ranges, mostly side by side.

/// Pieces before the first look for neighbours among all of them.
const COMPACT_AT: usize = 4096;

/// Ranges of bytes; ordered and apart once [`Ranges::finish`] was called.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    list: Vec<(u64, u64)>,
    limit: usize,
}

impl Ranges {
    /// Adds `begin..end`.
    #[inline]
    pub fn add(&mut self, begin: u64, end: u64) {
        if let Some(last) = self.list.last_mut() {
            if begin >= last.0 && end <= last.1 {
                return;
            }
            if begin == last.1 {
                last.1 = end;
                return;
            }
        }
        self.list.push((begin, end));
        if self.list.len() > self.limit.max(COMPACT_AT) {
            self.finish();
            // Distinct pieces may be many; the set then grows with them.
            self.limit = 2 * self.list.len();
        }
    }

    /// Puts the ranges in order and joins neighbours.
    pub fn finish(&mut self) -> &[(u64, u64)] {
        self.list.sort_unstable();
        let mut kept = 0;
        for i in 0..self.list.len() {
            let (begin, end) = self.list[i];
            if kept > 0 && begin <= self.list[kept - 1].1 {
                self.list[kept - 1].1 = self.list[kept - 1].1.max(end);
            } else {
                self.list[kept] = (begin, end);
                kept += 1;
            }
        }
        self.list.truncate(kept);
        &self.list
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn clear(&mut self) {
        self.list.clear();
        self.limit = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::Ranges;

    #[test]
    fn neighbours_join() {
        let mut ranges = Ranges::default();
        for (begin, end) in [(0, 4), (4, 8), (16, 20), (2, 6), (12, 16), (30, 31)] {
            ranges.add(begin, end);
        }
        assert_eq!(ranges.finish(), [(0, 8), (12, 20), (30, 31)]);
    }

    #[test]
    fn it_grows_with_what_is_distinct() {
        let mut ranges = Ranges::default();
        for round in 0..100u64 {
            for i in 0..1000 {
                ranges.add(i * 8, i * 8 + 4 + round % 2);
            }
        }
        assert!(ranges.list.len() < 20_000);
        assert_eq!(ranges.finish().len(), 1000);
    }
}
