//! A tensor outside of a model: its bytes, type and shape.

use half::{bf16, f16};

use crate::dtype::DType;
use crate::plan::Port;

/// A dense row-major tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Type of an element.
    pub dtype: DType,
    /// Extents, outermost first; empty for a scalar.
    pub shape: Vec<u64>,
    /// The elements, little-endian.
    pub bytes: Vec<u8>,
}

/// One element as a number that holds every value of its type exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer or truth value.
    Int(i128),
    /// A float.
    Float(f64),
}

impl Number {
    /// The nearest f64.
    pub fn as_f64(self) -> f64 {
        match self {
            Number::Int(v) => v as f64,
            Number::Float(v) => v,
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Number::Int(v) => write!(f, "{v}"),
            Number::Float(v) => write!(f, "{v}"),
        }
    }
}

impl Tensor {
    /// A tensor for a port from the port's bytes.
    pub fn of_port(port: &Port, bytes: Vec<u8>) -> Tensor {
        Tensor { dtype: port.dtype, shape: port.shape.clone(), bytes }
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.bytes.len() / self.dtype.bytes()
    }

    /// The element at a linear index.
    ///
    /// # Panics
    ///
    /// If there is no such element.
    pub fn number(&self, index: usize) -> Number {
        let width = self.dtype.bytes();
        let element = &self.bytes[index * width..][..width];
        let mut low = [0; 8];
        low[..width].copy_from_slice(element);
        let bits = u64::from_le_bytes(low);
        if let Some(format) = self.dtype.format() {
            return Number::Float(format.decode(bits as u8));
        }
        match self.dtype {
            DType::Bool => Number::Int((bits != 0) as i128),
            DType::I8 | DType::I4 | DType::I2 => Number::Int(bits as i8 as i128),
            DType::I16 => Number::Int(bits as i16 as i128),
            DType::I32 => Number::Int(bits as i32 as i128),
            DType::I64 => Number::Int(bits as i64 as i128),
            DType::F16 => Number::Float(f16::from_bits(bits as u16).to_f64()),
            DType::BF16 => Number::Float(bf16::from_bits(bits as u16).to_f64()),
            DType::F32 => Number::Float(f32::from_bits(bits as u32) as f64),
            DType::F64 => Number::Float(f64::from_bits(bits)),
            _ => Number::Int(bits as i128),
        }
    }

    /// The position of a linear index along each axis.
    pub fn position(&self, mut index: usize) -> Vec<u64> {
        let mut position = vec![0; self.shape.len()];
        for (at, &extent) in position.iter_mut().zip(&self.shape).rev() {
            *at = index as u64 % extent.max(1);
            index /= extent.max(1) as usize;
        }
        position
    }
}
