//! From a tensor in the file to its elements.

use std::path::Path;

use bytes::Bytes;
use prost::Message;
use weft_runtime::narrow::unpack;

use crate::elements::Elements;
use crate::error::{Report, Result};
use crate::files::{self, Folder};
use crate::proto::tensor_proto::DataLocation;
use crate::proto::type_proto::Value as Kind;
use crate::proto::{TensorProto, ValueInfoProto};
use crate::types::ElementType::{self, *};
use crate::types::TensorType;

/// The type of a tensor in the file.
pub fn type_of(tensor: &TensorProto, what: &str) -> Result<TensorType> {
    let element = ElementType::from_onnx(tensor.data_type(), what)?;
    TensorType::new(element, tensor.dims.clone(), what)
}

/// The elements of a tensor in the file; raw and external data are not copied.
pub fn elements_of(tensor: &TensorProto, folder: &Folder, what: &str) -> Result<Elements> {
    let ty = type_of(tensor, what)?;
    if tensor.segment.is_some() {
        return Err(Report::new(format!("{what} is stored in segments")).unsupported());
    }
    if DataLocation::try_from(tensor.data_location.unwrap_or(0)) == Ok(DataLocation::External) {
        let bytes = folder.external(tensor, &ty, what)?;
        return of_file(ty, bytes, what);
    }
    if let Some(raw) = &tensor.raw_data {
        return of_file(ty, raw.clone(), what);
    }
    let bytes = typed_bytes(tensor, ty.element(), what)?;
    // Floats of six bits are not packed in this field.
    match ty.element() {
        F6E2M3FN | F6E3M2FN => Elements::new(ty, bytes, what),
        _ => of_file(ty, bytes, what),
    }
}

/// Elements from the bytes of a file, in which those of less than a byte lie side by side.
fn of_file(ty: TensorType, bytes: Bytes, what: &str) -> Result<Elements> {
    let (element, packed) = (ty.element(), ty.file_bytes());
    if element == Bool || element.bits() as usize == 8 * element.bytes() {
        return Elements::new(ty, bytes, what);
    }
    if bytes.len() != packed {
        return Err(Report::new(format!("{what} has {} bytes of data", bytes.len()))
            .note(format!("its type {ty} takes {packed}"))
            .malformed());
    }
    let signed = element.is_narrow_integer() && !element.is_unsigned();
    let apart = unpack(&bytes, element.bits(), signed, ty.elements());
    Elements::new(ty, apart.into(), what)
}

/// The data of the field that ONNX assigns to an element type, as bytes of that type.
fn typed_bytes(tensor: &TensorProto, element: ElementType, what: &str) -> Result<Bytes> {
    fn bytes<const N: usize, T: Copy>(values: &[T], to: impl Fn(T) -> [u8; N]) -> Bytes {
        values.iter().flat_map(|&value| to(value)).collect::<Vec<u8>>().into()
    }
    Ok(match element {
        F32 => bytes(&tensor.float_data, f32::to_le_bytes),
        F64 => bytes(&tensor.double_data, f64::to_le_bytes),
        I64 => bytes(&tensor.int64_data, i64::to_le_bytes),
        I32 => bytes(&tensor.int32_data, i32::to_le_bytes),
        U64 => bytes(&tensor.uint64_data, u64::to_le_bytes),
        U32 => narrow(&tensor.uint64_data, (0, u32::MAX.into()), 4, element, what)?,
        // The bits of a half, not its value.
        F16 | BF16 => narrow(&tensor.int32_data, (0, u16::MAX.into()), 2, element, what)?,
        // One byte each, of one element or of several.
        F8E4M3FN | F8E4M3FNUZ | F8E5M2 | F8E5M2FNUZ | F8E8M0FNU | F4E2M1FN | I4 | U4 | I2 | U2 => {
            narrow(&tensor.int32_data, (0, u8::MAX.into()), 1, element, what)?
        }
        F6E2M3FN | F6E3M2FN => narrow(&tensor.int32_data, (0, 63), 1, element, what)?,
        Bool | I8 | I16 | U8 | U16 => {
            let range = element.integer_range().expect("these are integers");
            narrow(&tensor.int32_data, range, element.bytes(), element, what)?
        }
    })
}

fn narrow<T: Copy + Into<i128>>(
    values: &[T],
    (least, most): (i128, i128),
    width: usize,
    element: ElementType,
    what: &str,
) -> Result<Bytes> {
    let mut bytes = Vec::with_capacity(values.len() * width);
    for &value in values {
        let value: i128 = value.into();
        if !(least..=most).contains(&value) {
            return Err(Report::new(format!("{what} holds {value}, which is no {element}"))
                .help(format!("{least} to {most}"))
                .malformed());
        }
        bytes.extend_from_slice(&value.to_le_bytes()[..width]);
    }
    Ok(bytes.into())
}

/// The name and the elements of a file that holds one tensor.
pub fn tensor_file(path: &Path) -> Result<(String, Elements)> {
    let proto: TensorProto = decoded(path)?;
    let what = format!("tensor {:?} of {}", proto.name(), path.display());
    let elements = elements_of(&proto, &Folder::of(path), &what)?;
    Ok((proto.name().to_owned(), elements))
}

fn decoded<T: Message + Default>(path: &Path) -> Result<T> {
    T::decode(files::map(path)?).map_err(|e| {
        let name = path.display();
        Report::new(format!("{name} is not an ONNX tensor")).note(e.to_string()).malformed()
    })
}

/// A value in a file, such as a conformance test's `input_0.pb`.
#[derive(Debug, Clone, PartialEq)]
pub enum Stored {
    /// A tensor.
    Tensor(Elements),
    /// A sequence of tensors.
    Sequence(Vec<Elements>),
    /// An optional value that is absent; one that is there is itself.
    Nothing,
}

impl Stored {
    /// Its tensors.
    pub fn tensors(self) -> Vec<Elements> {
        match self {
            Self::Tensor(tensor) => vec![tensor],
            Self::Sequence(all) => all,
            Self::Nothing => Vec::new(),
        }
    }
}

/// What of the schema's `SequenceProto` is read.
#[derive(Clone, PartialEq, Message)]
struct SequenceFile {
    #[prost(message, repeated, tag = "3")]
    tensors: Vec<TensorProto>,
}

/// What of the schema's `OptionalProto` is read.
#[derive(Clone, PartialEq, Message)]
struct OptionalFile {
    #[prost(message, optional, tag = "3")]
    tensor: Option<TensorProto>,
    #[prost(message, optional, tag = "5")]
    sequence: Option<SequenceFile>,
}

/// The value in a file, of the kind that the model declares.
pub fn stored_file(path: &Path, declared: &ValueInfoProto) -> Result<Stored> {
    let elements = |tensor: &TensorProto| {
        let what = format!("tensor {:?} of {}", tensor.name(), path.display());
        elements_of(tensor, &Folder::of(path), &what)
    };
    let all = |sequence: SequenceFile| {
        sequence.tensors.iter().map(elements).collect::<Result<_>>().map(Stored::Sequence)
    };
    match declared.r#type.as_ref().and_then(|ty| ty.value.as_ref()) {
        Some(Kind::SequenceType(_)) => all(decoded(path)?),
        Some(Kind::OptionalType(_)) => {
            let optional: OptionalFile = decoded(path)?;
            match (&optional.tensor, optional.sequence) {
                (Some(tensor), _) => elements(tensor).map(Stored::Tensor),
                (None, Some(sequence)) => all(sequence),
                (None, None) => Ok(Stored::Nothing),
            }
        }
        _ => elements(&decoded(path)?).map(Stored::Tensor),
    }
}
