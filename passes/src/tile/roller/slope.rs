//! Tests that reuse grows with the tile: the test that decides which policy an operator takes.

use super::Policy;
use super::cost::input_bytes;
use super::operator::Operator;

/// Below this the least slope, or the mean one, is that of an operator without reuse.
const LEAST: f64 = 2.0;
const MEAN: f64 = 4.0;

/// Points per byte of input at tiles of 0.1 … 0.9 of every axis: where they grow steeply all
/// the way, reuse decides.
pub fn policy(operator: &Operator) -> Policy {
    let parts: Vec<f64> = (1..10).map(|part| 0.1 * part as f64).collect();
    let ratio = |part: &f64| {
        let size = |extent: u64| ((part * extent as f64) as u64).max(1);
        let tile: Vec<_> = operator.extents().into_iter().map(size).collect();
        let points: f64 = tile.iter().map(|&size| size as f64).product();
        points / input_bytes(operator, &tile) as f64
    };
    let ratios: Vec<_> = parts.iter().map(ratio).collect();
    let slopes: Vec<_> = (1..parts.len())
        .map(|at| (ratios[at] - ratios[at - 1]) / (parts[at] - parts[at - 1]))
        .collect();
    let least = slopes.iter().copied().fold(f64::INFINITY, f64::min);
    let mean = slopes.iter().sum::<f64>() / slopes.len() as f64;
    if least > LEAST && mean > MEAN { Policy::Reuse } else { Policy::Plain }
}
