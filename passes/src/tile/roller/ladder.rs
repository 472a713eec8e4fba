//! The ladder of ε: more waste is allowed until there are tiles enough.

use super::search::Search;
use super::{Arch, Operator, Options, Policy, Tiles};

/// The most waste along an axis: as much as there is work.
pub const EPSILON_MAX: f64 = 1.0;

/// The waste along an axis that is allowed round by round where tiles are ranked by their cost:
/// few rounds are enough, since all that is found is compared.
pub const EPSILONS: [f64; 4] = [0.0, 0.1, 0.3, 1.0];

/// The step of the ladder. It is added up, as version 1 does: the sums decide which sizes just
/// pass.
fn step(policy: Policy) -> f64 {
    match policy {
        Policy::Reuse => 0.2,
        Policy::Plain => 0.1,
    }
}

/// Block tiles with the ε at which each was found first, and the number of tiles that were looked at.
/// A round without any gives its borders.
pub fn climb(
    operator: &Operator,
    arch: &Arch,
    options: &Options,
    policy: Policy,
) -> (Vec<(Tiles, f64)>, usize) {
    let mut search = Search::new(operator, arch, options, policy);
    let mut all: Vec<(Tiles, f64)> = Vec::new();
    let mut epsilon = 0.0;
    while epsilon <= EPSILON_MAX && all.len() < options.keep && search.looked() < options.most {
        search.round(epsilon);
        let found = match search.found.is_empty() {
            true => &search.borders[..search.borders.len().min(options.keep)],
            false => &search.found,
        };
        for tiles in found {
            if !all.iter().any(|(known, _)| known == tiles) {
                all.push((tiles.clone(), epsilon));
            }
        }
        epsilon += step(policy);
    }
    (all, search.looked())
}
