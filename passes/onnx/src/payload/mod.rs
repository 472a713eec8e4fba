//! Payloads with ONNX's types: what is written here knows signedness, half floats and booleans;
//! what comes out is signless, calculates halves in `f32`, and keeps booleans as `i8`.

mod build;
mod calc;
mod convert;
mod narrow;

pub use build::{Access, Build};
pub use calc::{Calc, Num};

use weft_dialects::ir::{Context, Linear, Type, Val, ty};

use crate::types::{ElementType, TensorType};

/// A tensor in a payload.
#[derive(Clone)]
pub struct Tensor<'c> {
    value: Val<'c>,
    ty: TensorType,
}

impl<'c> Tensor<'c> {
    /// A value of the payload as a tensor of an ONNX type.
    pub fn new(value: Val<'c>, ty: TensorType) -> Self {
        Self { value, ty }
    }

    /// The value.
    pub fn value(&self) -> Val<'c> {
        self.value
    }

    /// The type.
    pub fn ty(&self) -> &TensorType {
        &self.ty
    }

    /// The extents.
    pub fn dims(&self) -> &[i64] {
        self.ty.dims()
    }

    /// The element type.
    pub fn element(&self) -> ElementType {
        self.ty.element()
    }
}

/// The type of elements while one calculates with them: `f32` for the half floats and what is
/// narrower, a byte for narrower integers.
pub fn computed(element: ElementType) -> ElementType {
    use ElementType::*;
    match element {
        F16 | BF16 => F32,
        I4 | I2 => I8,
        U4 | U2 => U8,
        narrow if narrow.format().is_some() => F32,
        other => other,
    }
}

/// The type of a value between operators: unsigned types are kept apart, a bool has one bit.
pub fn graph_type<'c>(context: &'c Context, tensor: &TensorType) -> Type<'c> {
    use ElementType::*;
    let element = match tensor.element() {
        F16 | BF16 | F32 | F64 => payload_element(context, tensor.element()),
        U8 | U16 | U32 | U64 | U4 | U2 => {
            ty::parse(context, &format!("ui{}", tensor.element().bits()))
                .expect("MLIR has unsigned integers")
        }
        F8E4M3FN | F8E4M3FNUZ | F8E5M2 | F8E5M2FNUZ | F8E8M0FNU | F4E2M1FN | F6E2M3FN
        | F6E3M2FN => {
            let name = format!("{:?}", tensor.element()).replacen('F', "f", 1);
            ty::parse(context, &name).expect("MLIR has these floats under these names")
        }
        element => ty::int(context, element.bits()),
    };
    ty::tensor(&extents(tensor.dims()), element)
}

fn payload_element(context: &Context, element: ElementType) -> Type<'_> {
    use ElementType::*;
    match element {
        F16 => Type::float16(context),
        BF16 => Type::bfloat16(context),
        F32 => Type::float32(context),
        F64 => Type::float64(context),
        // What is narrower than a byte takes one, and a narrow float is its bits.
        integer => ty::int(context, integer.bits().max(8)),
    }
}

fn extents(dims: &[i64]) -> Vec<u64> {
    dims.iter().map(|&dim| dim as u64).collect()
}

/// The access `tensor[a0, a1, …]` over the first `rank` of `axes` axes.
pub fn identity(axes: usize) -> Vec<Linear> {
    (0..axes).map(|axis| Linear::axis(axes, axis)).collect()
}

/// The access to a tensor of shape `dims` that broadcasts to `to`, whose axes are the nest's first;
/// the nest has `axes` in all.
pub fn broadcast(dims: &[i64], to: &[i64], axes: usize) -> Vec<Linear> {
    let lead = to.len() - dims.len();
    dims.iter()
        .enumerate()
        .map(|(at, &dim)| match (dim, to[lead + at]) {
            (1, extent) if extent != 1 => Linear::constant(axes, 0),
            _ => Linear::axis(axes, lead + at),
        })
        .collect()
}
