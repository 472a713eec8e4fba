//! Candidates as remarks: what there was to choose from.

use weft_dialects::device::Machine;

use super::{Arch, Candidate, Operator, Options, Score, construct};
use crate::nest::Nest;

/// Number of candidates that a report lists.
const TOLD: usize = 3;

/// Tiles that are looked at for a report. Where none is aligned, all that fit would be, once for each step of
/// the ladder.
const MOST: usize = 10_000;

/// One line for each of the best candidates of a nest, or one that says why there is none.
/// Nothing for a machine that is no machine of threads in step, or a nest that is no operator.
pub fn lines<'c>(machine: Machine<'c>, nest: &Nest<'c>) -> Vec<String> {
    let Some(elem) = nest.outputs.first().map(|output| output.elem()) else { return Vec::new() };
    let (Ok(arch), Some((operator, _))) = (Arch::of(machine, elem), Operator::of(nest)) else {
        return Vec::new();
    };
    let operator = operator.fused();
    let shipped = told(&operator, &arch, Score::Shipped);
    let paper = told(&operator, &arch, Score::Paper);
    let mut lines = shipped.clone();
    // The scores differ in what they grow first; mostly that is the same tile.
    match (shipped.first(), paper.first()) {
        (Some(shipped), Some(paper)) if shipped != paper => {
            lines.push(format!("by the paper's score {paper}"));
        }
        _ => {}
    }
    lines
}

fn told(operator: &Operator, arch: &Arch, score: Score) -> Vec<String> {
    let options = Options { score, most: MOST, ..Options::default() };
    let (policy, found) = match construct(operator, arch, &options) {
        Ok(found) => found,
        Err(why) => {
            return vec![format!("no aligned tile: {why}; {} [{}]", why.help(), why.rule())];
        }
    };
    let line = |candidate: &Candidate| {
        let told = &candidate.prediction;
        let names: Vec<_> = operator.axes.iter().map(|axis| axis.name.as_str()).collect();
        format!(
            "{} tile {:?} of [{}] in @{}, {:?} in @{}: {} B of traffic and {} B of @{} a block, \
             {:.1} % of waste, {:.4} ms predicted",
            policy.name(),
            candidate.block,
            names.join(", "),
            arch.local,
            &candidate.registers[..operator.spatial()],
            arch.registers,
            told.traffic_bytes,
            told.footprint_bytes,
            arch.local,
            told.waste * 100.0,
            told.predicted_ms,
        )
    };
    found.iter().take(TOLD).map(line).collect()
}
