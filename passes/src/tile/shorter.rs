//! Nests of which less is there, for which tiles are weighed, too.
//!
//! ```text
//! 8 images, perhaps 1: a tile of 8 rows of images and 3 of pixels has 24 registers, of which one image fills 3
//! ```

use crate::nest::{Loop, Nest};

/// Parts of the greatest lengths, in eighths, for which tiles are weighed, beside all: a tile that is the best for all
/// of it may hold more rows than there are.
const EIGHTHS: [u64; 2] = [5, 1];

/// How many times the least for the greatest lengths a tile may take that is better for shorter ones.
pub(super) const FAR: f64 = 1.5;

/// A nest with parts of its lengths, and how many of each are one whole; none where all is fixed.
pub(super) fn shorter<'c>(nest: &Nest<'c>) -> Vec<(Nest<'c>, f64)> {
    let with = |(axes, times)| (Nest { axes, ..nest.clone() }, times);
    shorter_axes(&nest.axes).into_iter().map(with).collect()
}

fn shorter_axes(axes: &[Loop]) -> Vec<(Vec<Loop>, f64)> {
    let with = |part: u64| {
        let mut times = 1.0;
        let of = |axis: &Loop| {
            let extent = axis.length.map_or(axis.extent, |length| {
                // Of rows of several elements whole ones, and an odd number, which no tile divides by chance.
                let row = length.divisor().clamp(1, axis.extent.max(1));
                let rows = axis.extent / row;
                rows.min((rows * part / 8) | 1) * row
            });
            times *= axis.extent as f64 / extent.max(1) as f64;
            Loop { extent, ..*axis }
        };
        let axes: Vec<_> = axes.iter().map(of).collect();
        (times > 1.0).then_some((axes, times))
    };
    EIGHTHS.into_iter().filter_map(with).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::length::{Length, kept};

    #[test]
    fn lengths_are_an_odd_number_of_rows() {
        let extents = |extent: u64, length: Length| {
            let rows = Loop { length: Some(kept(length)), ..Loop::parallel(extent) };
            let of = |(axes, times): (Vec<Loop>, f64)| {
                assert_eq!(axes[1].extent, 7);
                (axes[0].extent, times)
            };
            shorter_axes(&[rows, Loop::parallel(7)]).into_iter().map(of).collect::<Vec<_>>()
        };
        let n = || Length::symbol("n");
        assert_eq!(extents(8, n()), [(5, 1.6), (1, 8.0)]);
        assert_eq!(extents(40, n()), [(25, 1.6), (5, 8.0)]);
        assert_eq!(extents(32, n()), [(21, 32.0 / 21.0), (5, 6.4)]);
        assert_eq!(extents(32, n().times(&Length::number(4))), [(20, 1.6), (4, 8.0)]);
        assert_eq!(extents(1, n()), []);
        assert!(shorter_axes(&[Loop::parallel(12)]).is_empty());
    }
}
