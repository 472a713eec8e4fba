//! Copies a tensor in another order: the work of re-laying out weights.

use super::nest::{Copy, CopyAxis};

/// Elements per side of the blocks of a transposition: a block of rows and one of columns fit
/// in the first-level cache together.
const BLOCK: u64 = 32;

/// Runs a copy from the bytes of one tensor to those of another.
pub(super) fn run(copy: &Copy, from: &[u8], to: &mut [u8]) {
    match copy.bytes {
        1 => run_as::<1>(copy, from, to),
        2 => run_as::<2>(copy, from, to),
        4 => run_as::<4>(copy, from, to),
        _ => run_as::<8>(copy, from, to),
    }
}

fn run_as<const W: usize>(copy: &Copy, from: &[u8], to: &mut [u8]) {
    let (from, to) = (from.as_chunks::<W>().0, to.as_chunks_mut::<W>().0);
    let unit = CopyAxis { extent: 1, from: 1, to: 1 };
    let (inner, mut outer) = match copy.axes.split_last() {
        Some((inner, outer)) => (*inner, outer.to_vec()),
        None => (unit, Vec::new()),
    };
    // Across the innermost axis of the target runs the one that is innermost in the source.
    let across = match outer.iter().enumerate().min_by_key(|(_, axis)| axis.from.unsigned_abs()) {
        Some((i, axis)) if axis.from.unsigned_abs() < inner.from.unsigned_abs() => {
            let axis = *axis;
            outer.remove(i);
            axis
        }
        _ => outer.pop().unwrap_or(CopyAxis { extent: 1, from: 0, to: 0 }),
    };
    let mut position = vec![0u64; outer.len()];
    let (mut f, mut t) = (copy.from_offset, copy.to_offset);
    loop {
        plane::<W>(from, f, to, t, across, inner);
        // The next point of the outer axes, the last one fastest.
        let mut axis = outer.len();
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            let a = outer[axis];
            position[axis] += 1;
            if position[axis] < a.extent {
                (f, t) = (f + a.from, t + a.to);
                break;
            }
            let back = a.extent as i64 - 1;
            (f, t) = (f - a.from * back, t - a.to * back);
            position[axis] = 0;
        }
    }
}

/// Copies the plane of two axes.
fn plane<const W: usize>(
    from: &[[u8; W]],
    f: i64,
    to: &mut [[u8; W]],
    t: i64,
    across: CopyAxis,
    inner: CopyAxis,
) {
    if inner.from == 1 && inner.to == 1 {
        let n = inner.extent as usize;
        for row in 0..across.extent as i64 {
            let (f, t) = ((f + row * across.from) as usize, (t + row * across.to) as usize);
            to[t..t + n].copy_from_slice(&from[f..f + n]);
        }
        return;
    }
    for first in (0..across.extent).step_by(BLOCK as usize) {
        let last = (first + BLOCK).min(across.extent);
        for begin in (0..inner.extent).step_by(BLOCK as usize) {
            let n = BLOCK.min(inner.extent - begin) as i64;
            if across.from == 1 && inner.to == 1 {
                let f = f + first as i64 + begin as i64 * inner.from;
                let t = t + first as i64 * across.to + begin as i64;
                let rows = (last - first) as usize;
                block(from, (f, inner.from), to, (t, across.to), rows, n as usize);
                continue;
            }
            for row in first as i64..last as i64 {
                let f = f + row * across.from + begin as i64 * inner.from;
                let t = t + row * across.to + begin as i64 * inner.to;
                if inner.to == 1 {
                    let row = &mut to[t as usize..(t + n) as usize];
                    for (i, element) in row.iter_mut().enumerate() {
                        *element = from[(f + i as i64 * inner.from) as usize];
                    }
                } else {
                    for i in 0..n {
                        to[(t + i * inner.to) as usize] = from[(f + i * inner.from) as usize];
                    }
                }
            }
        }
    }
}

/// Transposes a block: `rows` elements are contiguous in the source, `columns` in the
/// target; `f` and `t` are where the block begins.
/// It passes through a small array, since far steps of a power of two fall onto few cache lines.
fn block<const W: usize>(
    from: &[[u8; W]],
    (f, from_step): (i64, i64),
    to: &mut [[u8; W]],
    (t, to_step): (i64, i64),
    rows: usize,
    columns: usize,
) {
    const SIDE: usize = BLOCK as usize;
    let mut near = [[0; W]; SIDE * SIDE];
    for column in 0..columns {
        let start = (f + column as i64 * from_step) as usize;
        near[column * SIDE..][..rows].copy_from_slice(&from[start..][..rows]);
    }
    for row in 0..rows {
        let start = (t + row as i64 * to_step) as usize;
        for (column, element) in to[start..][..columns].iter_mut().enumerate() {
            *element = near[column * SIDE + row];
        }
    }
}
