//! Instructions over strips of registers.
//!
//! A register is an array of words that holds its elements packed, with exactly the bits they
//! have in memory. Half-precision floats are widened to f32 for each operation.

mod cast;
mod float;
mod int;
mod memory;

use bytemuck::Pod;

use super::inst::{BinaryOp, Inst};
use super::program::TensorId;
use super::ty::{Scalar, Ty};

pub(super) use float::mul_add;
pub(super) use memory::{extract, load, load_at, positions, store, store_at};

/// An error at a point.
pub(super) enum Fault {
    DivisionByZero,
    Address { tensor: TensorId, address: i64, len: u64 },
}

/// Memory for registers, kept from one nest to the next.
#[derive(Default)]
pub(super) struct Registers {
    /// A strip of elements each.
    pub strip: Vec<Vec<u64>>,
    /// One element each.
    pub tail: Vec<Vec<u64>>,
    pub scratch: Scratch,
    /// The addresses at the nest's current point.
    pub places: super::exec::NestAddresses,
}

impl Registers {
    /// Reserves `points` elements in each register, and one in the tail's.
    pub fn reserve(&mut self, types: &[Ty], points: usize, tail: bool) {
        if self.strip.len() < types.len() {
            self.strip.resize(types.len(), Vec::new());
        }
        if tail && self.tail.len() < types.len() {
            self.tail.resize(types.len(), vec![0]);
        }
        for words in &mut self.strip[..types.len()] {
            // All of one size: accumulators and their values trade places.
            if words.len() < points {
                words.resize(points, 0);
            }
        }
    }
}

/// The elements of a register.
#[derive(Clone, Copy)]
pub(super) struct Elements<'r> {
    pub ty: Ty,
    pub words: &'r [u64],
}

/// Arrays for intermediate values.
#[derive(Default)]
pub(super) struct Scratch {
    a: Vec<u64>,
    b: Vec<u64>,
    c: Vec<u64>,
    out: Vec<u64>,
}

impl Scratch {
    /// The addresses that an integer register holds.
    pub fn addresses(&mut self, ty: Ty, words: &[u64], n: usize) -> &[i64] {
        grow(&mut self.a, n);
        cast::read_signed(ty, words, view_mut(&mut self.a, n));
        view(&self.a, n)
    }
}

fn grow(words: &mut Vec<u64>, n: usize) {
    if words.len() < n {
        words.resize(n, 0);
    }
}

fn view<T: Pod>(words: &[u64], n: usize) -> &[T] {
    &bytemuck::cast_slice(words)[..n]
}

fn view_mut<T: Pod>(words: &mut [u64], n: usize) -> &mut [T] {
    &mut bytemuck::cast_slice_mut(words)[..n]
}

/// Sets `n` elements to a constant.
pub(super) fn fill(words: &mut [u64], scalar: Scalar, n: usize) {
    match scalar.ty.bytes() {
        1 if scalar.ty == Ty::I1 => view_mut::<u8>(words, n).fill(scalar.bits as u8 & 1),
        1 => view_mut::<u8>(words, n).fill(scalar.bits as u8),
        2 => view_mut::<u16>(words, n).fill(scalar.bits as u16),
        4 => view_mut::<u32>(words, n).fill(scalar.bits as u32),
        _ => view_mut::<u64>(words, n).fill(scalar.bits),
    }
}

/// Copies a whole register.
pub(super) fn copy(from: &[u64], to: &mut [u64]) {
    let n = from.len().min(to.len());
    to[..n].copy_from_slice(&from[..n]);
}

/// `out[i] = f(x[i])`.
fn map<T: Copy, R>(x: &[T], out: &mut [R], f: impl Fn(T) -> R) {
    for (out, &x) in out.iter_mut().zip(x) {
        *out = f(x);
    }
}

/// `out[i] = f(a[i], b[i])`.
fn zip<A: Copy, B: Copy, R>(a: &[A], b: &[B], out: &mut [R], f: impl Fn(A, B) -> R) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = f(a, b);
    }
}

/// Runs an instruction that touches registers only, on `n` points.
pub(super) fn inst(
    inst: &Inst,
    types: &[Ty],
    registers: &[Vec<u64>],
    out: &mut [u64],
    scratch: &mut Scratch,
    n: usize,
) -> Result<(), Fault> {
    let reg = |r: u32| &registers[r as usize][..];
    let ty = |r: u32| types[r as usize];
    let elements = |r: u32| Elements { ty: ty(r), words: reg(r) };
    match *inst {
        Inst::Unary { op, x } if op.is_float() => float::unary(op, ty(x), reg(x), out, scratch, n),
        Inst::Unary { op, x } => int::unary(op, ty(x), reg(x), out, n),
        Inst::Binary { op, a, b } if op.takes_power() => {
            float::power(op, elements(a), elements(b), out, scratch, n);
        }
        Inst::Binary { op, a, b } if op.is_float() => {
            float::binary(op, elements(a), reg(b), out, scratch, n);
        }
        Inst::Binary { op, a, b } => int::binary(op, elements(a), reg(b), out, scratch, n)?,
        Inst::Fma { a, b, c } => float::fma(ty(a), [reg(a), reg(b), reg(c)], out, scratch, n),
        Inst::CmpI { predicate, a, b } => {
            int::compare(predicate, ty(a), reg(a), reg(b), view_mut(out, n), scratch);
        }
        Inst::CmpF { predicate, a, b } => {
            float::compare(predicate, ty(a), reg(a), reg(b), view_mut(out, n), scratch);
        }
        Inst::Select { condition, then, otherwise } => {
            let (c, a, b) = (view::<u8>(reg(condition), n), reg(then), reg(otherwise));
            match ty(then).bytes() {
                1 => select::<u8>(c, a, b, out),
                2 => select::<u16>(c, a, b, out),
                4 => select::<u32>(c, a, b, out),
                _ => select::<u64>(c, a, b, out),
            }
        }
        Inst::Cast { op, to, x } => cast::cast(op, elements(x), to, out, scratch, n),
        Inst::Const(_) | Inst::Index(_) | Inst::LoadAt { .. } => {
            unreachable!("constants, positions and loads are scheduled apart from instructions")
        }
    }
    Ok(())
}

fn select<T: Pod>(c: &[u8], a: &[u64], b: &[u64], out: &mut [u64]) {
    let n = c.len();
    let (a, b) = (view::<T>(a, n), view::<T>(b, n));
    for (((out, &c), &a), &b) in view_mut::<T>(out, n).iter_mut().zip(c).zip(a).zip(b) {
        *out = if c != 0 { a } else { b };
    }
}

/// Returns whether [`fold`] knows an operation; those that may fail are not among them.
pub(super) fn folds(op: BinaryOp, ty: Ty) -> bool {
    use BinaryOp::*;
    let fails =
        matches!(op, DivSI | DivUI | CeilDivSI | CeilDivUI | FloorDivSI | RemSI | RemUI | IPowI);
    !op.takes_power() && !fails && ty != Ty::I1
}

/// `accumulator = op(accumulator, x[i])` for each point in turn, or `op(x[i], accumulator)`.
pub(super) fn fold(
    op: BinaryOp,
    accumulator: &mut [u64],
    x: Elements<'_>,
    first: bool,
    n: usize,
    scratch: &mut Scratch,
) {
    if op.is_float() {
        float::fold(op, accumulator, x, first, n, scratch);
    } else {
        int::fold(op, accumulator, x, first, n);
    }
}

/// One operation on index values; `None` where it has no result, as a division by zero.
pub fn index(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    if op.is_float() {
        return None;
    }
    let mut out = [0];
    let mut scratch = Scratch::default();
    let a = Elements { ty: Ty::Index, words: &[a as u64] };
    int::binary(op, a, &[b as u64], &mut out, &mut scratch, 1).ok()?;
    Some(out[0] as i64)
}

/// Returns whether two index values compare as the predicate says.
pub fn index_compare(predicate: super::inst::CmpIPredicate, a: i64, b: i64) -> bool {
    let mut out = [0u8];
    let mut scratch = Scratch::default();
    int::compare(predicate, Ty::Index, &[a as u64], &[b as u64], &mut out, &mut scratch);
    out[0] != 0
}
