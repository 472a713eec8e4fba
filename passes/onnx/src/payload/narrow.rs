//! Elements of at most a byte in bodies: the bits of a float become a number and back, an integer
//! stays in its range.
//!
//! The formulas are exact and have no table, so that lanes calculate them. `weft_runtime::narrow`
//! says the same of one element at a time.

use weft_runtime::narrow::{Format, Rounding, Specials};

use super::calc::{Calc, Kind, Num};
use crate::elements::Scalar;
use crate::types::ElementType;

/// The integer that memory holds for an element: the bits of a narrow float.
pub(super) fn stored_integer(element: ElementType, value: Scalar) -> i64 {
    match element.format() {
        Some(format) => format.encode(value.as_f64(), false).into(),
        None => value.as_int() as i64,
    }
}

/// How a native float is taken apart: bits of the fraction, the bias of the exponent, an integer
/// as wide.
struct Native {
    fraction: i64,
    bias: i64,
    integer: ElementType,
    float: ElementType,
}

const F32: Native =
    Native { fraction: 23, bias: 127, integer: ElementType::I32, float: ElementType::F32 };
const F64: Native =
    Native { fraction: 52, bias: 1023, integer: ElementType::I64, float: ElementType::F64 };

impl<'c> Calc<'_, 'c> {
    /// An integer as an element of fewer bits: higher ones are dropped.
    pub(super) fn wrapped(&mut self, x: Num<'c>, element: ElementType) -> Num<'c> {
        let unused = 8 - element.bits();
        let value = if element.is_unsigned() || element.format().is_some() {
            let mask = self.int_like(x, (1 << element.bits()) - 1);
            self.b.same("arith.andi", &[x.value, mask.value])
        } else {
            let unused = self.int_like(x, unused.into());
            let top = self.b.same("arith.shli", &[x.value, unused.value]);
            self.b.same("arith.shrsi", &[top, unused.value])
        };
        Num::new(value, Kind::Stored(element))
    }

    /// The bits of a number as another of the same width.
    fn bits_of(&mut self, x: Num<'c>, element: ElementType) -> Num<'c> {
        let kind = Kind::Number(element);
        let ty = self.ty(kind);
        Num::new(self.b.op("arith.bitcast", &[x.value], ty), kind)
    }

    /// The number of a narrow float.
    pub(super) fn decoded(&mut self, code: Num<'c>, format: Format) -> Num<'c> {
        let native = F32;
        let byte = Num::new(code.value, Kind::Number(ElementType::U8));
        let code = self.cast(byte, ElementType::I32);
        let bits_of_magnitude = format.exponent + format.fraction;
        let mask = self.int_like(code, (1 << bits_of_magnitude) - 1);
        let magnitude = self.and(code, mask);
        let moved = native.fraction - i64::from(format.fraction);
        let moved = self.int_like(code, moved.into());
        let high = self.shl(magnitude, moved);
        if format.specials == Specials::Scale {
            return self.decoded_scale(high, magnitude, format);
        }
        // Normal numbers have another bias; the others are multiples of the least one.
        let rebias = (native.bias - i64::from(format.bias)) << native.fraction;
        let rebias = self.int_like(code, rebias.into());
        let normal = self.add(high, rebias);
        let normal = self.bits_of(normal, native.float);
        let count = self.cast(magnitude, native.float);
        let least = self.like(count, format.decode(1));
        let small = self.mul(count, least);
        let first = self.int_like(code, 1 << format.fraction);
        let is_small = self.lt(magnitude, first);
        let size = self.select(is_small, small, normal);
        let size = self.special(size, magnitude, format);
        // The sign is a bit in either.
        let sign = self.int_like(code, format.sign().into());
        let sign = self.and(code, sign);
        let up = 31 - i64::from(bits_of_magnitude);
        let up = self.int_like(code, up.into());
        let sign = self.shl(sign, up);
        let bits = self.bits_of(size, native.integer);
        let bits = self.or(bits, sign);
        let number = self.bits_of(bits, native.float);
        if format.specials != Specials::NegativeZero {
            return number;
        }
        let lone = self.int_like(code, format.sign().into());
        let mask = self.int_like(code, (1 << format.bits()) - 1);
        let code = self.and(code, mask);
        let is_nan = self.eq(code, lone);
        let nan = self.like(number, f64::NAN);
        self.select(is_nan, nan, number)
    }

    /// The magnitude with infinity and NaN in the places of the format's highest codes.
    fn special(&mut self, size: Num<'c>, magnitude: Num<'c>, format: Format) -> Num<'c> {
        if !matches!(format.specials, Specials::Ieee | Specials::TopNan | Specials::Scale) {
            return size;
        }
        let greatest = self.int_like(magnitude, format.greatest().into());
        let beyond = self.gt(magnitude, greatest);
        let nan = self.like(size, f64::NAN);
        let size = self.select(beyond, nan, size);
        let Some(code) = format.infinity() else { return size };
        let code = self.int_like(magnitude, code.into());
        let is_infinite = self.eq(magnitude, code);
        let infinity = self.like(size, f64::INFINITY);
        self.select(is_infinite, infinity, size)
    }

    /// A power of two, whose code is the exponent of an f32 but for the least one.
    fn decoded_scale(&mut self, high: Num<'c>, code: Num<'c>, format: Format) -> Num<'c> {
        let normal = self.bits_of(high, ElementType::F32);
        let zero = self.int_like(code, 0);
        let is_least = self.eq(code, zero);
        let least = self.like(normal, format.decode(0));
        let number = self.select(is_least, least, normal);
        self.special(number, code, format)
    }

    /// The bits of the nearest narrow float, the even one of two as near. What is too large becomes
    /// the greatest number if it `saturates`, else infinity, or NaN where there is none.
    pub fn encoded(&mut self, x: Num<'c>, element: ElementType, saturates: bool) -> Num<'c> {
        let format = element.format().expect("a narrow float");
        if format.specials == Specials::Scale {
            return self.encoded_scale(x, element, Rounding::Up, saturates);
        }
        let native = if x.kind == Kind::Number(ElementType::F64) { F64 } else { F32 };
        assert_eq!(x.kind, Kind::Number(native.float), "a float is encoded");
        let bits = self.bits_of(x, native.integer);
        let size = self.abs(x);
        let magnitude = self.bits_of(size, native.integer);
        // To nearest even where the fraction is cut: half a step more, and the last bit that stays.
        let cut = native.fraction - i64::from(format.fraction);
        let shift = self.int_like(bits, cut.into());
        let (one, below_half) =
            (self.int_like(bits, 1), self.int_like(bits, (1i128 << (cut - 1)) - 1));
        let last = self.shr(magnitude, shift);
        let last = self.and(last, one);
        let rounded = self.add(magnitude, below_half);
        let rounded = self.add(rounded, last);
        let normal = self.shr(rounded, shift);
        let rebias = (native.bias - i64::from(format.bias)) << format.fraction;
        let rebias = self.int_like(bits, rebias.into());
        let normal = self.sub(normal, rebias);
        // What is smaller than the normal numbers is a count of the least one.
        let first = format.decode(1 << format.fraction);
        let (first, steps) = (self.like(x, first), self.like(x, 1.0 / format.decode(1)));
        let is_small = self.lt(size, first);
        let zero = self.like(x, 0.0);
        let small = self.select(is_small, size, zero);
        let count = self.mul(small, steps);
        let count = self.math("roundeven", count);
        let ty = self.ty(Kind::Number(native.integer));
        let count = self.b.op("arith.fptosi", &[count.value], ty);
        let count = Num::new(count, Kind::Number(native.integer));
        let code = self.select(is_small, count, normal);
        let code = self.bounded(code, x, format, saturates);
        let code = self.signed(code, bits, format, 31 + 32 * i64::from(native.bias == F64.bias));
        let byte = self.cast(code, ElementType::U8);
        Num::new(byte.value, Kind::Stored(element))
    }

    /// The code of a magnitude with what is not finite put right.
    fn bounded(&mut self, code: Num<'c>, x: Num<'c>, format: Format, saturates: bool) -> Num<'c> {
        let greatest = self.int_like(code, format.greatest().into());
        let beyond = self.gt(code, greatest);
        let over = match (saturates, format.infinity().or(format.nan())) {
            (false, Some(over)) => over,
            _ => format.greatest(),
        };
        let over = self.int_like(code, over.into());
        let code = self.select(beyond, over, code);
        let is_nan = self.is_nan(x);
        let nan = self.int_like(code, format.nan().unwrap_or(format.sign()).into());
        self.select(is_nan, nan, code)
    }

    /// `code` with the sign that is bit `top` of `bits`.
    fn signed(&mut self, code: Num<'c>, bits: Num<'c>, format: Format, top: i64) -> Num<'c> {
        let sign = self.int_like(bits, format.sign().into());
        let down = top - i64::from(format.exponent + format.fraction);
        let down = self.int_like(bits, down.into());
        let moved = self.shr(bits, down);
        let moved = self.and(moved, sign);
        let both = self.or(code, moved);
        if format.specials != Specials::NegativeZero {
            return both;
        }
        // The code that would be negative zero is taken by NaN.
        let zero = self.int_like(code, 0);
        let is_zero = self.eq(code, zero);
        self.select(is_zero, code, both)
    }

    /// The code of a power of two beside a float; its sign is not looked at.
    pub fn encoded_scale(
        &mut self,
        x: Num<'c>,
        element: ElementType,
        rounding: Rounding,
        saturates: bool,
    ) -> Num<'c> {
        let format = element.format().expect("a power of two");
        let native = if x.kind == Kind::Number(ElementType::F64) { F64 } else { F32 };
        assert_eq!(x.kind, Kind::Number(native.float), "a float is encoded");
        // As a double, so that the least power of two has an exponent and a fraction of its own.
        let x = self.cast(x, ElementType::F64);
        let size = self.abs(x);
        let bits = self.bits_of(size, ElementType::I64);
        let carry = match rounding {
            Rounding::Down => 0,
            Rounding::Nearest => 1i128 << (F64.fraction - 1),
            Rounding::Up => (1i128 << F64.fraction) - 1,
        };
        let (carry, shift) = (self.int_like(bits, carry), self.int_like(bits, F64.fraction.into()));
        let rebias = self.int_like(bits, (F64.bias - i64::from(format.bias)).into());
        let code = self.add(bits, carry);
        let code = self.shr(code, shift);
        let code = self.sub(code, rebias);
        let nan = self.int_like(bits, (format.greatest() + 1).into());
        let (least, greatest) =
            (self.int_like(bits, 0), self.int_like(bits, format.greatest().into()));
        let (low, high) = match saturates {
            true => (least, greatest),
            false => (nan, nan),
        };
        let (floor, ceiling) =
            (self.like(size, format.decode(0)), self.like(size, format.decode(format.greatest())));
        let (under, over) = (self.lt(size, floor), self.gt(size, ceiling));
        let code = self.select(under, low, code);
        let code = self.select(over, high, code);
        let is_nan = self.is_nan(x);
        let code = self.select(is_nan, nan, code);
        let byte = self.cast(code, ElementType::U8);
        Num::new(byte.value, Kind::Stored(element))
    }
}
