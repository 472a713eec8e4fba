//! The times at which the contents of memories are ready.

use super::super::area::Area;
use super::Tick;

/// A time per granule of a memory.
#[derive(Clone, Debug)]
pub(super) struct Scoreboard {
    shift: u32,
    ready: Vec<Tick>,
}

impl Scoreboard {
    /// Granules of `bytes` bytes, a power of two.
    pub fn new(bytes: u64) -> Scoreboard {
        Scoreboard { shift: bytes.trailing_zeros(), ready: Vec::new() }
    }

    /// Returns the time at which all of an area is ready.
    #[inline]
    pub fn ready(&self, area: &Area, base: u64) -> Tick {
        let mut latest = 0;
        for &start in &area.starts {
            let begin = base.wrapping_add_signed(start);
            let (first, last) = (begin >> self.shift, (begin + area.run - 1) >> self.shift);
            let end = (last as usize + 1).min(self.ready.len());
            if let Some(granules) = self.ready.get(first as usize..end) {
                latest = granules.iter().fold(latest, |latest, &tick| latest.max(tick));
            }
        }
        latest
    }

    /// Makes an area ready at this time; later writes replace it.
    #[inline]
    pub fn set(&mut self, area: &Area, base: u64, at: Tick) {
        let high = base.wrapping_add_signed(area.high).max(1);
        let granules = ((high - 1) >> self.shift) as usize + 1;
        if self.ready.len() < granules {
            self.ready.resize(granules, 0);
        }
        for &start in &area.starts {
            let begin = base.wrapping_add_signed(start);
            let (first, last) = (begin >> self.shift, (begin + area.run - 1) >> self.shift);
            for tick in &mut self.ready[first as usize..=last as usize] {
                *tick = (*tick).max(at);
            }
        }
    }
}
