//! Finds the bytes of weights that a graph only names.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use safetensors::tensor::Metadata;
use safetensors::{Dtype, SafeTensors};

use crate::elements::Elements;
use crate::error::{Report, Result};
use crate::files;
use crate::model::Model;
use crate::types::{ElementType, TensorType};

/// A file with weights: an ONNX model or a `.safetensors` file. The bytes stay in the file.
#[derive(Debug)]
pub struct Weights {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Onnx(Box<Model>),
    SafeTensors { data: Bytes, metadata: Metadata },
}

impl Weights {
    /// Opens a file; what ends in `.safetensors` is one, everything else is an ONNX model.
    pub fn open(path: &Path) -> Result<Self> {
        if path.extension().is_none_or(|extension| extension != "safetensors") {
            return Model::open(path).map(Self::of_model);
        }
        let bytes = files::map(path)?;
        let (header, metadata) = SafeTensors::read_metadata(&bytes).map_err(|e| {
            Report::new(format!("{} is not a safetensors file", path.display()))
                .note(e.to_string())
                .malformed()
        })?;
        // The header is checked to lie in the file, behind eight bytes that say how long it is.
        let data = bytes.slice((header + 8).min(bytes.len())..);
        Ok(Self { kind: Kind::SafeTensors { data, metadata } })
    }

    /// The weights of a model that is open.
    pub fn of_model(model: Model) -> Self {
        Self { kind: Kind::Onnx(Box::new(model)) }
    }

    /// Further files that they lie in.
    pub fn outside(&self) -> Vec<PathBuf> {
        match &self.kind {
            Kind::Onnx(model) => model.outside(),
            Kind::SafeTensors { .. } => Vec::new(),
        }
    }

    /// The elements of a tensor, as slices of the file wherever they lie there in one piece.
    pub fn tensor(&self, name: &str) -> Result<Elements> {
        let found = match &self.kind {
            Kind::Onnx(model) => model.tensor(name)?,
            Kind::SafeTensors { data, metadata } => of_safetensors(data, metadata, name)?,
        };
        found.ok_or_else(|| {
            Report::new(format!("the file has no weight {name:?}"))
                .help("the file that the graph was imported from")
                .invalid()
        })
    }
}

fn of_safetensors(data: &Bytes, metadata: &Metadata, name: &str) -> Result<Option<Elements>> {
    use ElementType::*;
    let Some(info) = metadata.info(name) else {
        return Ok(None);
    };
    let what = format!("weight {name:?}");
    let element = match info.dtype {
        Dtype::BOOL => Bool,
        Dtype::I8 => I8,
        Dtype::I16 => I16,
        Dtype::I32 => I32,
        Dtype::I64 => I64,
        Dtype::U8 => U8,
        Dtype::U16 => U16,
        Dtype::U32 => U32,
        Dtype::U64 => U64,
        Dtype::F16 => F16,
        Dtype::BF16 => BF16,
        Dtype::F32 => F32,
        Dtype::F64 => F64,
        Dtype::F8_E4M3 => F8E4M3FN,
        Dtype::F8_E5M2 => F8E5M2,
        Dtype::F8_E8M0 => F8E8M0FNU,
        other => {
            return Err(Report::new(format!("{what} has element type {other:?}")).unsupported());
        }
    };
    let dims = info.shape.iter().map(|&dim| i64::try_from(dim).unwrap_or(i64::MAX)).collect();
    let ty = TensorType::new(element, dims, &what)?;
    let (start, end) = info.data_offsets;
    if start > end || end > data.len() {
        return Err(Report::new(format!("{what} lies past the end of its file")).malformed());
    }
    Elements::new(ty, data.slice(start..end), &what).map(Some)
}
