//! The order in which jobs are placed: the policies, and the choice among them.
//!
//! Each policy's length is estimated by the same lanes. The order of the text is left only for
//! one that is worth it: neighbours in the text use the same tensors, which are then in caches.

use std::fmt;

use super::critical::critical;
use super::depth::depth;
use super::fill::{Program, in_order};
use super::operators::{Operator, Target};
use super::wavefront::{Decision, wavefront};
use super::{Options, TooLarge};
use crate::cost::worth;
use crate::remarks::{Refused, chosen};

/// The policy that decides the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// Whichever is estimated to be the shortest.
    Auto,
    /// The order of the text.
    Text,
    /// List scheduling by critical path.
    Critical,
    /// Rammer's.
    Wavefront,
    /// GraphTurbo's: what was begun is finished first.
    Depth,
}

/// A job in its turn.
pub(crate) struct Turn {
    pub job: usize,
    /// Which of its kernels does it, the fastest alone being the first.
    pub kernel: usize,
    /// The units that share it, ascending.
    pub units: Vec<usize>,
    /// The number of the first turn that starts, by estimate, when it is done.
    pub past: u32,
    /// True if a launch ends before it.
    pub launch: bool,
    /// Estimated start and end, in cycles from the first program's begin.
    pub span: (u64, u64),
}

/// All jobs as they start by estimate, each after those that it needs.
pub(crate) struct Order {
    pub turns: Vec<Turn>,
    /// The policy that was followed.
    pub policy: Policy,
    /// Estimated cycles of each policy that was looked at.
    pub lengths: Vec<(Policy, u64)>,
    /// The decisions of the wavefront policy, wave by wave.
    pub waves: Vec<Decision>,
    /// The policy that was left because of an arena that did not fit.
    pub left: Option<(Policy, TooLarge)>,
}

impl Order {
    /// Goes back to the order of the text, in one launch, as if each job were done before the
    /// next starts.
    pub fn as_in_text(&mut self, why: TooLarge) {
        self.left = Some((self.policy, why));
        self.policy = Policy::Text;
        self.turns.sort_by_key(|turn| turn.job);
        let mut now = 0;
        for (place, turn) in self.turns.iter_mut().enumerate() {
            (turn.past, turn.launch) = (place as u32 + 1, false);
            turn.span = (now, now + turn.span.1 - turn.span.0);
            now = turn.span.1;
        }
    }

    /// The policy that is followed, and what the others would take, the shortest first.
    fn choice(&self) -> String {
        let (own, mut others): (Vec<_>, Vec<_>) =
            self.lengths.iter().partition(|(policy, _)| *policy == self.policy);
        let length = own.first().or(others.first()).map_or(0, |(_, cycles)| *cycles);
        others.sort_by_key(|(_, cycles)| *cycles);
        let second = others.first().map(|(policy, cycles)| (policy.to_string(), *cycles as f64));
        let second = second.as_ref().map(|(policy, cycles)| (&**policy, *cycles));
        let mut told =
            format!("order by {}", chosen(&self.policy.to_string(), length as f64, second));
        for (policy, cycles) in others.iter().skip(1) {
            told += &format!(", {policy} with {cycles}");
        }
        // The shortest may not be short enough.
        if self.policy == Policy::Text && others.first().is_some_and(|(_, cycles)| *cycles < length)
        {
            told += &format!(" [worth: below {:.0}]", worth::most(length as f64));
        }
        told
    }

    /// Reports the comparison of policies, and the decision on each wave, one line each.
    pub fn report(&self, target: &Target, name: impl Fn(usize) -> String) -> Vec<String> {
        let mut lines = vec![self.choice()];
        if let Some((policy, TooLarge { memory, bytes, capacity })) = &self.left {
            let why = Refused::by("arena", "one after the other takes the least memory");
            let why = why.met(format!("{bytes} bytes of @{memory}, which holds {capacity}"));
            lines.push(format!("order by {policy} is left for that of the text: {why}"));
        }
        for wave in &self.waves {
            let names: Vec<_> = wave.operators.iter().map(|&job| name(job)).collect();
            let kernels = match wave.efficient {
                true => "the most efficient kernels",
                false => "the fastest kernels",
            };
            let (fastest, capacity) = (wave.fastest, target.capacity);
            let mut line = format!(
                "wave of {}: {kernels}, for the fastest take {fastest} groups of lanes of {capacity}",
                names.join(", ")
            );
            if let Some([now, joint, own]) = wave.compared {
                let what = if wave.joined { "joined" } else { "launched alone" };
                line += &format!("; {what}: {joint} cycles together, {now} + {own} apart");
            }
            lines.push(line);
        }
        lines
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Policy::Auto => "the shortest",
            Policy::Text => "the text",
            Policy::Critical => "critical path",
            Policy::Wavefront => "wavefront",
            Policy::Depth => "depth",
        })
    }
}

/// The order of `operators` under the policy of `options`.
pub(super) fn order(operators: &[Operator], options: &Options) -> Order {
    let target = &options.target;
    let text = || (Policy::Text, vec![in_order(operators, target)], Vec::new());
    let critical = || (Policy::Critical, vec![critical(operators, target)], Vec::new());
    let waves = || {
        let (programs, waves) = wavefront(operators, target, options.placement);
        (Policy::Wavefront, programs, waves)
    };
    let deep = || (Policy::Depth, vec![depth(operators, target)], Vec::new());
    let tried = match options.policy {
        // One unit does everything in any order.
        Policy::Auto if target.units == 1 => vec![text()],
        Policy::Auto => vec![text(), critical(), waves(), deep()],
        Policy::Text => vec![text()],
        Policy::Critical => vec![critical()],
        Policy::Wavefront => vec![waves()],
        Policy::Depth => vec![deep()],
    };
    let launch = target.launch_cycles.unwrap_or(0);
    let length = |programs: &[Program]| -> u64 {
        programs.iter().map(|program| program.cycles + launch).sum()
    };
    let lengths: Vec<_> =
        tried.iter().map(|(policy, programs, _)| (*policy, length(programs))).collect();
    let first = lengths[0].1;
    let best = (1..lengths.len())
        .filter(|&other| worth::is_worth(lengths[other].1 as f64, first as f64))
        .min_by_key(|&other| lengths[other].1)
        .unwrap_or(0);
    let (policy, programs, waves) = tried.into_iter().nth(best).expect("a policy was tried");
    Order { turns: turns(programs), policy, lengths, waves, left: None }
}

/// Operators as they start, program by program.
fn turns(programs: Vec<Program>) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    let mut begin = 0;
    for program in programs {
        let mut own = program.operators;
        // Whoever waits for another starts later; ties keep the policy's order.
        own.sort_by_key(|assigned| assigned.start);
        let before = turns.len() as u32;
        let starts: Vec<u64> = own.iter().map(|assigned| assigned.start).collect();
        for (place, assigned) in own.into_iter().enumerate() {
            let past = starts.partition_point(|&start| start < assigned.end);
            turns.push(Turn {
                job: assigned.operator,
                kernel: assigned.kernel,
                units: assigned.units,
                past: before + past as u32,
                launch: before > 0 && place == 0,
                span: (begin + assigned.start, begin + assigned.end),
            });
        }
        begin += program.cycles;
    }
    turns
}
