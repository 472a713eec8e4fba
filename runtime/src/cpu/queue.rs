//! Requests in one order: slots that callers take, and a ring through which workers learn of them.

use super::bell::Bell;
use super::slot::{End, Slot};
use super::sync::{AtomicU64, Ordering, SPINS, SPINS_SHARED};

/// The requests of one model.
pub struct Queue {
    slots: Box<[Slot]>,
    workers: usize,
    processors: usize,
    callers: Alone<Callers>,
    ring: Alone<Ring>,
}

/// On cache lines of its own, two of which are fetched at a time.
#[repr(align(128))]
struct Alone<T>(T);

/// Which slots can be had.
struct Callers {
    /// A bit for each slot.
    free: AtomicU64,
    freed: Bell,
}

/// A request has the number of its turn, its ticket, and stands in the entry at that number,
/// rounded down to the length of the ring.
///
/// The ring is as long as there are slots. Whoever takes ticket `t` holds a slot, so of the
/// `slots` tickets before it one is over; all workers have left that request, so they have left
/// the one whose entry `t` takes. That is why an entry can be written without looking.
struct Ring {
    /// The next ticket.
    next: AtomicU64,
    /// `(ticket + 1) * SLOTS + slot`; zero before the first.
    entries: Box<[AtomicU64]>,
    posted: Bell,
}

/// More slots than a queue has: each has a bit, and one number means the end.
pub const SLOTS: u64 = 64;
const END: u64 = SLOTS - 1;

/// A slot that a caller holds. Dropping it gives it back, after the workers have left.
pub struct Request<'q> {
    queue: &'q Queue,
    index: usize,
    posted: bool,
}

impl Queue {
    /// Slots for that many requests, each run by that many workers with their caller, on a
    /// machine of that many processors.
    pub fn new(slots: usize, workers: usize, processors: usize) -> Queue {
        assert!(0 < slots && slots < SLOTS as usize, "{slots} slots: each has a bit");
        Queue {
            slots: (0..slots).map(|_| Slot::new(workers)).collect(),
            workers,
            processors,
            callers: Alone(Callers {
                free: AtomicU64::new((1 << slots) - 1),
                freed: Bell::default(),
            }),
            ring: Alone(Ring {
                next: AtomicU64::new(0),
                entries: (0..slots).map(|_| AtomicU64::new(0)).collect(),
                posted: Bell::default(),
            }),
        }
    }

    /// All slots.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Takes a slot, the first that is free, so that one caller always works in the same memory.
    /// Waits while there is none, in no order with others who wait.
    pub fn open(&self, canceller: u64) -> Request<'_> {
        let Callers { free, freed } = &self.callers.0;
        let index = loop {
            let bits = free.load(Ordering::Relaxed);
            let Some(rest) = bits.checked_sub(1).map(|less| bits & less) else {
                freed.wait(|| self.spins(), || free.load(Ordering::Relaxed) != 0);
                continue;
            };
            let (taken, not) = (Ordering::Acquire, Ordering::Relaxed);
            if free.compare_exchange(bits, rest, taken, not).is_ok() {
                break bits.trailing_zeros() as usize;
            }
        };
        self.slots[index].open(canceller);
        Request { queue: self, index, posted: false }
    }

    /// Waits for the request with a ticket and gives the index of its slot; nothing when there
    /// are no more.
    pub fn take(&self, ticket: u64) -> Option<usize> {
        let Ring { entries, posted, .. } = &self.ring.0;
        let entry = &entries[(ticket % entries.len() as u64) as usize];
        let of_ticket = || entry.load(Ordering::Acquire) / SLOTS == ticket + 1;
        posted.wait(|| self.spins(), of_ticket);
        let slot = entry.load(Ordering::Relaxed) % SLOTS;
        (slot != END).then_some(slot as usize)
    }

    /// Lets the workers end, once no slot is held any more.
    pub fn end(&self) {
        self.post(END);
    }

    fn post(&self, slot: u64) {
        let Ring { next, entries, posted } = &self.ring.0;
        // Between the two lines stands nothing that waits: later tickets wait for this one.
        let ticket = next.fetch_add(1, Ordering::AcqRel);
        let entry = &entries[(ticket % entries.len() as u64) as usize];
        entry.store((ticket + 1) * SLOTS + slot, Ordering::Release);
        posted.ring();
    }

    /// Returns the number of checks before sleeping: few, if workers and callers are more than the
    /// machine has processors.
    pub fn spins(&self) -> u32 {
        let callers =
            self.slots.len() - self.callers.0.free.load(Ordering::Relaxed).count_ones() as usize;
        if callers.max(1) + self.workers - 1 <= self.processors { SPINS } else { SPINS_SHARED }
    }
}

impl Request<'_> {
    /// Index of its slot.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Its slot.
    pub fn slot(&self) -> &Slot {
        &self.queue.slots[self.index]
    }

    /// Tells the workers of it.
    pub fn post(&mut self) {
        if self.queue.workers > 1 {
            self.posted = true;
            self.queue.post(self.index as u64);
        }
    }

    /// Waits until all workers have left, and says how it ended.
    pub fn join(&mut self) -> End {
        if std::mem::take(&mut self.posted) {
            for worker in 1..self.queue.workers {
                self.slot().wait_left(worker, || self.queue.spins());
            }
        }
        self.slot().close()
    }
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        if self.posted {
            self.slot().stop(End::Failed);
        }
        // Of a request that was joined before, this changes nothing.
        self.join();
        let Callers { free, freed } = &self.queue.callers.0;
        free.fetch_or(1 << self.index, Ordering::Release);
        freed.ring_one();
    }
}
