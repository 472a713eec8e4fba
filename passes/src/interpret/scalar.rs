//! From `arith`, `math` and a power of LLVM's to the interpreter's instructions: one table.

use weft_dialects::ir::{Op, Type, attr, ty};
use weft_runtime::vm::{
    BinaryOp::{self, *},
    CastOp, CmpFPredicate, CmpIPredicate, Inst, Reg, Scalar, Ty,
    UnaryOp::{self, *},
};

use super::error::InterpretError;

/// The kind of instruction that an operation is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    Unary(UnaryOp),
    Binary(BinaryOp),
    Cast(CastOp),
    Fma,
    CmpI,
    CmpF,
    Select,
}

use Form::{Binary, Cast, Unary};

/// Every scalar operation with a meaning, sorted by name.
const TABLE: &[(&str, Form)] = &[
    ("arith.addf", Binary(AddF)),
    ("arith.addi", Binary(AddI)),
    ("arith.andi", Binary(AndI)),
    ("arith.bitcast", Cast(CastOp::Bitcast)),
    ("arith.ceildivsi", Binary(CeilDivSI)),
    ("arith.ceildivui", Binary(CeilDivUI)),
    ("arith.cmpf", Form::CmpF),
    ("arith.cmpi", Form::CmpI),
    ("arith.divf", Binary(DivF)),
    ("arith.divsi", Binary(DivSI)),
    ("arith.divui", Binary(DivUI)),
    ("arith.extf", Cast(CastOp::ExtF)),
    ("arith.extsi", Cast(CastOp::ExtSI)),
    ("arith.extui", Cast(CastOp::ExtUI)),
    ("arith.floordivsi", Binary(FloorDivSI)),
    ("arith.fptosi", Cast(CastOp::FPToSI)),
    ("arith.fptoui", Cast(CastOp::FPToUI)),
    ("arith.index_cast", Cast(CastOp::IndexCast)),
    ("arith.index_castui", Cast(CastOp::IndexCastUI)),
    ("arith.maximumf", Binary(MaximumF)),
    ("arith.maxnumf", Binary(MaxNumF)),
    ("arith.maxsi", Binary(MaxSI)),
    ("arith.maxui", Binary(MaxUI)),
    ("arith.minimumf", Binary(MinimumF)),
    ("arith.minnumf", Binary(MinNumF)),
    ("arith.minsi", Binary(MinSI)),
    ("arith.minui", Binary(MinUI)),
    ("arith.mulf", Binary(MulF)),
    ("arith.muli", Binary(MulI)),
    ("arith.negf", Unary(NegF)),
    ("arith.ori", Binary(OrI)),
    ("arith.remf", Binary(RemF)),
    ("arith.remsi", Binary(RemSI)),
    ("arith.remui", Binary(RemUI)),
    ("arith.select", Form::Select),
    ("arith.shli", Binary(ShLI)),
    ("arith.shrsi", Binary(ShRSI)),
    ("arith.shrui", Binary(ShRUI)),
    ("arith.sitofp", Cast(CastOp::SIToFP)),
    ("arith.subf", Binary(SubF)),
    ("arith.subi", Binary(SubI)),
    ("arith.truncf", Cast(CastOp::TruncF)),
    ("arith.trunci", Cast(CastOp::TruncI)),
    ("arith.uitofp", Cast(CastOp::UIToFP)),
    ("arith.xori", Binary(XorI)),
    ("llvm.intr.ldexp", Binary(LdExp)),
    ("math.absf", Unary(AbsF)),
    ("math.absi", Unary(AbsI)),
    ("math.acos", Unary(Acos)),
    ("math.acosh", Unary(Acosh)),
    ("math.asin", Unary(Asin)),
    ("math.asinh", Unary(Asinh)),
    ("math.atan", Unary(Atan)),
    ("math.atan2", Binary(Atan2)),
    ("math.atanh", Unary(Atanh)),
    ("math.cbrt", Unary(Cbrt)),
    ("math.ceil", Unary(Ceil)),
    ("math.copysign", Binary(CopySign)),
    ("math.cos", Unary(Cos)),
    ("math.cosh", Unary(Cosh)),
    ("math.ctlz", Unary(Ctlz)),
    ("math.ctpop", Unary(Ctpop)),
    ("math.cttz", Unary(Cttz)),
    ("math.erf", Unary(Erf)),
    ("math.erfc", Unary(Erfc)),
    ("math.exp", Unary(Exp)),
    ("math.exp2", Unary(Exp2)),
    ("math.expm1", Unary(ExpM1)),
    ("math.floor", Unary(Floor)),
    ("math.fma", Form::Fma),
    ("math.fpowi", Binary(FPowI)),
    ("math.ipowi", Binary(IPowI)),
    ("math.isfinite", Unary(IsFinite)),
    ("math.isinf", Unary(IsInf)),
    ("math.isnan", Unary(IsNan)),
    ("math.isnormal", Unary(IsNormal)),
    ("math.log", Unary(Log)),
    ("math.log10", Unary(Log10)),
    ("math.log1p", Unary(Log1p)),
    ("math.log2", Unary(Log2)),
    ("math.powf", Binary(PowF)),
    ("math.round", Unary(Round)),
    ("math.roundeven", Unary(RoundEven)),
    ("math.rsqrt", Unary(Rsqrt)),
    ("math.sin", Unary(Sin)),
    ("math.sinh", Unary(Sinh)),
    ("math.sqrt", Unary(Sqrt)),
    ("math.tan", Unary(Tan)),
    ("math.tanh", Unary(Tanh)),
    ("math.trunc", Unary(Trunc)),
];

const CMPI: [CmpIPredicate; 10] = {
    use CmpIPredicate::*;
    [Eq, Ne, Slt, Sle, Sgt, Sge, Ult, Ule, Ugt, Uge]
};

const CMPF: [CmpFPredicate; 16] = {
    use CmpFPredicate::*;
    [AlwaysFalse, Oeq, Ogt, Oge, Olt, Ole, One, Ord, Ueq, Ugt, Uge, Ult, Ule, Une, Uno, AlwaysTrue]
};

/// The row of the table for an operation.
pub(crate) fn form(op: Op<'_>) -> Option<Form> {
    let row = TABLE.binary_search_by(|(name, _)| (*name).cmp(op.name())).ok()?;
    Some(TABLE[row].1)
}

/// Returns whether an operation computes a scalar from scalars, without reading or writing
/// anything.
pub(crate) fn has_meaning(op: Op<'_>) -> bool {
    form(op).is_some()
}

/// The instruction for a scalar operation whose operands are in `regs`.
pub(crate) fn instruction(op: Op<'_>, form: Form, regs: &[Reg]) -> Result<Inst, InterpretError> {
    let operands = match form {
        Unary(_) | Cast(_) => 1,
        Binary(_) | Form::CmpI | Form::CmpF => 2,
        Form::Fma | Form::Select => 3,
    };
    assert_eq!(regs.len(), operands, "verified {} has {operands} operands", op.name());
    Ok(match form {
        Unary(unary) => Inst::unary(unary, regs[0]),
        Binary(binary) => Inst::binary(binary, regs[0], regs[1]),
        Form::Fma => Inst::Fma { a: regs[0], b: regs[1], c: regs[2] },
        Form::Select => Inst::Select { condition: regs[0], then: regs[1], otherwise: regs[2] },
        Form::CmpI => Inst::CmpI { predicate: predicate(op, &CMPI)?, a: regs[0], b: regs[1] },
        Form::CmpF => Inst::CmpF { predicate: predicate(op, &CMPF)?, a: regs[0], b: regs[1] },
        Cast(cast) => {
            nearest_even(op)?;
            let result = op.result(0).ty();
            let to = element_type(ty::elem(result).unwrap_or(result));
            Inst::cast(cast, to.ok_or_else(|| InterpretError::ty(op, result))?, regs[0])
        }
    })
}

/// The predicate of an `arith.cmpi`.
pub(crate) fn compare_predicate(op: Op<'_>) -> Result<CmpIPredicate, InterpretError> {
    predicate(op, &CMPI)
}

fn predicate<P: Copy>(op: Op<'_>, all: &[P]) -> Result<P, InterpretError> {
    let number = op.attr("predicate").and_then(attr::int);
    number.and_then(|number| all.get(usize::try_from(number).ok()?).copied()).ok_or_else(|| {
        InterpretError::form(op, "without a known predicate", "a predicate of arith")
    })
}

/// Refuses a rounding mode that the interpreter does not have.
fn nearest_even(op: Op<'_>) -> Result<(), InterpretError> {
    match op.attr("roundingmode") {
        Some(mode)
            if !mode.to_string().contains("to_nearest_even") && mode.to_string() != "0 : i32" =>
        {
            Err(InterpretError::form(op, format!("rounding mode {mode}"), "to_nearest_even"))
        }
        _ => Ok(()),
    }
}

/// The interpreter's type for a scalar type, of any signedness.
pub fn element_type(scalar: Type<'_>) -> Option<Ty> {
    if ty::is_index(scalar) {
        return Some(Ty::Index);
    }
    if ty::is_float(scalar) {
        // Names tell f16 from bf16, and both from the 8-bit floats.
        let name = scalar.to_string();
        return [Ty::F16, Ty::BF16, Ty::F32, Ty::F64].into_iter().find(|ty| ty.name() == name);
    }
    let width = ty::is_integer(scalar).then(|| ty::bits(scalar))??;
    [Ty::I1, Ty::I8, Ty::I16, Ty::I32, Ty::I64].into_iter().find(|ty| u64::from(ty.bits()) == width)
}

/// The value of an `arith.constant` of a scalar type.
pub(crate) fn constant(op: Op<'_>) -> Option<Scalar> {
    let value = op.attr("value")?;
    let ty = element_type(op.result(0).ty())?;
    match attr::int(value) {
        Some(int) => Some(Scalar::int(ty, int)),
        None => attr::float(value).map(|float| Scalar::float(ty, float)),
    }
}

#[cfg(test)]
mod tests {
    use super::TABLE;

    #[test]
    fn table_is_sorted() {
        assert!(TABLE.is_sorted_by(|(a, _), (b, _)| a < b));
    }
}
