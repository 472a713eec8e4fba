//! Which ranges a new range must wait for: those that touched the same bytes,
//! where one of the two writes.
//!
//! All memory that is written lies in *spaces*: the arena, and each output. A
//! space is cut into segments that remember who wrote them last and who read them
//! since. A write that leaves no gap makes its segment forget all accesses before:
//! who comes later waits for the writer, which waited for them.
//!
//! The arena is one space, so what follows from reused memory needs no rule of
//! its own.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use super::touch::Region;

/// An access of one range to a region of memory.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// Which space.
    pub space: usize,
    /// The first byte of the buffer in the space.
    pub base: u64,
    /// Which buffer.
    pub storage: usize,
    /// The part of it that is touched.
    pub region: &'a Region,
}

/// The accesses so far, by bytes.
#[derive(Debug, Default)]
pub struct Conflicts {
    spaces: Vec<BTreeMap<u64, Segment>>,
    records: Vec<Record>,
    /// For each record the last look at it: columns of a tensor are records of many segments.
    seen: Vec<u32>,
    looks: u32,
    /// For each space the last looks of readers, by no byte of which a range has written since: ranges of an operator often read
    /// all of a tensor, one after the other.
    read: Vec<VecDeque<Read>>,
}

/// Looks of readers that a space remembers.
const READS: usize = 8;

/// What a reader waits for.
#[derive(Debug)]
struct Read {
    bytes: (u64, u64),
    storage: usize,
    shape: Rc<[u64]>,
    dims: Rc<[(u64, u64)]>,
    /// Ranges, in order.
    waits: Rc<[u32]>,
}

impl Read {
    fn is_of(&self, access: &Access<'_>) -> bool {
        self.bytes == span(access)
            && self.storage == access.storage
            && self.shape == access.region.shape
            && self.dims == access.region.dims
    }
}

#[derive(Clone, Debug)]
struct Segment {
    end: u64,
    /// Records of the last writers.
    writes: Records,
    /// Those of the readers since.
    reads: Records,
}

/// Records of a segment. Most are those of the segment before, too: a look at many segments goes
/// through all of the first one and then through those that begin.
#[derive(Clone, Debug, Default)]
struct Records {
    all: Vec<u32>,
    /// Those that the segment before may not have.
    begin: Vec<u32>,
}

impl Segment {
    fn until(end: u64) -> Self {
        Self { end, writes: Records::default(), reads: Records::default() }
    }
}

impl Records {
    fn push(&mut self, number: u32, begins: bool) {
        self.all.push(number);
        if begins {
            self.begin.push(number);
        }
    }

    /// What a look goes through that has come from the segment before, or begins at this one.
    fn seen(&self, first: bool) -> &[u32] {
        if first { &self.all } else { &self.begin }
    }

    /// The upper part of a segment that is split here has nothing but what the lower one has.
    fn upper(&self) -> Self {
        Self { all: self.all.clone(), begin: Vec::new() }
    }

    /// The segment before is another one now.
    fn cut_off(&mut self) {
        self.begin.clone_from(&self.all);
    }
}

#[derive(Debug)]
struct Record {
    range: u32,
    storage: usize,
    shape: Rc<[u64]>,
    dims: Rc<[(u64, u64)]>,
}

impl Record {
    /// Two boxes of one buffer under one shape are compared dimension by
    /// dimension; elsewhere the bytes in common decide.
    fn meets(&self, access: &Access<'_>) -> bool {
        if self.storage != access.storage || self.shape != access.region.shape {
            return true;
        }
        let pairs = self.dims.iter().zip(access.region.dims.iter());
        pairs.into_iter().all(|(own, other)| own.0 <= other.1 && other.0 <= own.1)
    }
}

impl Conflicts {
    /// Makes the record for `spaces` spaces without accesses.
    pub fn new(spaces: usize) -> Self {
        let read = std::iter::repeat_with(VecDeque::new).take(spaces).collect();
        Self { spaces: vec![BTreeMap::new(); spaces], read, ..Self::default() }
    }

    /// The ranges that a range with these accesses must wait for, in order.
    pub fn of(&mut self, accesses: &[Access<'_>]) -> Vec<u32> {
        let mut found: Vec<u32> = Vec::new();
        let mut lists = 0;
        for access in accesses {
            let waits = match access.region.write {
                true => self.look(access).into(),
                false => self.look_of_reader(access),
            };
            lists += usize::from(!waits.is_empty());
            found.extend_from_slice(&waits);
        }
        if lists > 1 {
            found.sort_unstable();
            found.dedup();
        }
        found
    }

    /// What a reader waits for, as it was found for the last one of the same bytes.
    fn look_of_reader(&mut self, access: &Access<'_>) -> Rc<[u32]> {
        let known = self.read[access.space].iter().find(|own| own.is_of(access));
        if let Some(known) = known {
            return known.waits.clone();
        }
        let waits: Rc<[u32]> = self.look(access).into();
        let read = &mut self.read[access.space];
        read.truncate(READS - 1);
        read.push_front(Read {
            bytes: span(access),
            storage: access.storage,
            shape: access.region.shape.clone(),
            dims: access.region.dims.clone(),
            waits: waits.clone(),
        });
        waits
    }

    /// The ranges that one access waits for, in order.
    fn look(&mut self, access: &Access<'_>) -> Vec<u32> {
        let mut found = Vec::new();
        self.seen.resize(self.records.len(), 0);
        self.looks += 1;
        let (begin, end) = span(access);
        let space = &self.spaces[access.space];
        let before = space.range(..begin).next_back().filter(|(_, segment)| segment.end > begin);
        let segments = before.into_iter().chain(space.range(begin..end));
        for (place, (_, segment)) in segments.enumerate() {
            let first = place == 0;
            let reads = if access.region.write { segment.reads.seen(first) } else { &[] };
            for &number in segment.writes.seen(first).iter().chain(reads) {
                let record = &self.records[number as usize];
                let before = std::mem::replace(&mut self.seen[number as usize], self.looks);
                if before != self.looks && record.meets(access) {
                    found.push(record.range);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Remembers the accesses of a range.
    pub fn enter(&mut self, range: u32, accesses: &[Access<'_>]) {
        for access in accesses {
            let (begin, end) = span(access);
            if begin >= end {
                continue;
            }
            if access.region.write {
                self.read[access.space].retain(|own| own.bytes.1 <= begin || end <= own.bytes.0);
            }
            let number = self.records.len() as u32;
            self.records.push(Record {
                range,
                storage: access.storage,
                shape: access.region.shape.clone(),
                dims: access.region.dims.clone(),
            });
            let space = &mut self.spaces[access.space];
            split(space, begin);
            split(space, end);
            let inside: Vec<(u64, u64)> =
                space.range(begin..end).map(|(&begin, segment)| (begin, segment.end)).collect();
            if access.region.write && access.region.dense {
                for (begin, _) in inside {
                    space.remove(&begin);
                }
                let mut written = Segment::until(end);
                written.writes.push(number, true);
                space.insert(begin, written);
                if let Some(after) = space.get_mut(&end) {
                    after.writes.cut_off();
                    after.reads.cut_off();
                }
                continue;
            }
            let mut free_from = begin;
            for &(begin, segment_end) in inside.iter().chain(&[(end, end)]) {
                if free_from < begin {
                    space.insert(free_from, Segment::until(begin));
                }
                free_from = segment_end;
            }
            for (&place, segment) in space.range_mut(begin..end) {
                match access.region.write {
                    true => segment.writes.push(number, place == begin),
                    false => segment.reads.push(number, place == begin),
                }
            }
        }
    }
}

pub(super) fn span(access: &Access<'_>) -> (u64, u64) {
    (access.base + access.region.begin, access.base + access.region.end)
}

/// Splits the segment that crosses `place`, if one does.
fn split(space: &mut BTreeMap<u64, Segment>, place: u64) {
    let Some((_, segment)) = space.range_mut(..place).next_back() else {
        return;
    };
    if segment.end > place {
        let Segment { end, writes, reads } = &*segment;
        let upper = Segment { end: *end, writes: writes.upper(), reads: reads.upper() };
        segment.end = place;
        space.insert(place, upper);
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn region(write: bool, dims: &[(u64, u64)], shape: &[u64]) -> Region {
        let flat = |pick: fn(&(u64, u64)) -> u64| {
            dims.iter().zip(shape).fold(0, |flat, (dim, size)| flat * size + pick(dim))
        };
        let (begin, end) = (flat(|dim| dim.0), flat(|dim| dim.1) + 1);
        let count: u64 = dims.iter().map(|dim| dim.1 - dim.0 + 1).product();
        Region {
            arg: 0,
            write,
            shape: shape.into(),
            begin,
            end,
            dims: dims.into(),
            dense: end - begin == count,
            elem_bytes: 1,
        }
    }

    /// Enters each region as a range of its own; says what each waits for.
    fn waits(regions: &[Region]) -> Vec<Vec<u32>> {
        let mut conflicts = Conflicts::new(1);
        let mut all = Vec::new();
        for (range, region) in regions.iter().enumerate() {
            let access = [Access { space: 0, base: 0, storage: 0, region }];
            all.push(conflicts.of(&access));
            conflicts.enter(range as u32, &access);
        }
        all
    }

    #[test]
    fn readers_wait_for_writers_and_writers_for_readers() {
        let (write, read) =
            (|low, high| region(true, &[(low, high)], &[8]), region(false, &[(2, 5)], &[8]));
        let all = waits(&[write(0, 3), write(4, 7), read.clone(), read, write(5, 7), write(0, 1)]);
        assert_eq!(all, [vec![], vec![], vec![0, 1], vec![0, 1], vec![1, 2, 3], vec![0]]);
    }

    /// Columns interleave in memory, and are distinguished by their boxes.
    #[test]
    fn columns_are_disjoint() {
        let columns = |low, high| region(true, &[(0, 3), (low, high)], &[4, 8]);
        let all = waits(&[columns(0, 3), columns(4, 7), columns(3, 4)]);
        assert_eq!(all, [vec![], vec![], vec![0, 1]]);
    }

    /// A write with gaps forgets no accesses.
    #[test]
    fn gaps_keep_what_was_before() {
        let rows = region(true, &[(0, 3), (0, 7)], &[4, 8]);
        let column = region(true, &[(0, 3), (0, 0)], &[4, 8]);
        let all = waits(&[rows.clone(), column, rows]);
        assert_eq!(all, [vec![], vec![0], vec![0, 1]]);
    }

    /// Who wrote each byte since it was last written without a gap, and who read it since.
    #[derive(Clone, Default)]
    struct Byte {
        writes: Vec<usize>,
        reads: Vec<usize>,
    }

    /// The same answer byte by byte.
    fn waits_by_bytes(regions: &[Region]) -> Vec<Vec<u32>> {
        let bytes = regions.iter().map(|region| region.end as usize).max().unwrap_or(0);
        let mut memory = vec![Byte::default(); bytes];
        let mut all = Vec::new();
        for (range, region) in regions.iter().enumerate() {
            let meets = |other: &&usize| {
                let mut dims = regions[**other].dims.iter().zip(region.dims.iter());
                dims.all(|(own, other)| own.0 <= other.1 && other.0 <= own.1)
            };
            let touched = region.begin as usize..region.end as usize;
            let mut found: Vec<u32> = Vec::new();
            for byte in &mut memory[touched] {
                let reads = if region.write { byte.reads.as_slice() } else { &[] };
                found.extend(byte.writes.iter().chain(reads).filter(meets).map(|own| *own as u32));
                match (region.write, region.dense) {
                    (true, true) => *byte = Byte { writes: vec![range], reads: Vec::new() },
                    (true, false) => byte.writes.push(range),
                    (false, _) => byte.reads.push(range),
                }
            }
            found.sort_unstable();
            found.dedup();
            all.push(found);
        }
        all
    }

    proptest! {
        #[test]
        fn segments_say_what_bytes_say(
            boxes in vec((any::<bool>(), (0u64..6, 0u64..6), (0u64..8, 0u64..8)), 1..24)
        ) {
            let order = |(a, b): (u64, u64)| (a.min(b), a.max(b));
            let regions: Vec<_> = boxes
                .into_iter()
                .map(|(write, rows, columns)| region(write, &[order(rows), order(columns)], &[6, 8]))
                .collect();
            prop_assert_eq!(waits(&regions), waits_by_bytes(&regions));
            // Several ranges with the same bytes, one after the other and apart.
            let twice = regions.iter().flat_map(|own| [own.clone(), own.clone()]);
            let again: Vec<_> = twice.chain(regions.clone()).collect();
            prop_assert_eq!(waits(&again), waits_by_bytes(&again));
        }
    }
}
