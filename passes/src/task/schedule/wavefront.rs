//! Rammer's policy (OSDI'20, algorithm 1): wave by wave, behind what is there or as a program
//! of its own.
//!
//! A wave is every operator whose inputs are done. Two programs are compared: the current one
//! with the wave behind it, and the wave alone after a launch. The first is kept where it is
//! not slower; otherwise the current program is finished.
//!
//! ```text
//! P1 = cur + W        time(P1) <= time(cur) + time(P2)   ->   cur := P1
//! P2 = W              otherwise                          ->   launch; cur := P2
//! ```
//!
//! The kernels of a wave are the fastest ones, unless their rTasks are more than the machine
//! runs at once: then each operator takes the one of the smallest `time · resource`.

use super::lanes::{Lanes, Placement};
use super::operators::{Operator, RKernel, Target};

/// One operator in its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assigned {
    /// Which operator.
    pub operator: usize,
    /// Which of its kernels.
    pub kernel: usize,
    /// When its rTasks start, in cycles from the program's begin.
    pub start: u64,
    /// The units that share its rTasks, ascending.
    pub units: Vec<usize>,
}

/// What runs from one launch to the next.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Program {
    /// In an order that satisfies every wait.
    pub operators: Vec<Assigned>,
    /// When the last of them is done, in cycles from the program's begin.
    pub cycles: u64,
}

/// How a wave was decided on, for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Its operators.
    pub operators: Vec<usize>,
    /// Groups of lanes that the fastest kernels take, beside what the machine runs at once.
    pub fastest: u64,
    /// Whether operators took their most efficient kernel instead.
    pub efficient: bool,
    /// Cycles of the current program, of P1 and of P2, launches included; `None` for the first
    /// wave, and where programs are not cut.
    pub compared: Option<[u64; 3]>,
    /// Whether the wave went behind what was there.
    pub joined: bool,
}

/// The programs, and what each wave was decided by.
pub fn wavefront(
    operators: &[Operator],
    target: &Target,
    placement: Placement,
) -> (Vec<Program>, Vec<Decision>) {
    let mut state = State {
        operators,
        target,
        placement,
        program: vec![0; operators.len()],
        done: vec![(0, Vec::new()); operators.len()],
        lanes: Lanes::new(target.units as usize),
        programs: vec![Program::default()],
    };
    let decisions = waves(operators).into_iter().map(|wave| state.wave(wave)).collect();
    (state.programs, decisions)
}

/// Operators by the longest way to them.
fn waves(operators: &[Operator]) -> Vec<Vec<usize>> {
    let mut level = vec![0; operators.len()];
    let mut waves: Vec<Vec<usize>> = Vec::new();
    for (number, operator) in operators.iter().enumerate() {
        level[number] =
            operator.after.iter().map(|&before| level[before as usize] + 1).max().unwrap_or(0);
        waves.resize(waves.len().max(level[number] + 1), Vec::new());
        waves[level[number]].push(number);
    }
    waves
}

struct State<'a> {
    operators: &'a [Operator],
    target: &'a Target,
    placement: Placement,
    /// The program of each operator that has one.
    program: Vec<usize>,
    /// When each is done in its program, and on which units.
    done: Vec<(u64, Vec<usize>)>,
    /// Of the current program.
    lanes: Lanes,
    programs: Vec<Program>,
}

impl State<'_> {
    fn wave(&mut self, wave: Vec<usize>) -> Decision {
        let (kernels, fastest, efficient) = choose(self.operators, &wave, self.target);
        let current = self.programs.len() - 1;
        let (lanes, behind) = self.place(&wave, &kernels, self.lanes.clone(), Some(current));
        let launch = self.target.launch_cycles.filter(|_| current > 0 || !self.is_empty());
        let compared = launch.map(|launch| {
            let alone = Lanes::new(self.target.units as usize);
            let (alone, placed) = self.place(&wave, &kernels, alone, None);
            let times = [&self.lanes, &lanes, &alone].map(|lanes| lanes.length() + launch);
            (times, alone, placed)
        });
        let joined = compared.as_ref().is_none_or(|([now, joint, own], ..)| *joint <= now + own);
        let times = compared.as_ref().map(|(times, ..)| *times);
        let placed = match compared {
            Some((_, alone, placed)) if !joined => {
                self.programs.push(Program::default());
                self.lanes = alone;
                placed
            }
            _ => {
                self.lanes = lanes;
                behind
            }
        };
        let number = self.programs.len() - 1;
        for assigned in placed {
            let kernel = self.operators[assigned.operator].kernels[assigned.kernel];
            let end = assigned.start + kernel.time(self.target);
            self.program[assigned.operator] = number;
            self.done[assigned.operator] = (end, assigned.units.clone());
            self.programs[number].operators.push(assigned);
        }
        self.programs[number].cycles = self.lanes.length();
        Decision { operators: wave, fastest, efficient, compared: times, joined }
    }

    fn is_empty(&self) -> bool {
        self.programs.iter().all(|program| program.operators.is_empty())
    }

    /// Places a wave on lanes that hold the program `current`, or nothing.
    fn place(
        &self,
        wave: &[usize],
        kernels: &[usize],
        mut lanes: Lanes,
        current: Option<usize>,
    ) -> (Lanes, Vec<Assigned>) {
        let mut placed = Vec::with_capacity(wave.len());
        for (&operator, &kernel) in wave.iter().zip(kernels) {
            let way = self.operators[operator].kernels[kernel];
            let before: Vec<&(u64, Vec<usize>)> = self.operators[operator]
                .after
                .iter()
                .filter(|&&before| Some(self.program[before as usize]) == current)
                .map(|&before| &self.done[before as usize])
                .collect();
            // Its own order keeps what a unit made by itself.
            let ready = |unit: usize| {
                let after = before.iter().map(|(end, units)| match units[..] {
                    [only] if only == unit => *end,
                    _ => end + self.target.wait_cycles,
                });
                after.max().unwrap_or(0)
            };
            let count = way.parts(self.target) as usize;
            let own = lanes.place(count, way.time(self.target), self.placement, ready);
            placed.push(Assigned { operator, kernel, start: own.start, units: own.units });
        }
        (lanes, placed)
    }
}

/// The kernel of each operator of a wave; what the fastest take together; whether they were
/// too much.
fn choose(operators: &[Operator], wave: &[usize], target: &Target) -> (Vec<usize>, u64, bool) {
    let fastest = wave.iter().map(|&operator| operators[operator].kernels[0].resource()).sum();
    let efficient = fastest > target.capacity;
    let cost = |kernel: &RKernel| u128::from(kernel.time(target)) * u128::from(kernel.resource());
    let choice = |&operator: &usize| {
        let kernels = operators[operator].kernels.iter().enumerate();
        let least = kernels.min_by_key(|(_, kernel)| cost(kernel)).map_or(0, |(number, _)| number);
        if efficient { least } else { 0 }
    };
    (wave.iter().map(choice).collect(), fastest, efficient)
}
