//! A program as policies see it: operators as sets of rTasks, and their dependences.
//!
//! Nothing here knows a kernel's code or a buffer's place, so that a policy is a function from
//! numbers to numbers, and can be compared with the published examples.

use std::rc::Rc;

use super::super::conflicts::{Access, Conflicts};
use super::super::kernels::Kernels;
use super::super::touch::{Region, seen_from};
use super::super::values::{Job, Lowered, StorageClass};
use crate::cost::worth::parts;
use crate::precedence::Precedence;

/// An operator (Rammer's rOperator, OSDI'20, section 3): rTasks that are independent of each
/// other, in one or more ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    /// The ways to do it (rKernels), the fastest one first.
    pub kernels: Vec<RKernel>,
    /// Operators that have to be done before it, ascending, each smaller than its own number.
    pub after: Vec<u32>,
}

/// Returns the dependences between operators.
pub(super) fn precedence(operators: &[Operator]) -> Precedence {
    let before = |operator: &Operator| -> Vec<(usize, ())> {
        operator.after.iter().map(|&before| (before as usize, ())).collect()
    };
    Precedence::of(operators.iter().map(before))
}

/// One implementation of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RKernel {
    /// Number of rTasks.
    pub tasks: u64,
    /// Cycles that all of them take on one unit.
    pub cycles: u64,
    /// Groups of lanes that one rTask takes.
    pub groups: u64,
}

/// The resources that a schedule is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Virtual units.
    pub units: u64,
    /// Groups of lanes that run at once on all of them.
    pub capacity: u64,
    /// Cycles that a wait takes where it crosses units.
    pub wait_cycles: u64,
    /// Cycles that a launch takes; `None` where programs are not cut.
    pub launch_cycles: Option<u64>,
    /// Cycles above which an operator is given to more than one unit.
    pub split_cycles: u64,
}

impl RKernel {
    /// Returns the number of units that it is given, by its cycles.
    pub fn parts(&self, target: &Target) -> u64 {
        parts(self.tasks, self.cycles, target.units, target.split_cycles)
    }

    /// Cycles that the unit with the most rTasks takes for them.
    pub fn time(&self, target: &Target) -> u64 {
        let most = self.tasks.div_ceil(self.parts(target));
        let cycles = u128::from(self.cycles) * u128::from(most);
        u64::try_from(cycles.div_ceil(u128::from(self.tasks.max(1)))).unwrap_or(u64::MAX)
    }

    /// Returns the groups of lanes that all its rTasks take (as Rammer's artifact counts).
    pub fn resource(&self) -> u64 {
        self.tasks.saturating_mul(self.groups)
    }
}

/// The most cycles that an operator is taken to need: policies add them up.
pub(crate) const CYCLES: u64 = 1 << 40;

/// The jobs of a program as operators: what a job reads was written by those before it.
///
/// Memory that is used again is not looked at, for it has no place yet.
pub(super) fn of(lowered: &Lowered<'_>, kernels: &Kernels<'_>, target: &Target) -> Vec<Operator> {
    let mut conflicts = Conflicts::new(lowered.storages.len());
    let mut operators = Vec::with_capacity(lowered.jobs.len());
    let mut regions: Vec<Option<Rc<[Region]>>> = Vec::new();
    for (number, job) in lowered.jobs.iter().enumerate() {
        let facts = kernels.facts(job.kernel);
        regions.resize(regions.len().max(job.kernel + 1), None);
        let all = || facts.touches.of_tasks(0, facts.tasks).into();
        let regions =
            seen_from(regions[job.kernel].get_or_insert_with(all), |arg| job.args[arg].place());
        let accesses: Vec<_> = regions
            .iter()
            .filter_map(|region| {
                let storage = job.args[region.arg].storage;
                let fixed = matches!(
                    lowered.storages[storage].class,
                    StorageClass::Input | StorageClass::Constant
                );
                let access = Access { space: storage, base: 0, storage, region };
                (!fixed).then_some(access)
            })
            .collect();
        let mut after = conflicts.of(&accesses);
        after.extend(&job.after);
        after.sort_unstable();
        after.dedup();
        conflicts.enter(number as u32, &accesses);
        let kernels = ways(job, kernels, target).into_iter().map(|(_, kernel)| kernel).collect();
        operators.push(Operator { kernels, after });
    }
    operators
}

/// The kernels that a job may be done by and their numbers, the fastest alone first.
pub(crate) fn ways(job: &Job<'_>, kernels: &Kernels<'_>, target: &Target) -> Vec<(usize, RKernel)> {
    let numbers = std::iter::once(job.kernel).chain(job.others.iter().copied());
    let mut ways: Vec<_> = numbers
        .map(|number| {
            let facts = kernels.facts(number);
            let (tasks, cycles, groups) = (facts.tasks, facts.cycles.min(CYCLES), facts.groups);
            (number, RKernel { tasks, cycles, groups })
        })
        .collect();
    ways.sort_by_key(|(_, kernel)| kernel.time(target));
    ways
}
