//! Instructions: the scalar operations of MLIR's `arith` and `math`, one for one.

use serde::{Deserialize, Serialize};

use super::program::{Reg, TensorId};
use super::ty::{Scalar, Ty};

/// One instruction of a nest's body. It reads earlier registers and defines the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Inst {
    /// A constant.
    Const(Scalar),
    /// The position along an axis of the nest, as [`Ty::Index`].
    Index(u32),
    /// The element of `tensor` at a linear element index, a signed integer register of any
    /// width. An address outside of the tensor ends the run with [`super::VmError::Address`].
    LoadAt { tensor: TensorId, address: Reg },
    /// `op(x)`.
    Unary { op: UnaryOp, x: Reg },
    /// `op(a, b)`.
    Binary { op: BinaryOp, a: Reg, b: Reg },
    /// `math.fma`: `a * b + c` rounded once.
    Fma { a: Reg, b: Reg, c: Reg },
    /// `arith.cmpi`, giving [`Ty::I1`].
    CmpI { predicate: CmpIPredicate, a: Reg, b: Reg },
    /// `arith.cmpf`, giving [`Ty::I1`].
    CmpF { predicate: CmpFPredicate, a: Reg, b: Reg },
    /// `arith.select`: `then` where `condition`, of type [`Ty::I1`], is true.
    Select { condition: Reg, then: Reg, otherwise: Reg },
    /// A conversion of `x` to the type `to`.
    Cast { op: CastOp, to: Ty, x: Reg },
}

impl Inst {
    /// Shorthand for [`Inst::Unary`].
    pub const fn unary(op: UnaryOp, x: Reg) -> Inst {
        Inst::Unary { op, x }
    }

    /// Shorthand for [`Inst::Binary`].
    pub const fn binary(op: BinaryOp, a: Reg, b: Reg) -> Inst {
        Inst::Binary { op, a, b }
    }

    /// Shorthand for [`Inst::Cast`].
    pub const fn cast(op: CastOp, to: Ty, x: Reg) -> Inst {
        Inst::Cast { op, to, x }
    }

    /// Calls `f` with each register the instruction reads.
    pub fn for_each_operand(&self, mut f: impl FnMut(Reg)) {
        match *self {
            Inst::Const(_) | Inst::Index(_) => {}
            Inst::LoadAt { address: x, .. } | Inst::Unary { x, .. } | Inst::Cast { x, .. } => f(x),
            Inst::Binary { a, b, .. } | Inst::CmpI { a, b, .. } | Inst::CmpF { a, b, .. } => {
                f(a);
                f(b);
            }
            Inst::Fma { a, b, c } => {
                f(a);
                f(b);
                f(c);
            }
            Inst::Select { condition, then, otherwise } => {
                f(condition);
                f(then);
                f(otherwise);
            }
        }
    }
}

/// Operations with one operand. Names end as in MLIR: `F` takes floats, `I` integers.
///
/// The result has the operand's type, except for `IsNan`, `IsInf`, `IsFinite` and `IsNormal`,
/// which give [`Ty::I1`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum UnaryOp {
    NegF,
    AbsF,
    Acos,
    Acosh,
    Asin,
    Asinh,
    Atan,
    Atanh,
    Cbrt,
    Ceil,
    Cos,
    Cosh,
    Erf,
    Erfc,
    Exp,
    Exp2,
    ExpM1,
    Floor,
    Log,
    Log10,
    Log1p,
    Log2,
    /// Half away from zero.
    Round,
    /// Half to even.
    RoundEven,
    Rsqrt,
    Sin,
    Sinh,
    Sqrt,
    Tan,
    Tanh,
    Trunc,
    IsNan,
    IsInf,
    IsFinite,
    IsNormal,
    AbsI,
    /// Leading zeros; the width for zero.
    Ctlz,
    /// Ones.
    Ctpop,
    /// Trailing zeros; the width for zero.
    Cttz,
}

/// Operations with two operands of one type, which is also the type of the result.
///
/// [`BinaryOp::FPowI`] and [`BinaryOp::LdExp`] take a float and an integer and give the float's
/// type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum BinaryOp {
    AddF,
    SubF,
    MulF,
    DivF,
    /// The remainder of truncated division, as C's `fmod`.
    RemF,
    /// NaN if either is.
    MaximumF,
    /// NaN if either is.
    MinimumF,
    /// The other operand if one is NaN.
    MaxNumF,
    /// The other operand if one is NaN.
    MinNumF,
    Atan2,
    CopySign,
    PowF,
    /// A float to an integer power.
    FPowI,
    AddI,
    SubI,
    MulI,
    /// The upper half of the signed double-width product.
    MulSIHigh,
    /// The upper half of the unsigned double-width product.
    MulUIHigh,
    DivSI,
    DivUI,
    CeilDivSI,
    CeilDivUI,
    FloorDivSI,
    RemSI,
    RemUI,
    AndI,
    OrI,
    XorI,
    ShLI,
    ShRSI,
    ShRUI,
    MaxSI,
    MaxUI,
    MinSI,
    MinUI,
    /// An integer to an integer power.
    IPowI,
    /// A float times a power of two, rounded once.
    LdExp,
}

impl BinaryOp {
    /// True if the second operand is an integer beside a float.
    pub const fn takes_power(self) -> bool {
        matches!(self, BinaryOp::FPowI | BinaryOp::LdExp)
    }

    /// True if the operands (the first one, where [`Self::takes_power`]) are floats.
    pub const fn is_float(self) -> bool {
        use BinaryOp::*;
        matches!(
            self,
            AddF | SubF
                | MulF
                | DivF
                | RemF
                | MaximumF
                | MinimumF
                | MaxNumF
                | MinNumF
                | Atan2
                | CopySign
                | PowF
                | FPowI
                | LdExp
        )
    }
}

impl UnaryOp {
    /// True if the operand is a float.
    pub const fn is_float(self) -> bool {
        !matches!(self, UnaryOp::AbsI | UnaryOp::Ctlz | UnaryOp::Ctpop | UnaryOp::Cttz)
    }

    /// True if the result is [`Ty::I1`] and not the operand's type.
    pub const fn is_test(self) -> bool {
        matches!(self, UnaryOp::IsNan | UnaryOp::IsInf | UnaryOp::IsFinite | UnaryOp::IsNormal)
    }
}

/// Predicates of `arith.cmpi`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum CmpIPredicate {
    Eq,
    Ne,
    Slt,
    Sle,
    Sgt,
    Sge,
    Ult,
    Ule,
    Ugt,
    Uge,
}

/// Predicates of `arith.cmpf`: `O` is false, `U` true when an operand is NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum CmpFPredicate {
    AlwaysFalse,
    Oeq,
    Ogt,
    Oge,
    Olt,
    Ole,
    One,
    /// Neither is NaN.
    Ord,
    Ueq,
    Ugt,
    Uge,
    Ult,
    Ule,
    Une,
    /// One is NaN.
    Uno,
    AlwaysTrue,
}

/// Conversions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CastOp {
    /// Float to a wider float.
    ExtF,
    /// Float to a narrower float, to nearest even.
    TruncF,
    /// Integer to a wider integer, with its sign.
    ExtSI,
    /// Integer to a wider integer, with zeros.
    ExtUI,
    /// Integer to a narrower integer.
    TruncI,
    /// Signed integer to float.
    SIToFP,
    /// Unsigned integer to float.
    UIToFP,
    /// Float to signed integer, towards zero.
    FPToSI,
    /// Float to unsigned integer, towards zero.
    FPToUI,
    /// Reinterprets bits as another type of the same width.
    Bitcast,
    /// Between [`Ty::Index`] and an integer, with its sign.
    IndexCast,
    /// Between [`Ty::Index`] and an integer, with zeros.
    IndexCastUI,
}
