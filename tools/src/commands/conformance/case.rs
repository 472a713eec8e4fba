//! A case: a model, inputs, and the expected outputs.
//!
//! ```text
//! NAME/model.onnx  NAME/test_data_set_N/input_M.pb, output_M.pb     the node tests
//! NAME.onnx  NAME_output_M.pb                                       the light models
//! ```
//!
//! Inputs and outputs belong to the model's by their numbers, as in the standard's runner; a name
//! in a file of data is not looked at. A light model's inputs are in no file: they rise from 0 to
//! nearly 1 in equal steps, and an extent that the model leaves open is 1.

use std::path::{Path, PathBuf};

use weft_onnx::proto::ValueInfoProto;
use weft_onnx::proto::tensor_shape_proto::dimension::Value as Extent;
use weft_onnx::proto::type_proto::Value as Kind;
use weft_onnx::{ElementType, Elements, Stored, TensorType};

use crate::Failure;

/// A model that is run on one or more sets of data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Case {
    /// Its path, which names it in reports and to workers.
    pub path: PathBuf,
}

/// Values in the order of the model's inputs or outputs.
pub(super) struct Data {
    pub inputs: Vec<Stored>,
    pub outputs: Vec<Stored>,
}

impl Case {
    /// The case at a path: a folder with a `model.onnx`, or a model with its outputs beside it.
    pub fn at(path: &Path) -> Option<Self> {
        let case = Self { path: path.to_owned() };
        let light = path.extension().is_some_and(|extension| extension == "onnx");
        let there = if light { case.light_output(0).exists() } else { case.model().exists() };
        there.then_some(case)
    }

    /// The cases of a folder whose names hold `only`, by name; of the folders in it, where it has
    /// none itself.
    ///
    /// # Errors
    /// A folder that cannot be read, or without a case.
    pub fn all(folder: &Path, only: &str) -> Result<Vec<Self>, Failure> {
        if let Some(case) = Self::at(folder) {
            return Ok(vec![case]);
        }
        let mut found = Self::inside(folder)?;
        if found.is_empty() {
            for folder in entries(folder)?.iter().filter(|path| path.is_dir()) {
                found.extend(Self::inside(folder)?);
            }
        }
        found.retain(|case| case.name().contains(only));
        if found.is_empty() {
            return Err(Failure::said(
                format!("no case in {}", folder.display()),
                "folders with a model.onnx and test_data_set_0/input_0.pb, output_0.pb; or \
                 NAME.onnx with NAME_output_0.pb",
            ));
        }
        Ok(found)
    }

    fn inside(folder: &Path) -> Result<Vec<Self>, Failure> {
        Ok(entries(folder)?.iter().filter_map(|path| Self::at(path)).collect())
    }

    /// The name of the folder that it lies in.
    pub fn suite(&self) -> String {
        let folder = self.path.parent().and_then(Path::file_name);
        folder.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The name of the folder, or of the model without its ending.
    pub fn name(&self) -> String {
        let name = if self.is_light() { self.path.file_stem() } else { self.path.file_name() };
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The file of the model.
    pub fn model(&self) -> PathBuf {
        if self.is_light() { self.path.clone() } else { self.path.join("model.onnx") }
    }

    fn is_light(&self) -> bool {
        self.path.extension().is_some_and(|extension| extension == "onnx")
    }

    fn light_output(&self, number: usize) -> PathBuf {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        self.path.with_file_name(format!("{stem}_output_{number}.pb"))
    }

    /// Every set of data, given the model's inputs and outputs.
    ///
    /// # Errors
    /// A file that holds no tensors; an input of a light model that is not made of floats.
    pub fn data(
        &self,
        inputs: &[ValueInfoProto],
        outputs: &[ValueInfoProto],
    ) -> Result<Vec<Data>, Failure> {
        if self.is_light() {
            let inputs = inputs.iter().map(|input| rising(input).map(Stored::Tensor));
            let inputs = inputs.collect::<Result<_, _>>()?;
            let outputs = stored(outputs, |number| self.light_output(number))?;
            return Ok(vec![Data { inputs, outputs }]);
        }
        let sets = (0..).map(|number| self.path.join(format!("test_data_set_{number}")));
        let sets = sets.take_while(|set| set.exists()).map(|set| {
            Ok(Data {
                inputs: stored(inputs, |number| set.join(format!("input_{number}.pb")))?,
                outputs: stored(outputs, |number| set.join(format!("output_{number}.pb")))?,
            })
        });
        sets.collect()
    }
}

/// The paths in a folder, sorted.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |source| Failure::File { doing: "read", path: folder.to_owned(), source };
    let entries = std::fs::read_dir(folder).map_err(failed)?;
    let paths = entries.map(|entry| Ok(entry.map_err(failed)?.path()));
    let mut paths = paths.collect::<Result<Vec<_>, Failure>>()?;
    paths.sort();
    Ok(paths)
}

/// The values of the model's ports in numbered files, as many as there are.
fn stored(
    ports: &[ValueInfoProto],
    file: impl Fn(usize) -> PathBuf,
) -> Result<Vec<Stored>, Failure> {
    let files = ports.iter().enumerate().map(|(number, port)| (file(number), port));
    let files = files.take_while(|(path, _)| path.exists());
    files.map(|(path, port)| Ok(weft_onnx::stored_file(&path, port)?)).collect()
}

/// `i / n` for the `i`-th of `n` elements: what the standard's runner gives to a light model.
fn rising(input: &ValueInfoProto) -> Result<Elements, Failure> {
    const FLOAT: i32 = weft_onnx::proto::tensor_proto::DataType::Float as i32;
    let kind = input.r#type.as_ref().and_then(|ty| ty.value.as_ref());
    let Some(Kind::TensorType(tensor)) = kind
        .filter(|kind| matches!(kind, Kind::TensorType(tensor) if tensor.elem_type == Some(FLOAT)))
    else {
        return Err(Failure::said(
            format!("the input {:?} of a light model is no tensor of float", input.name()),
            "inputs whose values the standard's runner makes: floats",
        ));
    };
    let dims = tensor.shape.iter().flat_map(|shape| &shape.dim);
    let extent = |value: &Option<Extent>| match value {
        Some(Extent::DimValue(extent)) => *extent,
        _ => 1,
    };
    let dims: Vec<i64> = dims.map(|dim| extent(&dim.value)).collect();
    let ty = TensorType::new(ElementType::F32, dims, input.name())?;
    let count = ty.elements();
    let values = (0..count).map(|at| (at as f64 / count as f64) as f32);
    let bytes: Vec<u8> = values.flat_map(f32::to_le_bytes).collect();
    Ok(Elements::new(ty, bytes.into(), input.name())?)
}
