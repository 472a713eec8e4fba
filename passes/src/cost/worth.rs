//! The threshold at which a predicted saving is worth another choice, or work is shared out.

/// The part of what is predicted otherwise that something else may take. Predictions that differ by
/// less do not say which is faster; asked for more, tensors of ResNet-18, Inception and SE-ResNeXt
/// stay in the model's order, which takes 13 to 20 % longer (0.95, on a processor with AVX-512;
/// `weft bench ARTIFACT --threads 1` of both in turns).
const MOST: f64 = 0.97;

/// Returns the most cycles that an alternative may take, given the cycles `otherwise` without it.
pub(crate) fn most(otherwise: f64) -> f64 {
    MOST * otherwise
}

/// Returns whether something that is predicted to take `cycles` is worth doing, where `otherwise`
/// is predicted without it.
pub(crate) fn is_worth(cycles: f64, otherwise: f64) -> bool {
    cycles < most(otherwise)
}

/// Returns the fewest cycles without it that make an alternative of `cycles` worth taking.
pub(crate) fn least(cycles: f64) -> f64 {
    cycles / MOST
}

/// In how many ranges a kernel of `tasks` rTasks is cut.
///
/// ```
/// # use weft_passes::cost::worth::parts;
/// assert_eq!(parts(8, 50_000, 2, 20_000), 2);
/// assert_eq!(parts(8, 20_000, 2, 20_000), 1); // not worth it
/// assert_eq!(parts(1, 50_000, 2, 20_000), 1); // an rTask is never cut
/// assert_eq!(parts(64, 50_000, 64, 20_000), 5);
/// ```
pub fn parts(tasks: u64, cycles: u64, units: u64, split_cycles: u64) -> u64 {
    if cycles <= split_cycles {
        return 1;
    }
    shares(cycles, split_cycles).clamp(1, units.min(tasks).max(1))
}

/// In how many shares, each for a unit of its own, work of `cycles` is worth cutting at most, where a
/// unit is given work above `split_cycles`: half of that is the least that a share is.
pub(crate) fn shares(cycles: u64, split_cycles: u64) -> u64 {
    cycles.checked_div(split_cycles / 2).unwrap_or(u64::MAX)
}
