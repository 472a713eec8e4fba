//! GraphTurbo's order: an operator runs as soon as its inputs are made, before more are made.
//!
//! A list holds the operators whose inputs are done. The next one is nearest to its end and has all
//! that it reads; each of its readers moves to the end. So a cone is finished before the next one
//! begins, and little is alive at once.

use std::collections::BinaryHeap;

use super::fill::{Fill, Program};
use super::lanes::{Lanes, Placement};
use super::operators::{Operator, Target, precedence};

/// The order in which operators are taken (GraphTurbo, instance scheduling).
///
/// ```
/// # use weft_passes::task::schedule::{depth, operators::Operator};
/// let operator = |after: &[u32]| Operator { kernels: Vec::new(), after: after.to_vec() };
/// // Four slices, two operators that read two of them each, and one that reads both.
/// let slices = [&[][..], &[], &[], &[], &[0, 1], &[2, 3], &[4, 5]];
/// let order = depth::order(&slices.map(|after| operator(after)));
/// assert_eq!(order, [3, 2, 5, 1, 0, 4, 6]);
/// ```
pub fn order(operators: &[Operator]) -> Vec<usize> {
    let mut precedence = precedence(operators);
    // A place in the list is when one moved there; who still misses something is never taken.
    let mut list: BinaryHeap<(usize, usize)> = BinaryHeap::new();
    list.extend(precedence.free().map(|own| (own, own)));
    let mut moved = operators.len();
    let mut order = Vec::with_capacity(operators.len());
    while let Some((_, number)) = list.pop() {
        order.push(number);
        for (reader, free) in precedence.done(number) {
            if free {
                list.push((moved, reader));
            }
            moved += 1;
        }
    }
    order
}

/// The operators in that order, each as soon as it can start.
pub fn depth(operators: &[Operator], target: &Target) -> Program {
    let mut fill = Fill::new(operators, target, Placement::Lanes);
    let mut lanes = Lanes::new(target.units as usize);
    let mut program = Program::default();
    for operator in order(operators) {
        let assigned = fill.place(&mut lanes, 0, operator, 0);
        fill.keep(0, &assigned);
        program.operators.push(assigned);
    }
    program.cycles = lanes.length();
    program
}
