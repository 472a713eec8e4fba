//! Caches: the lines of a memory that they hold.

use super::super::machine::{Machine, MemoryId};

/// Ways of a set.
const WAYS: usize = 8;

/// Size of a line where the file states none.
const LINE_BYTES: u64 = 64;

/// The caches in front of a memory, innermost first.
pub(super) fn levels(machine: &Machine, memory: MemoryId) -> Vec<MemoryId> {
    let mut levels = Vec::new();
    let mut behind = memory;
    // As many steps as there are memories: caches may wrongly go in a circle.
    for _ in &machine.memories {
        let front = machine.memories.iter().position(|cache| cache.caches == Some(behind));
        let Some(front) = front else { break };
        behind = front as MemoryId;
        levels.insert(0, behind);
    }
    levels
}

/// Bytes of a line.
pub(super) fn line_bytes(machine: &Machine, cache: MemoryId) -> u64 {
    machine.memories[cache as usize].transaction_bytes.unwrap_or(LINE_BYTES)
}

/// One cache: the least recently used line of a set is evicted first.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    pub line_bytes: u64,
    sets: u64,
    /// Most recently used first in each set; 0 is nothing.
    tags: Vec<u64>,
}

impl Cache {
    pub fn new(machine: &Machine, cache: MemoryId) -> Cache {
        let line_bytes = line_bytes(machine, cache);
        let lines = machine.memories[cache as usize].capacity_bytes / line_bytes;
        let sets = (lines / WAYS as u64).max(1);
        Cache { line_bytes, sets, tags: Vec::new() }
    }

    /// Returns whether a line is here; it is from now on.
    pub fn touch(&mut self, line: u64) -> bool {
        if self.tags.is_empty() {
            self.tags = vec![0; self.sets as usize * WAYS];
        }
        let set = (line % self.sets) as usize * WAYS;
        let ways = &mut self.tags[set..set + WAYS];
        let tag = line + 1;
        let found = ways.iter().position(|&way| way == tag);
        let last = found.unwrap_or(WAYS - 1);
        ways[..=last].rotate_right(1);
        ways[0] = tag;
        found.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_leaves_first() {
        let mut cache = Cache { line_bytes: 64, sets: 2, tags: Vec::new() };
        let misses = |cache: &mut Cache, lines: &[u64]| {
            lines.iter().filter(|&&line| !cache.touch(line)).count()
        };
        let even: Vec<u64> = (0..8).map(|i| 2 * i).collect();
        assert_eq!(misses(&mut cache, &even), 8);
        assert_eq!(misses(&mut cache, &even), 0);
        // A ninth line evicts the first.
        assert_eq!(misses(&mut cache, &[16]), 1);
        assert_eq!(misses(&mut cache, &[2, 4, 6]), 0);
        assert_eq!(misses(&mut cache, &[0]), 1);
    }
}
