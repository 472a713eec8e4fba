//! List scheduling by critical path: whenever a unit is free, the operator starts that the
//! longest way to the end begins with, of those whose inputs are done.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::fill::{Fill, Program};
use super::lanes::{Lanes, Placement};
use super::operators::{Operator, Target, precedence};

/// The operators on their units, in the order in which they were chosen.
///
/// ```
/// # use weft_passes::task::schedule::{critical, operators::{Operator, RKernel, Target}};
/// let operator = |cycles, after: &[u32]| Operator {
///     kernels: vec![RKernel { tasks: 1, cycles, groups: 1 }],
///     after: after.to_vec(),
/// };
/// let target =
///     Target { units: 2, capacity: 2, wait_cycles: 0, launch_cycles: None, split_cycles: 0 };
/// // Two short ones before the first of a chain: the chain goes first.
/// let operators = [operator(4, &[]), operator(4, &[]), operator(4, &[]), operator(4, &[2])];
/// let program = critical::critical(&operators, &target);
/// let order: Vec<_> = program.operators.iter().map(|one| one.operator).collect();
/// assert_eq!((order, program.cycles), (vec![2, 0, 1, 3], 8));
/// ```
pub fn critical(operators: &[Operator], target: &Target) -> Program {
    let mut precedence = precedence(operators);
    let time = |number: usize| operators[number].kernels[0].time(target);
    let ways = precedence.ways(time, |number, ()| time(number) + target.wait_cycles);
    let mut fill = Fill::new(operators, target, Placement::Lanes);
    let mut lanes = Lanes::new(target.units as usize);
    let mut free: BinaryHeap<Reverse<u64>> = (0..target.units).map(|_| Reverse(0)).collect();
    // By the moment when their inputs are done; by the way to the end.
    let mut soon: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    let mut ready: BinaryHeap<(u64, Reverse<usize>)> = BinaryHeap::new();
    soon.extend(precedence.free().map(|number| Reverse((0, number))));
    let mut program = Program::default();
    let mut now = 0;
    while program.operators.len() < operators.len() {
        while soon.peek().is_some_and(|Reverse((at, _))| *at <= now) {
            let Some(Reverse((_, number))) = soon.pop() else { break };
            ready.push((ways[number], Reverse(number)));
        }
        let Some((_, Reverse(number))) = ready.pop() else {
            now = soon.peek().map_or(now, |Reverse((at, _))| *at);
            continue;
        };
        let assigned = fill.place(&mut lanes, 0, number, 0);
        fill.keep(0, &assigned);
        for _ in &assigned.units {
            free.pop();
            free.push(Reverse(assigned.end));
        }
        for (reader, _) in precedence.done(number).filter(|(_, free)| *free) {
            let inputs = operators[reader].after.iter();
            let last = inputs.map(|&before| fill.end(before as usize)).max().unwrap_or(0);
            soon.push(Reverse((last, reader)));
        }
        program.operators.push(assigned);
        now = now.max(free.peek().map_or(0, |Reverse(at)| *at));
    }
    program.cycles = lanes.length();
    program
}
