//! List scheduling by critical path: whenever a unit is free, the operator starts that the
//! longest way to the end begins with, of those whose inputs are done.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::lanes::{Lanes, Placement};
use super::operators::{Operator, Target};

/// The operators in the order in which they start, and when the last one is done, in cycles.
///
/// ```
/// # use weft_passes::task::schedule::{critical, operators::{Operator, RKernel, Target}};
/// let operator = |cycles, after: &[u32]| Operator {
///     kernels: vec![RKernel { tasks: 1, cycles, groups: 1 }],
///     after: after.to_vec(),
/// };
/// let target = Target { units: 2, capacity: 2, wait_cycles: 0, launch_cycles: None, split_cycles: 0 };
/// // Two short ones before the first of a chain: the chain goes first.
/// let operators = [operator(4, &[]), operator(4, &[]), operator(4, &[]), operator(4, &[2])];
/// assert_eq!(critical::order(&operators, &target), (vec![2, 0, 3, 1], 8));
/// ```
pub fn order(operators: &[Operator], target: &Target) -> (Vec<usize>, u64) {
    let ways = ways(operators, target);
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); operators.len()];
    for (number, operator) in operators.iter().enumerate() {
        for &before in &operator.after {
            readers[before as usize].push(number);
        }
    }
    let mut missing: Vec<usize> = operators.iter().map(|operator| operator.after.len()).collect();
    let mut done = vec![(0, Vec::new()); operators.len()];
    let mut lanes = Lanes::new(target.units as usize);
    let mut free: BinaryHeap<Reverse<u64>> = (0..target.units).map(|_| Reverse(0)).collect();
    // By the moment when their inputs are done; by the way to the end.
    let mut soon: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    let mut ready: BinaryHeap<(u64, Reverse<usize>)> = BinaryHeap::new();
    soon.extend((0..operators.len()).filter(|&n| missing[n] == 0).map(|n| Reverse((0, n))));
    let mut order = Vec::with_capacity(operators.len());
    let mut now = 0;
    while order.len() < operators.len() {
        while soon.peek().is_some_and(|Reverse((at, _))| *at <= now) {
            let Some(Reverse((_, number))) = soon.pop() else { break };
            ready.push((ways[number], Reverse(number)));
        }
        let Some((_, Reverse(number))) = ready.pop() else {
            now = soon.peek().map_or(now, |Reverse((at, _))| *at);
            continue;
        };
        let kernel = operators[number].kernels[0];
        let ready_on = |unit: usize| {
            let ends = operators[number].after.iter().map(|&before| {
                let (end, units): &(u64, Vec<usize>) = &done[before as usize];
                if units[..] == [unit] { *end } else { end + target.wait_cycles }
            });
            ends.max().unwrap_or(0)
        };
        let (count, time) = (kernel.parts(target) as usize, kernel.time(target));
        let placed = lanes.place(count, time, Placement::Lanes, ready_on);
        let end = placed.start + time;
        for _ in &placed.units {
            free.pop();
            free.push(Reverse(end));
        }
        for &reader in &readers[number] {
            missing[reader] -= 1;
            if missing[reader] == 0 {
                let inputs = operators[reader].after.iter();
                let last = inputs.map(|&before| {
                    if before as usize == number { end } else { done[before as usize].0 }
                });
                soon.push(Reverse((last.max().unwrap_or(0), reader)));
            }
        }
        done[number] = (end, placed.units);
        order.push(number);
        now = now.max(free.peek().map_or(0, |Reverse(at)| *at));
    }
    (order, lanes.length())
}

/// Cycles from the start of each operator to the end of the program, units without number.
fn ways(operators: &[Operator], target: &Target) -> Vec<u64> {
    let mut ways: Vec<u64> = vec![0; operators.len()];
    for (number, operator) in operators.iter().enumerate().rev() {
        ways[number] += operator.kernels[0].time(target);
        let way = ways[number] + target.wait_cycles;
        for &before in &operator.after {
            ways[before as usize] = ways[before as usize].max(way);
        }
    }
    ways
}
