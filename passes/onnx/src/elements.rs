//! Tensors whose elements are known: weights, constants, folded shapes.

use std::fmt;

use bytes::Bytes;
use half::{bf16, f16};

use crate::error::{Report, Result};
use crate::types::{ElementType, TensorType};

/// One element, wide enough for every type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar {
    /// An integer or a bool.
    Int(i128),
    /// A floating-point number.
    Float(f64),
}

impl Scalar {
    /// The value as a floating-point number.
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Int(i) => i as f64,
            Self::Float(f) => f,
        }
    }

    /// The value as an integer: truncated toward zero, NaN as 0.
    pub fn as_int(self) -> i128 {
        match self {
            Self::Int(i) => i,
            Self::Float(f) => f as i128,
        }
    }
}

impl PartialOrd for Scalar {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.partial_cmp(b),
            (a, b) => a.as_f64().partial_cmp(&b.as_f64()),
        }
    }
}

/// The elements of a tensor, little-endian and row-major, as in a file; but elements of less than
/// a byte take one each.
///
/// Cloning is cheap: the bytes are shared, and often a slice of the mapped model.
#[derive(Clone, PartialEq)]
pub struct Elements {
    ty: TensorType,
    bytes: Bytes,
}

impl Elements {
    /// `bytes` as a tensor of type `ty`; `what` names it in the error.
    pub fn new(ty: TensorType, bytes: Bytes, what: &str) -> Result<Self> {
        if bytes.len() != ty.bytes() {
            return Err(Report::new(format!("{what} has {} bytes of data", bytes.len()))
                .note(format!("its type {ty} takes {}", ty.bytes()))
                .malformed());
        }
        if ty.element() == ElementType::Bool
            && let Some(at) = bytes.iter().position(|&byte| byte > 1)
        {
            return Err(Report::new(format!("{what} is bool but element {at} is {}", bytes[at]))
                .help("a bool is stored as 0 or 1")
                .malformed());
        }
        Ok(Self { ty, bytes })
    }

    /// One element for every index of `ty`, in row-major order; integers wrap, floats round, and
    /// become infinity, or NaN where there is none, when they are too large.
    ///
    /// Panics when there are not as many scalars as `ty` has elements.
    pub fn from_scalars(ty: TensorType, scalars: impl IntoIterator<Item = Scalar>) -> Self {
        let mut bytes = Vec::with_capacity(ty.bytes());
        for scalar in scalars {
            push(&mut bytes, ty.element(), scalar);
        }
        assert_eq!(bytes.len(), ty.bytes(), "one scalar for each element of {ty}");
        Self { ty, bytes: bytes.into() }
    }

    /// A vector of 64-bit integers, the form of every shape.
    pub fn from_ints(ints: &[i64]) -> Self {
        let ty = TensorType::new(ElementType::I64, vec![ints.len() as i64], "a list of integers")
            .expect("a slice in memory is addressable");
        Self::from_scalars(ty, ints.iter().map(|&i| Scalar::Int(i.into())))
    }

    /// A tensor without dimensions.
    pub fn scalar(element: ElementType, scalar: Scalar) -> Self {
        Self::from_scalars(TensorType::scalar(element), [scalar])
    }

    /// The same bytes under another shape with as many elements.
    pub fn reshaped(&self, ty: TensorType) -> Self {
        assert_eq!(
            (ty.element(), ty.bytes()),
            (self.ty.element(), self.bytes.len()),
            "a reshape keeps the elements"
        );
        Self { ty, bytes: self.bytes.clone() }
    }

    /// The type.
    pub fn ty(&self) -> &TensorType {
        &self.ty
    }

    /// The bytes, little-endian and row-major; not aligned.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.ty.elements()
    }

    /// True when there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at a row-major position.
    pub fn get(&self, at: usize) -> Scalar {
        let size = self.ty.element().bytes();
        pull(self.ty.element(), &self.bytes[at * size..][..size])
    }

    /// Every element, in row-major order.
    pub fn scalars(&self) -> impl ExactSizeIterator<Item = Scalar> + '_ {
        let element = self.ty.element();
        self.bytes.chunks_exact(element.bytes()).map(move |bytes| pull(element, bytes))
    }

    /// The value of a tensor with exactly one element.
    pub fn single(&self) -> Option<Scalar> {
        (self.len() == 1).then(|| self.get(0))
    }

    /// Every element as a 64-bit integer, for integer and bool tensors whose values fit.
    pub fn ints(&self) -> Option<Vec<i64>> {
        self.scalars()
            .map(|scalar| match scalar {
                Scalar::Int(i) => i64::try_from(i).ok(),
                Scalar::Float(_) => None,
            })
            .collect()
    }

    /// Returns whether they are bytes, all of them the same.
    pub fn are_equal_bytes(&self) -> bool {
        let bytes = &self.bytes[..];
        self.ty.element().bytes() == 1 && bytes.iter().all(|byte| *byte == bytes[0])
    }

    /// The first 32 hexadecimal digits of the BLAKE3 hash of the bytes.
    pub fn hash(&self) -> String {
        blake3::hash(&self.bytes).to_hex()[..32].to_owned()
    }
}

impl fmt::Debug for Elements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.ty)?;
        if self.len() <= 16 {
            f.debug_list()
                .entries(self.scalars().map(|scalar| match scalar {
                    Scalar::Int(i) => i.to_string(),
                    Scalar::Float(x) => x.to_string(),
                }))
                .finish()?;
        }
        Ok(())
    }
}

fn push(bytes: &mut Vec<u8>, element: ElementType, scalar: Scalar) {
    use ElementType::*;
    let int = scalar.as_int();
    match element {
        Bool => bytes.push((scalar != Scalar::Int(0) && scalar != Scalar::Float(0.0)).into()),
        // A narrower integer is the low bytes of a wider one.
        I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64 => {
            bytes.extend_from_slice(&int.to_le_bytes()[..element.bytes()]);
        }
        I4 | U4 | I2 | U2 => {
            let unused = 8 - element.bits();
            let top = int.to_le_bytes()[0] << unused;
            let signed = (top as i8 >> unused) as u8;
            bytes.push(if element.is_unsigned() { top >> unused } else { signed });
        }
        F16 => bytes.extend_from_slice(&f16::from_f64(scalar.as_f64()).to_le_bytes()),
        BF16 => bytes.extend_from_slice(&bf16::from_f64(scalar.as_f64()).to_le_bytes()),
        F32 => bytes.extend_from_slice(&(scalar.as_f64() as f32).to_le_bytes()),
        F64 => bytes.extend_from_slice(&scalar.as_f64().to_le_bytes()),
        F8E4M3FN | F8E4M3FNUZ | F8E5M2 | F8E5M2FNUZ | F8E8M0FNU | F4E2M1FN | F6E2M3FN
        | F6E3M2FN => {
            let format = element.format().expect("these are narrow floats");
            bytes.push(format.encode(scalar.as_f64(), false));
        }
    }
}

fn pull(element: ElementType, bytes: &[u8]) -> Scalar {
    use ElementType::*;
    let bits = bytes.iter().rev().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
    match element {
        Bool | U8 | U16 | U32 | U64 | U4 | U2 => Scalar::Int(bits.into()),
        // They are sign extended in memory.
        I4 | I2 => Scalar::Int((bits as i8).into()),
        I8 | I16 | I32 | I64 => {
            let shift = 64 - element.bits();
            Scalar::Int(((bits << shift) as i64 >> shift).into())
        }
        F16 => Scalar::Float(f16::from_bits(bits as u16).to_f64()),
        BF16 => Scalar::Float(bf16::from_bits(bits as u16).to_f64()),
        F32 => Scalar::Float(f32::from_bits(bits as u32).into()),
        F64 => Scalar::Float(f64::from_bits(bits)),
        F8E4M3FN | F8E4M3FNUZ | F8E5M2 | F8E5M2FNUZ | F8E8M0FNU | F4E2M1FN | F6E2M3FN
        | F6E3M2FN => {
            let format = element.format().expect("these are narrow floats");
            Scalar::Float(format.decode(bits as u8))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_survive_every_type() {
        for &element in ElementType::ALL {
            let ty = TensorType::new(element, vec![2], "a test").unwrap();
            let float = element.is_float() || element.format().is_some();
            let one = if float { Scalar::Float(1.0) } else { Scalar::Int(1) };
            // A power of two is never zero.
            let zero = match element {
                ElementType::F8E8M0FNU => Scalar::Float(2.0),
                _ if float => Scalar::Float(0.0),
                _ => Scalar::Int(0),
            };
            let elements = Elements::from_scalars(ty, [one, zero]);
            assert_eq!(elements.scalars().collect::<Vec<_>>(), [one, zero], "{element}");
        }
    }

    #[test]
    fn the_ends_of_integers() {
        for &element in ElementType::INTEGERS.iter().chain(ElementType::NARROW_INTEGERS) {
            let (least, most) = element.integer_range().unwrap();
            for value in [least, most] {
                let scalar = Elements::scalar(element, Scalar::Int(value));
                assert_eq!(scalar.single(), Some(Scalar::Int(value)), "{element}");
            }
            let beyond = Elements::scalar(element, Scalar::Int(most + 1));
            assert_eq!(beyond.single(), Some(Scalar::Int(least)), "{element} wraps");
        }
    }

    #[test]
    fn floats_round_to_nearest() {
        let third = Elements::scalar(ElementType::F16, Scalar::Float(1.0 / 3.0));
        assert_eq!(third.single(), Some(Scalar::Float(0.333_251_953_125)));
        let third = Elements::scalar(ElementType::BF16, Scalar::Float(1.0 / 3.0));
        assert_eq!(third.single(), Some(Scalar::Float(0.333_984_375)));
    }

    #[test]
    fn large_numbers_are_no_shape() {
        let large = Elements::scalar(ElementType::U64, Scalar::Int(u64::MAX.into()));
        assert_eq!(large.ints(), None);
        assert_eq!(Elements::from_ints(&[-1, 2]).ints(), Some(vec![-1, 2]));
    }
}
