//! Persistent workers that run requests together, with no lock, and no allocation per run but for names that a run
//! decides.
//!
//! **Requests.** A caller takes a slot (`queue.rs`), which has counters (`slot.rs`) and memory
//! (`request_memory.rs`) of its own, posts it under the next ticket, and runs its own part as
//! worker 0. Workers 1.. take requests in the order of tickets, each on its own, so one begins the
//! next request while others are busy with the last. Within a request each goes through its calls
//! in the order of the plan and waits for counters of the others. So nothing hangs: of the
//! unfinished requests look at the one with the lowest ticket, and in it at the first call of the
//! plan that is not done. Its worker has nothing before it, and what the call waits for is done.
//!
//! **Waiting** is to spin, then to sleep at a bell (`bell.rs`): one for each counter, one for new
//! requests, one for free slots. Who rings stores first and looks for sleepers then; who waits says
//! so first and looks again then. A call that no other worker waits for rings nothing.
//!
//! **Loops.** Where one begins, and where a round ends, all workers come together: each says that it is there, worker 0
//! waits for all of them, decides whether there is another round, writes what follows from its number, and
//! says so. From then on all count the items of that round as well, so a wait for the third item of a loop
//! is one for that of this round. Counters go on from round to round.
//!
//! **Stopping.** A handle that cancels and a worker that fails change the slot's state and ring its
//! bells. Workers look at the state between calls and after every wait, and leave; the caller
//! returns when all have left, for it owns memory that they work on. A worker that has not come to
//! the request yet, since it is busy with earlier ones, leaves when it comes by.
//!
//! **What could go wrong**, and why it does not:
//! - A slot is taken over while a worker still reads the old request: the slot is free only after
//!   every worker has left, and leaving is the last thing it does there.
//! - An entry of the ring is written over before a worker has read it: see `queue::Ring`.
//! - A stop that comes late hits the next request of the slot: the state has the request's number,
//!   and a stop changes that number's state or nothing.
//! - A cancelled request waits for a call that will never be made: waits end when it is stopped.
//! - The model is dropped while requests run: they borrow it. The end is a ticket like any other.
//! - Numbers wrap: tickets and requests have 58 bits or more; counters have 64, and begin at 0 in each request.
//! - A worker reads how a loop goes on when the next turn decides it anew: worker 0 decides when all others have come
//!   to that turn, and they have read it before.
//! - A caller dies between its ticket and its entry: nothing that can fail stands between.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use super::CpuError;
use super::affinity::{self, Places};
use super::queue::{Queue, Request, SLOTS};
use super::request_memory::{Failure, RequestMemory};
use super::schedule::{Call, Item, Repeated, Schedule};
use super::slot::{End, Slot};

/// Workers 1.. of a schedule; dropping it ends and joins them.
pub struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    places: Arc<Places>,
}

/// The state that workers share.
pub struct Shared {
    pub schedule: Schedule,
    pub queue: Arc<Queue>,
    /// A memory for each slot, made when the slot is first taken.
    pub memories: Box<[OnceLock<RequestMemory>]>,
    /// Per step, begin and end in nanoseconds since `origin`; written by requests that profile,
    /// of which there is one at a time.
    pub times: Box<[[AtomicU64; 2]]>,
    origin: Instant,
}

/// Requests in flight where the machine has few processors.
const REQUESTS: usize = 4;

impl Pool {
    /// Starts the workers of a schedule.
    pub fn new(schedule: Schedule, steps: usize) -> Result<Pool, CpuError> {
        let workers = schedule.workers.len();
        let processors = affinity::processors();
        let slots = processors.len().clamp(REQUESTS, SLOTS as usize - 1);
        let shared = Arc::new(Shared {
            schedule,
            queue: Arc::new(Queue::new(slots, workers, processors.len())),
            memories: (0..slots).map(|_| OnceLock::new()).collect(),
            times: (0..steps).map(|_| Default::default()).collect(),
            origin: Instant::now(),
        });
        let places = Arc::new(Places::new(&processors));
        let mut pool = Pool { shared, threads: Vec::new(), places };
        for worker in 1..workers {
            let shared = Arc::clone(&pool.shared);
            let places = Arc::clone(&pool.places);
            let cpu = (processors.len() >= workers).then(|| processors[worker]);
            let body = move || {
                if let Some(cpu) = cpu {
                    places.bind(cpu);
                }
                shared.work(worker);
            };
            let thread = thread::Builder::new().name(format!("weft-{worker}")).spawn(body);
            // Those that were started end when the pool is dropped.
            pool.threads.push(thread.map_err(|source| CpuError::Worker {
                worker,
                workers,
                source,
            })?);
        }
        Ok(pool)
    }

    pub fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Runs the schedule for a request and returns when no worker is at it any more.
    ///
    /// # Safety
    ///
    /// The slot of the request has a memory, and every operand of it points to its buffer's memory,
    /// which lives and is touched by nobody else until the call returns; the kernels must keep to
    /// their operands.
    pub unsafe fn run(&self, request: &mut Request<'_>) -> End {
        // A request that was cancelled before needs no worker.
        if !request.slot().stopped() {
            self.places.leave();
            request.post();
            self.shared.take_part(request.index(), 0);
        }
        request.join()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if self.threads.is_empty() {
            return;
        }
        self.shared.queue.end();
        for thread in self.threads.drain(..) {
            // A worker does not panic outside of a request, where panics are caught; were it to,
            // there is no request to report it to.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// The life of a worker.
    fn work(&self, worker: usize) {
        let mut ticket = 0;
        while let Some(slot) = self.queue.take(ticket) {
            self.take_part(slot, worker);
            ticket += 1;
        }
    }

    /// Runs a worker's part of a request and leaves it. What unwinds stops the request.
    fn take_part(&self, index: usize, worker: usize) {
        let slot = &self.queue.slots()[index];
        let step = Cell::new(0);
        let part = || {
            let memory = self.memories[index].get().expect("a request is posted with its memory");
            self.calls(slot, memory, worker, &step);
        };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(part)) {
            if let Some(memory) = self.memories[index].get() {
                memory.fail(Failure { worker, step: step.get(), reason: reason(payload) });
            }
            slot.stop(End::Failed);
        }
        slot.leave(worker);
    }

    /// Makes the calls of a worker in order, until the request is stopped.
    fn calls(&self, slot: &Slot, memory: &RequestMemory, worker: usize, step: &Cell<usize>) {
        let items = &self.schedule.workers[worker];
        let mut done = Done::new(&self.schedule);
        let mut at = 0;
        while let Some(item) = items.get(at) {
            match item {
                Item::Call(call) => {
                    if !self.call_in_turn((slot, memory), (worker, at), call, (&done, step)) {
                        return;
                    }
                    at += 1;
                }
                &Item::Turn { of, is_end } => {
                    let repeated = &self.schedule.loops[of];
                    step.set(repeated.step);
                    if !self.turn((slot, memory), worker, (of, is_end), &done) {
                        return;
                    }
                    let [begin, end] = repeated.places[worker];
                    let goes_on = memory.goes_on(of);
                    match (is_end, goes_on) {
                        (true, true) => done.again(repeated),
                        (false, false) => done.skip(repeated),
                        (true, false) | (false, true) => {}
                    }
                    at = if goes_on { begin + 1 } else { end + 1 };
                }
            }
        }
    }

    /// Waits for what a call needs, and makes it. Returns whether the request goes on.
    fn call_in_turn(
        &self,
        (slot, memory): (&Slot, &RequestMemory),
        (worker, at): (usize, usize),
        call: &Call,
        (done, step): (&Done, &Cell<usize>),
    ) -> bool {
        for &(other, count) in &self.schedule.waits[call.waits.clone()] {
            let other = other as usize;
            slot.wait(other, done.count(other, count as usize), || self.queue.spins());
        }
        if slot.stopped() {
            return false;
        }
        step.set(call.step);
        let profiling = memory.is_profiling();
        let begin = if profiling { self.now() } else { 0 };
        Self::call(call, memory);
        if profiling {
            let [begins, ends] = &self.times[call.step];
            begins.store(begin, Ordering::Relaxed);
            ends.store(self.now(), Ordering::Relaxed);
        }
        if let Some(plan) = self.schedule.plan.as_deref().filter(|_| !call.finds.is_empty())
            && let Err(why) = memory.find(plan, &self.schedule, call.finds.clone())
        {
            memory.fail(Failure { worker, step: call.step, reason: why.to_string() });
            slot.stop(End::Failed);
            return false;
        }
        if call.awaited {
            slot.complete(worker, done.count(worker, at + 1));
        }
        true
    }

    /// Waits for all other workers where a loop begins or a round ends; worker 0 decides there how it goes
    /// on. Returns whether the request does.
    fn turn(
        &self,
        (slot, memory): (&Slot, &RequestMemory),
        worker: usize,
        (of, is_end): (usize, bool),
        done: &Done,
    ) -> bool {
        let places = &self.schedule.loops[of].places;
        let count = |worker: usize| done.count(worker, places[worker][usize::from(is_end)] + 1);
        let decide = || {
            let plan = self.schedule.plan.as_deref().expect("a plan with loops is kept");
            let decided = memory.turn(plan, &self.schedule, of, is_end);
            if let Err(why) = &decided {
                let step = self.schedule.loops[of].step;
                memory.fail(Failure { worker, step, reason: why.to_string() });
                slot.stop(End::Failed);
            }
            decided.is_ok()
        };
        slot.meet(worker, count, || self.queue.spins(), decide)
    }

    fn call(call: &Call, memory: &RequestMemory) {
        let operands = &memory.operands[call.operands.clone()];
        let [begin, end] = call.share.map_or([call.begin, call.end], |own| memory.share(own));
        if begin == end {
            return;
        }
        // SAFETY: an AtomicPtr has the layout of a pointer, and nobody writes these operands
        // meanwhile: what moves them is found before the call. That they point where they should is the promise of `Pool::run`'s
        // caller.
        unsafe { (call.kernel)(operands.as_ptr().cast(), begin, end) };
    }

    fn now(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }
}

/// How many items each worker has done, of which a worker knows in which round all of them are.
struct Done {
    /// For each worker how many more than items lie in front of the one that it does next; none of any
    /// where nothing is repeated.
    more: Vec<i64>,
}

impl Done {
    fn new(schedule: &Schedule) -> Done {
        let workers = if schedule.loops.is_empty() { 0 } else { schedule.workers.len() };
        Done { more: vec![0; workers] }
    }

    /// How many a worker has done when so many of its items lie behind it.
    fn count(&self, worker: usize, items: usize) -> u64 {
        (items as u64).wrapping_add_signed(self.more.get(worker).copied().unwrap_or(0))
    }

    /// The items of a loop are done once more.
    fn again(&mut self, repeated: &Repeated) {
        for (more, [begin, end]) in self.more.iter_mut().zip(&repeated.places) {
            *more += (end - begin) as i64;
        }
    }

    /// The items of a loop are not done.
    fn skip(&mut self, repeated: &Repeated) {
        for (more, [begin, end]) in self.more.iter_mut().zip(&repeated.places) {
            *more -= (end - begin) as i64;
        }
    }
}

/// Returns the message of a panic.
fn reason(payload: Box<dyn Any + Send>) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    let text = text.unwrap_or("no reason given").to_owned();
    // The payload of a panic may panic again when it is dropped; then it is leaked.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(again);
    }
    text
}
