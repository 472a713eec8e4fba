//! The ports of a program, with the types of the model.

use weft_dialects::ir::{Op, Type, ty};
use weft_dialects::task;
use weft_runtime::DType;
use weft_runtime::plan::Port;

use super::{PlanningError, broken};

/// The ports of a `kind`, in the order of the signature.
pub(super) fn ports(
    kind: &'static str,
    ops: &[Op<'_>],
    types: &[Type<'_>],
) -> Result<Vec<Port>, PlanningError> {
    let of = |&op| {
        if kind == "input" { task::Port::input(op) } else { task::Port::output(op) }
    };
    let mut found: Vec<_> = ops.iter().filter_map(of).collect();
    found.sort_by_key(|port| port.index);
    let port = |(port, &ty): (&task::Port<'_>, &Type<'_>)| {
        let (shape, elem) = ty::shape(ty).zip(ty::elem(ty)).ok_or_else(|| broken(port.op))?;
        let dtype = dtype(elem).ok_or_else(|| PlanningError::Type {
            kind,
            name: port.name.to_owned(),
            elem: elem.to_string(),
        })?;
        Ok(Port { name: port.name.to_owned(), dtype, shape })
    };
    found.iter().zip(types).map(port).collect()
}

/// The name that callers have for a graph type's elements.
fn dtype(elem: Type<'_>) -> Option<DType> {
    Some(match elem.to_string().as_str() {
        "i1" => DType::Bool,
        "i8" | "si8" => DType::I8,
        "i16" | "si16" => DType::I16,
        "i32" | "si32" => DType::I32,
        "i64" | "si64" => DType::I64,
        "ui8" => DType::U8,
        "ui16" => DType::U16,
        "ui32" => DType::U32,
        "ui64" => DType::U64,
        "f16" => DType::F16,
        "bf16" => DType::BF16,
        "f32" => DType::F32,
        "f64" => DType::F64,
        "i4" | "si4" => DType::I4,
        "ui4" => DType::U4,
        "i2" | "si2" => DType::I2,
        "ui2" => DType::U2,
        "f8E4M3FN" => DType::F8E4M3FN,
        "f8E4M3FNUZ" => DType::F8E4M3FNUZ,
        "f8E5M2" => DType::F8E5M2,
        "f8E5M2FNUZ" => DType::F8E5M2FNUZ,
        "f8E8M0FNU" => DType::F8E8M0FNU,
        "f4E2M1FN" => DType::F4E2M1FN,
        "f6E2M3FN" => DType::F6E2M3FN,
        "f6E3M2FN" => DType::F6E3M2FN,
        _ => return None,
    })
}
