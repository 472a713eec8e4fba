//! Reading and making types.

use melior::Context;
use melior::ir::r#type::{FunctionType, IntegerType, MemRefType, RankedTensorType};
use melior::ir::{Attribute, AttributeLike, Type, TypeLike};
use mlir_sys::*;

/// The static shape of a tensor, memref or vector; `None` where a dimension is dynamic.
pub fn shape(ty: Type<'_>) -> Option<Vec<u64>> {
    // SAFETY: asked only of shaped types with a rank.
    unsafe {
        let raw = ty.to_raw();
        if !mlirTypeIsAShaped(raw)
            || !mlirShapedTypeHasRank(raw)
            || !mlirShapedTypeHasStaticShape(raw)
        {
            return None;
        }
        Some(
            (0..mlirShapedTypeGetRank(raw))
                .map(|dim| mlirShapedTypeGetDimSize(raw, dim as isize) as u64)
                .collect(),
        )
    }
}

/// The element type of a tensor, memref or vector.
pub fn elem<'c>(ty: Type<'c>) -> Option<Type<'c>> {
    // SAFETY: asked only of shaped types.
    unsafe {
        let raw = ty.to_raw();
        mlirTypeIsAShaped(raw).then(|| Type::from_raw(mlirShapedTypeGetElementType(raw)))
    }
}

/// Number of elements of a static shape.
pub fn count(ty: Type<'_>) -> Option<u64> {
    shape(ty).map(|shape| shape.iter().product())
}

/// Bytes that one element takes in memory; a boolean takes one.
pub fn byte_size(ty: Type<'_>) -> Option<u64> {
    bits(ty).map(|bits| bits.div_ceil(8))
}

/// Bits of an integer or float type; an index has 64.
pub fn bits(ty: Type<'_>) -> Option<u64> {
    // SAFETY: each getter is asked of its own kind.
    unsafe {
        let raw = ty.to_raw();
        if mlirTypeIsAInteger(raw) {
            Some(u64::from(mlirIntegerTypeGetWidth(raw)))
        } else if mlirTypeIsAFloat(raw) {
            Some(u64::from(mlirFloatTypeGetWidth(raw)))
        } else if mlirTypeIsAIndex(raw) {
            Some(64)
        } else {
            None
        }
    }
}

/// Returns whether the type is a float.
pub fn is_float(ty: Type<'_>) -> bool {
    // SAFETY: any type may be asked.
    unsafe { mlirTypeIsAFloat(ty.to_raw()) }
}

/// Returns whether the type is an integer of `width` bits, of any signedness.
pub fn is_int(ty: Type<'_>, width: u32) -> bool {
    // SAFETY: the width is asked of integers only.
    unsafe { mlirTypeIsAInteger(ty.to_raw()) && mlirIntegerTypeGetWidth(ty.to_raw()) == width }
}

/// Returns whether the type is any integer (no index).
pub fn is_integer(ty: Type<'_>) -> bool {
    // SAFETY: any type may be asked.
    unsafe { mlirTypeIsAInteger(ty.to_raw()) }
}

/// Returns whether the type is `uiN`.
pub fn is_unsigned(ty: Type<'_>) -> bool {
    // SAFETY: signedness is asked of integers only.
    unsafe { mlirTypeIsAInteger(ty.to_raw()) && mlirIntegerTypeIsUnsigned(ty.to_raw()) }
}

/// Returns whether the type is `index`.
pub fn is_index(ty: Type<'_>) -> bool {
    // SAFETY: any type may be asked.
    unsafe { mlirTypeIsAIndex(ty.to_raw()) }
}

/// Returns whether the type is a ranked tensor.
pub fn is_tensor(ty: Type<'_>) -> bool {
    // SAFETY: any type may be asked.
    unsafe { mlirTypeIsARankedTensor(ty.to_raw()) }
}

/// Returns whether the type is a memref.
pub fn is_memref(ty: Type<'_>) -> bool {
    // SAFETY: any type may be asked.
    unsafe { mlirTypeIsAMemRef(ty.to_raw()) }
}

/// Returns whether the type is a vector.
pub fn is_vector(ty: Type<'_>) -> bool {
    // SAFETY: any type may be asked.
    unsafe { mlirTypeIsAVector(ty.to_raw()) }
}

/// Returns the memory of a memref: the name of its space, `None` for the device's memory.
pub fn memory<'c>(ty: Type<'c>) -> Option<&'c str> {
    // SAFETY: asked of memrefs only; a null attribute means no space.
    unsafe {
        if !is_memref(ty) {
            return None;
        }
        let raw = mlirMemRefTypeGetMemorySpace(ty.to_raw());
        if raw.ptr.is_null() {
            return None;
        }
        super::attr::string(Attribute::from_raw(raw))
    }
}

/// Returns a number that is equal for equal types of one context, and for no others.
pub fn id(ty: Type<'_>) -> usize {
    ty.to_raw().ptr as usize
}

/// `tensor<shape x elem>`.
pub fn tensor<'c>(shape: &[u64], elem: Type<'c>) -> Type<'c> {
    RankedTensorType::new(shape, elem, None).into()
}

/// `memref<shape x elem, "memory">`.
pub fn memref<'c>(shape: &[u64], elem: Type<'c>, memory: Option<Attribute<'c>>) -> Type<'c> {
    let shape: Vec<i64> = shape.iter().map(|&dim| dim as i64).collect();
    MemRefType::new(elem, &shape, None, memory).into()
}

/// `vector<lanes x elem>`.
pub fn vector<'c>(lanes: u64, elem: Type<'c>) -> Type<'c> {
    Type::vector(&[lanes], elem)
}

/// A signless integer of `bits`.
pub fn int(context: &Context, bits: u32) -> Type<'_> {
    IntegerType::new(context, bits).into()
}

/// The payload type of a graph type: signless, `i8` for booleans and narrower integers, and for
/// the bits of floats of at most a byte.
///
/// Works on element types and on tensors; other floats stay what they are.
pub fn payload<'c>(context: &'c Context, ty: Type<'c>) -> Type<'c> {
    if let (Some(shape), Some(elem)) = (shape(ty), elem(ty)) {
        return tensor(&shape, payload(context, elem));
    }
    match bits(ty) {
        Some(bits) if is_integer(ty) => int(context, (bits as u32).max(8)),
        Some(bits) if bits <= 8 => int(context, 8),
        _ => ty,
    }
}

/// Inputs and results of a function type.
pub fn function<'c>(ty: Type<'c>) -> Option<(Vec<Type<'c>>, Vec<Type<'c>>)> {
    let function = FunctionType::try_from(ty).ok()?;
    Some((
        (0..function.input_count()).filter_map(|index| function.input(index).ok()).collect(),
        (0..function.result_count()).filter_map(|index| function.result(index).ok()).collect(),
    ))
}

/// A function type.
pub fn of_function<'c>(
    context: &'c Context,
    inputs: &[Type<'c>],
    results: &[Type<'c>],
) -> Type<'c> {
    FunctionType::new(context, inputs, results).into()
}

/// The type of a typed attribute, such as a number.
pub fn of_attr<'c>(attribute: Attribute<'c>) -> Option<Type<'c>> {
    // SAFETY: attributes live as long as their context.
    unsafe {
        let raw = mlirAttributeGetType(attribute.to_raw());
        (!raw.ptr.is_null()).then(|| Type::from_raw(raw))
    }
}

/// A type from its text; `None` where it does not parse.
pub fn parse<'c>(context: &'c Context, text: &str) -> Option<Type<'c>> {
    Type::parse(context, text)
}
