//! Element types of the tensors that cross the border between a model and its user.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::narrow::Format;
use crate::vm::Ty;

/// The type of one tensor element as the user sees it: signedness is kept here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum DType {
    /// One byte, 0 or 1.
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    /// IEEE binary16.
    F16,
    /// The upper half of a binary32.
    BF16,
    F32,
    F64,
    /// Of four bits, sign extended to a byte; as the next three.
    I4,
    U4,
    I2,
    U2,
    /// A byte that holds the bits of a float, as do the next seven.
    F8E4M3FN,
    F8E4M3FNUZ,
    F8E5M2,
    F8E5M2FNUZ,
    F8E8M0FNU,
    F4E2M1FN,
    F6E2M3FN,
    F6E3M2FN,
}

impl DType {
    /// Every element type, in declaration order.
    pub const ALL: [DType; 25] = [
        DType::Bool,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::U8,
        DType::U16,
        DType::U32,
        DType::U64,
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
        DType::I4,
        DType::U4,
        DType::I2,
        DType::U2,
        DType::F8E4M3FN,
        DType::F8E4M3FNUZ,
        DType::F8E5M2,
        DType::F8E5M2FNUZ,
        DType::F8E8M0FNU,
        DType::F4E2M1FN,
        DType::F6E2M3FN,
        DType::F6E3M2FN,
    ];

    /// Size of one element in bytes; what is narrower takes one.
    pub const fn bytes(self) -> usize {
        match self {
            DType::I16 | DType::U16 | DType::F16 | DType::BF16 => 2,
            DType::I32 | DType::U32 | DType::F32 => 4,
            DType::I64 | DType::U64 | DType::F64 => 8,
            _ => 1,
        }
    }

    /// Bits that tell one element from another.
    pub const fn bits(self) -> u32 {
        match self {
            DType::Bool => 1,
            DType::I4 | DType::U4 => 4,
            DType::I2 | DType::U2 => 2,
            _ => match self.format() {
                Some(format) => format.bits(),
                None => self.bytes() as u32 * 8,
            },
        }
    }

    /// How a float of at most a byte is written.
    pub const fn format(self) -> Option<Format> {
        Some(match self {
            DType::F8E4M3FN => Format::E4M3FN,
            DType::F8E4M3FNUZ => Format::E4M3FNUZ,
            DType::F8E5M2 => Format::E5M2,
            DType::F8E5M2FNUZ => Format::E5M2FNUZ,
            DType::F8E8M0FNU => Format::E8M0FNU,
            DType::F4E2M1FN => Format::E2M1FN,
            DType::F6E2M3FN => Format::E2M3FN,
            DType::F6E3M2FN => Format::E3M2FN,
            _ => return None,
        })
    }

    /// The name numpy gives it; what numpy lacks is named as in `ml_dtypes`.
    pub const fn name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::I8 => "int8",
            DType::I16 => "int16",
            DType::I32 => "int32",
            DType::I64 => "int64",
            DType::U8 => "uint8",
            DType::U16 => "uint16",
            DType::U32 => "uint32",
            DType::U64 => "uint64",
            DType::F16 => "float16",
            DType::BF16 => "bfloat16",
            DType::F32 => "float32",
            DType::F64 => "float64",
            DType::I4 => "int4",
            DType::U4 => "uint4",
            DType::I2 => "int2",
            DType::U2 => "uint2",
            DType::F8E4M3FN => "float8_e4m3fn",
            DType::F8E4M3FNUZ => "float8_e4m3fnuz",
            DType::F8E5M2 => "float8_e5m2",
            DType::F8E5M2FNUZ => "float8_e5m2fnuz",
            DType::F8E8M0FNU => "float8_e8m0fnu",
            DType::F4E2M1FN => "float4_e2m1fn",
            DType::F6E2M3FN => "float6_e2m3fn",
            DType::F6E3M2FN => "float6_e3m2fn",
        }
    }

    /// True for the floating-point types.
    pub const fn is_float(self) -> bool {
        matches!(self, DType::F16 | DType::BF16 | DType::F32 | DType::F64)
            || self.format().is_some()
    }

    /// The signless type that payloads use for these elements.
    pub const fn ty(self) -> Ty {
        match self {
            DType::Bool => Ty::I1,
            DType::I16 | DType::U16 => Ty::I16,
            DType::I32 | DType::U32 => Ty::I32,
            DType::I64 | DType::U64 => Ty::I64,
            DType::F16 => Ty::F16,
            DType::BF16 => Ty::BF16,
            DType::F32 => Ty::F32,
            DType::F64 => Ty::F64,
            _ => Ty::I8,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name given is not one of [`DType::name`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not an element type; accepted are bool, int2 to int64, uint2 to uint64, float16, bfloat16, float32, float64, and as ml_dtypes names them float4, float6 and float8"
)]
pub struct UnknownDType(pub String);

impl FromStr for DType {
    type Err = UnknownDType;

    fn from_str(name: &str) -> Result<DType, UnknownDType> {
        DType::ALL
            .into_iter()
            .find(|d| d.name() == name)
            .ok_or_else(|| UnknownDType(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back() {
        for d in DType::ALL {
            assert_eq!(d.name().parse(), Ok(d));
            assert_eq!(d.bytes(), d.ty().bytes());
        }
        assert!("float9".parse::<DType>().is_err());
    }
}
