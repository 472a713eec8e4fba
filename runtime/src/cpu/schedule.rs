//! A plan's steps as the workers run them: one list per worker, waits reduced to counters.

use std::ops::Range;

use super::code::KernelFn;
use crate::plan::{Base, Plan};

/// What all workers run. Worker `w` of `T` has the steps of all units `u` with `u % T == w`, in
/// the order of the plan.
pub struct Schedule {
    pub workers: Vec<Vec<Call>>,
    /// Waits of all calls: a worker, and how many of its calls must be complete.
    pub waits: Vec<(u32, u32)>,
    /// Buffers of all calls, in the order of the kernels' operands.
    pub operands: Vec<Operand>,
}

/// One step.
pub struct Call {
    pub kernel: KernelFn,
    pub begin: i64,
    pub end: i64,
    /// In [`Schedule::operands`].
    pub operands: Range<usize>,
    /// In [`Schedule::waits`].
    pub waits: Range<usize>,
    /// Index in the plan.
    pub step: usize,
}

/// Where an operand lies.
#[derive(Clone, Copy)]
pub struct Operand {
    pub base: Base,
    pub offset: usize,
}

impl Schedule {
    /// Schedules a valid plan on `threads` workers.
    pub fn new(plan: &Plan, kernels: &[KernelFn], threads: usize) -> Schedule {
        let mut schedule = Schedule {
            workers: (0..threads).map(|_| Vec::new()).collect(),
            waits: Vec::new(),
            operands: Vec::new(),
        };
        // Per step: its worker, and its place in the worker's list plus one.
        let mut places: Vec<(usize, u32)> = Vec::with_capacity(plan.steps.len());
        // Per worker and other worker: what is known to be complete when a step begins. Counters
        // only grow, so an earlier wait for the same or a later step need not be repeated.
        let mut known = vec![vec![0u32; threads]; threads];
        for (index, step) in plan.steps.iter().enumerate() {
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
                }
            }
            let operand = schedule.operands.len();
            schedule.operands.extend(step.buffers.iter().map(|&b| {
                let buffer = &plan.buffers[b as usize];
                Operand { base: buffer.base, offset: buffer.offset as usize }
            }));
            let calls = &mut schedule.workers[worker];
            calls.push(Call {
                kernel: kernels[step.kernel as usize],
                begin: step.begin as i64,
                end: step.end as i64,
                operands: operand..schedule.operands.len(),
                waits: first..schedule.waits.len(),
                step: index,
            });
            places.push((worker, calls.len() as u32));
        }
        schedule
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Kernel, Step};

    extern "C" fn nothing(_: *const *mut u8, _: i64, _: i64) {}

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
            kernels: vec![Kernel { symbol: "k".into() }],
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
    }
}
