//! The predicted times of a plan's steps, by its machine's facts.

use std::ops::Range;

use crate::plan::Plan;

/// When each step of a valid plan runs, in picoseconds since the first begins: as soon as its unit
/// is free and its waits are done, for the time that it takes at least, 0 where that is not known.
///
/// ```
/// use weft_runtime::plan::{Plan, Step};
/// use weft_runtime::replay::replay;
///
/// let step = |unit, waits| Step { unit, kernel: 0, begin: 0, end: 1, buffers: vec![], waits, op: 0 };
/// let plan = Plan {
///     units: 2,
///     steps: vec![step(0, vec![]), step(1, vec![]), step(1, vec![0])],
///     least_ps: vec![30, 10, 5],
///     ..Plan::default()
/// };
/// assert_eq!(replay(&plan), [0..30, 0..10, 30..35]);
/// ```
pub fn replay(plan: &Plan) -> Vec<Range<u64>> {
    let mut free = vec![0; plan.units as usize];
    let mut times: Vec<Range<u64>> = Vec::with_capacity(plan.steps.len());
    // The plan's order is topological: what a step waits for stands before it.
    for (i, step) in plan.steps.iter().enumerate() {
        let free = &mut free[step.unit as usize];
        let done = step.waits.iter().map(|&wait| times[wait as usize].end);
        let begin = done.fold(*free, u64::max);
        *free = begin.saturating_add(plan.least_ps.get(i).copied().unwrap_or(0));
        times.push(begin..*free);
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Step;

    fn plan(steps: &[(u32, &[u32])], least_ps: &[u64]) -> Plan {
        let step = |&(unit, waits): &(u32, &[u32])| Step {
            unit,
            kernel: 0,
            begin: 0,
            end: 1,
            buffers: vec![],
            waits: waits.to_vec(),
            op: 0,
        };
        let steps = steps.iter().map(step).collect();
        Plan { units: 3, steps, least_ps: least_ps.to_vec(), ..Plan::default() }
    }

    #[test]
    fn the_latest_of_what_is_waited_for_counts() {
        let steps: &[(u32, &[u32])] = &[(0, &[]), (1, &[]), (2, &[0, 1]), (0, &[1]), (2, &[])];
        let times = replay(&plan(steps, &[10, 40, 5, 1, 2]));
        assert_eq!(times, [0..10, 0..40, 40..45, 40..41, 45..47]);
    }

    #[test]
    fn what_is_not_known_takes_no_time() {
        let steps: &[(u32, &[u32])] = &[(0, &[]), (1, &[0])];
        assert_eq!(replay(&plan(steps, &[])), [0..0, 0..0]);
    }

    #[test]
    fn longer_than_time_is_the_end_of_time() {
        let steps: &[(u32, &[u32])] = &[(0, &[]), (0, &[])];
        assert_eq!(replay(&plan(steps, &[u64::MAX, 7])), [0..u64::MAX, u64::MAX..u64::MAX]);
    }
}
