//! Which axis to enlarge first: two scores of data reuse.
//!
//! ```text
//! shipped   work(T + 1 element) / traffic(T + 1 element)
//! paper     (Q(T) - Q(T')) / (F(T') - F(T)),  T' = T with the next size on the axis
//! ```
//!
//! The first is what the published candidates were made with, the second what the paper says:
//! `Q` is what the whole operator moves in tiles of that size, `F` what one takes.

use super::Score;
use super::cost::{footprint, tiles, traffic, work};
use super::operator::Operator;

/// The axes by falling score; among equals the first axis comes first. `next` is the size that
/// an axis would have, where there is one.
pub fn order(operator: &Operator, tile: &[u64], next: &[Option<u64>], score: Score) -> Vec<usize> {
    let scores: Vec<f64> = (0..tile.len())
        .map(|axis| match score {
            Score::Shipped => by_ratio(operator, tile, axis),
            Score::Paper => {
                next[axis].map_or(f64::MIN, |size| by_saving(operator, tile, axis, size))
            }
        })
        .collect();
    let mut axes: Vec<usize> = (0..tile.len()).collect();
    axes.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    axes
}

fn with(tile: &[u64], axis: usize, size: u64) -> Vec<u64> {
    let mut tile = tile.to_vec();
    tile[axis] = size;
    tile
}

/// Operations per byte with one more element on the axis.
pub fn by_ratio(operator: &Operator, tile: &[u64], axis: usize) -> f64 {
    let larger = with(tile, axis, tile[axis] + 1);
    work(operator, &larger) / traffic(operator, &larger) as f64
}

/// Bytes of traffic saved for each byte of room.
pub fn by_saving(operator: &Operator, tile: &[u64], axis: usize, size: u64) -> f64 {
    let larger = with(tile, axis, size);
    let all = |tile: &[u64]| {
        let count = tiles(&operator.extents(), tile, operator.spatial());
        traffic(operator, tile) as f64 * count as f64
    };
    let saved = all(tile) - all(&larger);
    let room = footprint(operator, &larger, &[]) - footprint(operator, tile, &[]);
    // A step that takes no room comes first if it saves anything, and last if not.
    match room {
        room if room > 0 => saved / room as f64,
        _ if saved > 0.0 => f64::MAX,
        _ => f64::MIN,
    }
}
