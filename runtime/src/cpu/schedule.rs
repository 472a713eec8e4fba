//! A plan's steps as the workers run them: one list per worker, waits reduced to counters.

use std::ops::Range;

use super::code::KernelFn;
use crate::plan::{Base, Following, Plan};

/// The steps of all workers. Worker `w` of `T` has those of all units `u` with `u % T == w`, in
/// the order of the plan.
pub struct Schedule {
    pub workers: Vec<Vec<Item>>,
    /// Waits of all calls: a worker, and how many of its items must be complete.
    pub waits: Vec<(u32, u32)>,
    /// Buffers of all calls, in the order of the kernels' operands.
    pub operands: Vec<Operand>,
    /// Bytes of scratch memory that each worker lends to its calls.
    pub scratch_bytes: usize,
    /// Names that data decide, in the order of calls.
    pub finds: Vec<Found>,
    /// As those of the plan.
    pub loops: Vec<Repeated>,
    /// What says what follows from names, where a run decides some.
    pub plan: Option<Box<Plan>>,
}

/// What a worker does next.
pub enum Item {
    Call(Call),
    /// A round of a loop, by its number, may begin.
    Turn {
        of: usize,
        is_end: bool,
    },
}

/// Items that are done round by round.
pub struct Repeated {
    /// For each worker where it begins, and where it ends: two turns among its items.
    pub places: Vec<[usize; 2]>,
    /// The name that stands for the number of the round.
    pub round: Named,
    /// In [`Schedule::operands`], what begins with zero when there is no other round.
    pub condition: Option<usize>,
    /// The first step, for messages.
    pub step: usize,
}

/// A name that stands for what a call has calculated.
pub struct Found {
    pub name: Named,
    /// In [`Schedule::operands`], the memory that holds the number.
    pub operand: usize,
}

/// A name that a run decides.
pub struct Named {
    /// Its number in the plan.
    pub symbol: usize,
    /// What follows from it.
    pub following: Following,
    /// The operands that begin further on.
    pub moving: Vec<usize>,
}

/// One step.
pub struct Call {
    pub kernel: KernelFn,
    pub begin: i64,
    pub end: i64,
    /// The share of the rTasks that it does instead, by its number, where lengths decide that.
    pub share: Option<usize>,
    /// In [`Schedule::operands`].
    pub operands: Range<usize>,
    /// In [`Schedule::waits`].
    pub waits: Range<usize>,
    /// Index in the plan.
    pub step: usize,
    /// True if a call of another worker waits for this one.
    pub awaited: bool,
    /// In [`Schedule::finds`], what is known behind it.
    pub finds: Range<usize>,
}

/// The address of an operand.
#[derive(Clone, Copy)]
pub enum Operand {
    /// A buffer of the plan, which may begin further on: by a shift, by its number.
    Buffer { base: Base, offset: usize, shift: Option<usize> },
    /// The scratch memory that a worker lends to its calls, one after another.
    Scratch { worker: usize },
}

/// Workers' scratch begins on pages of their own.
const PAGE: u64 = 4096;

impl Schedule {
    /// Schedules a valid plan on `threads` workers.
    pub fn new(plan: &Plan, kernels: &[KernelFn], threads: usize) -> Schedule {
        let scratch = plan.kernels.iter().map(|kernel| kernel.scratch_bytes).max().unwrap_or(0);
        let mut schedule = Schedule {
            workers: (0..threads).map(|_| Vec::new()).collect(),
            waits: Vec::new(),
            operands: Vec::new(),
            scratch_bytes: scratch.next_multiple_of(PAGE) as usize,
            finds: Vec::new(),
            loops: Vec::new(),
            plan: plan.decides().then(|| Box::new(plan.clone())),
        };
        // Per step: its worker, and its place in the worker's list plus one.
        let mut places: Vec<(usize, u32)> = Vec::with_capacity(plan.steps.len());
        // Per worker and other worker: what is known to be complete when a step begins. Counters
        // only grow, so an earlier wait for the same or a later step need not be repeated.
        let mut known = vec![vec![0u32; threads]; threads];
        for (index, step) in plan.steps.iter().enumerate() {
            schedule.turns(plan, index);
            let worker = step.unit as usize % threads;
            let mut latest = vec![0u32; threads];
            for &wait in &step.waits {
                let (other, count) = places[wait as usize];
                latest[other] = latest[other].max(count);
            }
            let first = schedule.waits.len();
            for (other, &count) in latest.iter().enumerate() {
                if other != worker && count > known[worker][other] {
                    known[worker][other] = count;
                    schedule.waits.push((other as u32, count));
                    if let Item::Call(call) = &mut schedule.workers[other][count as usize - 1] {
                        call.awaited = true;
                    }
                }
            }
            let operand = schedule.operands.len();
            schedule.operands.extend(step.buffers.iter().map(|&buffer| Operand::of(plan, buffer)));
            if plan.kernels[step.kernel as usize].scratch_bytes > 0 {
                schedule.operands.push(Operand::Scratch { worker });
            }
            let first_find = schedule.finds.len();
            for find in plan.lengths.finds.iter().filter(|find| find.step as usize == index) {
                let place = step.buffers.iter().position(|buffer| *buffer == find.buffer);
                schedule.finds.push(Found {
                    name: Named::of(plan, find.symbol),
                    operand: operand + place.expect("the plan was validated"),
                });
            }
            let items = &mut schedule.workers[worker];
            items.push(Item::Call(Call {
                kernel: kernels[step.kernel as usize],
                begin: step.begin as i64,
                end: step.end as i64,
                share: share_of(plan, index),
                operands: operand..schedule.operands.len(),
                waits: first..schedule.waits.len(),
                step: index,
                awaited: false,
                finds: first_find..schedule.finds.len(),
            }));
            places.push((worker, items.len() as u32));
        }
        schedule.turns(plan, plan.steps.len());
        let shifts: Vec<_> = schedule.operands.iter().map(Operand::shift).collect();
        let found = schedule.finds.iter_mut().map(|found| &mut found.name);
        for name in found.chain(schedule.loops.iter_mut().map(|own| &mut own.round)) {
            let follows = |own: &usize| name.following.shifts.contains(own);
            let moving =
                shifts.iter().enumerate().filter(|(_, own)| own.as_ref().is_some_and(follows));
            name.moving = moving.map(|(operand, _)| operand).collect();
        }
        schedule
    }

    /// Ends the loops that end in front of a step, and begins those that begin there.
    fn turns(&mut self, plan: &Plan, step: usize) {
        let loops = plan.lengths.loops.iter().enumerate();
        // Those that have begun last end first.
        for (of, _) in loops.clone().rev().filter(|(_, own)| own.end as usize == step) {
            for (items, places) in self.workers.iter_mut().zip(&mut self.loops[of].places) {
                places[1] = items.len();
                items.push(Item::Turn { of, is_end: true });
            }
        }
        for (of, own) in loops.filter(|(_, own)| own.first as usize == step) {
            let places = self.workers.iter().map(|items| [items.len(); 2]).collect();
            self.workers.iter_mut().for_each(|items| items.push(Item::Turn { of, is_end: false }));
            let condition = own.condition.map(|buffer| {
                self.operands.push(Operand::of(plan, buffer));
                self.operands.len() - 1
            });
            let round = Named::of(plan, own.symbol);
            self.loops.push(Repeated { places, round, condition, step });
        }
    }
}

impl Named {
    /// A name by its number; which operands move is not known yet.
    fn of(plan: &Plan, symbol: u32) -> Named {
        let following = plan.following(symbol);
        Named { symbol: symbol as usize, following, moving: Vec::new() }
    }
}

impl Operand {
    /// A buffer by its number.
    fn of(plan: &Plan, number: u32) -> Operand {
        let buffer = &plan.buffers[number as usize];
        let shifts = &plan.lengths.shifts;
        let shift = shifts.binary_search_by_key(&number, |shift| shift.buffer).ok();
        Operand::Buffer { base: buffer.base, offset: buffer.offset as usize, shift }
    }

    fn shift(&self) -> Option<usize> {
        match self {
            Operand::Buffer { shift, .. } => *shift,
            Operand::Scratch { .. } => None,
        }
    }
}

/// The share that a step does.
fn share_of(plan: &Plan, step: usize) -> Option<usize> {
    plan.lengths.shares.binary_search_by_key(&(step as u32), |share| share.step).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Kernel, Step};

    extern "C-unwind" fn nothing(_: *const *mut u8, _: i64, _: i64) {}

    #[test]
    fn waits_within_a_worker_cost_nothing() {
        let step = |unit, waits: &[u32]| Step {
            unit,
            kernel: 0,
            begin: 0,
            end: 1,
            buffers: vec![],
            waits: waits.to_vec(),
            op: 0,
        };
        let plan = Plan {
            units: 4,
            kernels: vec![Kernel { symbol: "k".into(), scratch_bytes: 0 }],
            steps: vec![
                step(0, &[]),
                step(1, &[]),
                step(2, &[0, 1]),
                step(3, &[0, 1, 2]),
                step(0, &[1, 3]),
            ],
            ops: vec!["op".into()],
            ..Plan::default()
        };
        assert_eq!(plan.validate(), Ok(()));
        let waits = |threads| Schedule::new(&plan, &[nothing], threads).waits;
        assert_eq!(waits(1), []);
        // Steps 0, 2, 4 against 1, 3. Step 3 waits for 2, which comes after 0.
        assert_eq!(waits(2), [(1, 1), (0, 2), (1, 2)]);
        assert_eq!(waits(4).len(), 7);
        let awaited = |threads| -> Vec<Vec<bool>> {
            let schedule = Schedule::new(&plan, &[nothing], threads);
            let awaited = |item: &Item| matches!(item, Item::Call(call) if call.awaited);
            let workers = schedule.workers.iter();
            workers.map(|items| items.iter().map(awaited).collect()).collect()
        };
        assert_eq!(awaited(1), [[false; 5]]);
        assert_eq!(awaited(2), [vec![false, true, false], vec![true, true]]);
    }

    #[test]
    fn a_worker_lends_its_own_memory() {
        let kernel = |bytes| Kernel { symbol: "k".into(), scratch_bytes: bytes };
        let step = |unit, kernel| Step {
            unit,
            kernel,
            begin: 0,
            end: 1,
            buffers: vec![],
            waits: vec![],
            op: 0,
        };
        let plan = Plan {
            units: 2,
            kernels: vec![kernel(0), kernel(100), kernel(5000)],
            steps: vec![step(0, 0), step(0, 1), step(1, 2), step(1, 1)],
            ops: vec!["op".into()],
            ..Plan::default()
        };
        let schedule = Schedule::new(&plan, &[nothing, nothing, nothing], 2);
        assert_eq!(schedule.scratch_bytes, 8192);
        let workers = schedule.operands.iter().map(|operand| match operand {
            Operand::Scratch { worker } => *worker,
            Operand::Buffer { .. } => usize::MAX,
        });
        assert_eq!(workers.collect::<Vec<_>>(), [0, 1, 1]);
    }
}
