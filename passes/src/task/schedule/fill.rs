//! Operators on lanes, one after the other: what every policy does once it has chosen.

use super::lanes::{Lanes, Placement};
use super::operators::{Operator, Target};

/// One operator in its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assigned {
    /// Which operator.
    pub operator: usize,
    /// Which of its kernels.
    pub kernel: usize,
    /// The start of its rTasks, in cycles from the program's begin.
    pub start: u64,
    /// The end of its rTasks.
    pub end: u64,
    /// The units that share its rTasks, ascending.
    pub units: Vec<usize>,
}

/// The operators between two launches.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Program {
    /// The operators in the order of their placement, each after those that it needs.
    pub operators: Vec<Assigned>,
    /// The end of the last of them, in cycles from the program's begin.
    pub cycles: u64,
}

/// Operators that have their units so far.
pub(super) struct Fill<'a> {
    operators: &'a [Operator],
    target: &'a Target,
    placement: Placement,
    /// The program of each operator that has one, when it is done there, and on which units.
    done: Vec<Option<(usize, u64, Vec<usize>)>>,
}

impl<'a> Fill<'a> {
    /// Makes a program without operators.
    pub fn new(operators: &'a [Operator], target: &'a Target, placement: Placement) -> Self {
        Self { operators, target, placement, done: vec![None; operators.len()] }
    }

    /// Returns the place of an operator on the lanes of a program, whose number says which
    /// operators it waits for; those of programs before are done.
    pub fn place(
        &self,
        lanes: &mut Lanes,
        program: usize,
        operator: usize,
        kernel: usize,
    ) -> Assigned {
        let way = self.operators[operator].kernels[kernel];
        let done = self.operators[operator].after.iter().filter_map(|&before| {
            let (number, end, units) = self.done[before as usize].as_ref()?;
            (*number == program).then_some((*end, units))
        });
        let done: Vec<_> = done.collect();
        // Its own order keeps what a unit made by itself.
        let ready = |unit: usize| {
            let after = done.iter().map(|&(end, units)| match units[..] {
                [only] if only == unit => end,
                _ => end + self.target.wait_cycles,
            });
            after.max().unwrap_or(0)
        };
        let (count, time) = (way.parts(self.target) as usize, way.time(self.target));
        let placed = lanes.place(count, time, self.placement, ready);
        let (start, units) = (placed.start, placed.units);
        Assigned { operator, kernel, start, end: start + time, units }
    }

    /// Remembers where an operator went.
    pub fn keep(&mut self, program: usize, assigned: &Assigned) {
        let done = (program, assigned.end, assigned.units.clone());
        self.done[assigned.operator] = Some(done);
    }

    /// Returns the end of an operator.
    pub fn end(&self, operator: usize) -> u64 {
        self.done[operator].as_ref().map_or(0, |(_, end, _)| *end)
    }
}

/// All operators as they come, each as soon as it can start.
pub fn in_order(operators: &[Operator], target: &Target) -> Program {
    let mut fill = Fill::new(operators, target, Placement::Lanes);
    let mut lanes = Lanes::new(target.units as usize);
    let mut program = Program::default();
    for operator in 0..operators.len() {
        let assigned = fill.place(&mut lanes, 0, operator, 0);
        fill.keep(0, &assigned);
        program.operators.push(assigned);
    }
    program.cycles = lanes.length();
    program
}
