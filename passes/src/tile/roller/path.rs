//! Growth by reuse (Roller, OSDI'22, section 4.2): from the least tile on, always the axis that
//! saves most, until the machine ends.
//!
//! ```text
//! [1, 1] -> [1, 2] -> [2, 2] -> [2, 4] -> [4, 4] -> ...
//! ```
//!
//! The paper stops at the first tiles that compute longer than they load. Every tile on the way is
//! given here, for what a small one leaves to other units may be worth more than what it reuses.

use super::steps::Steps;

/// The tiles from the least on, each the one before with one axis enlarged: that of the highest
/// score, among those that fit.
pub fn path(
    steps: &Steps,
    fits: &dyn Fn(&[u64]) -> bool,
    score: &dyn Fn(&[u64], &[u64]) -> f64,
) -> Vec<Vec<u64>> {
    let Some(mut now) =
        steps.iter().map(|sizes| sizes.first().copied()).collect::<Option<Vec<_>>>()
    else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut at = vec![0; steps.len()];
    while fits(&now) {
        found.push(now.clone());
        let wider = (0..steps.len()).filter_map(|axis| {
            let mut wider = now.clone();
            wider[axis] = *steps[axis].get(at[axis] + 1)?;
            fits(&wider).then_some((axis, wider))
        });
        let best = wider.max_by(|one, other| {
            // Among equals the first axis.
            let score = |wider: &[u64]| score(&now, wider);
            score(&one.1).total_cmp(&score(&other.1)).then(other.0.cmp(&one.0))
        });
        let Some((axis, wider)) = best else { break };
        at[axis] += 1;
        now = wider;
    }
    found
}
