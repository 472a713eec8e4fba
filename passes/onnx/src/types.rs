//! Element types and tensor types, as ONNX has them.

use std::fmt;

use weft_runtime::DType;
use weft_runtime::narrow::Format;

use crate::error::{Report, Result};
use crate::proto::tensor_proto::DataType;

/// The element types that are imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ElementType {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    BF16,
    F32,
    F64,
    I4,
    U4,
    I2,
    U2,
    F8E4M3FN,
    F8E4M3FNUZ,
    F8E5M2,
    F8E5M2FNUZ,
    F8E8M0FNU,
    F4E2M1FN,
    F6E2M3FN,
    F6E3M2FN,
}

use ElementType::*;

impl ElementType {
    /// Every integer type.
    pub const INTEGERS: &[Self] = &[I8, I16, I32, I64, U8, U16, U32, U64];
    /// Every floating-point type.
    pub const FLOATS: &[Self] = &[F16, BF16, F32, F64];
    /// Every type one can calculate with.
    pub const NUMBERS: &[Self] = &[I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64];
    /// Every integer type of less than a byte.
    pub const NARROW_INTEGERS: &[Self] = &[I4, U4, I2, U2];
    /// Every floating-point type of at most a byte.
    pub const NARROW_FLOATS: &[Self] =
        &[F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, F4E2M1FN, F6E2M3FN, F6E3M2FN];
    /// Every type one can calculate with, and bool.
    pub const COMPARED: &[Self] =
        &[Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64];
    /// Every type.
    #[rustfmt::skip]
    pub const ALL: &[Self] = &[
        Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, I4, U4, I2, U2,
        F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, F4E2M1FN, F6E2M3FN, F6E3M2FN,
    ];

    /// The type that ONNX numbers `code`; `what` names its bearer in the error.
    pub fn from_onnx(code: i32, what: &str) -> Result<Self> {
        let known = DataType::try_from(code).map_err(|_| {
            Report::new(format!("{what} has element type {code}, which ONNX does not define"))
                .malformed()
        })?;
        Ok(match known {
            DataType::Bool => Bool,
            DataType::Int8 => I8,
            DataType::Int16 => I16,
            DataType::Int32 => I32,
            DataType::Int64 => I64,
            DataType::Uint8 => U8,
            DataType::Uint16 => U16,
            DataType::Uint32 => U32,
            DataType::Uint64 => U64,
            DataType::Float16 => F16,
            DataType::Bfloat16 => BF16,
            DataType::Float => F32,
            DataType::Double => F64,
            DataType::Int4 => I4,
            DataType::Uint4 => U4,
            DataType::Int2 => I2,
            DataType::Uint2 => U2,
            DataType::Float8e4m3fn => F8E4M3FN,
            DataType::Float8e4m3fnuz => F8E4M3FNUZ,
            DataType::Float8e5m2 => F8E5M2,
            DataType::Float8e5m2fnuz => F8E5M2FNUZ,
            DataType::Float8e8m0 => F8E8M0FNU,
            DataType::Float4e2m1 => F4E2M1FN,
            DataType::Float6e2m3 => F6E2M3FN,
            DataType::Float6e3m2 => F6E3M2FN,
            DataType::Undefined => {
                return Err(Report::new(format!("{what} has no element type")).malformed());
            }
            other => {
                let name = other.as_str_name().to_ascii_lowercase();
                return Err(Report::new(format!("{what} has element type {name}"))
                    .help(format!("supported: {}", list(Self::ALL)))
                    .unsupported());
            }
        })
    }

    /// The same type outside of a model.
    pub const fn dtype(self) -> DType {
        match self {
            Bool => DType::Bool,
            I8 => DType::I8,
            I16 => DType::I16,
            I32 => DType::I32,
            I64 => DType::I64,
            U8 => DType::U8,
            U16 => DType::U16,
            U32 => DType::U32,
            U64 => DType::U64,
            F16 => DType::F16,
            BF16 => DType::BF16,
            F32 => DType::F32,
            F64 => DType::F64,
            I4 => DType::I4,
            U4 => DType::U4,
            I2 => DType::I2,
            U2 => DType::U2,
            F8E4M3FN => DType::F8E4M3FN,
            F8E4M3FNUZ => DType::F8E4M3FNUZ,
            F8E5M2 => DType::F8E5M2,
            F8E5M2FNUZ => DType::F8E5M2FNUZ,
            F8E8M0FNU => DType::F8E8M0FNU,
            F4E2M1FN => DType::F4E2M1FN,
            F6E2M3FN => DType::F6E2M3FN,
            F6E3M2FN => DType::F6E3M2FN,
        }
    }

    /// Bytes of one element in memory; what is narrower takes one.
    pub const fn bytes(self) -> usize {
        self.dtype().bytes()
    }

    /// Bits of one element; a bool has one.
    pub const fn bits(self) -> u32 {
        self.dtype().bits()
    }

    /// How a float of at most a byte is written.
    pub const fn format(self) -> Option<Format> {
        self.dtype().format()
    }

    /// True for the integer types of less than a byte.
    pub fn is_narrow_integer(self) -> bool {
        Self::NARROW_INTEGERS.contains(&self)
    }

    /// True for `f16`, `bf16`, `f32`, `f64`.
    pub fn is_float(self) -> bool {
        Self::FLOATS.contains(&self)
    }

    /// True for the integer types of whole bytes; a bool is none.
    pub fn is_integer(self) -> bool {
        Self::INTEGERS.contains(&self)
    }

    /// True for the unsigned integer types.
    pub fn is_unsigned(self) -> bool {
        matches!(self, U8 | U16 | U32 | U64 | U4 | U2)
    }

    /// The least and the greatest value of an integer type or bool.
    pub fn integer_range(self) -> Option<(i128, i128)> {
        if self.is_float() || self.format().is_some() {
            return None;
        }
        let bits = self.bits();
        Some(if self.is_unsigned() || self == Bool {
            (0, (1i128 << bits) - 1)
        } else {
            (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
        })
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Bool => "bool",
            I8 => "int8",
            I16 => "int16",
            I32 => "int32",
            I64 => "int64",
            U8 => "uint8",
            U16 => "uint16",
            U32 => "uint32",
            U64 => "uint64",
            F16 => "float16",
            BF16 => "bfloat16",
            F32 => "float",
            F64 => "double",
            I4 => "int4",
            U4 => "uint4",
            I2 => "int2",
            U2 => "uint2",
            F8E4M3FN => "float8e4m3fn",
            F8E4M3FNUZ => "float8e4m3fnuz",
            F8E5M2 => "float8e5m2",
            F8E5M2FNUZ => "float8e5m2fnuz",
            F8E8M0FNU => "float8e8m0",
            F4E2M1FN => "float4e2m1",
            F6E2M3FN => "float6e2m3",
            F6E3M2FN => "float6e3m2",
        })
    }
}

/// `types` in words: "float, double".
pub fn list(types: &[ElementType]) -> String {
    types.iter().map(ElementType::to_string).collect::<Vec<_>>().join(", ")
}

/// More bytes than a process can address.
const BYTES_MAX: i64 = 1 << 47;

/// More dimensions than numpy has, or anybody needs.
const RANK_MAX: usize = 64;

/// An element type and an extent for every dimension.
///
/// The number of bytes is known to fit: [`TensorType::new`] checks it.
#[derive(Clone, PartialEq, Eq)]
pub struct TensorType {
    element: ElementType,
    dims: Vec<i64>,
}

impl TensorType {
    /// A tensor type; `what` names its bearer in the error.
    ///
    /// ```
    /// use weft_onnx::{ElementType, TensorType};
    /// let ty = TensorType::new(ElementType::F32, vec![2, 3], "x").unwrap();
    /// assert_eq!((ty.elements(), ty.bytes()), (6, 24));
    /// assert!(TensorType::new(ElementType::F32, vec![1 << 40, 1 << 40], "x").is_err());
    /// ```
    pub fn new(element: ElementType, dims: Vec<i64>, what: &str) -> Result<Self> {
        if let Some(negative) = dims.iter().find(|&&dim| dim < 0) {
            return Err(Report::new(format!("{what} has a dimension of {negative}"))
                .note(format!("its shape is {}", Shape(&dims)))
                .invalid());
        }
        if dims.len() > RANK_MAX {
            return Err(Report::new(format!("{what} has {} dimensions", dims.len()))
                .help(format!("at most {RANK_MAX}"))
                .unsupported());
        }
        // A zero anywhere makes the tensor empty, yet strides are products of the others.
        let fits = dims
            .iter()
            .try_fold(element.bytes() as i64, |size, &dim| size.checked_mul(dim.max(1)))
            .is_some_and(|bytes| bytes <= BYTES_MAX);
        if !fits {
            return Err(Report::new(format!(
                "{what} is {element} of {}, more bytes than a process can address",
                Shape(&dims)
            ))
            .invalid());
        }
        Ok(Self { element, dims })
    }

    /// The type of a temporary in a payload, whose size was checked when its node was planned.
    pub(crate) fn temporary(element: ElementType, dims: &[i64]) -> Self {
        Self { element, dims: dims.to_vec() }
    }

    /// A tensor without dimensions.
    pub fn scalar(element: ElementType) -> Self {
        Self { element, dims: Vec::new() }
    }

    /// The element type.
    pub fn element(&self) -> ElementType {
        self.element
    }

    /// The extents.
    pub fn dims(&self) -> &[i64] {
        &self.dims
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// The number of elements.
    pub fn elements(&self) -> usize {
        self.dims.iter().product::<i64>() as usize
    }

    /// The number of bytes.
    pub fn bytes(&self) -> usize {
        self.elements() * self.element.bytes()
    }

    /// The number of bytes in a file, where elements of less than a byte lie side by side.
    pub fn file_bytes(&self) -> usize {
        match self.element {
            Bool => self.elements(),
            element => (self.elements() * element.bits() as usize).div_ceil(8),
        }
    }

    /// The same shape of other elements, which are no wider than eight bytes.
    pub fn with_element(&self, element: ElementType, what: &str) -> Result<Self> {
        Self::new(element, self.dims.clone(), what)
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}[{}]",
            self.element,
            self.dims.iter().map(i64::to_string).collect::<Vec<_>>().join("x")
        )
    }
}

impl fmt::Debug for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A shape as it is written in messages: `2x3`, or `[]` for a scalar.
pub struct Shape<'a>(pub &'a [i64]);

impl fmt::Display for Shape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("[]");
        }
        for (i, dim) in self.0.iter().enumerate() {
            write!(f, "{}{dim}", if i == 0 { "" } else { "x" })?;
        }
        Ok(())
    }
}
