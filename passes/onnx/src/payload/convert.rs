//! Elements become numbers, numbers become elements, and numbers of one type those of another.

use super::calc::{Calc, Kind, Num};
use super::computed;
use crate::elements::Scalar;
use crate::types::ElementType;

impl<'c> Calc<'_, 'c> {
    /// A stored element as a number to calculate with.
    pub fn loaded(&mut self, num: Num<'c>) -> Num<'c> {
        self.load(num)
    }

    pub(super) fn load(&mut self, num: Num<'c>) -> Num<'c> {
        let Kind::Stored(element) = num.kind else {
            return num;
        };
        let kind = Kind::Number(computed(element));
        let value = match element {
            ElementType::Bool => self.b.truth(num.value),
            ElementType::F16 | ElementType::BF16 => {
                let to = self.ty(kind);
                self.b.op("arith.extf", &[num.value], to)
            }
            _ => match element.format() {
                Some(format) => return self.decoded(num, format),
                None => num.value,
            },
        };
        Num::new(value, kind)
    }

    pub(super) fn store(&mut self, num: Num<'c>, element: ElementType) -> Num<'c> {
        if num.kind == Kind::Stored(element) {
            return num;
        }
        assert_eq!(
            num.kind,
            Kind::Number(computed(element)),
            "what is stored has the output's type"
        );
        if element.format().is_some() {
            return self.encoded(num, element, true);
        }
        if element.is_narrow_integer() {
            return self.wrapped(num, element);
        }
        let kind = Kind::Stored(element);
        let value = match element {
            ElementType::Bool => self.b.stored(num.value),
            ElementType::F16 | ElementType::BF16 => {
                let to = self.ty(kind);
                self.b.op("arith.truncf", &[num.value], to)
            }
            _ => num.value,
        };
        Num::new(value, kind)
    }

    /// The bits of a stored element as an element of another type, as wide.
    pub fn bits_as(&mut self, x: Num<'c>, element: ElementType) -> Num<'c> {
        let kind = Kind::Stored(element);
        let ty = self.ty(kind);
        if element.bits() < 8 {
            return self.wrapped(x, element);
        }
        if x.value.ty() == ty {
            return Num::new(x.value, kind);
        }
        Num::new(self.b.op("arith.bitcast", &[x.value], ty), kind)
    }

    /// `x` as another type, which is no half or narrower float: floats become integers toward
    /// zero, and where they do not fit, the nearest integer that exists; NaN becomes 0. Integers
    /// wrap, those of less than a byte when they are stored.
    pub fn cast(&mut self, x: Num<'c>, to: ElementType) -> Num<'c> {
        let Kind::Number(from) = x.kind else { panic!("a cast is of a number") };
        if to.is_narrow_integer() && from.is_float() {
            return self.saturate(x, to);
        }
        let to = if to.is_narrow_integer() { computed(to) } else { to };
        assert_eq!(computed(to), to, "halves are made by a store");
        if from == to {
            return x;
        }
        let kind = Kind::Number(to);
        let ty = self.ty(kind);
        let op = match (from, to) {
            (_, ElementType::Bool) => {
                let zero = self.like(x, 0.0);
                return self.ne(x, zero);
            }
            (from, to) if from.is_float() && to.is_float() => {
                if from.bits() < to.bits() {
                    "arith.extf"
                } else {
                    "arith.truncf"
                }
            }
            (from, to) if from.is_float() => return self.saturate(x, to),
            (from, to) if to.is_float() => {
                if from.is_unsigned() || from == ElementType::Bool {
                    "arith.uitofp"
                } else {
                    "arith.sitofp"
                }
            }
            (from, to) if from.bits() == to.bits() => return Num::new(x.value, kind),
            (from, to) if from.bits() > to.bits() => "arith.trunci",
            (from, _) if from.is_unsigned() || from == ElementType::Bool => "arith.extui",
            _ => "arith.extsi",
        };
        Num::new(self.b.op(op, &[x.value], ty), kind)
    }

    fn saturate(&mut self, x: Num<'c>, to: ElementType) -> Num<'c> {
        let (least, most) = to.integer_range().expect("a float is cast to an integer");
        let kind = Kind::Number(computed(to));
        let ty = self.ty(kind);
        let op = if to.is_unsigned() { "arith.fptoui" } else { "arith.fptosi" };
        if to.bits() <= 16 {
            // Every float type that is calculated with has both bounds exactly.
            let (low, high) = (self.like(x, least as f64), self.like(x, most as f64));
            let mut inside = x;
            if least < 0 {
                let (nan, zero) = (self.is_nan(x), self.like(x, 0.0));
                inside = self.select(nan, zero, inside);
            }
            // What is no number is not above zero.
            let above = self.gt(inside, low);
            let inside = self.select(above, inside, low);
            let below = self.lt(inside, high);
            let inside = self.select(below, inside, high);
            return Num::new(self.b.op(op, &[inside.value], ty), kind);
        }
        let inside = Num::new(self.b.op(op, &[x.value], ty), kind);
        let (low, high) = (self.make(kind, Scalar::Int(least)), self.make(kind, Scalar::Int(most)));
        // Both bounds are powers of two, so every float type has them exactly.
        let (floor, ceiling) = (self.like(x, least as f64), self.like(x, most as f64 + 1.0));
        let (under, over) = (self.le(x, floor), self.ge(x, ceiling));
        let (nan, zero) = (self.is_nan(x), self.make(kind, Scalar::Int(0)));
        let inside = self.select(under, low, inside);
        let inside = self.select(over, high, inside);
        self.select(nan, zero, inside)
    }
}
