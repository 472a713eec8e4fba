//! Loops up to a length that callers decide.
//!
//! How many points a tile has stands in its code, so there is code for tiles of a few sizes: the whole
//! one, and for what is left of a length the powers of two below it, one after the other. Rows may be
//! repeated: those behind the last are the last one again, which gives the same result at the same place.
//!
//! ```text
//! for 12 at a time { tile of 12 }  if more than 9 are left { tile of 12, row min(at + r, last) }
//! if more than 6 are left { tile of 9, row min(at + r, last) }  for 4 { tile of 4 }  for 2 { .. }  for 1 { .. }
//! ```

use weft_dialects::device::build;
use weft_dialects::ir::{Builder, Type, Val};

use super::index::{Sum, scf_for, scf_if};
use super::tiles::compare;
use crate::length::Length;
use crate::nest::Loop;

/// The value of a length.
pub(super) fn value<'c>(b: &mut Builder<'c>, length: &Length) -> Sum<'c> {
    match length.as_number() {
        Some(number) => Sum::number(number),
        None => Sum::value(build::length(b, length)),
    }
}

/// Behind the last point of a loop.
pub(super) fn end<'c>(b: &mut Builder<'c>, own: &Loop) -> Sum<'c> {
    own.length.map_or(Sum::number(own.extent as i64), |length| value(b, length))
}

/// The largest multiple of a number that is not above `end`.
pub(super) fn whole<'c>(b: &mut Builder<'c>, end: &Sum<'c>, by: u64) -> Sum<'c> {
    if let Some(number) = end.as_number() {
        return Sum::number(number / by as i64 * by as i64);
    }
    let index = Type::index(b.context());
    let (end, by) = (end.emit(b), b.index(by as i64));
    let count = b.op("arith.divui", &[end, by], &[index]).result(0);
    Sum::value(b.op("arith.muli", &[count, by], &[index]).result(0))
}

/// The sizes of tiles that points are done in.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    /// Of a whole tile.
    whole: u64,
    /// More points than the first number, and no whole tile, are a tile of the second in which the last one is done
    /// again and again: one look at what all rows share, which may be far away, is worth more than rows. Larger tiles
    /// come first.
    repeated: Vec<[u64; 2]>,
    /// Of what is left, none larger than the one before.
    rest: Vec<u64>,
}

/// Rows of which each may have a place of its own, as many as there are registers for places.
const MOST_PLACES: u64 = 16;

impl Sizes {
    /// For tiles of a size, which may divide the number of points, and in which rows may be repeated.
    pub fn of(tile: u64, divides: bool, repeats: bool) -> Self {
        let mut repeated = Vec::new();
        if repeats && !divides && (4..=MOST_PLACES).contains(&tile) {
            let part = (3 * tile).div_ceil(4);
            repeated.extend((part + 1 < tile).then_some([part, tile]));
            repeated.push([tile / 2, part]);
        }
        let below = repeated.last().map_or(tile, |[most, _]| most + 1);
        let bits = (below.max(1) - 1).checked_ilog2().map_or(0, |bits| bits + 1);
        let rest = (0..bits).rev().map(|bit| 1 << bit).filter(|_| !divides).collect();
        Self { whole: tile, repeated, rest }
    }
}

/// A tile along an axis.
pub(super) struct Along<'c> {
    /// Its first point.
    pub at: Sum<'c>,
    /// Number of points.
    pub size: u64,
    /// The last point of the axis, where there may be fewer.
    pub last: Option<Val<'c>>,
}

/// Loops over tiles from `low` below `high`; `body` writes one.
pub(super) fn in_tiles<'c>(
    b: &mut Builder<'c>,
    [low, high]: [&Sum<'c>; 2],
    sizes: &Sizes,
    body: &mut dyn FnMut(&mut Builder<'c>, Along<'c>),
) {
    let index = Type::index(b.context());
    let high = high.emit(b);
    let mut low = low.emit(b);
    let all = std::iter::once(&sizes.whole).chain(&sizes.rest);
    for (number, &size) in all.enumerate() {
        let left = b.op("arith.subi", &[high, low], &[index]).result(0);
        let is_last = number == sizes.rest.len();
        let end = if is_last {
            high
        } else {
            let by = b.index(size as i64);
            let count = b.op("arith.divui", &[left, by], &[index]).result(0);
            let whole = b.op("arith.muli", &[count, by], &[index]).result(0);
            b.op("arith.addi", &[low, whole], &[index]).result(0)
        };
        scf_for(b, &Sum::value(low), &Sum::value(end), size as i64, |b, at| {
            body(b, Along { at: Sum::value(at), size, last: None });
        });
        low = end;
        if number == 0 {
            for &[most, size] in &sizes.repeated {
                low = in_one(b, [low, high], (size, most), body);
            }
        }
    }
}

/// One tile for more than `most` points that are left; gives where those behind it begin.
fn in_one<'c>(
    b: &mut Builder<'c>,
    [low, high]: [Val<'c>; 2],
    (size, most): (u64, u64),
    body: &mut dyn FnMut(&mut Builder<'c>, Along<'c>),
) -> Val<'c> {
    let index = Type::index(b.context());
    let (low_sum, high_sum) = (Sum::value(low), Sum::value(high));
    let reach = low_sum.clone().plus(&Sum::number(most as i64), 1);
    let is_one = compare(b, "ult", &reach, &high_sum);
    let one = b.index(1);
    let last = b.op("arith.subi", &[high, one], &[index]).result(0);
    scf_if(b, is_one, |b| body(b, Along { at: low_sum, size, last: Some(last) }));
    b.op("arith.select", &[is_one, high, low], &[index]).result(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_the_tile_and_powers_of_two_below() {
        let of = |tile, divides, repeats| {
            let Sizes { whole, repeated, rest } = Sizes::of(tile, divides, repeats);
            assert_eq!(whole, tile);
            (repeated, rest)
        };
        assert_eq!(of(12, false, false), (vec![], vec![8, 4, 2, 1]));
        assert_eq!(of(8, false, false), (vec![], vec![4, 2, 1]));
        assert_eq!(of(1, false, true), (vec![], vec![]));
        assert_eq!(of(2, false, true), (vec![], vec![1]));
        assert_eq!(of(8, true, true), (vec![], vec![]));
        assert_eq!(of(12, false, true), (vec![[9, 12], [6, 9]], vec![4, 2, 1]));
        assert_eq!(of(9, false, true), (vec![[7, 9], [4, 7]], vec![4, 2, 1]));
        assert_eq!(of(6, false, true), (vec![[3, 5]], vec![2, 1]));
        assert_eq!(of(4, false, true), (vec![[2, 3]], vec![2, 1]));
        assert_eq!(of(29, false, true), (vec![], vec![16, 8, 4, 2, 1]));
    }

    /// However many are left, each is done once, but for the last one of a tile that repeats it.
    #[test]
    fn every_point_is_in_a_tile() {
        for tile in 1..=20 {
            let Sizes { whole, repeated, rest } = Sizes::of(tile, false, true);
            for points in 0..60u64 {
                let mut left = points % whole;
                if let Some([_, size]) = repeated.iter().find(|[most, _]| left > *most) {
                    assert!(left <= *size, "{points} in tiles of {tile}");
                    left = 0;
                }
                for size in &rest {
                    left %= size;
                }
                assert_eq!(left, 0, "{points} in tiles of {tile}");
            }
        }
    }
}
