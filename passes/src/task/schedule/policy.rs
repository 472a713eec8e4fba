//! In which order jobs are placed: the policies, and which of them is followed.
//!
//! Each policy's length is estimated by the same lanes. The order of the text is left only for
//! one that is worth it: neighbours in the text use the same tensors, which are near then.

use std::fmt;

use super::lanes::{Lanes, Placement};
use super::operators::{Operator, Target};
use super::wavefront::{Decision, wavefront};
use super::{Options, critical};

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
}

/// A job in its turn.
pub(crate) struct Turn {
    pub job: usize,
    /// The units that share it, where the policy says; ascending.
    pub units: Option<Vec<usize>>,
    /// Whether a launch ends before it.
    pub launch: bool,
}

/// All jobs, each after those that it needs.
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
        })
    }
}

/// What another order has to bring before the text's is left: one part in so many.
const WORTH: u64 = 20;

/// The order of `operators` under the policy of `options`.
pub(super) fn order(operators: &[Operator], options: &Options) -> Order {
    let target = &options.target;
    let text = || {
        let turn = |job| Turn { job, units: None, launch: false };
        let length = in_order(operators, target);
        (Policy::Text, length, (0..operators.len()).map(turn).collect::<Vec<_>>(), Vec::new())
    };
    let critical = || {
        let (order, length) = critical::order(operators, target);
        let turn = |job| Turn { job, units: None, launch: false };
        (Policy::Critical, length, order.into_iter().map(turn).collect(), Vec::new())
    };
    let waves = || {
        let (programs, waves) = wavefront(operators, target, options.placement);
        let launches = programs.len() as u64 * target.launch_cycles.unwrap_or(0);
        let length = programs.iter().map(|program| program.cycles).sum::<u64>() + launches;
        let mut turns = Vec::with_capacity(operators.len());
        for (number, program) in programs.into_iter().enumerate() {
            for (place, assigned) in program.operators.into_iter().enumerate() {
                let launch = number > 0 && place == 0;
                turns.push(Turn { job: assigned.operator, units: Some(assigned.units), launch });
            }
        }
        (Policy::Wavefront, length, turns, waves)
    };
    let tried = match options.policy {
        // One unit does everything in any order.
        Policy::Auto if target.units == 1 => vec![text()],
        Policy::Auto => vec![text(), critical(), waves()],
        Policy::Text => vec![text()],
        Policy::Critical => vec![critical()],
        Policy::Wavefront => vec![waves()],
    };
    let lengths: Vec<_> = tried.iter().map(|&(policy, length, ..)| (policy, length)).collect();
    let first = lengths[0].1;
    let best = (1..lengths.len())
        .filter(|&other| lengths[other].1 < first - first / WORTH)
        .min_by_key(|&other| lengths[other].1)
        .unwrap_or(0);
    let (policy, _, turns, waves) = tried.into_iter().nth(best).expect("a policy was tried");
    Order { turns, policy, lengths, waves }
}

/// Estimated cycles where each operator starts as soon as it can, after those before it.
fn in_order(operators: &[Operator], target: &Target) -> u64 {
    let mut lanes = Lanes::new(target.units as usize);
    let mut done: Vec<(u64, Vec<usize>)> = Vec::with_capacity(operators.len());
    for operator in operators {
        let kernel = operator.kernels[0];
        let ready = |unit: usize| {
            let ends = operator.after.iter().map(|&before| {
                let (end, units) = &done[before as usize];
                if units[..] == [unit] { *end } else { end + target.wait_cycles }
            });
            ends.max().unwrap_or(0)
        };
        let (count, time) = (kernel.parts(target) as usize, kernel.time(target));
        let placed = lanes.place(count, time, Placement::Lanes, ready);
        done.push((placed.start + time, placed.units));
    }
    lanes.length()
}
