//! Loops up to a length that callers decide.
//!
//! How many points a tile has stands in its code, so there is code for tiles of a few sizes: the whole
//! one, and for what is left of a length the powers of two below it, one after the other.
//!
//! ```text
//! for 12 at a time { tile of 12 }  for 8 { tile of 8 }  for 4 { .. 4 }  for 2 { .. }  for 1 { .. }
//! ```

use weft_dialects::device::build;
use weft_dialects::ir::{Builder, Type};

use super::index::{Sum, scf_for};
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

/// The sizes of tiles that points are done in, none of which is larger than the one before: the whole
/// one, and those below it unless it divides the number of points.
pub(super) fn sizes(tile: u64, divides: bool) -> Vec<u64> {
    let below = (tile.max(1) - 1).checked_ilog2().map_or(0, |bits| bits + 1);
    let powers = (0..below).rev().map(|bit| 1 << bit).filter(|_| !divides);
    std::iter::once(tile).chain(powers).collect()
}

/// Loops over tiles of these sizes from `low` below `high`; `body` writes one of a size.
pub(super) fn in_tiles<'c>(
    b: &mut Builder<'c>,
    [low, high]: [&Sum<'c>; 2],
    sizes: &[u64],
    body: &mut dyn FnMut(&mut Builder<'c>, Sum<'c>, u64),
) {
    let index = Type::index(b.context());
    let high = high.emit(b);
    let mut low = low.emit(b);
    for (number, &size) in sizes.iter().enumerate() {
        let is_last = number + 1 == sizes.len();
        let end = if is_last {
            high
        } else {
            let by = b.index(size as i64);
            let left = b.op("arith.subi", &[high, low], &[index]).result(0);
            let count = b.op("arith.divui", &[left, by], &[index]).result(0);
            let whole = b.op("arith.muli", &[count, by], &[index]).result(0);
            b.op("arith.addi", &[low, whole], &[index]).result(0)
        };
        scf_for(b, &Sum::value(low), &Sum::value(end), size as i64, |b, at| {
            body(b, Sum::value(at), size);
        });
        low = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_the_tile_and_powers_of_two_below() {
        assert_eq!(sizes(12, false), [12, 8, 4, 2, 1]);
        assert_eq!(sizes(8, false), [8, 4, 2, 1]);
        assert_eq!(sizes(1, false), [1]);
        assert_eq!(sizes(2, false), [2, 1]);
        assert_eq!(sizes(8, true), [8]);
    }
}
