//! Types of registers and tensor elements, and constants of them.

use std::fmt;

use half::{bf16, f16};
use serde::{Deserialize, Serialize};

/// A signless scalar type, as in MLIR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Ty {
    /// One byte per element in memory, 0 or 1; any other byte reads as 1.
    I1,
    I8,
    I16,
    I32,
    I64,
    /// 64 bits wide, distinct from [`Ty::I64`] only to the verifier.
    Index,
    F16,
    BF16,
    F32,
    F64,
}

impl Ty {
    /// Every type, in declaration order.
    pub const ALL: [Ty; 10] =
        [Ty::I1, Ty::I8, Ty::I16, Ty::I32, Ty::I64, Ty::Index, Ty::F16, Ty::BF16, Ty::F32, Ty::F64];

    /// Size of one element in memory, in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Ty::I1 | Ty::I8 => 1,
            Ty::I16 | Ty::F16 | Ty::BF16 => 2,
            Ty::I32 | Ty::F32 => 4,
            Ty::I64 | Ty::Index | Ty::F64 => 8,
        }
    }

    /// Number of value bits: 1 for [`Ty::I1`], otherwise eight per byte.
    pub const fn bits(self) -> u32 {
        match self {
            Ty::I1 => 1,
            _ => self.bytes() as u32 * 8,
        }
    }

    /// True for the floating-point types.
    pub const fn is_float(self) -> bool {
        matches!(self, Ty::F16 | Ty::BF16 | Ty::F32 | Ty::F64)
    }

    /// True for the integers, [`Ty::I1`] and [`Ty::Index`] among them.
    pub const fn is_int(self) -> bool {
        !self.is_float()
    }

    /// The name MLIR gives it.
    pub const fn name(self) -> &'static str {
        match self {
            Ty::I1 => "i1",
            Ty::I8 => "i8",
            Ty::I16 => "i16",
            Ty::I32 => "i32",
            Ty::I64 => "i64",
            Ty::Index => "index",
            Ty::F16 => "f16",
            Ty::BF16 => "bf16",
            Ty::F32 => "f32",
            Ty::F64 => "f64",
        }
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One value of a [`Ty`]: the low bits of `bits` are the element as it stands in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Scalar {
    /// The type of the value.
    pub ty: Ty,
    /// Its bits; those above the width of the type are ignored.
    pub bits: u64,
}

impl Scalar {
    /// An integer of type `ty`, wrapped to its width; for a float type, the nearest float.
    pub fn int(ty: Ty, value: i64) -> Scalar {
        match ty {
            Ty::I1 => Scalar { ty, bits: value as u64 & 1 },
            Ty::I8 => Scalar { ty, bits: value as u8 as u64 },
            Ty::I16 => Scalar { ty, bits: value as u16 as u64 },
            Ty::I32 => Scalar { ty, bits: value as u32 as u64 },
            Ty::I64 | Ty::Index => Scalar { ty, bits: value as u64 },
            _ => Scalar::float(ty, value as f64),
        }
    }

    /// A float of type `ty`, rounded to nearest even; for an integer type, truncated.
    pub fn float(ty: Ty, value: f64) -> Scalar {
        match ty {
            Ty::F16 => Scalar { ty, bits: super::round::f64_to_f16(value).to_bits() as u64 },
            Ty::BF16 => Scalar { ty, bits: super::round::f64_to_bf16(value).to_bits() as u64 },
            Ty::F32 => Scalar { ty, bits: (value as f32).to_bits() as u64 },
            Ty::F64 => Scalar { ty, bits: value.to_bits() },
            _ => Scalar::int(ty, value as i64),
        }
    }

    /// A truth value of type [`Ty::I1`].
    pub fn bool(value: bool) -> Scalar {
        Scalar { ty: Ty::I1, bits: value as u64 }
    }

    /// An `f32`.
    pub fn f32(value: f32) -> Scalar {
        Scalar { ty: Ty::F32, bits: value.to_bits() as u64 }
    }

    /// The value as a float; integers are read as signed.
    pub fn as_f64(self) -> f64 {
        match self.ty {
            Ty::F16 => f16::from_bits(self.bits as u16).to_f64(),
            Ty::BF16 => bf16::from_bits(self.bits as u16).to_f64(),
            Ty::F32 => f32::from_bits(self.bits as u32) as f64,
            Ty::F64 => f64::from_bits(self.bits),
            _ => self.as_i64() as f64,
        }
    }

    /// The value as a signed integer (1 for a true [`Ty::I1`]); floats are truncated.
    pub fn as_i64(self) -> i64 {
        match self.ty {
            Ty::I1 => (self.bits & 1) as i64,
            Ty::I8 => self.bits as i8 as i64,
            Ty::I16 => self.bits as i16 as i64,
            Ty::I32 => self.bits as i32 as i64,
            Ty::I64 | Ty::Index => self.bits as i64,
            _ => self.as_f64() as i64,
        }
    }
}
