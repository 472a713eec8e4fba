//! The demand of one operand on its memory.

use super::super::area::Area;
use super::super::machine::Memory;

/// Remembered demands per operand, at most; beyond that they are counted each time.
const MEMO_LIMIT: u64 = 1 << 14;

/// Bytes that pass, and cycles lost to banks, in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Demand {
    pub bytes: u64,
    pub conflicts: u64,
}

/// The demand of one operand, by where it begins.
#[derive(Debug, Default)]
pub(super) struct Demands {
    /// The demand is periodic in the operand's offset, with this period.
    period: u64,
    known: Vec<Option<Demand>>,
}

impl Demands {
    pub fn new(memory: &Memory) -> Demands {
        let width = bank_width(memory).map_or(1, |(banks, bytes)| banks * bytes);
        let transaction = memory.transaction_bytes.unwrap_or(1);
        let period = transaction / gcd(transaction, width) * width;
        let known = if period <= MEMO_LIMIT { vec![None; period as usize] } else { Vec::new() };
        Demands { period, known }
    }

    /// The demand of an area that begins at byte `base` of a memory.
    #[inline]
    pub fn at(&mut self, memory: &Memory, area: &Area, base: u64) -> Demand {
        let place = (base % self.period) as usize;
        match self.known.get_mut(place) {
            Some(Some(known)) => *known,
            // A period further changes nothing; it keeps addresses above zero.
            Some(unknown) => {
                let lift = area.low.unsigned_abs().next_multiple_of(self.period);
                *unknown.insert(Demand::of(memory, area, place as u64 + lift))
            }
            None => Demand::of(memory, area, base),
        }
    }
}

impl Demand {
    /// Counts whole transactions, and conflicts by enumeration.
    pub fn of(memory: &Memory, area: &Area, base: u64) -> Demand {
        let conflicts =
            bank_width(memory).map_or(0, |(banks, bytes)| conflicts(area, base, banks, bytes));
        let bytes = match memory.transaction_bytes {
            Some(unit) => transactions(area, base, unit) * unit,
            None => area.bytes(),
        };
        Demand { bytes, conflicts }
    }
}

fn bank_width(memory: &Memory) -> Option<(u64, u64)> {
    memory.banks.zip(memory.bank_bytes)
}

/// Pieces of `unit` bytes that the area touches, each counted once.
pub(super) fn transactions(area: &Area, base: u64, unit: u64) -> u64 {
    let mut touched: Vec<(u64, u64)> = area
        .starts
        .iter()
        .map(|&start| {
            let begin = base.wrapping_add_signed(start);
            (begin / unit, (begin + area.run - 1) / unit)
        })
        .collect();
    if !touched.is_sorted() {
        touched.sort_unstable();
    }
    let mut next = 0;
    touched.into_iter().fold(0, |count, (first, last)| {
        let first = first.max(next);
        next = next.max(last + 1);
        count + (last + 1).saturating_sub(first)
    })
}

/// Cycles beyond the first of every group of elements that would fill the banks once.
fn conflicts(area: &Area, base: u64, banks: u64, bank_bytes: u64) -> u64 {
    let group = (banks * bank_bytes / area.elem).max(1) as usize;
    let per_piece = area.run / area.elem;
    let elements = area.starts.iter().flat_map(|&start| {
        let begin = base.wrapping_add_signed(start);
        (0..per_piece).map(move |i| begin + i * area.elem)
    });
    let elements: Vec<u64> = elements.collect();
    let mut words = Vec::new();
    let mut depth = vec![0u64; banks as usize];
    let mut lost = 0;
    for group in elements.chunks(group) {
        words.clear();
        for &at in group {
            words.extend(at / bank_bytes..=(at + area.elem - 1) / bank_bytes);
        }
        words.sort_unstable();
        words.dedup();
        depth.fill(0);
        words.iter().for_each(|word| depth[(word % banks) as usize] += 1);
        lost += depth.iter().max().map_or(0, |most| most.saturating_sub(1));
    }
    lost
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::super::super::machine::Scope;
    use super::*;

    fn memory(banks: Option<(u64, u64)>, transaction_bytes: Option<u64>) -> Memory {
        Memory {
            name: "m".into(),
            scope: Scope::Core,
            capacity_bytes: 1 << 20,
            bytes_per_cycle: None,
            transaction_bytes,
            banks: banks.map(|b| b.0),
            bank_bytes: banks.map(|b| b.1),
            register_bytes: None,
            lanes: None,
            caches: None,
            within: None,
        }
    }

    fn lost(dims: &[(u64, i64)], elem: u64, base: u64) -> u64 {
        Demand::of(&memory(Some((16, 4)), None), &Area::new(dims, elem), base).conflicts
    }

    #[test]
    fn banks_by_hand() {
        // 16 floats side by side: every bank once.
        assert_eq!(lost(&[(16, 1)], 4, 0), 0);
        // From byte 8: words 2 to 17, banks 2..15, 0, 1.
        assert_eq!(lost(&[(16, 1)], 4, 8), 0);
        // A column of a matrix with rows of 16 floats: all in one bank, 16 cycles for one.
        assert_eq!(lost(&[(16, 16)], 4, 0), 15);
        // Rows of 17 floats: one bank further each row.
        assert_eq!(lost(&[(16, 17)], 4, 0), 0);
        // 4 rows of 4 in rows of 32: the same four banks four times.
        assert_eq!(lost(&[(4, 32), (4, 1)], 4, 0), 3);
        // Rows of 20: banks 0-3, 4-7, 8-11, 12-15.
        assert_eq!(lost(&[(4, 20), (4, 1)], 4, 0), 0);
        // One word for all is no conflict.
        assert_eq!(lost(&[(16, 0)], 4, 4), 0);
        // Halves: two share a word; a group is 32 of them.
        assert_eq!(lost(&[(32, 1)], 2, 0), 0);
        // Every other half: 32 words, each bank twice.
        assert_eq!(lost(&[(32, 2)], 2, 0), 1);
        // Doubles take two banks each; 8 fill all.
        assert_eq!(lost(&[(8, 1)], 8, 0), 0);
        assert_eq!(lost(&[(8, 2)], 8, 0), 1);
        // Two groups of 16, each in 8 banks.
        assert_eq!(lost(&[(32, 2)], 4, 0), 2);
    }

    #[test]
    fn transactions_by_hand() {
        let bytes = |dims: &[(u64, i64)], base| {
            Demand::of(&memory(None, Some(64)), &Area::new(dims, 4), base).bytes
        };
        assert_eq!(bytes(&[(16, 1)], 0), 64);
        assert_eq!(bytes(&[(16, 1)], 4), 128);
        // 4 rows of 16 bytes in rows of 32: two share a transaction.
        assert_eq!(bytes(&[(4, 8), (4, 1)], 0), 128);
        // A transpose touches its 4 lines again and again, and pays for them once.
        assert_eq!(bytes(&[(16, 1), (4, 16)], 0), 256);
    }

    #[test]
    fn what_is_remembered_is_what_is_counted() {
        let memory = memory(Some((8, 4)), Some(48));
        let area = Area::new(&[(3, 13), (5, 2)], 4);
        let mut demands = Demands::new(&memory);
        for base in (0..4096).step_by(4) {
            let counted = Demand::of(&memory, &area, base);
            assert_eq!(demands.at(&memory, &area, base), counted);
            assert_eq!(demands.at(&memory, &area, base), counted);
        }
    }
}
