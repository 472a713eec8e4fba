//! Element types of the tensors that cross the border between a model and its user.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

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
}

impl DType {
    /// Every element type, in declaration order.
    pub const ALL: [DType; 13] = [
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
    ];

    /// Size of one element in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            DType::Bool | DType::I8 | DType::U8 => 1,
            DType::I16 | DType::U16 | DType::F16 | DType::BF16 => 2,
            DType::I32 | DType::U32 | DType::F32 => 4,
            DType::I64 | DType::U64 | DType::F64 => 8,
        }
    }

    /// The name numpy gives it; `bfloat16`, which numpy lacks, is named as in `ml_dtypes`.
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
        }
    }

    /// True for the four floating-point types.
    pub const fn is_float(self) -> bool {
        matches!(self, DType::F16 | DType::BF16 | DType::F32 | DType::F64)
    }

    /// The signless type that payloads use for these elements.
    pub const fn ty(self) -> Ty {
        match self {
            DType::Bool => Ty::I1,
            DType::I8 | DType::U8 => Ty::I8,
            DType::I16 | DType::U16 => Ty::I16,
            DType::I32 | DType::U32 => Ty::I32,
            DType::I64 | DType::U64 => Ty::I64,
            DType::F16 => Ty::F16,
            DType::BF16 => Ty::BF16,
            DType::F32 => Ty::F32,
            DType::F64 => Ty::F64,
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
    "`{0}` is not an element type; accepted are bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32, float64"
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
        assert!("float8".parse::<DType>().is_err());
    }
}
