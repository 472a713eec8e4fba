//! Whether data stays in a memory, and from which memory it comes.

use weft_dialects::device::{Machine, Memory};

/// What passes through a memory while data is to stay in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    /// Nothing: the data is all that is touched, or the program places every byte.
    Nothing,
    /// What is stored: it takes a fourth.
    Stores,
    /// About as many bytes, which are used once.
    Stream,
    /// Those, and tiles of other tensors that stay as well.
    TilesAndStream,
}

/// Bytes of a memory in which data stays: of a cache, which evicts what was not used for longest,
/// each kind of data that is beside it takes an equal part; but what is stored, once, a fourth.
pub(crate) fn room(memory: &Memory<'_>, beside: Beside) -> u64 {
    share(memory.capacity_bytes(), beside)
}

fn share(capacity_bytes: u64, beside: Beside) -> u64 {
    match beside {
        Beside::Nothing => capacity_bytes,
        Beside::Stores => capacity_bytes / 4 * 3,
        Beside::Stream => capacity_bytes / 2,
        Beside::TilesAndStream => capacity_bytes / 4,
    }
}

/// The caches of a machine and the memory behind them, the smallest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Homes {
    memories: Vec<Home>,
}

/// A memory from which data comes.
#[derive(Clone, Copy, Debug)]
struct Home {
    capacity_bytes: u64,
    /// Without end where the machine does not say.
    bytes_per_cycle: f64,
    /// Of what is stored by way of the smallest cache, which has to bring it first.
    store_bytes_per_cycle: f64,
    /// Cycles of a run that does not follow the one before it, beside those of its bytes.
    jump_cycles: f64,
    /// Rows side by side that are fetched ahead.
    prefetch_streams: u64,
}

impl Homes {
    /// All caches, and the memory that all units share.
    pub fn of(machine: Machine<'_>) -> Self {
        Self::beyond(machine, 0)
    }

    /// Of these the memories of more than `bytes`.
    pub fn beyond(machine: Machine<'_>, bytes: u64) -> Self {
        let caches = machine.memories().into_iter().filter(|memory| memory.is_cache());
        let caches = caches.filter(|memory| memory.capacity_bytes() > bytes);
        let rate = |rate: Option<u64>| rate.map_or(f64::INFINITY, |rate| rate as f64);
        let known = |memory: Memory<'_>| Home {
            capacity_bytes: memory.capacity_bytes(),
            bytes_per_cycle: rate(memory.bytes_per_cycle()),
            store_bytes_per_cycle: rate(memory.store_bytes_per_cycle()),
            jump_cycles: memory.jump_cycles().unwrap_or(0) as f64,
            prefetch_streams: memory.prefetch_streams().unwrap_or(0),
        };
        let mut memories: Vec<_> = caches.map(known).collect();
        memories.sort_by_key(|memory| memory.capacity_bytes);
        // What lies in the smallest cache already is brought from nowhere.
        if let Some(nearest) = memories.first_mut().filter(|_| bytes == 0) {
            nearest.store_bytes_per_cycle = nearest.bytes_per_cycle;
        }
        memories.extend(machine.shared().map(known));
        Self { memories }
    }

    /// The smallest memory in which `bytes` stay, or the last one.
    fn home(&self, bytes: u64, beside: Beside) -> Option<Home> {
        let stay = |home: &&Home| share(home.capacity_bytes, beside) >= bytes;
        self.memories.iter().find(stay).or(self.memories.last()).copied()
    }

    /// Cycles in which `runs` of `bytes` together, of which none follows the one before it, come
    /// from a tensor of `whole` bytes.
    pub fn scattered_cycles(&self, runs: f64, bytes: f64, whole: u64, beside: Beside) -> f64 {
        let home = self.home(whole, beside);
        home.map_or(0.0, |home| runs * home.jump_cycles + bytes / home.bytes_per_cycle)
    }

    /// Returns whether so many rows of a tensor of `whole` bytes, read side by side, are fetched
    /// ahead.
    pub fn follow(&self, rows: u64, whole: u64) -> bool {
        self.home(whole, Beside::Nothing).is_some_and(|home| rows <= home.prefetch_streams)
    }

    /// Bytes of a tensor of `whole` bytes that would come while so many runs are jumped to; none where
    /// these are fetched ahead, or the machine says no rate.
    pub fn bytes_of_jumps(&self, runs: u64, whole: u64) -> u64 {
        let home = self.home(whole, Beside::Nothing).filter(|_| !self.follow(runs, whole));
        let home = home.filter(|home| home.bytes_per_cycle.is_finite());
        home.map_or(0, |home| (runs as f64 * home.jump_cycles * home.bytes_per_cycle) as u64)
    }

    /// Cycles in which `bytes` of a tensor of `whole` bytes come.
    pub fn cycles(&self, bytes: u64, whole: u64, beside: Beside) -> f64 {
        self.home(whole, beside).map_or(0.0, |home| bytes as f64 / home.bytes_per_cycle)
    }

    /// Cycles in which they are stored.
    pub fn store_cycles(&self, bytes: u64, whole: u64, beside: Beside) -> f64 {
        self.home(whole, beside).map_or(0.0, |home| bytes as f64 / home.store_bytes_per_cycle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cache of 1000 bytes at 10 bytes a cycle, and the memory behind it at 2.
    fn homes() -> Homes {
        let home = |capacity_bytes, bytes_per_cycle, jump_cycles| Home {
            capacity_bytes,
            bytes_per_cycle,
            store_bytes_per_cycle: bytes_per_cycle / 2.0,
            jump_cycles,
            prefetch_streams: 4,
        };
        Homes { memories: vec![home(1000, 10.0, 3.0), home(8000, 2.0, 30.0)] }
    }

    #[test]
    fn what_passes_by_takes_room() {
        let rates = |bytes| {
            [Beside::Nothing, Beside::Stream, Beside::TilesAndStream]
                .map(|beside| 100.0 / homes().cycles(100, bytes, beside))
        };
        assert_eq!(rates(250), [10.0, 10.0, 10.0]);
        assert_eq!(rates(500), [10.0, 10.0, 2.0]);
        assert_eq!(rates(1000), [10.0, 2.0, 2.0]);
        assert_eq!(rates(1001), [2.0, 2.0, 2.0]);
        assert_eq!(rates(9000), [2.0, 2.0, 2.0]);
    }

    #[test]
    fn stores_come_at_their_own_rate() {
        let cycles = |whole| homes().store_cycles(100, whole, Beside::Nothing);
        assert_eq!([cycles(1000), cycles(1001)], [20.0, 100.0]);
    }

    #[test]
    fn what_is_stored_takes_a_fourth() {
        assert_eq!(share(4096, Beside::Stores), 3072);
    }

    #[test]
    fn runs_that_do_not_follow_each_other_take_longer() {
        let cycles = |whole| homes().scattered_cycles(4.0, 100.0, whole, Beside::Nothing);
        assert_eq!([cycles(1000), cycles(1001)], [22.0, 170.0]);
    }

    #[test]
    fn few_rows_are_followed() {
        assert!(homes().follow(4, 9000) && !homes().follow(5, 9000));
        assert!(!Homes::default().follow(1, 100));
    }

    #[test]
    fn rows_that_are_not_followed_take_the_time_of_bytes() {
        // 30 cycles each, at 2 bytes a cycle.
        assert_eq!([4, 5].map(|runs| homes().bytes_of_jumps(runs, 9000)), [0, 300]);
        let mut unknown = homes();
        unknown.memories[1].bytes_per_cycle = f64::INFINITY;
        assert_eq!(unknown.bytes_of_jumps(5, 9000), 0);
    }

    #[test]
    fn a_machine_that_does_not_say_takes_no_time() {
        assert_eq!(Homes::default().cycles(100, 100, Beside::Nothing), 0.0);
    }
}
