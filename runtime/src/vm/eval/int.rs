//! Integer instructions. Signed arithmetic is the plain one; unsigned operations reinterpret.

use bytemuck::Pod;

use super::super::inst::{BinaryOp, CmpIPredicate, UnaryOp};
use super::super::ty::Ty;
use super::{Elements, Fault, Scratch, grow, map, view, view_mut, zip};

trait Int: Pod + Ord {
    const ZERO: Self;
    fn wrapping_abs(self) -> Self;
    fn leading_zeros(self) -> Self;
    fn count_ones(self) -> Self;
    fn trailing_zeros(self) -> Self;
    fn add(self, b: Self) -> Self;
    fn sub(self, b: Self) -> Self;
    fn mul(self, b: Self) -> Self;
    fn mul_high(self, b: Self) -> Self;
    fn mul_high_unsigned(self, b: Self) -> Self;
    fn div(self, b: Self) -> Self;
    fn div_unsigned(self, b: Self) -> Self;
    fn div_ceil(self, b: Self) -> Self;
    fn div_ceil_unsigned(self, b: Self) -> Self;
    fn div_floor(self, b: Self) -> Self;
    fn rem(self, b: Self) -> Self;
    fn rem_unsigned(self, b: Self) -> Self;
    fn and(self, b: Self) -> Self;
    fn or(self, b: Self) -> Self;
    fn xor(self, b: Self) -> Self;
    fn shl(self, b: Self) -> Self;
    fn shr(self, b: Self) -> Self;
    fn shr_unsigned(self, b: Self) -> Self;
    fn less_unsigned(self, b: Self) -> bool;
    /// `None` for zero to a negative power.
    fn pow(self, b: Self) -> Option<Self>;
}

macro_rules! int {
    ($t:ident, $u:ident, $wide:ident, $wide_u:ident) => {
        impl Int for $t {
            const ZERO: $t = 0;
            fn wrapping_abs(self) -> $t {
                self.wrapping_abs()
            }
            fn leading_zeros(self) -> $t {
                $t::leading_zeros(self) as $t
            }
            fn count_ones(self) -> $t {
                $t::count_ones(self) as $t
            }
            fn trailing_zeros(self) -> $t {
                $t::trailing_zeros(self) as $t
            }
            fn add(self, b: $t) -> $t {
                self.wrapping_add(b)
            }
            fn sub(self, b: $t) -> $t {
                self.wrapping_sub(b)
            }
            fn mul(self, b: $t) -> $t {
                self.wrapping_mul(b)
            }
            fn mul_high(self, b: $t) -> $t {
                ((self as $wide * b as $wide) >> $t::BITS) as $t
            }
            fn mul_high_unsigned(self, b: $t) -> $t {
                ((self as $u as $wide_u * b as $u as $wide_u) >> $t::BITS) as $t
            }
            fn div(self, b: $t) -> $t {
                self.wrapping_div(b)
            }
            fn div_unsigned(self, b: $t) -> $t {
                (self as $u / b as $u) as $t
            }
            fn div_ceil(self, b: $t) -> $t {
                let (quotient, rest) = (self.wrapping_div(b), self.wrapping_rem(b));
                quotient.wrapping_add((rest != 0 && (rest < 0) == (b < 0)) as $t)
            }
            fn div_ceil_unsigned(self, b: $t) -> $t {
                (self as $u).div_ceil(b as $u) as $t
            }
            fn div_floor(self, b: $t) -> $t {
                let (quotient, rest) = (self.wrapping_div(b), self.wrapping_rem(b));
                quotient.wrapping_sub((rest != 0 && (rest < 0) != (b < 0)) as $t)
            }
            fn rem(self, b: $t) -> $t {
                self.wrapping_rem(b)
            }
            fn rem_unsigned(self, b: $t) -> $t {
                (self as $u % b as $u) as $t
            }
            fn and(self, b: $t) -> $t {
                self & b
            }
            fn or(self, b: $t) -> $t {
                self | b
            }
            fn xor(self, b: $t) -> $t {
                self ^ b
            }
            fn shl(self, b: $t) -> $t {
                if (b as $u) < $t::BITS as $u { self << b } else { 0 }
            }
            fn shr(self, b: $t) -> $t {
                self >> (b as $u).min($t::BITS as $u - 1)
            }
            fn shr_unsigned(self, b: $t) -> $t {
                if (b as $u) < $t::BITS as $u { (self as $u >> b) as $t } else { 0 }
            }
            fn less_unsigned(self, b: $t) -> bool {
                (self as $u) < b as $u
            }
            fn pow(self, power: $t) -> Option<$t> {
                if power < 0 {
                    return match self {
                        0 => None,
                        1 => Some(1),
                        -1 if power & 1 == 0 => Some(1),
                        -1 => Some(-1),
                        _ => Some(0),
                    };
                }
                let (mut result, mut base, mut power): ($t, $t, $t) = (1, self, power);
                while power > 0 {
                    if power & 1 == 1 {
                        result = result.wrapping_mul(base);
                    }
                    base = base.wrapping_mul(base);
                    power >>= 1;
                }
                Some(result)
            }
        }
    };
}
int!(i8, u8, i16, u16);
int!(i16, u16, i32, u32);
int!(i32, u32, i64, u64);
int!(i64, u64, i128, u128);

pub fn unary(op: UnaryOp, ty: Ty, x: &[u64], out: &mut [u64], n: usize) {
    match ty {
        // One bit: the number of its zeros is its complement, of its ones itself.
        Ty::I1 => map(view::<u8>(x, n), view_mut::<u8>(out, n), |x| match op {
            UnaryOp::Ctlz | UnaryOp::Cttz => 1 - x,
            _ => x,
        }),
        Ty::I8 => unary_as::<i8>(op, x, out, n),
        Ty::I16 => unary_as::<i16>(op, x, out, n),
        Ty::I32 => unary_as::<i32>(op, x, out, n),
        _ => unary_as::<i64>(op, x, out, n),
    }
}

fn unary_as<T: Int>(op: UnaryOp, x: &[u64], out: &mut [u64], n: usize) {
    let (x, out) = (view::<T>(x, n), view_mut::<T>(out, n));
    match op {
        UnaryOp::AbsI => map(x, out, T::wrapping_abs),
        UnaryOp::Ctlz => map(x, out, T::leading_zeros),
        UnaryOp::Ctpop => map(x, out, T::count_ones),
        _ => map(x, out, T::trailing_zeros),
    }
}

/// Runs `$body` with `$f` as the scalar function of an operation that cannot fail, or, once
/// the divisor was checked, of a division.
macro_rules! with_binary {
    ($op:expr, $t:ident, $f:ident => $body:expr) => {{
        macro_rules! run {
            ($scalar:expr) => {{
                let $f = $scalar;
                $body
            }};
        }
        use BinaryOp::*;
        match $op {
            AddI => run!($t::add),
            SubI => run!($t::sub),
            MulI => run!($t::mul),
            MulSIHigh => run!($t::mul_high),
            MulUIHigh => run!($t::mul_high_unsigned),
            DivSI => run!($t::div),
            DivUI => run!($t::div_unsigned),
            CeilDivSI => run!($t::div_ceil),
            CeilDivUI => run!($t::div_ceil_unsigned),
            FloorDivSI => run!($t::div_floor),
            RemSI => run!($t::rem),
            RemUI => run!($t::rem_unsigned),
            AndI => run!($t::and),
            OrI => run!($t::or),
            XorI => run!($t::xor),
            ShLI => run!($t::shl),
            ShRSI => run!($t::shr),
            ShRUI => run!($t::shr_unsigned),
            MaxSI => run!(|a: $t, b: $t| a.max(b)),
            MinSI => run!(|a: $t, b: $t| a.min(b)),
            MaxUI => run!(|a: $t, b: $t| if a.less_unsigned(b) { b } else { a }),
            MinUI => run!(|a: $t, b: $t| if a.less_unsigned(b) { a } else { b }),
            _ => unreachable!("{:?} is not a binary operation on integers", $op),
        }
    }};
}

pub fn binary(
    op: BinaryOp,
    Elements { ty, words: a }: Elements<'_>,
    b: &[u64],
    out: &mut [u64],
    s: &mut Scratch,
    n: usize,
) -> Result<(), Fault> {
    match ty {
        Ty::I1 => bits(op, view(a, n), view(b, n), view_mut(out, n), s),
        Ty::I8 => binary_as::<i8>(op, view(a, n), view(b, n), view_mut(out, n)),
        Ty::I16 => binary_as::<i16>(op, view(a, n), view(b, n), view_mut(out, n)),
        Ty::I32 => binary_as::<i32>(op, view(a, n), view(b, n), view_mut(out, n)),
        _ => binary_as::<i64>(op, view(a, n), view(b, n), view_mut(out, n)),
    }
}

fn binary_as<T: Int>(op: BinaryOp, a: &[T], b: &[T], out: &mut [T]) -> Result<(), Fault> {
    use BinaryOp::*;
    if op == IPowI {
        for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
            *out = a.pow(*b).ok_or(Fault::DivisionByZero)?;
        }
        return Ok(());
    }
    let divides = matches!(op, DivSI | DivUI | CeilDivSI | CeilDivUI | FloorDivSI | RemSI | RemUI);
    if divides && b.contains(&T::ZERO) {
        return Err(Fault::DivisionByZero);
    }
    with_binary!(op, T, f => zip(a, b, out, f));
    Ok(())
}

/// One bit is computed in eight: extended with its sign or with zeros, as the operation reads
/// it, and cut again.
fn bits(op: BinaryOp, a: &[u8], b: &[u8], out: &mut [u8], s: &mut Scratch) -> Result<(), Fault> {
    use BinaryOp::*;
    if matches!(op, MulSIHigh | MulUIHigh) {
        out.fill(0);
        return Ok(());
    }
    let n = out.len();
    let signed =
        matches!(op, DivSI | CeilDivSI | FloorDivSI | RemSI | ShRSI | MaxSI | MinSI | IPowI);
    grow(&mut s.a, n);
    grow(&mut s.b, n);
    extend(a, signed, view_mut(&mut s.a, n));
    extend(b, signed, view_mut(&mut s.b, n));
    let wide = bytemuck::cast_slice_mut::<u8, i8>(out);
    binary_as::<i8>(op, view(&s.a, n), view(&s.b, n), wide)?;
    out.iter_mut().for_each(|b| *b &= 1);
    Ok(())
}

fn extend(x: &[u8], signed: bool, out: &mut [i8]) {
    map(x, out, |x| if signed { -(x as i8) } else { x as i8 });
}

/// See [`super::fold`].
pub fn fold(op: BinaryOp, acc: &mut [u64], x: Elements<'_>, first: bool, n: usize) {
    let Elements { ty, words: x } = x;
    match ty {
        Ty::I8 => fold_as::<i8>(op, view_mut(acc, 1), view(x, n), first),
        Ty::I16 => fold_as::<i16>(op, view_mut(acc, 1), view(x, n), first),
        Ty::I32 => fold_as::<i32>(op, view_mut(acc, 1), view(x, n), first),
        _ => fold_as::<i64>(op, view_mut(acc, 1), view(x, n), first),
    }
}

fn fold_as<T: Int>(op: BinaryOp, acc: &mut [T], x: &[T], first: bool) {
    let start = acc[0];
    acc[0] = with_binary!(op, T, f => if first {
        x.iter().fold(start, |acc, &x| f(acc, x))
    } else {
        x.iter().fold(start, |acc, &x| f(x, acc))
    });
}

pub fn compare(
    predicate: CmpIPredicate,
    ty: Ty,
    a: &[u64],
    b: &[u64],
    out: &mut [u8],
    s: &mut Scratch,
) {
    use CmpIPredicate::*;
    let n = out.len();
    match ty {
        Ty::I1 => {
            let signed = matches!(predicate, Slt | Sle | Sgt | Sge);
            grow(&mut s.a, n);
            grow(&mut s.b, n);
            extend(view(a, n), signed, view_mut(&mut s.a, n));
            extend(view(b, n), signed, view_mut(&mut s.b, n));
            compare_as::<i8>(predicate, view(&s.a, n), view(&s.b, n), out);
        }
        Ty::I8 => compare_as::<i8>(predicate, view(a, n), view(b, n), out),
        Ty::I16 => compare_as::<i16>(predicate, view(a, n), view(b, n), out),
        Ty::I32 => compare_as::<i32>(predicate, view(a, n), view(b, n), out),
        _ => compare_as::<i64>(predicate, view(a, n), view(b, n), out),
    }
}

fn compare_as<T: Int>(predicate: CmpIPredicate, a: &[T], b: &[T], out: &mut [u8]) {
    use CmpIPredicate::*;
    match predicate {
        Eq => zip(a, b, out, |a, b| (a == b) as u8),
        Ne => zip(a, b, out, |a, b| (a != b) as u8),
        Slt => zip(a, b, out, |a, b| (a < b) as u8),
        Sle => zip(a, b, out, |a, b| (a <= b) as u8),
        Sgt => zip(a, b, out, |a, b| (a > b) as u8),
        Sge => zip(a, b, out, |a, b| (a >= b) as u8),
        Ult => zip(a, b, out, |a, b| a.less_unsigned(b) as u8),
        Ule => zip(a, b, out, |a, b| !b.less_unsigned(a) as u8),
        Ugt => zip(a, b, out, |a, b| b.less_unsigned(a) as u8),
        Uge => zip(a, b, out, |a, b| !a.less_unsigned(b) as u8),
    }
}
