//! The pool's synchronisation in every order in which threads may run, by `loom`.
//!
//! The files under test stand here beside a `sync` of their own, whose atomics and threads loom
//! schedules, so this is a test like any other. It follows every order with at most a few
//! preemptions. A wake that is lost is a deadlock, memory that two may touch at once a race; loom
//! reports both.

// Not everything in the files under test is used here.
#![allow(dead_code)]

#[path = "../../src/cpu/bell.rs"]
mod bell;
#[path = "../../src/cpu/cancel.rs"]
mod cancel;
#[path = "../../src/cpu/queue.rs"]
mod queue;
#[path = "../../src/cpu/slot.rs"]
mod slot;
mod sync;

use cancel::Cancel;
use loom::cell::UnsafeCell;
use loom::thread;
use queue::{Queue, Request};
use slot::End;
use sync::{Arc, AtomicBool, AtomicU32, Ordering};

/// Explores a model with at most this many preemptions in each order.
fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut explorer = loom::model::Builder::new();
    explorer.preemption_bound = Some(preemptions);
    explorer.check(model);
}

/// Memory of a slot, that loom watches.
#[derive(Default)]
struct Memory(UnsafeCell<u64>);

// SAFETY: that no two threads touch it at once is what loom finds out.
unsafe impl Sync for Memory {}
// SAFETY: it is a number.
unsafe impl Send for Memory {}

impl Memory {
    fn set(&self, value: u64) {
        // SAFETY: loom panics if another thread has it.
        self.0.with_mut(|at| unsafe { *at = value });
    }

    fn get(&self) -> u64 {
        // SAFETY: loom panics if another thread writes it.
        self.0.with(|at| unsafe { *at })
    }
}

/// A queue and what its requests work in.
#[derive(Clone)]
struct Pool {
    queue: Arc<Queue>,
    memory: Arc<Vec<[Memory; 2]>>,
}

impl Pool {
    fn new(slots: usize, workers: usize) -> Pool {
        let memory = (0..slots).map(|_| Default::default()).collect();
        Pool { queue: Arc::new(Queue::new(slots, workers, 4)), memory: Arc::new(memory) }
    }

    /// Starts worker 1, which does its part of every request.
    fn start(&self, part: impl Fn(&Pool, usize) + Send + 'static) -> thread::JoinHandle<()> {
        let pool = self.clone();
        thread::spawn(move || {
            let mut ticket = 0;
            while let Some(index) = pool.queue.take(ticket) {
                part(&pool, index);
                pool.queue.slots()[index].leave(1);
                ticket += 1;
            }
        })
    }

    /// Makes a request and does worker 0's part of it.
    fn request(&self, value: u64, mut request: Request<'_>) -> End {
        let [from_0, from_1] = &self.memory[request.index()];
        if !request.slot().stopped() {
            from_0.set(value);
            from_1.set(0);
            request.post();
            let slot = request.slot();
            // Call 1 of worker 0 is for worker 1, whose call 1 is for worker 0.
            slot.complete(0, 1);
            slot.wait(1, 1, || self.queue.spins());
            if !slot.stopped() {
                assert_eq!(from_1.get(), value + 1);
            }
            slot.leave(0);
        }
        request.join()
    }

    fn run(&self, value: u64) -> End {
        self.request(value, self.queue.open(0))
    }
}

/// The part of a worker 1 that does what it should.
fn answer(pool: &Pool, index: usize) {
    let slot = &pool.queue.slots()[index];
    let [from_0, from_1] = &pool.memory[index];
    slot.wait(0, 1, || pool.queue.spins());
    if slot.stopped() {
        return;
    }
    from_1.set(from_0.get() + 1);
    slot.complete(1, 1);
}

/// N-11. Two workers that write and tell each other: whoever has seen a counter at a step sees all
/// that was written before it, whatever the order in which memory is.
#[test]
fn n_11_a_step_orders_what_was_written_before_it() {
    explore(4, || {
        let shared = Arc::new((slot::Slot::new(2), <[Memory; 2]>::default()));
        shared.0.open(0);
        let other = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let (slot, [from_0, from_1]) = &*shared;
                slot.wait(0, 1, || 0);
                from_1.set(from_0.get() + 1);
                slot.complete(1, 1);
            })
        };
        let (slot, [from_0, from_1]) = &*shared;
        from_0.set(1);
        slot.complete(0, 1);
        slot.wait(1, 1, || 0);
        assert_eq!(from_1.get(), 2);
        other.join().expect("does not panic");
    });
}

/// N-11. Two workers that come together in front of each round: what both have written before worker 0 sees, and what it
/// decides then both see, until they come together again.
#[test]
fn n_11_a_turn_orders_rounds() {
    const ROUNDS: u64 = 2;
    explore(3, || {
        let shared = Arc::new((slot::Slot::new(2), <[Memory; 3]>::default()));
        shared.0.open(0);
        let part = |worker: usize, shared: &(slot::Slot, [Memory; 3])| {
            let (slot, [from_0, from_1, goes_on]) = shared;
            let mut turns = 0;
            loop {
                turns += 1;
                let decide = || {
                    assert_eq!([from_0.get(), from_1.get()], [turns - 1; 2], "both are there");
                    goes_on.set(u64::from(turns <= ROUNDS));
                    true
                };
                assert!(slot.meet(worker, |_| turns, || 0, decide));
                if goes_on.get() == 0 {
                    return;
                }
                [from_0, from_1][worker].set(turns);
            }
        };
        let other = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || part(1, &shared))
        };
        part(0, &shared);
        other.join().expect("does not panic");
    });
}

/// N-11. A counter that is stored without release orders nothing, and loom sees it: so it would see
/// a barrier without its fence.
#[test]
#[should_panic(expected = "Causality violation")]
fn n_11_a_step_without_release_is_a_race() {
    explore(4, || {
        let shared = Arc::new((AtomicU32::new(0), Memory::default()));
        let writer = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                shared.1.set(1);
                shared.0.store(1, Ordering::Relaxed);
            })
        };
        if shared.0.load(Ordering::Acquire) == 1 {
            shared.1.get();
        }
        writer.join().expect("does not panic");
    });
}

#[test]
fn a_ring_is_never_lost() {
    explore(4, || {
        let shared = Arc::new((bell::Bell::default(), AtomicBool::new(false), Memory::default()));
        let waits = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let (bell, flag, memory) = &*shared;
                bell.wait(|| 0, || flag.load(Ordering::Acquire));
                assert_eq!(memory.get(), 1);
            })
        };
        let (bell, flag, memory) = &*shared;
        memory.set(1);
        flag.store(true, Ordering::Release);
        bell.ring();
        waits.join().expect("does not panic");
    });
}

#[test]
fn one_ring_wakes_all_who_wait() {
    explore(2, || {
        let shared = Arc::new((bell::Bell::default(), AtomicBool::new(false)));
        let waiting = [(), ()].map(|()| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.0.wait(|| 0, || shared.1.load(Ordering::Acquire)))
        });
        shared.1.store(true, Ordering::Release);
        shared.0.ring();
        waiting.into_iter().for_each(|thread| thread.join().expect("does not panic"));
    });
}

/// N-11. Counters begin again with each request: whoever is late does not take those of the last one
/// for its own.
#[test]
fn requests_follow_each_other_in_one_slot() {
    explore(2, || {
        let pool = Pool::new(1, 2);
        let worker = pool.start(answer);
        assert_eq!(pool.run(10), End::Complete);
        assert_eq!(pool.run(20), End::Complete);
        pool.queue.end();
        worker.join().expect("does not panic");
    });
}

/// Only what the ring adds: the workers' counters are tried in the other models.
#[test]
fn two_callers_go_through_the_ring() {
    explore(2, || {
        let pool = Pool::new(2, 2);
        let worker = pool.start(|pool, index| {
            let [from_0, from_1] = &pool.memory[index];
            from_1.set(from_0.get() + 1);
        });
        let call = |pool: &Pool, value| {
            let mut request = pool.queue.open(0);
            let [from_0, from_1] = &pool.memory[request.index()];
            from_0.set(value);
            request.post();
            assert_eq!(request.join(), End::Complete);
            assert_eq!(from_1.get(), value + 1);
        };
        let other = {
            let pool = pool.clone();
            thread::spawn(move || call(&pool, 10))
        };
        call(&pool, 20);
        other.join().expect("does not panic");
        pool.queue.end();
        worker.join().expect("does not panic");
    });
}

#[test]
fn callers_wait_for_the_only_slot() {
    explore(2, || {
        let pool = Pool::new(1, 1);
        let callers = [1, 2].map(|value| {
            let pool = pool.clone();
            thread::spawn(move || {
                let request = pool.queue.open(0);
                pool.memory[0][0].set(value);
                drop(request);
            })
        });
        let request = pool.queue.open(0);
        pool.memory[0][0].set(3);
        drop(request);
        callers.into_iter().for_each(|thread| thread.join().expect("does not panic"));
    });
}

#[test]
fn a_cancelled_request_ends_whatever_it_waits_for() {
    explore(2, || {
        let pool = Pool::new(1, 2);
        // Worker 1 never does what worker 0 waits for, unless the request is stopped.
        let worker = pool.start(|pool, index| {
            let slot = &pool.queue.slots()[index];
            slot.wait(0, 2, || pool.queue.spins());
            assert!(slot.stopped());
        });
        let cancel = Cancel::new(Arc::clone(&pool.queue), 1);
        let other = {
            let cancel = cancel.clone();
            thread::spawn(move || cancel.cancel())
        };
        assert_eq!(pool.request(10, cancel.begin(&pool.queue)), End::Cancelled);
        other.join().expect("does not panic");
        pool.queue.end();
        worker.join().expect("does not panic");
    });
}

#[test]
fn a_cancellation_that_comes_late_hits_nobody() {
    explore(3, || {
        let pool = Pool::new(1, 1);
        let cancel = Cancel::new(Arc::clone(&pool.queue), 1);
        let other = {
            let cancel = cancel.clone();
            thread::spawn(move || cancel.cancel())
        };
        let mut first = cancel.begin(&pool.queue);
        assert!(matches!(first.join(), End::Complete | End::Cancelled));
        drop(first);
        // The same slot, and nothing to do with the handle.
        let mut second = pool.queue.open(2);
        assert_eq!(second.join(), End::Complete);
        drop(second);
        other.join().expect("does not panic");
        assert_eq!(cancel.begin(&pool.queue).join(), End::Cancelled);
    });
}

#[test]
fn a_failing_worker_hangs_nobody() {
    explore(2, || {
        let pool = Pool::new(1, 2);
        let worker = pool.start(|pool, index| {
            if pool.memory[index][0].get() == 10 {
                pool.queue.slots()[index].stop(End::Failed);
            } else {
                answer(pool, index);
            }
        });
        assert_eq!(pool.run(10), End::Failed);
        assert_eq!(pool.run(20), End::Complete);
        pool.queue.end();
        worker.join().expect("does not panic");
    });
}
