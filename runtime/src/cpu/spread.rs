//! Tensors of callers, which are dense, beside those of the plan, which are laid out for the
//! greatest lengths.
//!
//! ```text
//! 2 x 3 of 4 x 5:  a b c d e f  <->  a b c . .  d e f . .  . . . . .  . . . . .
//! ```

/// Calls `copy` for each run of elements that lie together in both tensors, with its first element
/// in the dense one of `shape`, in that of `extents`, and the number of elements.
pub fn runs(shape: &[u64], extents: &[u64], mut copy: impl FnMut(usize, usize, usize)) {
    let same = shape.iter().zip(extents).rev().take_while(|(own, whole)| own == whole).count();
    let last = shape.len() - same;
    let inner: u64 = extents[last..].iter().product();
    let (outer, run) = match last.checked_sub(1) {
        Some(dim) => (&shape[..dim], shape[dim] * inner),
        None => (&[][..], inner),
    };
    for row in 0..outer.iter().product::<u64>() {
        let (mut rest, mut place) = (row, 0);
        let mut stride = extents[outer.len()..].iter().product::<u64>();
        for (dim, &length) in outer.iter().enumerate().rev() {
            place += rest % length * stride;
            rest /= length;
            stride *= extents[dim];
        }
        copy((row * run) as usize, place as usize, run as usize);
    }
}

/// Returns whether a dense tensor of `shape` is the beginning of one of `extents`.
pub fn is_beginning(shape: &[u64], extents: &[u64]) -> bool {
    if shape.contains(&0) {
        return true;
    }
    let same = shape.iter().zip(extents).rev().take_while(|(own, whole)| own == whole).count();
    let outer = shape.len().saturating_sub(same + 1);
    shape[..outer].iter().all(|&length| length == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(shape: &[u64], extents: &[u64]) -> Vec<(usize, usize, usize)> {
        let mut found = Vec::new();
        runs(shape, extents, |dense, spread, count| found.push((dense, spread, count)));
        found
    }

    #[test]
    fn rows_are_as_far_apart_as_the_extents_say() {
        assert_eq!(found(&[2, 3], &[4, 5]), [(0, 0, 3), (3, 5, 3)]);
        assert_eq!(found(&[2, 3, 7], &[2, 5, 7]), [(0, 0, 21), (21, 35, 21)]);
        assert_eq!(found(&[2, 2, 1], &[3, 4, 5]), [(0, 0, 1), (1, 5, 1), (2, 20, 1), (3, 25, 1)]);
        assert_eq!(found(&[3, 7], &[5, 7]), [(0, 0, 21)]);
        assert_eq!(found(&[3, 7], &[3, 7]), [(0, 0, 21)]);
        assert_eq!(found(&[], &[]), [(0, 0, 1)]);
        assert_eq!(found(&[0, 3], &[4, 5]), []);
    }

    #[test]
    fn what_is_cut_off_at_its_end_stays_where_it_is() {
        assert!(is_beginning(&[3, 7], &[5, 7]));
        assert!(is_beginning(&[1, 3, 7], &[8, 5, 7]));
        assert!(is_beginning(&[], &[]));
        assert!(is_beginning(&[2, 0], &[4, 5]));
        assert!(!is_beginning(&[2, 3], &[2, 5]));
    }
}
