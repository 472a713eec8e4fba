//! The progress of one request, worker by worker, and its state.

use super::bell::Bell;
use super::sync::{AtomicU64, Ordering};

/// The counters and state of a request in flight; a later request reuses it.
#[repr(align(128))]
pub struct Slot {
    /// The number of the request, times [`ENDS`], plus an [`End`]. The number makes a stop that
    /// comes too late miss the request that took over.
    state: AtomicU64,
    /// Which handle cancels the request; 0 for none.
    canceller: AtomicU64,
    progress: Box<[Progress]>,
}

/// Written by one worker; alone on its cache lines, two of which are fetched at a time.
#[derive(Default)]
#[repr(align(128))]
struct Progress {
    /// Calls completed, or [`LEFT`].
    calls: AtomicU64,
    bell: Bell,
}

/// The end of a request, if it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Every call is complete, or will be.
    Complete = 0,
    /// Somebody cancelled it.
    Cancelled = 1,
    /// A worker failed.
    Failed = 2,
    /// There is no request.
    Closed = 3,
}

const ENDS: u64 = 4;

/// More calls than a worker can have: it has done with the request, whatever became of it.
const LEFT: u64 = u64::MAX;

impl Slot {
    /// A slot without a request.
    pub fn new(workers: usize) -> Slot {
        Slot {
            state: AtomicU64::new(End::Closed as u64),
            canceller: AtomicU64::new(0),
            progress: (0..workers).map(|_| Progress::default()).collect(),
        }
    }

    /// Begins the next request, which only the caller knows of yet.
    pub fn open(&self, canceller: u64) {
        for progress in &self.progress {
            progress.calls.store(0, Ordering::Relaxed);
        }
        self.canceller.store(canceller, Ordering::Relaxed);
        let number = self.state.load(Ordering::Relaxed) / ENDS + 1;
        // Whoever sees the number also sees whose it is.
        self.state.store(number * ENDS + End::Complete as u64, Ordering::Release);
    }

    /// Ends the request, which all workers have left, and says how it went.
    pub fn close(&self) -> End {
        let state = self.state.load(Ordering::Relaxed);
        let closed = state / ENDS * ENDS + End::Closed as u64;
        // A swap, for a stop may come between.
        end_of(self.state.swap(closed, Ordering::AcqRel))
    }

    /// Returns whether the calls that are left are not to be made.
    #[inline]
    pub fn stopped(&self) -> bool {
        self.state.load(Ordering::Acquire) % ENDS != End::Complete as u64
    }

    /// Ends the request early, unless it is over or another end came first.
    pub fn stop(&self, end: End) {
        self.stop_at(self.state.load(Ordering::Acquire), end);
    }

    /// Ends the request early if that handle cancels it.
    pub fn cancel(&self, canceller: u64) {
        let state = self.state.load(Ordering::Acquire);
        // Read after the state: should it be that of a later request, the state has changed.
        if self.canceller.load(Ordering::Relaxed) == canceller {
            self.stop_at(state, End::Cancelled);
        }
    }

    fn stop_at(&self, state: u64, end: End) {
        if end_of(state) != End::Complete {
            return;
        }
        let stopped = state / ENDS * ENDS + end as u64;
        let (done, not) = (Ordering::AcqRel, Ordering::Relaxed);
        if self.state.compare_exchange(state, stopped, done, not).is_ok() {
            self.progress.iter().for_each(|progress| progress.bell.ring());
        }
    }

    /// Waits until a worker has completed that many calls or the request was stopped.
    #[inline]
    pub fn wait(&self, worker: usize, calls: u64, spins: impl FnOnce() -> u32) {
        let Progress { calls: completed, bell } = &self.progress[worker];
        bell.wait(spins, || completed.load(Ordering::Acquire) >= calls || self.stopped());
    }

    /// Says that a worker has completed that many calls.
    #[inline]
    pub fn complete(&self, worker: usize, calls: u64) {
        let progress = &self.progress[worker];
        progress.calls.store(calls, Ordering::Release);
        progress.bell.ring();
    }

    /// Lets all workers come together: each has `count` of it complete when it is there, and returns when worker 0, which
    /// waits for all others, has decided what is next. Returns whether the request goes on; `decide` says
    /// so, too.
    #[inline]
    pub fn meet(
        &self,
        worker: usize,
        count: impl Fn(usize) -> u64,
        spins: impl Fn() -> u32,
        decide: impl FnOnce() -> bool,
    ) -> bool {
        if worker > 0 {
            self.complete(worker, count(worker));
            self.wait(0, count(0), spins);
            return !self.stopped();
        }
        for other in 1..self.progress.len() {
            self.wait(other, count(other), &spins);
        }
        if self.stopped() || !decide() {
            return false;
        }
        self.complete(0, count(0));
        true
    }

    /// Says that a worker touches nothing of the request any more.
    pub fn leave(&self, worker: usize) {
        self.complete(worker, LEFT);
    }

    /// Waits until a worker has left, which it does soon if the request was stopped.
    pub fn wait_left(&self, worker: usize, spins: impl FnOnce() -> u32) {
        let Progress { calls, bell } = &self.progress[worker];
        bell.wait(spins, || calls.load(Ordering::Acquire) == LEFT);
    }
}

fn end_of(state: u64) -> End {
    match state % ENDS {
        0 => End::Complete,
        1 => End::Cancelled,
        2 => End::Failed,
        _ => End::Closed,
    }
}
