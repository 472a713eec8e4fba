//! The best of the tiles that are constructed for a group.

use super::pace::Pace;
use super::subgraph::Subgraph;
use crate::cost::worth;

/// The best of a group's tiles, and what comes second.
pub(super) fn best<'c>(mut found: Vec<Subgraph<'c>>, pace: &Pace) -> Option<Subgraph<'c>> {
    // Predictions that differ little do not say which is less; what moves is counted, where every
    // byte of a tile is brought.
    let fewest = found.iter().map(|group| group.cycles).fold(f64::INFINITY, f64::min);
    let good = |group: &Subgraph<'_>| match pace.bandwidth.is_finite() {
        true => !worth::is_worth(fewest, group.cycles),
        false => group.cycles <= fewest,
    };
    found.sort_by(|one, other| match (good(one), good(other)) {
        (true, true) => one.traffic.cmp(&other.traffic),
        (false, false) => one.cycles.total_cmp(&other.cycles),
        (own, _) => (!own).cmp(&own),
    });
    let mut found = found.into_iter();
    let (best, second) = (found.next(), found.next());
    let second = second.map(|group| (group.sizes, group.cycles, group.traffic));
    best.map(|best| Subgraph { second, ..best })
}

/// Of tiles whose predictions do not say which is faster, the one that waits in a nearer cache: it is
/// handed over faster than is counted, and leaves the others to whoever else runs.
pub(super) fn nearest_if_as_good<'c>(
    found: Option<Subgraph<'c>>,
    nearest: Option<Subgraph<'c>>,
) -> Option<Subgraph<'c>> {
    match (found, nearest) {
        (Some(found), Some(near)) if !worth::is_worth(found.cycles, near.cycles) => {
            Some(Subgraph { second: Some((found.sizes, found.cycles, found.traffic)), ..near })
        }
        (found, nearest) => found.or(nearest),
    }
}
