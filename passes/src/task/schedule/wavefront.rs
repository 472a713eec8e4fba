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

use super::fill::{Fill, Program};
use super::lanes::{Lanes, Placement};
use super::operators::{Operator, RKernel, Target};

/// The decision on a wave, for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Its operators.
    pub operators: Vec<usize>,
    /// Groups of lanes that the fastest kernels take, beside what the machine runs at once.
    pub fastest: u64,
    /// True if operators took their most efficient kernel instead.
    pub efficient: bool,
    /// Cycles of the current program, of P1 and of P2, launches included; `None` for the first
    /// wave, and where programs are not cut.
    pub compared: Option<[u64; 3]>,
    /// True if the wave went behind what was there.
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
        fill: Fill::new(operators, target, placement),
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
    fill: Fill<'a>,
    /// The operators of the current program.
    lanes: Lanes,
    programs: Vec<Program>,
}

impl State<'_> {
    fn wave(&mut self, wave: Vec<usize>) -> Decision {
        let (kernels, fastest, efficient) = choose(self.operators, &wave, self.target);
        let place = |mut lanes: Lanes, program: usize| {
            let ways = wave.iter().zip(&kernels);
            let placed = ways
                .map(|(&operator, &kernel)| self.fill.place(&mut lanes, program, operator, kernel));
            (placed.collect::<Vec<_>>(), lanes)
        };
        let current = self.programs.len() - 1;
        let behind = place(self.lanes.clone(), current);
        let first = current == 0 && self.programs[0].operators.is_empty();
        let compared = self.target.launch_cycles.filter(|_| !first).map(|launch| {
            let alone = place(Lanes::new(self.target.units as usize), current + 1);
            let times = [&self.lanes, &behind.1, &alone.1].map(|lanes| lanes.length() + launch);
            (times, alone)
        });
        let times = compared.as_ref().map(|(times, _)| *times);
        let joined = times.is_none_or(|[now, joint, own]| joint <= now + own);
        let (placed, lanes) = match compared {
            Some((_, alone)) if !joined => {
                self.programs.push(Program::default());
                alone
            }
            _ => behind,
        };
        self.lanes = lanes;
        let number = self.programs.len() - 1;
        placed.iter().for_each(|assigned| self.fill.keep(number, assigned));
        self.programs[number].operators.extend(placed);
        self.programs[number].cycles = self.lanes.length();
        Decision { operators: wave, fastest, efficient, compared: times, joined }
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
