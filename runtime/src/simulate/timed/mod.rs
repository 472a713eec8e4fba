//! The timed half: units side by side in simulated time, without data.
//!
//! Every unit and every engine is an actor with at most one event to come; the earliest one
//! acts, among equals the one with the lower number, so a run is always the same.

mod cache;
mod demand;
mod report;
mod scoreboard;
mod service;
mod trace;
mod unit;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

pub use report::{Count, EngineUse, MemoryUse, MoveUse, OperatorUse, Report, UnitUse};
pub use trace::Trace;

use super::error::SimulateError;
use super::functional::{Numbers, deadlock};
use super::machine::Machine;
use super::prepare::Ready;
use super::program::Code;
use super::walker::Walker;
use crate::plan::Plan;
use service::Service;
use trace::Span;

/// Simulated time, in parts of a cycle.
pub(super) type Tick = u64;

/// Ticks of a cycle.
pub(super) const TICKS: u64 = 1024;

/// Ticks of a number of cycles, rounded up.
fn ticks(cycles: f64) -> Tick {
    (cycles * TICKS as f64).ceil() as Tick
}

/// A plan in simulated time.
pub(super) struct Timed<'r, 'c> {
    code: &'c Code,
    plan: &'c Plan,
    kernels: &'r [&'r Ready<'c>],
    numbers: Numbers,
    /// The actor with the earliest event, and when.
    events: BinaryHeap<Reverse<(Tick, u32)>>,
    units: Vec<Unit>,
    engines: Vec<Engine>,
    service: Service<'c>,
    /// The begin of each step.
    began: Vec<Tick>,
    /// The end of each step.
    done: Vec<Option<Tick>>,
    /// Units that wait for a step.
    waiters: Vec<Vec<u32>>,
    trace: Option<Trace>,
}

/// A unit at some time.
struct Unit {
    steps: VecDeque<u32>,
    /// The launch of its last step or of the one that it is to begin, and when it came to that.
    launch: Option<(u32, Tick)>,
    step: Option<u32>,
    task: u64,
    walker: Walker,
    now: Tick,
    /// An operation that waits for its operands or for a queue.
    pending: Option<Order>,
    blocked: Blocked,
    /// The time at which everything that the unit did itself is ready.
    horizon: Tick,
    busy: Tick,
    /// Buffers of operands that are used again.
    spare: Vec<Vec<Base>>,
}

/// The reason why a unit waits, if the end of the wait is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blocked {
    No,
    /// A step.
    Step,
    /// A place in the queue of an engine.
    Queue(u32),
    /// The begin of an operation of an engine.
    Token {
        engine: u32,
        number: u64,
    },
}

/// An engine of a unit at some time.
#[derive(Default)]
struct Engine {
    queue: VecDeque<Order>,
    /// Operations that began, and those that were given.
    begun: u64,
    given: u64,
    /// The time at which it can begin the next one.
    free: Tick,
    /// The time at which its last token is given.
    last: Tick,
    /// The times of the tokens before: operation `begun - ready.len()` and on.
    ready: VecDeque<Tick>,
    scheduled: bool,
    busy: Tick,
    operations: u64,
}

/// An operation and the addresses of its operands.
struct Order {
    step: u32,
    kernel: u32,
    site: u32,
    bases: Vec<Base>,
    entered: Tick,
}

/// Region and byte where an operand begins.
#[derive(Clone, Copy, Debug)]
struct Base {
    region: u32,
    at: u64,
}

impl<'r, 'c> Timed<'r, 'c> {
    pub fn new(
        code: &'c Code,
        plan: &'c Plan,
        kernels: &'r [&'r Ready<'c>],
        traced: bool,
    ) -> Timed<'r, 'c> {
        let machine = &code.machine;
        let unit = |_| Unit {
            steps: VecDeque::new(),
            launch: None,
            step: None,
            task: 0,
            walker: Walker::new(machine),
            now: 0,
            pending: None,
            blocked: Blocked::No,
            horizon: 0,
            busy: 0,
            spare: Vec::new(),
        };
        let mut units: Vec<Unit> = (0..plan.units).map(unit).collect();
        for (number, step) in plan.steps.iter().enumerate() {
            units[step.unit as usize].steps.push_back(number as u32);
        }
        let engines = plan.units as usize * machine.engines.len();
        Timed {
            code,
            plan,
            kernels,
            numbers: Numbers::new(code, plan),
            events: BinaryHeap::new(),
            units,
            engines: (0..engines).map(|_| Engine::default()).collect(),
            service: Service::new(code, plan, kernels),
            began: vec![0; plan.steps.len()],
            done: vec![None; plan.steps.len()],
            waiters: vec![Vec::new(); plan.steps.len()],
            trace: traced.then(|| Trace::new(machine, plan)),
        }
    }

    /// Runs the plan.
    pub fn run(&mut self) -> Result<(), SimulateError> {
        let engines = self.code.machine.engines.len() as u32;
        for unit in 0..self.plan.units {
            self.events.push(Reverse((0, self.actor(unit))));
        }
        while let Some(Reverse((now, actor))) = self.events.pop() {
            let (unit, role) = (actor / (engines + 1), actor % (engines + 1));
            match role {
                0 => self.unit(unit, now)?,
                _ => self.engine(unit, role - 1, now),
            }
        }
        self.check_done()
    }

    fn machine(&self) -> &'c Machine {
        &self.code.machine
    }

    fn actor(&self, unit: u32) -> u32 {
        unit * (self.machine().engines.len() as u32 + 1)
    }

    fn engine_at(&mut self, unit: u32, engine: u32) -> &mut Engine {
        let count = self.code.machine.engines.len();
        &mut self.engines[unit as usize * count + engine as usize]
    }

    fn schedule_unit(&mut self, unit: u32, at: Tick) {
        self.units[unit as usize].blocked = Blocked::No;
        let actor = self.actor(unit);
        self.events.push(Reverse((at, actor)));
    }

    /// Returns whether another actor comes before a unit that would go on at `now`.
    fn others_first(&self, unit: u32, now: Tick) -> bool {
        let own = self.actor(unit);
        self.events.peek().is_some_and(|Reverse(next)| *next < (now, own))
    }

    /// An engine begins its next operation, if that can begin.
    fn engine(&mut self, unit: u32, number: u32, now: Tick) {
        let actor = self.actor(unit) + 1 + number;
        let engine = self.engine_at(unit, number);
        engine.scheduled = false;
        let Some(order) = engine.queue.front() else { return };
        let (kernel, site) = (order.kernel, order.site);
        let site = &self.kernels[kernel as usize].sites[site as usize];
        let index = unit as usize * self.machine().engines.len() + number as usize;
        let ready = self.service.ready(unit, site, &self.engines[index].queue[0].bases);
        if ready > now {
            self.engines[index].scheduled = true;
            self.events.push(Reverse((ready, actor)));
            return;
        }
        let Some(order) = self.engines[index].queue.pop_front() else { return };
        let (duration, done) = self.service.perform((unit, order.step), site, &order.bases, now);
        let engine = &mut self.engines[index];
        let done = done.max(engine.last);
        engine.last = done;
        engine.ready.push_back(done);
        engine.begun += 1;
        engine.free = now + duration;
        engine.busy += duration;
        engine.operations += 1;
        let begun = engine.begun;
        if let Some(next) = engine.queue.front() {
            engine.scheduled = true;
            let at = engine.free.max(next.entered);
            self.events.push(Reverse((at, actor)));
        }
        self.service.set_ready(unit, site, &order.bases, done);
        self.span(unit, number + 1, self.service.name(site), now, duration);
        let own = &mut self.units[unit as usize];
        own.spare.push(order.bases);
        match own.blocked {
            Blocked::Queue(engine) if engine == number => self.schedule_unit(unit, now),
            Blocked::Token { engine, number: token } if engine == number && token < begun => {
                self.schedule_unit(unit, now);
            }
            _ => {}
        }
    }

    fn span(&mut self, unit: u32, track: u32, name: u32, begin: Tick, ticks: Tick) {
        if let Some(trace) = &mut self.trace {
            trace.spans.push(Span { unit, track, name, begin, ticks });
        }
    }

    /// Every step is done; otherwise, who waits for what.
    fn check_done(&self) -> Result<(), SimulateError> {
        let mut waiting = Vec::new();
        for (number, unit) in self.units.iter().enumerate() {
            match unit.blocked {
                Blocked::Queue(engine) => {
                    let engine = &self.machine().engines[engine as usize];
                    waiting.push(format!(
                        "unit {number} waits for a place in the queue of @{}, which has {}",
                        engine.name, engine.queue
                    ));
                }
                Blocked::Token { engine, number: token } => {
                    let engine = &self.machine().engines[engine as usize].name;
                    waiting.push(format!(
                        "unit {number} waits for operation {token} of @{engine}, which never begins"
                    ));
                }
                Blocked::Step | Blocked::No => {}
            }
        }
        let heads = self.units.iter().filter(|unit| unit.blocked == Blocked::Step);
        let heads = heads.filter_map(|unit| unit.steps.front().copied());
        let missing = |&step: &u32| self.done[step as usize].is_none();
        if let SimulateError::Deadlock { waiting: steps } = deadlock(self.plan, heads, missing) {
            waiting.extend(steps);
        }
        if waiting.is_empty() { Ok(()) } else { Err(SimulateError::Deadlock { waiting }) }
    }

    /// What each operator took.
    fn operators(&self) -> Vec<OperatorUse> {
        let cycles = |ticks: Tick| ticks as f64 / TICKS as f64;
        let mut known: HashMap<(u32, u32), usize> = HashMap::new();
        let mut operators: Vec<OperatorUse> = Vec::new();
        for (number, step) in self.plan.steps.iter().enumerate() {
            let begin = cycles(self.began[number]);
            let end = self.done[number].map_or(begin, cycles);
            let at = *known.entry((step.op, step.kernel)).or_insert_with(|| {
                operators.push(OperatorUse {
                    name: self.plan.ops[step.op as usize].clone(),
                    kernel: self.plan.kernels[step.kernel as usize].symbol.clone(),
                    begin_cycles: begin,
                    ..OperatorUse::default()
                });
                operators.len() - 1
            });
            let own = &mut operators[at];
            own.steps += 1;
            own.begin_cycles = own.begin_cycles.min(begin);
            own.end_cycles = own.end_cycles.max(end);
            own.unit_cycles += end - begin;
            own.shared_bytes += self.service.shared_bytes(number);
        }
        operators
    }

    /// Returns the report, and the trace.
    pub fn finish(mut self) -> (Report, Option<Trace>) {
        let machine = self.machine();
        let end = self.done.iter().flatten().copied().max().unwrap_or(0);
        let cycles = |ticks: Tick| ticks as f64 / TICKS as f64;
        let share = |ticks: Tick| if end == 0 { 0.0 } else { ticks as f64 / end as f64 };
        let engines = machine.engines.len();
        let units = self.units.iter().enumerate().map(|(number, unit)| UnitUse {
            unit: number as u32,
            busy_cycles: cycles(unit.busy),
            occupancy: share(unit.busy),
            engines: machine
                .engines
                .iter()
                .zip(&self.engines[number * engines..])
                .map(|(facts, engine)| EngineUse {
                    name: facts.name.clone(),
                    operations: engine.operations,
                    busy_cycles: cycles(engine.busy),
                    occupancy: share(engine.busy),
                })
                .collect(),
        });
        // A chip may have a thousand units, of which a small model uses three.
        let worked = |unit: &UnitUse| {
            unit.busy_cycles > 0.0 || unit.engines.iter().any(|engine| engine.operations > 0)
        };
        let units = units.filter(worked).collect();
        let mut report = Report {
            device: machine.name.clone(),
            cycles: cycles(end),
            microseconds: machine.clock_mhz.map(|clock| cycles(end) / clock as f64),
            units,
            ..Report::default()
        };
        self.service.report(&mut report);
        report.operators = self.operators();
        let shared = super::model::shared_bytes(self.plan) - self.plan.host_bytes;
        for (memory, used) in report.memories.iter_mut().enumerate() {
            let peaks = self.units.iter().map(|unit| unit.walker.peak[memory]);
            used.peak_bytes = peaks.max().unwrap_or(0);
            if memory == machine.shared as usize {
                used.peak_bytes += shared;
            }
            if machine.cluster_memory() == Some(memory as u32) {
                used.peak_bytes += self.plan.cluster_bytes;
            }
        }
        if let Some(trace) = &mut self.trace {
            trace.names = self.service.take_names();
        }
        (report, self.trace)
    }
}
