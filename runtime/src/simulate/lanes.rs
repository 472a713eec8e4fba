//! Accesses of a wide group's lanes, since a barrier, to memory that other lanes of it see.

use super::area::Area;
use super::regions::Bits;

/// Per memory of the machine, bytes that were read and written.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    read: Vec<Bits>,
    written: Vec<Bits>,
}

impl Lanes {
    pub fn new(memories: usize) -> Lanes {
        Lanes { read: vec![Bits::default(); memories], written: vec![Bits::default(); memories] }
    }

    /// All accesses are visible to all lanes.
    pub fn barrier(&mut self) {
        self.read.iter_mut().chain(&mut self.written).for_each(Bits::clear_all);
    }

    /// Makes the record for a memory's first bytes.
    pub fn grow(&mut self, region: u32, bytes: u64) {
        self.read[region as usize].grow(bytes);
        self.written[region as usize].grow(bytes);
    }

    /// The first bytes of an operand that were written, or read.
    pub fn find(&self, region: u32, area: &Area, base: u64, written: bool) -> Option<(u64, u64)> {
        let bits = if written { &self.written } else { &self.read };
        let bits = &bits[region as usize];
        area.starts.iter().find_map(|&start| {
            let begin = base.wrapping_add_signed(start);
            let end = begin + area.run;
            let first = bits.first_set(begin, end)?;
            Some((first, bits.first_clear(first, end).unwrap_or(end)))
        })
    }

    /// An operand is written, or read.
    pub fn mark(&mut self, region: u32, area: &Area, base: u64, written: bool) {
        let bits = if written { &mut self.written } else { &mut self.read };
        for &start in &area.starts {
            let begin = base.wrapping_add_signed(start);
            bits[region as usize].set(begin, begin + area.run);
        }
    }
}
