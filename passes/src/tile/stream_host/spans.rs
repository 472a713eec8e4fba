//! Which part of a tensor some points touch, and which points touch a part of it: interval
//! analysis on linear index expressions.
//!
//! ```text
//! y[i, c] reads x[2 i + k, c], 0 <= k < 3      y[4..8] needs x[8..17]
//! ```
//!
//! Parts are boxes, one span per dimension. Both directions are bounds: they hold everything
//! that is asked for.

use weft_dialects::ir::Linear;

/// From the first index to the one past the last.
pub type Span = (u64, u64);

/// The box that `points` touch.
///
/// ```
/// # use weft_passes::tile::stream_host::spans::image;
/// # use weft_dialects::ir::Linear;
/// let windowed = Linear::axis(2, 0).scale(2).plus(1, 1);
/// assert_eq!(image(&[windowed], &[(4, 8), (0, 3)]), [(8, 17)]);
/// ```
pub fn image(index: &[Linear], points: &[Span]) -> Vec<Span> {
    let of = |index: &Linear| {
        let (mut low, mut high) = (index.constant, index.constant);
        for (&factor, &(first, past)) in index.coefficients.iter().zip(points) {
            let ends = [factor * first as i64, factor * (past as i64 - 1)];
            low += ends[0].min(ends[1]);
            high += ends[0].max(ends[1]);
        }
        (low.max(0) as u64, (high + 1).max(0) as u64)
    };
    index.iter().map(of).collect()
}

/// Elements of a box that lie side by side in a tensor of this shape.
///
/// ```
/// # use weft_passes::tile::stream_host::spans::side_by_side;
/// assert_eq!(side_by_side(&[8, 4, 6], &[(2, 4), (0, 4), (0, 6)]), 48);
/// assert_eq!(side_by_side(&[8, 4, 6], &[(2, 4), (1, 3), (0, 6)]), 12);
/// assert_eq!(side_by_side(&[8, 4, 6], &[(2, 4), (0, 4), (0, 3)]), 3);
/// ```
pub fn side_by_side(shape: &[u64], spans: &[Span]) -> u64 {
    let mut row = 1;
    for (&extent, &(first, past)) in shape.iter().zip(spans).rev() {
        row *= past - first;
        if past - first < extent {
            break;
        }
    }
    row
}

/// A box of the points that touch `wanted`; `None` where none does.
///
/// ```
/// # use weft_passes::tile::stream_host::spans::points;
/// # use weft_dialects::ir::Linear;
/// let window = Linear::axis(1, 0).offset(1);
/// assert_eq!(points(&[window.clone()], &[8], &[(0, 4)]), Some(vec![(0, 3)]));
/// assert_eq!(points(&[window], &[8], &[(0, 1)]), None);
/// ```
pub fn points(index: &[Linear], extents: &[u64], wanted: &[Span]) -> Option<Vec<Span>> {
    let mut found: Vec<Span> = extents.iter().map(|&extent| (0, extent)).collect();
    for (index, &(first, past)) in index.iter().zip(wanted) {
        for axis in 0..found.len() {
            let factor = index.coefficients[axis];
            if factor == 0 {
                continue;
            }
            let mut rest = index.clone();
            rest.coefficients[axis] = 0;
            let (low, high) = reach(&rest, &found);
            // factor * point lies between these, for some of the other axes' points.
            let (from, to) = (first as i64 - high, past as i64 - 1 - low);
            let (from, to) = match factor > 0 {
                true => (div_up(from, factor), to.div_euclid(factor)),
                false => (div_up(-to, -factor), (-from).div_euclid(-factor)),
            };
            let span = &mut found[axis];
            *span = (span.0.max(from.max(0) as u64), span.1.min((to + 1).max(0) as u64));
            if span.0 >= span.1 {
                return None;
            }
        }
        let (low, high) = reach(index, &found);
        if high < first as i64 || low >= past as i64 {
            return None;
        }
    }
    Some(found)
}

/// The smallest box that holds both.
pub fn hull(one: &[Span], other: &[Span]) -> Vec<Span> {
    one.iter().zip(other).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1))).collect()
}

/// Number of elements of a box.
pub fn count(spans: &[Span]) -> u64 {
    spans.iter().map(|(first, past)| past - first).product()
}

/// Smallest and largest value of an expression over a box of points.
fn reach(index: &Linear, points: &[Span]) -> (i64, i64) {
    let (mut low, mut high) = (index.constant, index.constant);
    for (&factor, &(first, past)) in index.coefficients.iter().zip(points) {
        let ends = [factor * first as i64, factor * (past as i64 - 1)];
        low += ends[0].min(ends[1]);
        high += ends[0].max(ends[1]);
    }
    (low, high)
}

fn div_up(number: i64, by: i64) -> i64 {
    -(-number).div_euclid(by)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn linear() -> impl Strategy<Value = Linear> {
        (prop::collection::vec(-3i64..4, 3), 0i64..5)
            .prop_map(|(coefficients, constant)| Linear { coefficients, constant })
    }

    fn all(spans: &[Span]) -> Vec<Vec<i64>> {
        spans.iter().fold(vec![Vec::new()], |points, &(first, past)| {
            let longer = |point: Vec<i64>| {
                (first..past).map(move |at| {
                    let mut point = point.clone();
                    point.push(at as i64);
                    point
                })
            };
            points.into_iter().flat_map(longer).collect()
        })
    }

    proptest! {
        /// No point that touches what is wanted is left out, and what points touch is inside.
        #[test]
        fn bounds_hold_everything(
            index in prop::collection::vec(linear(), 1..3),
            extents in prop::collection::vec(1u64..5, 3),
            wanted in prop::collection::vec((0u64..8, 1u64..6), 3),
        ) {
            let wanted: Vec<Span> = wanted.iter().map(|&(low, size)| (low, low + size)).collect();
            let whole: Vec<Span> = extents.iter().map(|&extent| (0, extent)).collect();
            let found = points(&index, &extents, &wanted[..index.len()]);
            for point in all(&whole) {
                let at: Vec<i64> = index.iter().map(|index| index.at(&point)).collect();
                let inside = |at: &[i64], spans: &[Span]| {
                    at.iter().zip(spans).all(|(&at, &(a, b))| a as i64 <= at && at < b as i64)
                };
                if inside(&at, &wanted[..index.len()]) {
                    prop_assert!(found.as_ref().is_some_and(|found| inside(&point, found)));
                }
                if at.iter().all(|&at| at >= 0) {
                    prop_assert!(inside(&at, &image(&index, &whole)));
                }
            }
        }
    }

    /// The paper's picture: two by two of a pool are four by four of a convolution's input.
    #[test]
    fn halos_add_up() {
        let pool = Linear::axis(2, 0).scale(2).plus(1, 1);
        let conv = Linear::axis(2, 0).plus(1, 1);
        let of_conv = image(&[pool], &[(0, 1), (0, 2)]);
        assert_eq!(of_conv, [(0, 2)]);
        assert_eq!(image(&[conv], &[of_conv[0], (0, 3)]), [(0, 4)]);
    }
}
