//! The element types of tensor expressions.

use weft_dialects::ir::{Context, Type, ty};
use weft_runtime::DType;

/// An element type: a float, or a signed integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element(DType);

/// Element types, with the names of `--dtype`.
const NAMES: [(&str, DType); 8] = [
    ("f64", DType::F64),
    ("f32", DType::F32),
    ("f16", DType::F16),
    ("bf16", DType::BF16),
    ("i64", DType::I64),
    ("i32", DType::I32),
    ("i16", DType::I16),
    ("i8", DType::I8),
];

impl Element {
    /// Single precision.
    pub const F32: Self = Self(DType::F32);
    /// Half precision; sums are in single.
    pub const F16: Self = Self(DType::F16);

    /// Returns the runtime's type.
    pub fn dtype(self) -> DType {
        self.0
    }

    /// Returns whether it is a float.
    pub fn is_float(self) -> bool {
        self.0.is_float()
    }

    /// The type that one calculates with.
    pub fn computed(self) -> Self {
        match self.0 {
            DType::F16 | DType::BF16 => Self::F32,
            _ => self,
        }
    }

    /// The least and the greatest number of an integer type.
    pub fn range(self) -> Option<(i64, i64)> {
        let unused = 64 - 8 * self.0.bytes() as u32;
        (!self.is_float()).then_some((i64::MIN >> unused, i64::MAX >> unused))
    }

    /// The type in the IR.
    pub(crate) fn ty(self, context: &Context) -> Type<'_> {
        match self.0 {
            DType::F64 => Type::float64(context),
            DType::F32 => Type::float32(context),
            DType::F16 => Type::float16(context),
            DType::BF16 => Type::bfloat16(context),
            integer => ty::int(context, 8 * integer.bytes() as u32),
        }
    }
}

impl std::fmt::Display for Element {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let found = NAMES.iter().find(|(_, dtype)| *dtype == self.0);
        f.write_str(found.map_or("", |(name, _)| name))
    }
}

impl std::str::FromStr for Element {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, dtype)| Self(*dtype)).ok_or_else(|| {
            let names: Vec<_> = NAMES.iter().map(|(name, _)| *name).collect();
            format!("one of {}", names.join(", "))
        })
    }
}
