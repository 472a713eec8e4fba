//! Persistent workers that run a schedule together, with no lock and no allocation per run.
//!
//! The caller is worker 0. Each worker counts the calls it has completed; a wait is a look at
//! another worker's counter. Between runs workers spin for a while, then park.

use std::hint::spin_loop;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use super::affinity;
use super::schedule::{Call, Schedule};

/// Looks at a counter before the processor is offered to others, about 100 µs.
const SPINS: u32 = 4000;

/// Workers 1.. of a schedule; dropping it ends and joins them.
pub struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// What the workers see.
pub struct Shared {
    pub schedule: Schedule,
    /// As [`Schedule::operands`], resolved for the current run. Between runs only the caller
    /// touches them; the start of a run publishes them.
    pub operands: Vec<AtomicPtr<u8>>,
    /// Per step, begin and end in nanoseconds since `origin`; written while profiling.
    pub times: Vec<[AtomicU64; 2]>,
    pub profiling: AtomicBool,
    origin: Instant,
    /// Number of the current run; `u32::MAX` ends the workers.
    run: AtomicU32,
    counters: Vec<Counter>,
}

/// Written by one worker; alone on its cache lines, two of which are fetched at a time.
#[repr(align(128))]
struct Counter {
    /// Calls completed in this run.
    completed: AtomicU32,
    parked: AtomicBool,
}

const END: u32 = u32::MAX;

impl Pool {
    /// Starts the workers of a schedule.
    pub fn new(schedule: Schedule, steps: usize) -> io::Result<Pool> {
        let counter = || Counter { completed: AtomicU32::new(0), parked: AtomicBool::new(false) };
        let shared = Arc::new(Shared {
            operands: schedule.operands.iter().map(|_| AtomicPtr::default()).collect(),
            times: (0..steps).map(|_| Default::default()).collect(),
            profiling: AtomicBool::new(false),
            origin: Instant::now(),
            run: AtomicU32::new(0),
            counters: schedule.workers.iter().map(|_| counter()).collect(),
            schedule,
        });
        let mut pool = Pool { shared, threads: Vec::new() };
        let processors = affinity::processors();
        for worker in 1..pool.shared.schedule.workers.len() {
            let shared = Arc::clone(&pool.shared);
            // The caller's thread is not ours to bind; its processor is left free for it.
            let pinned = processors.len() >= pool.shared.schedule.workers.len();
            let cpu = pinned.then(|| processors[worker]);
            let body = move || {
                if let Some(cpu) = cpu {
                    affinity::pin(cpu);
                }
                shared.work(worker);
            };
            let thread = thread::Builder::new().name(format!("weft-{worker}"));
            pool.threads.push(thread.spawn(body)?);
        }
        Ok(pool)
    }

    pub fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Runs the schedule once and returns when every call is complete.
    ///
    /// # Safety
    ///
    /// Every operand must point to its buffer's memory, which lives and is touched by nobody
    /// else until the call returns; the kernels must keep to their operands.
    pub unsafe fn run(&mut self) {
        let shared = &*self.shared;
        for counter in &shared.counters {
            counter.completed.store(0, Ordering::Relaxed);
        }
        // Publishes operands and counters. Sequentially consistent, as is the look at `parked`:
        // either we see that a worker parks, or it sees the new run.
        let next = match shared.run.load(Ordering::Relaxed).wrapping_add(1) {
            END => 0,
            next => next,
        };
        shared.run.store(next, Ordering::SeqCst);
        self.wake();
        shared.calls(0);
        for (worker, calls) in shared.schedule.workers.iter().enumerate().skip(1) {
            shared.wait(worker, calls.len() as u32);
        }
    }

    fn wake(&self) {
        for (thread, counter) in self.threads.iter().zip(&self.shared.counters[1..]) {
            if counter.parked.load(Ordering::SeqCst) {
                thread.thread().unpark();
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.run.store(END, Ordering::SeqCst);
        self.wake();
        for thread in self.threads.drain(..) {
            // A worker cannot panic; were it to, there is nobody to tell.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// The life of a worker.
    fn work(&self, worker: usize) {
        let mut seen = 0;
        loop {
            seen = self.next_run(worker, seen);
            if seen == END {
                return;
            }
            self.calls(worker);
        }
    }

    /// Waits for a run other than `seen`: spinning first, then parked.
    fn next_run(&self, worker: usize, seen: u32) -> u32 {
        for _ in 0..SPINS {
            let run = self.run.load(Ordering::Acquire);
            if run != seen {
                return run;
            }
            spin_loop();
        }
        let parked = &self.counters[worker].parked;
        parked.store(true, Ordering::SeqCst);
        let run = loop {
            let run = self.run.load(Ordering::SeqCst);
            if run != seen {
                break run;
            }
            thread::park();
        };
        parked.store(false, Ordering::Relaxed);
        run
    }

    /// Runs the calls of a worker in order.
    fn calls(&self, worker: usize) {
        let profiling = self.profiling.load(Ordering::Relaxed);
        let completed = &self.counters[worker].completed;
        for (i, call) in self.schedule.workers[worker].iter().enumerate() {
            for &(other, count) in &self.schedule.waits[call.waits.clone()] {
                self.wait(other as usize, count);
            }
            if profiling {
                let begin = self.now();
                self.call(call);
                self.times[call.step][0].store(begin, Ordering::Relaxed);
                self.times[call.step][1].store(self.now(), Ordering::Relaxed);
            } else {
                self.call(call);
            }
            completed.store(i as u32 + 1, Ordering::Release);
        }
    }

    fn call(&self, call: &Call) {
        let operands = &self.operands[call.operands.clone()];
        // SAFETY: an AtomicPtr has the layout of a pointer, and nobody writes the operands
        // during a run. That they point where they should is the promise of `Pool::run`'s
        // caller.
        unsafe { (call.kernel)(operands.as_ptr().cast(), call.begin, call.end) };
    }

    /// Waits until a worker has completed that many calls.
    fn wait(&self, worker: usize, count: u32) {
        let completed = &self.counters[worker].completed;
        let mut spins = 0;
        while completed.load(Ordering::Acquire) < count {
            // With fewer processors than workers, the one waited for may need this one.
            if spins < SPINS {
                spins += 1;
                spin_loop();
            } else {
                thread::yield_now();
            }
        }
    }

    fn now(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }
}
