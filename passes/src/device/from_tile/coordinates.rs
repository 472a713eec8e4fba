//! Where an rTask begins, by its number.

use weft_dialects::ir::{Builder, Type, Val};
use weft_dialects::tile::RTile;

use super::index::Sum;
use super::lengths;
use crate::nest::Nest;

/// First point of the rTask on each axis: row-major over the grid. An axis whose length callers
/// decide has as many tiles as that has.
pub(super) fn coordinates<'c>(
    b: &mut Builder<'c>,
    task: Val<'c>,
    grid: &[u64],
    nest: &Nest<'c>,
    outer: &RTile,
) -> Vec<Sum<'c>> {
    let index = Type::index(b.context());
    let parallel: Vec<usize> = (0..nest.axes.len()).filter(|&axis| !nest.reduces(axis)).collect();
    let mut starts = vec![Sum::number(0); nest.axes.len()];
    let mut rest = task;
    let slowest = grid.iter().position(|&count| count != 1);
    for (number, (&axis, &count)) in parallel.iter().zip(grid).enumerate().rev() {
        if count == 1 {
            continue;
        }
        let size = outer.sizes[axis] as i64;
        let coordinate = if Some(number) == slowest {
            rest
        } else {
            let count = match nest.axes[axis].length {
                Some(length) => lengths::value(b, &length.ceil_div(size)).emit(b),
                None => b.index(count as i64),
            };
            let coordinate = b.op("arith.remui", &[rest, count], &[index]).result(0);
            rest = b.op("arith.divui", &[rest, count], &[index]).result(0);
            coordinate
        };
        starts[axis] = Sum::default().plus(&Sum::value(coordinate), size);
    }
    starts
}
