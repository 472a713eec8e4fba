//! Scalars in the body of a nest: numbers with ONNX's types, and what is calculated with them.

use weft_dialects::ir::payload::Scalar as Body;
use weft_dialects::ir::{Linear, Type, Val, ty};

use super::narrow::stored_integer;
use super::{Tensor, computed, payload_element};
use crate::elements::Scalar;
use crate::types::ElementType;

/// The kind of a scalar in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An element as it lies in memory.
    Stored(ElementType),
    /// A number to calculate with; never a half; a bool is a condition, `i1`.
    Number(ElementType),
    /// A coordinate.
    Index,
}

/// A scalar in a body.
#[derive(Clone, Copy)]
pub struct Num<'c> {
    pub(super) value: Val<'c>,
    pub(super) kind: Kind,
    /// The value, of an integer constant.
    known: Option<i128>,
}

impl<'c> Num<'c> {
    pub(super) fn new(value: Val<'c>, kind: Kind) -> Self {
        Self { value, kind, known: None }
    }

    pub(super) fn is_float(self) -> bool {
        matches!(self.kind, Kind::Number(element) if element.is_float())
    }

    /// A condition compares and widens like an unsigned number.
    pub(super) fn is_unsigned(self) -> bool {
        matches!(self.kind, Kind::Number(element) if element.is_unsigned() || element == ElementType::Bool)
    }

    fn with(self, value: Val<'c>) -> Self {
        Num::new(value, self.kind)
    }
}

/// Calculates in a body.
pub struct Calc<'b, 'c> {
    pub(super) b: &'b mut Body<'c>,
}

impl<'c> Calc<'_, 'c> {
    pub(super) fn ty(&self, kind: Kind) -> Type<'c> {
        let context = self.b.context();
        match kind {
            Kind::Index => Type::index(context),
            Kind::Number(ElementType::Bool) => ty::int(context, 1),
            Kind::Stored(element) | Kind::Number(element) => payload_element(context, element),
        }
    }

    /// True for a floating-point number.
    pub fn is_float(&self, x: Num<'c>) -> bool {
        x.is_float()
    }

    /// True for a number of 32 bits or more that `f32` does not hold.
    pub fn is_long(&self, x: Num<'c>) -> bool {
        let Kind::Number(element) = x.kind else { return false };
        element == ElementType::F64 || (element.is_integer() && element.bits() >= 32)
    }

    /// True for an unsigned number or a condition.
    pub fn is_unsigned(&self, x: Num<'c>) -> bool {
        x.is_unsigned()
    }

    /// The value of an integer constant.
    pub fn known(&self, x: Num<'c>) -> Option<i128> {
        x.known
    }

    pub(super) fn make(&mut self, kind: Kind, value: Scalar) -> Num<'c> {
        let ty = self.ty(kind);
        let known = match kind {
            Kind::Number(element) | Kind::Stored(element) if element.is_float() => None,
            _ => Some(value.as_int()),
        };
        let value = match (kind, value) {
            (Kind::Number(element) | Kind::Stored(element), value) if element.is_float() => {
                self.b.number(ty, value.as_f64())
            }
            (Kind::Number(ElementType::Bool), value) => {
                self.b.integer(ty, (value.as_int() & 1) as i64)
            }
            // MLIR takes the bits of a signless integer as a signed number.
            (Kind::Number(element) | Kind::Stored(element), value) => {
                let unused = 64 - element.bits().max(8);
                self.b.integer(ty, stored_integer(element, value) << unused >> unused)
            }
            (Kind::Index, value) => self.b.integer(ty, value.as_int() as i64),
        };
        Num { value, kind, known }
    }

    /// A number of the type that `element` is computed in.
    pub fn literal(&mut self, element: ElementType, value: Scalar) -> Num<'c> {
        self.make(Kind::Number(computed(element)), value)
    }

    /// A number of the same type as `like`.
    pub fn like(&mut self, like: Num<'c>, value: f64) -> Num<'c> {
        self.make(like.kind, Scalar::Float(value))
    }

    /// An integer of the same type as `like`, exact for 64 bits.
    pub fn int_like(&mut self, like: Num<'c>, value: i128) -> Num<'c> {
        self.make(like.kind, Scalar::Int(value))
    }

    /// A stored element, for bodies that only move elements.
    pub fn stored(&mut self, element: ElementType, value: Scalar) -> Num<'c> {
        self.make(Kind::Stored(element), value)
    }

    /// The coordinate on an axis.
    pub fn index(&mut self, axis: usize) -> Num<'c> {
        Num::new(self.b.index(axis), Kind::Index)
    }

    /// A linear expression of the coordinates.
    pub fn linear(&mut self, expression: &Linear) -> Num<'c> {
        let mut sum: Option<Num<'c>> = None;
        for (axis, &coefficient) in expression.coefficients.iter().enumerate() {
            if coefficient == 0 {
                continue;
            }
            let mut term = self.index(axis);
            if coefficient != 1 {
                let coefficient = self.at(coefficient);
                term = self.mul(term, coefficient);
            }
            sum = Some(match sum {
                Some(sum) => self.add(sum, term),
                None => term,
            });
        }
        match sum {
            Some(sum) if expression.constant == 0 => sum,
            Some(sum) => {
                let constant = self.at(expression.constant);
                self.add(sum, constant)
            }
            None => self.at(expression.constant),
        }
    }

    /// A coordinate that is a constant.
    pub fn at(&mut self, value: i64) -> Num<'c> {
        self.make(Kind::Index, Scalar::Int(value.into()))
    }

    /// An integer, loaded or stored, as a coordinate.
    pub fn coordinate(&mut self, num: Num<'c>) -> Num<'c> {
        let (Kind::Number(element) | Kind::Stored(element)) = num.kind else {
            return num;
        };
        assert!(element.is_integer(), "a coordinate is an integer");
        let index = self.ty(Kind::Index);
        let op = if element.is_unsigned() { "arith.index_castui" } else { "arith.index_cast" };
        Num::new(self.b.op(op, &[num.value], index), Kind::Index)
    }

    /// Where a dimension ends: at a length that is given, or at its extent.
    pub fn end(&mut self, length: Option<Num<'c>>, extent: i64) -> Num<'c> {
        match length {
            Some(length) => self.coordinate(length),
            None => self.at(extent),
        }
    }

    /// A coordinate as a number of type `element`.
    pub fn counted(&mut self, num: Num<'c>, element: ElementType) -> Num<'c> {
        assert_eq!(num.kind, Kind::Index, "this is a coordinate");
        let long = Kind::Number(ElementType::I64);
        let ty = self.ty(long);
        let number = Num::new(self.b.from_index(num.value, ty), long);
        self.cast(number, computed(element))
    }

    /// The element of a tensor outside the nest, as it lies in memory.
    pub fn extract(&mut self, tensor: &Tensor<'c>, indices: &[Num<'c>]) -> Num<'c> {
        assert!(indices.iter().all(|index| index.kind == Kind::Index), "coordinates are indices");
        let indices: Vec<_> = indices.iter().map(|index| index.value).collect();
        Num::new(self.b.extract(tensor.value, &indices), Kind::Stored(tensor.element()))
    }

    fn two(
        &mut self,
        float: &str,
        signed: &str,
        unsigned: &str,
        x: Num<'c>,
        y: Num<'c>,
    ) -> Num<'c> {
        assert_eq!(x.kind, y.kind, "both sides have one type");
        let name = match () {
            () if x.is_float() => float,
            () if x.is_unsigned() => unsigned,
            () => signed,
        };
        x.with(self.b.same(name, &[x.value, y.value]))
    }

    /// `x + y`; integers wrap.
    pub fn add(&mut self, x: Num<'c>, y: Num<'c>) -> Num<'c> {
        self.two("arith.addf", "arith.addi", "arith.addi", x, y)
    }

    /// `x - y`; integers wrap.
    pub fn sub(&mut self, x: Num<'c>, y: Num<'c>) -> Num<'c> {
        self.two("arith.subf", "arith.subi", "arith.subi", x, y)
    }

    /// `x * y`; integers wrap.
    pub fn mul(&mut self, x: Num<'c>, y: Num<'c>) -> Num<'c> {
        self.two("arith.mulf", "arith.muli", "arith.muli", x, y)
    }

    /// `x / y`, toward zero; an integer `y` must be neither 0 nor, for the least `x`, -1.
    pub fn div(&mut self, x: Num<'c>, y: Num<'c>) -> Num<'c> {
        self.two("arith.divf", "arith.divsi", "arith.divui", x, y)
    }

    /// Returns the remainder of [`Calc::div`], with the sign of `x`.
    pub fn rem(&mut self, x: Num<'c>, y: Num<'c>) -> Num<'c> {
        self.two("arith.remf", "arith.remsi", "arith.remui", x, y)
    }

    /// The greater one; NaN if one is NaN.
    pub fn max(&mut self, x: Num<'c>, y: Num<'c>) -> Num<'c> {
        self.two("arith.maximumf", "arith.maxsi", "arith.maxui", x, y)
    }

    /// The lesser one; NaN if one is NaN.
    pub fn min(&mut self, x: Num<'c>, y: Num<'c>) -> Num<'c> {
        self.two("arith.minimumf", "arith.minsi", "arith.minui", x, y)
    }

    /// Bits in both, or both conditions.
    pub fn and(&mut self, x: Num<'c>, y: Num<'c>) -> Num<'c> {
        self.integers("arith.andi", x, y)
    }

    /// Bits in either, or either condition.
    pub fn or(&mut self, x: Num<'c>, y: Num<'c>) -> Num<'c> {
        self.integers("arith.ori", x, y)
    }

    /// Bits in one of the two, or conditions that differ.
    pub fn xor(&mut self, x: Num<'c>, y: Num<'c>) -> Num<'c> {
        self.integers("arith.xori", x, y)
    }

    /// `x` moved up by `y` bits, which are fewer than it has.
    pub fn shl(&mut self, x: Num<'c>, y: Num<'c>) -> Num<'c> {
        self.integers("arith.shli", x, y)
    }

    /// `x` moved down by `y` bits, which are fewer than it has; zeros come in.
    pub fn shr(&mut self, x: Num<'c>, y: Num<'c>) -> Num<'c> {
        self.integers("arith.shrui", x, y)
    }

    /// `x` moved down by `y` bits, which are fewer than it has; copies of its sign come in.
    pub fn shr_signed(&mut self, x: Num<'c>, y: Num<'c>) -> Num<'c> {
        assert!(!x.is_float(), "floats have no bits to move");
        self.two("", "arith.shrsi", "arith.shrui", x, y)
    }

    fn integers(&mut self, op: &str, x: Num<'c>, y: Num<'c>) -> Num<'c> {
        assert!(!x.is_float(), "floats have no bits to combine");
        self.two("", op, op, x, y)
    }

    /// The opposite condition, or every bit turned.
    pub fn not(&mut self, x: Num<'c>) -> Num<'c> {
        let all = self.int_like(x, -1);
        self.xor(x, all)
    }

    /// `-x`; integers wrap.
    pub fn neg(&mut self, x: Num<'c>) -> Num<'c> {
        if x.is_float() {
            return x.with(self.b.same("arith.negf", &[x.value]));
        }
        let zero = self.int_like(x, 0);
        self.sub(zero, x)
    }

    /// `|x|`; the least integer stays.
    pub fn abs(&mut self, x: Num<'c>) -> Num<'c> {
        if x.is_float() {
            return self.math("absf", x);
        }
        if x.is_unsigned() {
            return x;
        }
        let (zero, minus) = (self.int_like(x, 0), self.neg(x));
        let below = self.compare("slt", x, zero);
        self.select(below, minus, x)
    }

    /// A function of `math` with one argument, by its name there.
    pub fn math(&mut self, name: &str, x: Num<'c>) -> Num<'c> {
        assert!(x.is_float(), "math.{name} is of floats");
        x.with(self.b.same(&format!("math.{name}"), &[x.value]))
    }

    /// `x` to the power of `y`, both floats.
    pub fn powf(&mut self, x: Num<'c>, y: Num<'c>) -> Num<'c> {
        assert!(x.is_float() && x.kind == y.kind, "both sides are floats of one type");
        x.with(self.b.same("math.powf", &[x.value, y.value]))
    }

    fn compare(&mut self, predicate: &str, x: Num<'c>, y: Num<'c>) -> Num<'c> {
        assert_eq!(x.kind, y.kind, "both sides have one type");
        let value = if x.is_float() {
            self.b.cmpf(predicate, x.value, y.value)
        } else {
            self.b.cmpi(predicate, x.value, y.value)
        };
        Num::new(value, Kind::Number(ElementType::Bool))
    }

    fn ordered(&mut self, suffix: &str, x: Num<'c>, y: Num<'c>) -> Num<'c> {
        let prefix = match () {
            () if x.is_float() => "o",
            () if x.is_unsigned() => "u",
            () => "s",
        };
        self.compare(&format!("{prefix}{suffix}"), x, y)
    }

    /// `x < y`; false with NaN, as are the next four.
    pub fn lt(&mut self, x: Num<'c>, y: Num<'c>) -> Num<'c> {
        self.ordered("lt", x, y)
    }

    /// `x <= y`.
    pub fn le(&mut self, x: Num<'c>, y: Num<'c>) -> Num<'c> {
        self.ordered("le", x, y)
    }

    /// `x > y`.
    pub fn gt(&mut self, x: Num<'c>, y: Num<'c>) -> Num<'c> {
        self.ordered("gt", x, y)
    }

    /// `x >= y`.
    pub fn ge(&mut self, x: Num<'c>, y: Num<'c>) -> Num<'c> {
        self.ordered("ge", x, y)
    }

    /// `x == y`.
    pub fn eq(&mut self, x: Num<'c>, y: Num<'c>) -> Num<'c> {
        let predicate = if x.is_float() { "oeq" } else { "eq" };
        self.compare(predicate, x, y)
    }

    /// `x != y`; true with NaN.
    pub fn ne(&mut self, x: Num<'c>, y: Num<'c>) -> Num<'c> {
        let predicate = if x.is_float() { "une" } else { "ne" };
        self.compare(predicate, x, y)
    }

    /// Returns whether a float is NaN.
    pub fn is_nan(&mut self, x: Num<'c>) -> Num<'c> {
        self.compare("uno", x, x)
    }

    /// `yes` where `condition` holds, `no` elsewhere.
    pub fn select(&mut self, condition: Num<'c>, yes: Num<'c>, no: Num<'c>) -> Num<'c> {
        assert_eq!(yes.kind, no.kind, "both sides have one type");
        let condition = self.load(condition);
        yes.with(self.b.select(condition.value, yes.value, no.value))
    }
}
