//! In which order jobs are placed: the policies, and which of them is followed.
//!
//! Each policy's length is estimated by the same lanes. The order of the text is left only for
//! one that is worth it: neighbours in the text use the same tensors, which are near then.

use std::fmt;

use super::Options;
use super::critical::critical;
use super::depth::depth;
use super::fill::{Program, in_order};
use super::operators::{Operator, Target};
use super::wavefront::{Decision, wavefront};

/// Whom to follow.
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
    /// Whether a launch ends before it.
    pub launch: bool,
}

/// All jobs as they start by estimate, each after those that it needs.
pub(crate) struct Order {
    pub turns: Vec<Turn>,
    /// The policy that was followed.
    pub policy: Policy,
    /// Estimated cycles of each policy that was looked at.
    pub lengths: Vec<(Policy, u64)>,
    /// What the wavefront policy decided, wave by wave.
    pub waves: Vec<Decision>,
}

impl Order {
    /// Goes back to the order of the text, in one launch, as if each job were done before the
    /// next starts.
    pub fn as_in_text(&mut self) {
        self.policy = Policy::Text;
        self.turns.sort_by_key(|turn| turn.job);
        for (place, turn) in self.turns.iter_mut().enumerate() {
            (turn.past, turn.launch) = (place as u32 + 1, false);
        }
    }

    /// What was compared, and what each wave was decided by, one line each.
    pub fn report(&self, target: &Target, name: impl Fn(usize) -> String) -> Vec<String> {
        let lengths = self.lengths.iter().map(|(policy, cycles)| format!("{policy} {cycles}"));
        let lengths: Vec<_> = lengths.collect();
        let mut lines =
            vec![format!("order by {}: estimated cycles {}", self.policy, lengths.join(", "))];
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

/// What another order has to bring before the text's is left: one part in so many.
const WORTH: u64 = 20;

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
        .filter(|&other| lengths[other].1 < first - first / WORTH)
        .min_by_key(|&other| lengths[other].1)
        .unwrap_or(0);
    let (policy, programs, waves) = tried.into_iter().nth(best).expect("a policy was tried");
    Order { turns: turns(programs), policy, lengths, waves }
}

/// Operators as they start, program by program.
fn turns(programs: Vec<Program>) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
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
            });
        }
    }
    turns
}
