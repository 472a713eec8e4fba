//! The execution of a unit until it has to wait.

use std::cmp::Reverse;

use super::super::error::SimulateError;
use super::super::prepare::{Inst, Ready};
use super::super::walker::{Fault, Home, Stop, Token};
use super::{Base, Blocked, Order, TICKS, Tick, Timed};

/// The state of a unit after an operation.
#[derive(PartialEq)]
enum Go {
    On,
    /// Its event comes later, or another unit wakes it.
    Later,
}

impl<'r, 'c> Timed<'r, 'c> {
    /// A unit acts until it waits or others come first.
    pub(super) fn unit(&mut self, unit: u32, now: Tick) -> Result<(), SimulateError> {
        let own = &mut self.units[unit as usize];
        own.now = own.now.max(now);
        loop {
            let go = match self.units[unit as usize].step {
                None => self.next_step(unit),
                Some(step) => self.go_on(unit, step)?,
            };
            if go == Go::Later {
                return Ok(());
            }
            let now = self.units[unit as usize].now;
            if self.others_first(unit, now) {
                self.schedule_unit(unit, now);
                return Ok(());
            }
        }
    }

    /// Comes back at a time that is known.
    fn later(&mut self, unit: u32, at: Tick) -> Go {
        self.schedule_unit(unit, at);
        Go::Later
    }

    fn next_step(&mut self, unit: u32) -> Go {
        let own = &mut self.units[unit as usize];
        let Some(&number) = own.steps.front() else {
            return Go::Later;
        };
        let step = &self.plan.steps[number as usize];
        let machine = &self.code.machine;
        let launch = self.plan.launches.partition_point(|&first| first <= number) as u32;
        let first = launch.checked_sub(1).map_or(0, |place| self.plan.launches[place as usize]);
        if own.launch.is_none_or(|(known, _)| known != launch) {
            own.launch = Some((launch, own.now));
        }
        let mut begin = own.now;
        // A launch begins when the unit comes to it and those before it are done.
        let mut launched = own.launch.map_or(0, |(_, came)| came);
        for &wait in &step.waits {
            match self.done[wait as usize] {
                Some(done) => {
                    let elsewhere = self.plan.steps[wait as usize].unit != unit;
                    let cycles = if elsewhere { machine.wait_cycles } else { 0 };
                    begin = begin.max(done + cycles * TICKS);
                    if wait < first {
                        launched = launched.max(done);
                    }
                }
                None => {
                    own.blocked = Blocked::Step;
                    self.waiters[wait as usize].push(unit);
                    return Go::Later;
                }
            }
        }
        begin = begin.max(launched + machine.launch_cycles * TICKS);
        if begin > own.now {
            return self.later(unit, begin);
        }
        own.steps.pop_front();
        own.step = Some(number);
        own.task = step.begin;
        own.horizon = own.now;
        self.began[number as usize] = own.now;
        let homes: Vec<Home> =
            step.buffers.iter().map(|&b| self.numbers.home(self.plan, b)).collect();
        let ready = self.kernels[step.kernel as usize];
        own.walker.enter(ready, &homes);
        if step.begin < step.end {
            own.walker.begin(ready, step.begin);
        }
        Go::On
    }

    fn go_on(&mut self, unit: u32, number: u32) -> Result<Go, SimulateError> {
        let step = &self.plan.steps[number as usize];
        let ready = self.kernels[step.kernel as usize];
        let own = &mut self.units[unit as usize];
        if own.task >= step.end {
            return Ok(self.end_step(unit, number));
        }
        if let Some(order) = own.pending.take() {
            return Ok(self.issue(unit, ready, order));
        }
        let stop = match own.walker.next(ready, &self.code.machine) {
            Ok(stop) => stop,
            Err(fault) => return Err(self.fault(unit, ready, fault)),
        };
        Ok(match stop {
            Stop::Site(site) => {
                let order = self.order(unit, step.kernel, ready, site);
                self.issue(unit, ready, order)
            }
            Stop::Wait(at) => self.wait(unit, ready, at),
            Stop::Alloc(..) | Stop::Free(..) | Stop::Barrier(..) => Go::On,
            Stop::End => {
                let own = &mut self.units[unit as usize];
                own.task += 1;
                if own.task < step.end {
                    own.walker.begin(ready, own.task);
                }
                Go::On
            }
        })
    }

    fn fault(&self, unit: u32, ready: &Ready<'c>, fault: Fault) -> SimulateError {
        let own = &self.units[unit as usize];
        let step = own.step.unwrap_or(0);
        super::super::functional::fault(
            self.code,
            self.plan,
            ready,
            (step, own.task, own.walker.at as u32),
            fault,
        )
    }

    /// An operation with its operands' places. One that leaves its buffer is the functional
    /// half's to refuse; here it stays at the buffer's begin.
    fn order(&mut self, unit: u32, kernel: u32, ready: &Ready<'c>, site: u32) -> Order {
        let own = &mut self.units[unit as usize];
        let step = own.step.unwrap_or(0);
        let mut bases = own.spare.pop().unwrap_or_default();
        bases.clear();
        for side in &ready.sites[site as usize].sides {
            let offset = own.walker.offset(side).unwrap_or(-side.area.low);
            let mut home = own.walker.homes[side.memref as usize];
            if home == Home::NOWHERE {
                home = Home { region: side.memory, ..Home::NOWHERE };
            }
            bases.push(Base { region: home.region, at: home.begin.wrapping_add_signed(offset) });
        }
        Order { step, kernel, site, bases, entered: 0 }
    }

    /// Gives an operation to its engine, or does it where its operands are ready.
    fn issue(&mut self, unit: u32, ready: &Ready<'c>, mut order: Order) -> Go {
        let site = &ready.sites[order.site as usize];
        let now = self.units[unit as usize].now;
        if let Some(number) = site.engine {
            let room = self.code.machine.engines[number as usize].queue;
            let actor = self.actor(unit) + 1 + number;
            let engine = self.engine_at(unit, number);
            if engine.queue.len() as u64 >= room {
                let own = &mut self.units[unit as usize];
                own.pending = Some(order);
                own.blocked = Blocked::Queue(number);
                return Go::Later;
            }
            order.entered = now + TICKS;
            let given = engine.given;
            engine.given += 1;
            let at = engine.free.max(order.entered);
            engine.queue.push_back(order);
            if !std::mem::replace(&mut engine.scheduled, true) {
                self.events.push(Reverse((at, actor)));
            }
            let own = &mut self.units[unit as usize];
            if let Some(token) = site.token {
                own.walker.tokens[token as usize] = Some(Token { engine: number, number: given });
            }
            own.now += TICKS;
            own.busy += TICKS;
            return Go::On;
        }
        let available = self.service.ready(unit, site, &order.bases);
        if available > now {
            self.units[unit as usize].pending = Some(order);
            return self.later(unit, available);
        }
        let (_, done) = self.service.perform((unit, order.step), site, &order.bases, now);
        self.service.set_ready(unit, site, &order.bases, done);
        let issue = super::ticks(site.cost.issue_cycles);
        self.span(unit, 0, self.service.name(site), now, issue);
        let own = &mut self.units[unit as usize];
        own.horizon = own.horizon.max(done);
        own.now += issue;
        own.busy += issue;
        own.spare.push(order.bases);
        Go::On
    }

    fn wait(&mut self, unit: u32, ready: &Ready<'c>, at: u32) -> Go {
        let Inst::Wait(tokens) = &ready.code[at as usize] else { return Go::On };
        let mut until = self.units[unit as usize].now;
        for &token in tokens {
            // The functional half refuses a token that was never given.
            let Some(token) = self.units[unit as usize].walker.tokens[token as usize] else {
                continue;
            };
            if token == Token::READY {
                continue;
            }
            let engine = self.engine_at(unit, token.engine);
            if token.number >= engine.begun {
                let own = &mut self.units[unit as usize];
                own.blocked = Blocked::Token { engine: token.engine, number: token.number };
                own.walker.at = at as usize;
                return Go::Later;
            }
            // Tokens are given in order: those before are not asked for again.
            let first = engine.begun - engine.ready.len() as u64;
            if token.number >= first {
                engine.ready.drain(..(token.number - first) as usize);
                until = until.max(engine.ready[0]);
            }
        }
        if until > self.units[unit as usize].now {
            self.units[unit as usize].walker.at = at as usize;
            return self.later(unit, until);
        }
        Go::On
    }

    /// A step is done when everything that it issued is.
    fn end_step(&mut self, unit: u32, number: u32) -> Go {
        for engine in 0..self.code.machine.engines.len() as u32 {
            let state = self.engine_at(unit, engine);
            if state.begun < state.given {
                let number = state.given - 1;
                self.units[unit as usize].blocked = Blocked::Token { engine, number };
                return Go::Later;
            }
            state.ready.clear();
        }
        let count = self.code.machine.engines.len();
        let engines = &self.engines[unit as usize * count..][..count];
        let own = &mut self.units[unit as usize];
        let last = engines.iter().map(|engine| engine.last).max().unwrap_or(0);
        let done = own.now.max(own.horizon).max(last);
        own.step = None;
        self.done[number as usize] = Some(done);
        for waiter in std::mem::take(&mut self.waiters[number as usize]) {
            let at = done.max(self.units[waiter as usize].now);
            self.schedule_unit(waiter, at);
        }
        Go::On
    }
}
