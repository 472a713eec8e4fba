//! The memory of a functional run: bytes, and which of them hold anything.

use super::error::SimulateError;

/// Bytes that a memory of the machine, the arena, a port or the constants hold.
pub(super) struct Region<'a> {
    pub data: Data<'a>,
    /// The bytes that were written; `None` where all bytes always are.
    pub written: Option<Bits>,
}

pub(super) enum Data<'a> {
    Read(&'a [u8]),
    Write(&'a mut [u8]),
    Own(Vec<u8>),
}

impl Region<'_> {
    pub fn bytes(&self) -> &[u8] {
        match &self.data {
            Data::Read(bytes) => bytes,
            Data::Write(bytes) => bytes,
            Data::Own(bytes) => bytes,
        }
    }

    /// # Panics
    ///
    /// On what is read only; every write is checked for that first.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.data {
            Data::Read(_) => unreachable!("writes to read-only regions are refused"),
            Data::Write(bytes) => bytes,
            Data::Own(bytes) => bytes,
        }
    }

    pub fn is_read_only(&self) -> bool {
        matches!(self.data, Data::Read(_))
    }

    /// Makes a memory of the machine at least so large.
    pub fn grow(&mut self, bytes: u64, memory: &str) -> Result<(), SimulateError> {
        if let Data::Own(own) = &mut self.data
            && (own.len() as u64) < bytes
        {
            let more = bytes as usize - own.len();
            own.try_reserve(more)
                .map_err(|_| SimulateError::Memory { memory: memory.to_owned(), bytes })?;
            own.resize(bytes as usize, 0);
        }
        if let Some(bits) = &mut self.written {
            bits.grow(bytes);
        }
        Ok(())
    }
}

/// A bit per byte of a region.
#[derive(Clone, Debug, Default)]
pub(super) struct Bits {
    words: Vec<u64>,
}

impl Bits {
    pub fn of(bytes: u64) -> Bits {
        Bits { words: vec![0; bytes.div_ceil(64) as usize] }
    }

    pub fn grow(&mut self, bytes: u64) {
        let words = bytes.div_ceil(64) as usize;
        if self.words.len() < words {
            self.words.resize(words, 0);
        }
    }

    /// Sets the bits `begin..end`.
    #[inline]
    pub fn set(&mut self, begin: u64, end: u64) {
        self.each(begin, end, |word, mask| *word |= mask);
    }

    /// Clears the bits `begin..end`.
    #[inline]
    pub fn clear(&mut self, begin: u64, end: u64) {
        self.each(begin, end, |word, mask| *word &= !mask);
    }

    pub fn clear_all(&mut self) {
        self.words.fill(0);
    }

    #[inline]
    fn each(&mut self, begin: u64, end: u64, f: impl Fn(&mut u64, u64)) {
        let mut at = begin;
        while at < end {
            let (word, mask, next) = part(at, end);
            f(&mut self.words[word], mask);
            at = next;
        }
    }

    /// The first bit of `begin..end` that is not set.
    #[inline]
    pub fn first_clear(&self, begin: u64, end: u64) -> Option<u64> {
        self.find(begin, end, !0)
    }

    /// The first bit of `begin..end` that is set.
    #[inline]
    pub fn first_set(&self, begin: u64, end: u64) -> Option<u64> {
        self.find(begin, end, 0)
    }

    #[inline]
    fn find(&self, begin: u64, end: u64, flip: u64) -> Option<u64> {
        let mut at = begin;
        while at < end {
            let (word, mask, next) = part(at, end);
            let found = (self.words[word] ^ flip) & mask;
            if found != 0 {
                return Some(word as u64 * 64 + found.trailing_zeros() as u64);
            }
            at = next;
        }
        None
    }
}

/// The word of bit `at`, its bits up to `end`, and where the next word begins.
#[inline]
fn part(at: u64, end: u64) -> (usize, u64, u64) {
    let word = at / 64;
    let next = ((word + 1) * 64).min(end);
    let width = next - at;
    let mask = (!0u64 >> (64 - width)) << (at % 64);
    (word as usize, mask, next)
}

#[cfg(test)]
mod tests {
    use super::Bits;

    #[test]
    fn bits_agree_with_a_list() {
        let mut bits = Bits::of(200);
        let mut list = [false; 200];
        for (begin, end) in [(3, 5), (60, 70), (64, 128), (130, 131), (199, 200)] {
            bits.set(begin, end);
            list[begin as usize..end as usize].fill(true);
        }
        bits.clear(66, 68);
        list[66..68].fill(false);
        for begin in 0..200u64 {
            for end in begin..=200u64 {
                let within = &list[begin as usize..end as usize];
                let at = |value| within.iter().position(|b| *b == value).map(|i| begin + i as u64);
                assert_eq!(bits.first_clear(begin, end), at(false));
                assert_eq!(bits.first_set(begin, end), at(true));
            }
        }
    }
}
