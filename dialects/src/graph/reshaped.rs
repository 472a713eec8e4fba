//! The lengths of the same elements in another shape.
//!
//! ```text
//! 8 x 12 of "n" rows  ->  8 x 3 x 4 of "n", 96 of "12 * n"; not 3 x 32, whose rows are others
//! ```

use weft_runtime::length::Length;

use super::infer_lengths::Dims;

/// The lengths of a tensor of shape `from` seen with the shape `to`; `None` where elements would not
/// be the first ones any more.
pub(super) fn reshaped(from: &[u64], dims: &[Option<Length>], to: &[u64]) -> Option<Dims> {
    let mut result: Dims = vec![None; to.len()];
    let (mut first, mut next) = (0, 0);
    while first < from.len() || next < to.len() {
        // The shortest runs of dimensions on both sides that have as many elements.
        let (mut own, mut other) = (first, next);
        let (mut points, mut seen) = (1, 1);
        loop {
            if points == seen && own > first && other > next {
                break;
            }
            if points <= seen && own < from.len() && (own == first || points < seen) {
                points *= from[own];
                own += 1;
            } else if other < to.len() {
                seen *= to[other];
                other += 1;
            } else if own < from.len() {
                points *= from[own];
                own += 1;
            } else {
                break;
            }
        }
        if points != seen {
            return None;
        }
        let long = |shape: &[u64], range: std::ops::Range<usize>| {
            range.into_iter().find(|&dim| shape[dim] != 1)
        };
        let held: Vec<usize> = (first..own).filter(|&dim| dims[dim].is_some()).collect();
        if (own - first, other - next) == (1, 1) {
            result[next] = dims[first].clone();
        } else if let [dim] = held[..] {
            let (outer, seen) = (long(from, first..own), long(to, next..other));
            if outer != Some(dim) {
                return None;
            }
            let inner: u64 = from[dim + 1..own].iter().product();
            let all = dims[dim].as_ref()?.times(&Length::number(inner as i64));
            let dim = seen?;
            let below = to[dim + 1..other].iter().product::<u64>() as i64;
            if !all.is_multiple_of(below) {
                return None;
            }
            result[dim] = Some(all.floor_div(below));
        } else if !held.is_empty() {
            return None;
        }
        (first, next) = (own, other);
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lengths;

    fn seen(from: &[u64], dims: &[&str], to: &[u64]) -> Option<Vec<String>> {
        let read = |text: &&str| lengths::read(text).expect("a length");
        let dims: Dims = dims.iter().map(read).collect();
        let dims = reshaped(from, &dims, to)?;
        Some(dims.iter().map(|length| lengths::write(length.as_ref())).collect())
    }

    fn texts(texts: &[&str]) -> Option<Vec<String>> {
        Some(texts.iter().map(|&text| text.to_owned()).collect())
    }

    #[test]
    fn rows_stay_rows() {
        assert_eq!(seen(&[8, 12], &["n", ""], &[8, 3, 4]), texts(&["n", "", ""]));
        assert_eq!(seen(&[1, 8, 12], &["", "n", ""], &[8, 12]), texts(&["n", ""]));
        assert_eq!(seen(&[8, 12], &["n", ""], &[1, 8, 1, 12]), texts(&["", "n", "", ""]));
        assert_eq!(seen(&[8, 12], &["n", ""], &[96]), texts(&["12 * n"]));
        assert_eq!(seen(&[96], &["12 * n"], &[8, 12]), texts(&["n", ""]));
        assert_eq!(seen(&[8, 5, 2], &["n", "", ""], &[8, 10]), texts(&["n", ""]));
        assert_eq!(seen(&[3, 8, 2], &["", "n", ""], &[3, 8, 2]), texts(&["", "n", ""]));
        assert_eq!(seen(&[8, 7], &["n", "m"], &[8, 1, 7]), texts(&["n", "", "m"]));
        assert_eq!(seen(&[1, 1], &["n", ""], &[1]), texts(&["n"]));
    }

    #[test]
    fn what_is_not_in_front_any_more_is_refused() {
        assert_eq!(seen(&[3, 8], &["", "n"], &[24]), None);
        assert_eq!(seen(&[8, 7], &["n", "m"], &[56]), None);
        assert_eq!(seen(&[8], &["n"], &[4, 2]), None);
        assert_eq!(seen(&[8], &["2 * n"], &[4, 2]), texts(&["n", ""]));
    }
}
