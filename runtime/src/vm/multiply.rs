//! Products added to sums, for the few points of one instruction.
//!
//! Each loop around the innermost one comes in its order, so every sum grows in the order of
//! the nest; the innermost one is parallel.

use std::ops::{Add, Mul};

use super::env::Memories;
use super::nest::{Multiply, MultiplyAccess};
use super::ty::Ty;

/// Loops around the innermost one that need no memory.
const LOOPS: usize = 8;

/// Runs it.
pub(super) fn run<M: Memories>(plan: &Multiply, memories: &mut M) {
    let reads = [plan.left.tensor, plan.right.tensor];
    let ([left, right], sum) = memories.split(reads, plan.sum.tensor);
    match plan.ty {
        Ty::F32 => run_as(plan, left, right, sum, f32::from_le_bytes, f32::to_le_bytes),
        _ => run_as(plan, left, right, sum, f64::from_le_bytes, f64::to_le_bytes),
    }
}

fn run_as<T: Copy + Add<Output = T> + Mul<Output = T>, const W: usize>(
    plan: &Multiply,
    left: &[u8],
    right: &[u8],
    sum: &mut [u8],
    read: impl Fn([u8; W]) -> T + Copy,
    write: impl Fn(T) -> [u8; W] + Copy,
) {
    let (left, right) = (left.as_chunks::<W>().0, right.as_chunks::<W>().0);
    let sum = sum.as_chunks_mut::<W>().0;
    let (mut few, mut many) = ([0u64; LOOPS], Vec::new());
    let loops = plan.extents.len();
    let position = if loops <= LOOPS {
        &mut few[..loops]
    } else {
        many.resize(loops, 0);
        &mut many[..]
    };
    let n = plan.points;
    // The order of the operands decides whose payload a NaN keeps.
    let add = |s: T, p: T| if plan.sum_first { s + p } else { p + s };
    let mut at = [plan.sum.offset, plan.left.offset, plan.right.offset];
    loop {
        let [s, l, r] = at.map(|at| at as usize);
        let sums = &mut sum[s..][..n];
        match (plan.left.step, plan.right.step) {
            (0, 0) => {
                let p = read(left[l]) * read(right[r]);
                sums.iter_mut().for_each(|s| *s = write(add(read(*s), p)));
            }
            (0, _) => {
                let factor = read(left[l]);
                for (s, r) in sums.iter_mut().zip(&right[r..][..n]) {
                    *s = write(add(read(*s), factor * read(*r)));
                }
            }
            (_, 0) => {
                let factor = read(right[r]);
                for (s, l) in sums.iter_mut().zip(&left[l..][..n]) {
                    *s = write(add(read(*s), read(*l) * factor));
                }
            }
            _ => {
                for ((s, l), r) in sums.iter_mut().zip(&left[l..][..n]).zip(&right[r..][..n]) {
                    *s = write(add(read(*s), read(*l) * read(*r)));
                }
            }
        }
        if !next(plan, position, &mut at) {
            return;
        }
    }
}

/// The next point of the loops, the last one fastest; false after the last point.
fn next(plan: &Multiply, position: &mut [u64], at: &mut [i64; 3]) -> bool {
    let accesses: [&MultiplyAccess; 3] = [&plan.sum, &plan.left, &plan.right];
    for i in (0..position.len()).rev() {
        position[i] += 1;
        if position[i] < plan.extents[i] {
            for (at, access) in at.iter_mut().zip(accesses) {
                *at += access.strides[i];
            }
            return true;
        }
        let back = plan.extents[i] as i64 - 1;
        for (at, access) in at.iter_mut().zip(accesses) {
            *at -= access.strides[i] * back;
        }
        position[i] = 0;
    }
    false
}
