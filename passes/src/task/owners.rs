//! The owners of bytes: buffers that share bytes are used one after the other.
//!
//! A byte belongs to the buffer through which it was last written. A write that leaves no gap
//! takes bytes over; one with gaps takes them over where its buffer begins to be used. Whoever
//! goes on with a buffer of which another has taken bytes would find those; what is left between
//! rows since before, a read of the rows does not see.
//!
//! ```text
//! write %b, write %c (at the same place), read %b             refused
//! write %b, write %c, write rows of %b, read %b               refused: the other rows are %c's
//! write %b, write %c, write all of %b, read %b                as if there were two of %b
//! ```

use std::collections::{BTreeMap, HashMap};

use super::conflicts::{Access, span};

/// Bytes of one space that belong together.
#[derive(Clone, Copy, Debug)]
struct OwnedBytes {
    end: u64,
    /// The buffer.
    owner: usize,
    /// Which access took them, counted from 0, and of which range it was.
    since: u64,
    by: u32,
}

/// The owners of all bytes so far.
#[derive(Debug, Default)]
pub(super) struct Owners {
    spaces: Vec<BTreeMap<u64, OwnedBytes>>,
    /// The first access of each buffer.
    first: HashMap<usize, u64>,
    accesses: u64,
}

impl Owners {
    /// Makes `spaces` spaces without owners.
    pub fn new(spaces: usize) -> Self {
        Self { spaces: vec![BTreeMap::new(); spaces], ..Self::default() }
    }

    /// An access of `range`: the range that took bytes from its buffer, where there is one.
    pub fn touch(&mut self, range: u32, access: &Access<'_>) -> Option<u32> {
        let (begin, end) = span(access);
        let now = self.accesses;
        self.accesses += 1;
        let first = *self.first.entry(access.storage).or_insert(now);
        if begin >= end {
            return None;
        }
        let space = &mut self.spaces[access.space];
        cut(space, begin);
        cut(space, end);
        let (write, dense) = (access.region.write, access.region.dense);
        let mut pieces = space.range(begin..end);
        // Between the rows of a box nobody may have written, since another buffer had the bytes.
        let all_read = !write && (dense || first == now);
        let lost =
            |piece: &OwnedBytes| piece.owner != access.storage && (all_read || piece.since > first);
        let taken = pieces.find(|(_, piece)| !(write && dense) && lost(piece));
        if let Some((_, piece)) = taken {
            return Some(piece.by);
        }
        if write {
            let inside: Vec<u64> = space.range(begin..end).map(|(&begin, _)| begin).collect();
            inside.iter().for_each(|begin| {
                space.remove(begin);
            });
            space.insert(begin, OwnedBytes { end, owner: access.storage, since: now, by: range });
        }
        None
    }
}

/// Splits the bytes that cross `place`, if some do.
fn cut(space: &mut BTreeMap<u64, OwnedBytes>, place: u64) {
    let Some((_, piece)) = space.range_mut(..place).next_back() else { return };
    if piece.end > place {
        let upper = *piece;
        piece.end = place;
        space.insert(place, upper);
    }
}
