//! Floating-point instructions.

use bytemuck::Pod;
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

use super::super::inst::{BinaryOp, CmpFPredicate, UnaryOp};
use super::super::ty::Ty;
use super::cast::read_signed;
use super::{Elements, Scratch, grow, map, view, view_mut, zip};

/// f32 and f64. Elementary functions go through f64, where they are off by less than one unit
/// in the last place, and are rounded from there.
trait Float:
    Pod
    + PartialOrd
    + std::ops::Neg<Output = Self>
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::Rem<Output = Self>
{
    const NAN: Self;
    fn wide(self) -> f64;
    fn narrow(wide: f64) -> Self;
    fn abs(self) -> Self;
    fn sqrt(self) -> Self;
    fn ceil(self) -> Self;
    fn floor(self) -> Self;
    fn trunc(self) -> Self;
    fn round(self) -> Self;
    fn round_even(self) -> Self;
    fn copysign(self, sign: Self) -> Self;
    fn is_negative(self) -> bool;
    fn is_nan(self) -> bool;
    fn is_infinite(self) -> bool;
    fn is_finite(self) -> bool;
    fn is_normal(self) -> bool;
}

macro_rules! float {
    ($t:ident) => {
        impl Float for $t {
            const NAN: Self = $t::NAN;
            fn wide(self) -> f64 {
                self as f64
            }
            fn narrow(wide: f64) -> Self {
                wide as $t
            }
            fn abs(self) -> Self {
                $t::abs(self)
            }
            fn sqrt(self) -> Self {
                $t::sqrt(self)
            }
            fn ceil(self) -> Self {
                $t::ceil(self)
            }
            fn floor(self) -> Self {
                $t::floor(self)
            }
            fn trunc(self) -> Self {
                $t::trunc(self)
            }
            fn round(self) -> Self {
                $t::round(self)
            }
            fn round_even(self) -> Self {
                $t::round_ties_even(self)
            }
            fn copysign(self, sign: Self) -> Self {
                $t::copysign(self, sign)
            }
            fn is_negative(self) -> bool {
                self.is_sign_negative()
            }
            fn is_nan(self) -> bool {
                $t::is_nan(self)
            }
            fn is_infinite(self) -> bool {
                $t::is_infinite(self)
            }
            fn is_finite(self) -> bool {
                $t::is_finite(self)
            }
            fn is_normal(self) -> bool {
                $t::is_normal(self)
            }
        }
    };
}
float!(f32);
float!(f64);

fn maximum<T: Float>(a: T, b: T) -> T {
    if a.is_nan() || b.is_nan() { T::NAN } else { larger(a, b) }
}

fn minimum<T: Float>(a: T, b: T) -> T {
    if a.is_nan() || b.is_nan() { T::NAN } else { smaller(a, b) }
}

fn max_num<T: Float>(a: T, b: T) -> T {
    if a.is_nan() {
        b
    } else if b.is_nan() {
        a
    } else {
        larger(a, b)
    }
}

fn min_num<T: Float>(a: T, b: T) -> T {
    if a.is_nan() {
        b
    } else if b.is_nan() {
        a
    } else {
        smaller(a, b)
    }
}

/// +0 is larger than -0.
fn larger<T: Float>(a: T, b: T) -> T {
    if a > b || (a == b && b.is_negative()) { a } else { b }
}

fn smaller<T: Float>(a: T, b: T) -> T {
    if a < b || (a == b && a.is_negative()) { a } else { b }
}

fn wide<T: Float>(f: impl Fn(f64) -> f64) -> impl Fn(T) -> T {
    move |x| T::narrow(f(x.wide()))
}

/// Widens half-precision elements.
fn widen(ty: Ty, words: &[u64], out: &mut Vec<u64>, n: usize) {
    grow(out, n);
    let out = view_mut::<f32>(out, n);
    match ty {
        Ty::F16 => view::<f16>(words, n).convert_to_f32_slice(out),
        _ => view::<bf16>(words, n).convert_to_f32_slice(out),
    }
}

/// Rounds to half-precision elements.
fn narrow(ty: Ty, wide: &[u64], out: &mut [u64], n: usize) {
    let wide = view::<f32>(wide, n);
    match ty {
        Ty::F16 => view_mut::<f16>(out, n).convert_from_f32_slice(wide),
        _ => view_mut::<bf16>(out, n).convert_from_f32_slice(wide),
    }
}

pub fn unary(op: UnaryOp, ty: Ty, x: &[u64], out: &mut [u64], s: &mut Scratch, n: usize) {
    if op.is_test() {
        return test(op, ty, x, view_mut(out, n), s);
    }
    match ty {
        Ty::F32 => unary_as::<f32>(op, view(x, n), view_mut(out, n)),
        Ty::F64 => unary_as::<f64>(op, view(x, n), view_mut(out, n)),
        _ => {
            widen(ty, x, &mut s.a, n);
            grow(&mut s.out, n);
            unary_as::<f32>(op, view(&s.a, n), view_mut(&mut s.out, n));
            narrow(ty, &s.out, out, n);
        }
    }
}

fn unary_as<T: Float>(op: UnaryOp, x: &[T], out: &mut [T]) {
    use UnaryOp::*;
    match op {
        NegF => map(x, out, |x| -x),
        AbsF => map(x, out, T::abs),
        Ceil => map(x, out, T::ceil),
        Floor => map(x, out, T::floor),
        Round => map(x, out, T::round),
        RoundEven => map(x, out, T::round_even),
        Trunc => map(x, out, T::trunc),
        Sqrt => map(x, out, T::sqrt),
        Rsqrt => map(x, out, wide(|x| 1.0 / x.sqrt())),
        Acos => map(x, out, wide(libm::acos)),
        // `libm` gives numbers below 1 too.
        Acosh => map(x, out, wide(|x| if x < 1.0 { f64::NAN } else { libm::acosh(x) })),
        Asin => map(x, out, wide(libm::asin)),
        Asinh => map(x, out, wide(libm::asinh)),
        Atan => map(x, out, wide(libm::atan)),
        Atanh => map(x, out, wide(libm::atanh)),
        Cbrt => map(x, out, wide(libm::cbrt)),
        Cos => map(x, out, wide(libm::cos)),
        Cosh => map(x, out, wide(libm::cosh)),
        Erf => map(x, out, wide(libm::erf)),
        Erfc => map(x, out, wide(libm::erfc)),
        Exp => map(x, out, wide(libm::exp)),
        Exp2 => map(x, out, wide(libm::exp2)),
        ExpM1 => map(x, out, wide(libm::expm1)),
        Log => map(x, out, wide(libm::log)),
        Log10 => map(x, out, wide(libm::log10)),
        Log1p => map(x, out, wide(libm::log1p)),
        Log2 => map(x, out, wide(libm::log2)),
        Sin => map(x, out, wide(libm::sin)),
        Sinh => map(x, out, wide(libm::sinh)),
        Tan => map(x, out, wide(libm::tan)),
        Tanh => map(x, out, wide(libm::tanh)),
        IsNan | IsInf | IsFinite | IsNormal | AbsI | Ctlz | Ctpop | Cttz => {
            unreachable!("{op:?} does not give floats")
        }
    }
}

fn test(op: UnaryOp, ty: Ty, x: &[u64], out: &mut [u8], s: &mut Scratch) {
    let n = out.len();
    match ty {
        Ty::F32 => test_as::<f32>(op, view(x, n), out),
        Ty::F64 => test_as::<f64>(op, view(x, n), out),
        // Subnormal f16 are normal in f32.
        Ty::F16 if op == UnaryOp::IsNormal => {
            map(view::<f16>(x, n), out, |x| x.is_normal() as u8);
        }
        _ => {
            widen(ty, x, &mut s.a, n);
            test_as::<f32>(op, view(&s.a, n), out);
        }
    }
}

fn test_as<T: Float>(op: UnaryOp, x: &[T], out: &mut [u8]) {
    match op {
        UnaryOp::IsNan => map(x, out, |x| x.is_nan() as u8),
        UnaryOp::IsInf => map(x, out, |x| x.is_infinite() as u8),
        UnaryOp::IsFinite => map(x, out, |x| x.is_finite() as u8),
        _ => map(x, out, |x| x.is_normal() as u8),
    }
}

/// Runs `$body` with `$f` as the scalar function of a binary operation on floats.
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
            AddF => run!(|a: $t, b: $t| a + b),
            SubF => run!(|a: $t, b: $t| a - b),
            MulF => run!(|a: $t, b: $t| a * b),
            DivF => run!(|a: $t, b: $t| a / b),
            RemF => run!(|a: $t, b: $t| a % b),
            MaximumF => run!(maximum::<$t>),
            MinimumF => run!(minimum::<$t>),
            MaxNumF => run!(max_num::<$t>),
            MinNumF => run!(min_num::<$t>),
            Atan2 => run!(|a: $t, b: $t| $t::narrow(libm::atan2(a.wide(), b.wide()))),
            CopySign => run!(|a: $t, b: $t| a.copysign(b)),
            PowF => run!(|a: $t, b: $t| $t::narrow(libm::pow(a.wide(), b.wide()))),
            _ => unreachable!("{:?} is not a binary operation on floats", $op),
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
) {
    match ty {
        Ty::F32 => binary_as::<f32>(op, view(a, n), view(b, n), view_mut(out, n)),
        Ty::F64 => binary_as::<f64>(op, view(a, n), view(b, n), view_mut(out, n)),
        _ => {
            widen(ty, a, &mut s.a, n);
            widen(ty, b, &mut s.b, n);
            grow(&mut s.out, n);
            binary_as::<f32>(op, view(&s.a, n), view(&s.b, n), view_mut(&mut s.out, n));
            narrow(ty, &s.out, out, n);
        }
    }
}

fn binary_as<T: Float>(op: BinaryOp, a: &[T], b: &[T], out: &mut [T]) {
    with_binary!(op, T, f => zip(a, b, out, f));
}

/// See [`super::fold`].
pub fn fold(
    op: BinaryOp,
    acc: &mut [u64],
    Elements { ty, words: x }: Elements<'_>,
    first: bool,
    n: usize,
    s: &mut Scratch,
) {
    match ty {
        Ty::F32 => fold_as::<f32>(op, view_mut(acc, 1), view(x, n), first, |x| x),
        Ty::F64 => fold_as::<f64>(op, view_mut(acc, 1), view(x, n), first, |x| x),
        _ => {
            widen(ty, x, &mut s.a, n);
            widen(ty, acc, &mut s.out, 1);
            let (acc_wide, x) = (view_mut(&mut s.out, 1), view(&s.a, n));
            match ty {
                Ty::F16 => fold_as(op, acc_wide, x, first, |x| f16::from_f32(x).to_f32()),
                _ => fold_as(op, acc_wide, x, first, |x| bf16::from_f32(x).to_f32()),
            }
            narrow(ty, &s.out, acc, 1);
        }
    }
}

fn fold_as<T: Float>(op: BinaryOp, acc: &mut [T], x: &[T], first: bool, round: impl Fn(T) -> T) {
    let start = acc[0];
    acc[0] = with_binary!(op, T, f => if first {
        x.iter().fold(start, |acc, &x| round(f(acc, x)))
    } else {
        x.iter().fold(start, |acc, &x| round(f(x, acc)))
    });
}

/// `c + a * b`, both rounded.
pub fn mul_add(ty: Ty, a: &[u64], b: &[u64], c: &[u64], out: &mut [u64], n: usize) {
    match ty {
        Ty::F32 => ternary::<f32>(a, b, c, out, n, |a, b, c| c + a * b),
        _ => ternary::<f64>(a, b, c, out, n, |a, b, c| c + a * b),
    }
}

pub fn fma(ty: Ty, operands: [&[u64]; 3], out: &mut [u64], s: &mut Scratch, n: usize) {
    let [a, b, c] = operands;
    match ty {
        Ty::F32 => ternary::<f32>(a, b, c, out, n, f32::mul_add),
        Ty::F64 => ternary::<f64>(a, b, c, out, n, f64::mul_add),
        _ => {
            for (x, wide) in [(a, &mut s.a), (b, &mut s.b), (c, &mut s.c)] {
                widen(ty, x, wide, n);
            }
            grow(&mut s.out, n);
            ternary::<f32>(&s.a, &s.b, &s.c, &mut s.out, n, f32::mul_add);
            narrow(ty, &s.out, out, n);
        }
    }
}

fn ternary<T: Pod>(
    a: &[u64],
    b: &[u64],
    c: &[u64],
    out: &mut [u64],
    n: usize,
    f: impl Fn(T, T, T) -> T,
) {
    let (a, b, c) = (view::<T>(a, n), view::<T>(b, n), view::<T>(c, n));
    for (((out, &a), &b), &c) in view_mut::<T>(out, n).iter_mut().zip(a).zip(b).zip(c) {
        *out = f(a, b, c);
    }
}

/// A float and an integer power: of itself, or of two that it is multiplied by.
pub fn power(
    op: BinaryOp,
    Elements { ty, words: a }: Elements<'_>,
    power: Elements<'_>,
    out: &mut [u64],
    s: &mut Scratch,
    n: usize,
) {
    grow(&mut s.b, n);
    read_signed(power.ty, power.words, view_mut(&mut s.b, n));
    let powers = view::<i64>(&s.b, n);
    match ty {
        Ty::F32 => zip(view::<f32>(a, n), powers, view_mut::<f32>(out, n), power_of(op)),
        Ty::F64 => zip(view::<f64>(a, n), powers, view_mut::<f64>(out, n), power_of(op)),
        _ => {
            widen(ty, a, &mut s.a, n);
            grow(&mut s.out, n);
            let f = power_of(op);
            zip(view::<f32>(&s.a, n), powers, view_mut::<f32>(&mut s.out, n), f);
            narrow(ty, &s.out, out, n);
        }
    }
}

fn power_of<T: Float>(op: BinaryOp) -> fn(T, i64) -> T {
    if op == BinaryOp::LdExp { ldexp_of } else { powi_of }
}

fn ldexp_of<T: Float>(x: T, power: i64) -> T {
    // Beyond these every number of every type is zero or infinite.
    T::narrow(libm::ldexp(x.wide(), power.clamp(-10_000, 10_000) as i32))
}

fn powi_of<T: Float>(x: T, power: i64) -> T {
    // Powers beyond 2^53 lose their last bit in f64, and with it the sign of the result.
    let size = libm::pow(x.wide().abs(), power as f64);
    T::narrow(if power & 1 == 1 { size.copysign(x.wide()) } else { size })
}

pub fn compare(
    predicate: CmpFPredicate,
    ty: Ty,
    a: &[u64],
    b: &[u64],
    out: &mut [u8],
    s: &mut Scratch,
) {
    let n = out.len();
    match ty {
        Ty::F32 => compare_as::<f32>(predicate, view(a, n), view(b, n), out),
        Ty::F64 => compare_as::<f64>(predicate, view(a, n), view(b, n), out),
        _ => {
            widen(ty, a, &mut s.a, n);
            widen(ty, b, &mut s.b, n);
            compare_as::<f32>(predicate, view(&s.a, n), view(&s.b, n), out);
        }
    }
}

// The unordered predicates are the negations of ordered ones.
#[allow(clippy::neg_cmp_op_on_partial_ord)]
fn compare_as<T: Float>(predicate: CmpFPredicate, a: &[T], b: &[T], out: &mut [u8]) {
    use CmpFPredicate::*;
    let unordered = |a: T, b: T| a.is_nan() || b.is_nan();
    match predicate {
        AlwaysFalse => out.fill(0),
        Oeq => zip(a, b, out, |a, b| (a == b) as u8),
        Ogt => zip(a, b, out, |a, b| (a > b) as u8),
        Oge => zip(a, b, out, |a, b| (a >= b) as u8),
        Olt => zip(a, b, out, |a, b| (a < b) as u8),
        Ole => zip(a, b, out, |a, b| (a <= b) as u8),
        One => zip(a, b, out, |a, b| (a != b && !unordered(a, b)) as u8),
        Ord => zip(a, b, out, |a, b| !unordered(a, b) as u8),
        Ueq => zip(a, b, out, |a, b| (a == b || unordered(a, b)) as u8),
        Ugt => zip(a, b, out, |a, b| !(a <= b) as u8),
        Uge => zip(a, b, out, |a, b| !(a < b) as u8),
        Ult => zip(a, b, out, |a, b| !(a >= b) as u8),
        Ule => zip(a, b, out, |a, b| !(a > b) as u8),
        Une => zip(a, b, out, |a, b| (a != b) as u8),
        Uno => zip(a, b, out, |a, b| unordered(a, b) as u8),
        AlwaysTrue => out.fill(1),
    }
}
