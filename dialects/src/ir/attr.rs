//! Reading and making attributes.

use melior::Context;
use melior::ir::attribute::{
    ArrayAttribute, DenseI64ArrayAttribute, FlatSymbolRefAttribute, FloatAttribute,
    IntegerAttribute, StringAttribute, TypeAttribute,
};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, AttributeLike, Type, TypeLike};
use mlir_sys::*;

use super::shim::{weftIteratorTypeGet, weftIteratorTypeIsParallel};
use super::text::{string_ref, text_of};
use super::ty;

/// The integer of an integer attribute, sign-extended unless it is unsigned.
pub fn int(attribute: Attribute<'_>) -> Option<i64> {
    let integer = IntegerAttribute::try_from(attribute).ok()?;
    // SAFETY: the attribute is an integer attribute; each getter suits its type.
    unsafe {
        let raw = integer.to_raw();
        let kind = mlirAttributeGetType(raw);
        Some(if mlirTypeIsAIndex(kind) || mlirIntegerTypeIsSignless(kind) {
            mlirIntegerAttrGetValueInt(raw)
        } else if mlirIntegerTypeIsSigned(kind) {
            mlirIntegerAttrGetValueSInt(raw)
        } else {
            mlirIntegerAttrGetValueUInt(raw) as i64
        })
    }
}

/// The number of a float attribute.
pub fn float(attribute: Attribute<'_>) -> Option<f64> {
    FloatAttribute::try_from(attribute).ok().map(|float| float.value())
}

/// The text of a string attribute.
pub fn string<'c>(attribute: Attribute<'c>) -> Option<&'c str> {
    // SAFETY: attributes live as long as their context.
    unsafe {
        let raw = attribute.to_raw();
        mlirAttributeIsAString(raw).then(|| text_of(mlirStringAttrGetValue(raw)))
    }
}

/// The name of a flat symbol reference.
pub fn symbol<'c>(attribute: Attribute<'c>) -> Option<&'c str> {
    // SAFETY: attributes live as long as their context.
    unsafe {
        let raw = attribute.to_raw();
        mlirAttributeIsAFlatSymbolRef(raw).then(|| text_of(mlirFlatSymbolRefAttrGetValue(raw)))
    }
}

/// The elements of an array attribute.
pub fn array<'c>(attribute: Attribute<'c>) -> Option<Vec<Attribute<'c>>> {
    // SAFETY: positions are inside the array.
    unsafe {
        let raw = attribute.to_raw();
        mlirAttributeIsAArray(raw).then(|| {
            (0..mlirArrayAttrGetNumElements(raw))
                .map(|index| Attribute::from_raw(mlirArrayAttrGetElement(raw, index)))
                .collect()
        })
    }
}

/// Names and values of a dictionary.
pub fn entries<'c>(attribute: Attribute<'c>) -> Option<Vec<(&'c str, Attribute<'c>)>> {
    // SAFETY: positions are inside the dictionary; names and values live as long as their context.
    unsafe {
        let raw = attribute.to_raw();
        let entry = |index| {
            let named = mlirDictionaryAttrGetElement(raw, index);
            (text_of(mlirIdentifierStr(named.name)), Attribute::from_raw(named.attribute))
        };
        let is_dictionary = mlirAttributeIsADictionary(raw);
        is_dictionary.then(|| (0..mlirDictionaryAttrGetNumElements(raw)).map(entry).collect())
    }
}

/// The texts of an array of strings.
pub fn strings<'c>(attribute: Attribute<'c>) -> Option<Vec<&'c str>> {
    array(attribute)?.into_iter().map(string).collect()
}

/// The numbers of an `array<i64: …>`.
pub fn ints(attribute: Attribute<'_>) -> Option<Vec<i64>> {
    let dense = DenseI64ArrayAttribute::try_from(attribute).ok()?;
    (0..dense.len()).map(|index| dense.element(index).ok()).collect()
}

/// The numbers of an `array<i32: …>`.
pub fn ints32(attribute: Attribute<'_>) -> Option<Vec<i32>> {
    // SAFETY: positions are inside the array.
    unsafe {
        let raw = attribute.to_raw();
        mlirAttributeIsADenseI32Array(raw).then(|| {
            (0..mlirDenseArrayGetNumElements(raw))
                .map(|index| mlirDenseI32ArrayGetElement(raw, index))
                .collect()
        })
    }
}

/// The type of a type attribute.
pub fn type_of<'c>(attribute: Attribute<'c>) -> Option<Type<'c>> {
    // SAFETY: checked to be a type attribute.
    unsafe {
        let raw = attribute.to_raw();
        mlirAttributeIsAType(raw).then(|| Type::from_raw(mlirTypeAttrGetValue(raw)))
    }
}

/// The bytes of a dense literal, little-endian, one copy per element also for splats.
///
/// Booleans and narrower integers come as one byte each, sign extended unless unsigned.
pub fn dense_bytes(attribute: Attribute<'_>) -> Option<Vec<u8>> {
    let mut bytes = raw_bytes(attribute)?;
    let element = ty::elem(ty::of_attr(attribute)?)?;
    let bits = ty::bits(element)?;
    if ty::is_integer(element) && (2..8).contains(&bits) {
        let unused = 8 - bits;
        let unsigned = ty::is_unsigned(element);
        for byte in &mut bytes {
            let top = *byte << unused;
            *byte = if unsigned { top >> unused } else { (top as i8 >> unused) as u8 };
        }
    }
    Some(bytes)
}

fn raw_bytes(attribute: Attribute<'_>) -> Option<Vec<u8>> {
    // SAFETY: checked to be dense elements; reads stay inside the raw data, whose
    // length is that of all elements, or of one for a splat.
    unsafe {
        let raw = attribute.to_raw();
        if !mlirAttributeIsADenseElements(raw) {
            return None;
        }
        let kind = Type::from_raw(mlirAttributeGetType(raw));
        let element = ty::elem(kind)?;
        let count = ty::shape(kind)?.iter().product::<u64>() as usize;
        if ty::is_int(element, 1) {
            return Some(
                (0..count)
                    .map(|index| u8::from(mlirDenseElementsAttrGetBoolValue(raw, index as isize)))
                    .collect(),
            );
        }
        let size = ty::byte_size(element)? as usize;
        let data = mlirDenseElementsAttrGetRawData(raw).cast::<u8>();
        if mlirDenseElementsAttrIsSplat(raw) {
            let one = std::slice::from_raw_parts(data, size);
            return Some(one.iter().copied().cycle().take(size * count).collect());
        }
        if count == 0 {
            return Some(Vec::new());
        }
        Some(std::slice::from_raw_parts(data, size * count).to_vec())
    }
}

/// A dense literal of little-endian bytes, of all elements or of one that stands for all; booleans one byte each.
pub fn dense<'c>(kind: Type<'c>, bytes: &[u8]) -> Attribute<'c> {
    // SAFETY: the buffer has the size of all elements; MLIR copies it.
    unsafe {
        if ty::elem(kind).is_some_and(|element| ty::is_int(element, 1)) {
            let values: Vec<i32> = bytes.iter().map(|&byte| i32::from(byte != 0)).collect();
            return Attribute::from_raw(mlirDenseElementsAttrBoolGet(
                kind.to_raw(),
                values.len() as isize,
                values.as_ptr(),
            ));
        }
        Attribute::from_raw(mlirDenseElementsAttrRawBufferGet(
            kind.to_raw(),
            bytes.len(),
            bytes.as_ptr().cast(),
        ))
    }
}

/// A 64-bit signless integer.
pub fn of_int(context: &Context, value: i64) -> Attribute<'_> {
    IntegerAttribute::new(IntegerType::new(context, 64).into(), value).into()
}

/// An integer of type `kind`.
pub fn of_int_type<'c>(kind: Type<'c>, value: i64) -> Attribute<'c> {
    IntegerAttribute::new(kind, value).into()
}

/// A float of type `kind`.
pub fn of_float<'c>(context: &'c Context, kind: Type<'c>, value: f64) -> Attribute<'c> {
    FloatAttribute::new(context, kind, value).into()
}

/// A string.
pub fn of_string<'c>(context: &'c Context, text: &str) -> Attribute<'c> {
    StringAttribute::new(context, text).into()
}

/// A reference to `@name`.
pub fn of_symbol<'c>(context: &'c Context, name: &str) -> Attribute<'c> {
    FlatSymbolRefAttribute::new(context, name).into()
}

/// An array of attributes.
pub fn of_array<'c>(context: &'c Context, values: &[Attribute<'c>]) -> Attribute<'c> {
    ArrayAttribute::new(context, values).into()
}

/// An array of strings.
pub fn of_strings<'c, S: AsRef<str>>(context: &'c Context, texts: &[S]) -> Attribute<'c> {
    let values: Vec<_> = texts.iter().map(|text| of_string(context, text.as_ref())).collect();
    of_array(context, &values)
}

/// An `array<i64: …>`.
pub fn of_ints<'c>(context: &'c Context, values: &[i64]) -> Attribute<'c> {
    DenseI64ArrayAttribute::new(context, values).into()
}

/// An `array<i32: …>`.
pub fn of_ints32<'c>(context: &'c Context, values: &[i32]) -> Attribute<'c> {
    melior::ir::attribute::DenseI32ArrayAttribute::new(context, values).into()
}

/// An `array<i64: …>` of sizes.
pub fn of_sizes<'c>(context: &'c Context, sizes: &[u64]) -> Attribute<'c> {
    let sizes: Vec<_> = sizes.iter().map(|&size| size as i64).collect();
    of_ints(context, &sizes)
}

/// How many operands each group of an operation has, as the attribute is called.
pub(crate) fn segments<'c>(
    context: &'c Context,
    counts: &[usize],
) -> (&'static str, Attribute<'c>) {
    let counts: Vec<_> = counts.iter().map(|&count| count as i32).collect();
    ("operandSegmentSizes", of_ints32(context, &counts))
}

/// The attribute `at` of an operation that applies a kernel; `None` where all places are zero.
pub(crate) fn places<'c>(
    context: &'c Context,
    at: &[u64],
) -> Option<(&'static str, Attribute<'c>)> {
    at.iter().any(|&place| place > 0).then(|| ("at", of_sizes(context, at)))
}

/// A type as an attribute.
pub fn of_type(kind: Type<'_>) -> Attribute<'_> {
    TypeAttribute::new(kind).into()
}

/// The iterator type of an axis in `linalg`.
pub fn of_iterator(context: &Context, parallel: bool) -> Attribute<'_> {
    // SAFETY: the context lives as long as the attribute.
    unsafe { Attribute::from_raw(weftIteratorTypeGet(context.to_raw(), parallel)) }
}

/// Returns whether an attribute says that points along an axis are independent.
pub fn is_parallel(iterator: Attribute<'_>) -> bool {
    // SAFETY: any attribute will do.
    unsafe { weftIteratorTypeIsParallel(iterator.to_raw()) }
}

/// Returns a number that is equal for equal attributes of one context, and for no others.
pub fn id(attribute: Attribute<'_>) -> usize {
    attribute.to_raw().ptr as usize
}

/// The unit attribute.
pub fn unit(context: &Context) -> Attribute<'_> {
    Attribute::unit(context)
}

/// An attribute from its text; `None` where it does not parse.
pub fn parse<'c>(context: &'c Context, text: &str) -> Option<Attribute<'c>> {
    // SAFETY: the context lives for 'c.
    unsafe {
        let raw = mlirAttributeParseGet(context.to_raw(), string_ref(text));
        (!raw.ptr.is_null()).then(|| Attribute::from_raw(raw))
    }
}
