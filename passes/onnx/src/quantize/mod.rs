//! Products of f32 as products of bytes, for those who have a model in f32 only.
//!
//! ```text
//! y = MatMul(x, w)
//!   ->  xq = QuantizeLinear(x, s, z)            u8, one scale for all of x, by what it holds on sample inputs
//!       xd = DequantizeLinear(xq, s, z)
//!       wd = DequantizeLinear(wq, t)            i8, a scale for each output of the layer
//!       y  = MatMul(xd, wd)
//! ```
//!
//! The same for `Gemm` and `Conv`. A tensor that several layers read is quantised once. What is between layers, and what
//! is added to a product, stays in f32: a compiler that multiplies the bytes joins it to the product.

mod layers;
mod range;
mod weights;
mod write;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use prost::Message;

use crate::error::{Report, Result};
use crate::files;
use crate::model::Model;
use crate::proto::{ModelProto, StringStringEntryProto, ValueInfoProto};

pub use layers::{Layer, Layers};
pub use range::{Extremes, Histogram, Ranges, Scale};
pub use write::Written;

/// The first version of the standard operators in which `DequantizeLinear` has a scale for each channel.
const LEAST_OPSET: i64 = 13;

/// The keys in a model's metadata behind which a layer's error stands.
const ERROR_KEY: &str = "weft.error.";

/// A model that is to be quantised: as it is in the file, and checked.
pub struct Original {
    proto: ModelProto,
    model: Model,
    path: PathBuf,
}

impl Original {
    /// Opens a model.
    ///
    /// # Errors
    /// As [`Model::open`]; operators from before scales for each channel.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes = files::map(path)?;
        let model = Model::from_bytes(bytes.clone(), path)?;
        let opset = model.opset("");
        if opset < LEAST_OPSET {
            return Err(Report::new(format!("the model imports the standard operators {opset}"))
                .note("a scale for each channel needs DequantizeLinear of version 13")
                .help("opset 13 or later; onnx.version_converter.convert_version(model, 13)")
                .unsupported());
        }
        let proto = ModelProto::decode(bytes).expect("it was decoded before");
        Ok(Self { proto, model, path: path.to_owned() })
    }

    /// The layers that are quantised, but for those that `keep` names.
    ///
    /// # Errors
    /// A name in `keep` that no layer has; weights that cannot be read.
    pub fn layers(&self, keep: &[String]) -> Result<Layers> {
        let graph = self.proto.graph.as_ref().expect("it was checked before");
        layers::of(graph, &self.model, keep)
    }

    /// The names of the graph's outputs.
    pub fn outputs(&self) -> impl Iterator<Item = &str> {
        self.model.graph.outputs.iter().map(|output| output.name())
    }

    /// Returns whether the caller gives a value.
    pub fn is_input(&self, name: &str) -> bool {
        self.model.graph.inputs.iter().any(|input| input.name() == name)
    }

    /// The model with these values as its outputs, none of which is an input.
    ///
    /// # Errors
    /// As [`Model::from_bytes`].
    pub fn showing(&self, values: &[String]) -> Result<Model> {
        showing(&self.proto, &self.path, values)
    }

    /// The model with its layers quantised: a scale for each tensor that a layer reads, by name.
    ///
    /// # Errors
    /// Weights that are no numbers.
    pub fn quantized(
        &self,
        layers: &[Layer],
        scales: &BTreeMap<String, Scale>,
        ranges: Ranges,
    ) -> Result<Quantized> {
        let mut proto = self.proto.clone();
        let graph = proto.graph.as_mut().expect("it was checked before");
        write::layers(graph, &self.model, (layers, scales), ranges)?;
        Ok(Quantized { proto, path: self.path.clone() })
    }
}

/// A model with quantised layers. External data is still looked for beside the original.
pub struct Quantized {
    proto: ModelProto,
    path: PathBuf,
}

impl Quantized {
    /// The model with these values as its outputs, none of which is an input.
    ///
    /// # Errors
    /// As [`Model::from_bytes`].
    pub fn showing(&self, values: &[String]) -> Result<Model> {
        showing(&self.proto, &self.path, values)
    }

    /// The model for a file: weights that lie beside the original lie in it, or, where one file of
    /// protobuf would be too large, in one file beside it.
    ///
    /// # Errors
    /// Weights that cannot be read.
    pub fn written(self, file: &Path) -> Result<Written> {
        write::whole(self.proto, &self.path, file)
    }

    /// Writes down how far what a layer makes is from what it made in f32.
    pub fn note_error(&mut self, layer: &str, error: f64) {
        let (key, value) = (format!("{ERROR_KEY}{layer}"), format!("{error:.3e}"));
        self.proto.metadata_props.retain(|entry| entry.key() != key);
        let entry = StringStringEntryProto { key: Some(key), value: Some(value) };
        self.proto.metadata_props.push(entry);
    }
}

/// What was written down about the layers of a model: name and error.
pub fn errors_of(metadata: &BTreeMap<String, String>) -> Vec<(String, f64)> {
    let own = |(key, value): (&String, &String)| {
        Some((key.strip_prefix(ERROR_KEY)?.to_owned(), value.parse().ok()?))
    };
    metadata.iter().filter_map(own).collect()
}

fn showing(proto: &ModelProto, path: &Path, values: &[String]) -> Result<Model> {
    let mut proto = proto.clone();
    let graph = proto.graph.as_mut().expect("it was checked before");
    let output = |name: &String| ValueInfoProto { name: Some(name.clone()), ..Default::default() };
    graph.output = values.iter().map(output).collect();
    Model::from_bytes(Bytes::from(proto.encode_to_vec()), path)
}
