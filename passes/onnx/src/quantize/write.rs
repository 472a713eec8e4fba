//! Quantised layers in the form of the file.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use bytes::Bytes;
use prost::Message;

use super::{Layer, Ranges, Scale, weights};
use crate::error::Result;
use crate::files::Folder;
use crate::model::Model;
use crate::proto::attribute_proto::AttributeType;
use crate::proto::tensor_proto::{DataLocation, DataType};
use crate::proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, StringStringEntryProto, TensorProto,
};
use crate::tensor;

/// Protobuf holds at most 2 GiB; with so many bytes of weights they get a file of their own.
const MOST_INSIDE: usize = 1 << 30;

/// Tensors of fewer bytes stay in the model.
const LEAST_OUTSIDE: usize = 1024;

/// The bytes of a model, and of the file with its weights, where there is one.
pub struct Written {
    /// The `.onnx` file.
    pub model: Vec<u8>,
    /// The name and the bytes of the file beside it.
    pub beside: Option<(String, Vec<u8>)>,
}

/// Quantises layers of a graph; `scales` of what they read, by name.
pub(super) fn layers(
    graph: &mut GraphProto,
    model: &Model,
    (layers, scales): (&[Layer], &BTreeMap<String, Scale>),
    ranges: Ranges,
) -> Result<()> {
    let mut names = Names::of(graph);
    let mut made: BTreeMap<(&str, Option<usize>), String> = BTreeMap::new();
    let mut before: BTreeMap<usize, Vec<NodeProto>> = BTreeMap::new();
    for layer in layers {
        let own = before.entry(layer.node).or_default();
        let input = match made.entry((&layer.input, None)) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(place) => {
                let read = (layer.input.as_str(), scales[&layer.input]);
                place.insert(quantized_input(graph, &mut names, own, read)).clone()
            }
        };
        let weight = match made.entry((&layer.weight, Some(layer.axis))) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(place) => {
                let channels = Channels::of(model, layer, ranges)?;
                place.insert(channels.dequantized(graph, &mut names, own)).clone()
            }
        };
        let node = &mut graph.node[layer.node];
        node.input[0] = input;
        node.input[1] = weight;
    }
    let nodes = std::mem::take(&mut graph.node).into_iter().enumerate();
    graph.node = nodes
        .flat_map(|(at, node)| before.remove(&at).unwrap_or_default().into_iter().chain([node]))
        .collect();
    drop_unread(graph);
    Ok(())
}

/// Names that a graph does not have yet.
struct Names(BTreeSet<String>);

impl Names {
    fn of(graph: &GraphProto) -> Self {
        let tensors = graph.initializer.iter().map(|tensor| tensor.name().to_owned());
        let inputs = graph.input.iter().map(|input| input.name().to_owned());
        let nodes = graph.node.iter().flat_map(|node| {
            node.input.iter().chain(&node.output).cloned().chain([node.name().to_owned()])
        });
        Self(tensors.chain(inputs).chain(nodes).collect())
    }

    /// `base_what`, with a number behind it where there is one already.
    fn fresh(&mut self, base: &str, what: &str) -> String {
        let name = format!("{base}_{what}");
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let mut all = [name.clone()].into_iter().chain(numbered);
        let free = all.find(|name| !self.0.contains(name)).expect("there are enough numbers");
        self.0.insert(free.clone());
        free
    }
}

fn tensor(name: &str, ty: DataType, dims: &[i64], bytes: Vec<u8>) -> TensorProto {
    TensorProto {
        name: Some(name.to_owned()),
        data_type: Some(ty.into()),
        dims: dims.to_vec(),
        raw_data: Some(bytes.into()),
        ..TensorProto::default()
    }
}

fn node(kind: &str, inputs: &[&str], output: &str) -> NodeProto {
    NodeProto {
        op_type: Some(kind.to_owned()),
        name: Some(output.to_owned()),
        input: inputs.iter().map(|&input| input.to_owned()).collect(),
        output: vec![output.to_owned()],
        ..NodeProto::default()
    }
}

/// Puts a tensor through bytes; returns the name of what comes out.
fn quantized_input(
    graph: &mut GraphProto,
    names: &mut Names,
    before: &mut Vec<NodeProto>,
    (input, scale): (&str, Scale),
) -> String {
    let [step, zero, bytes, back] =
        ["scale", "zero", "quantized", "dequantized"].map(|what| names.fresh(input, what));
    graph.initializer.push(tensor(&step, DataType::Float, &[], scale.scale.to_le_bytes().into()));
    graph.initializer.push(tensor(&zero, DataType::Uint8, &[], vec![scale.zero]));
    before.push(node("QuantizeLinear", &[input, &step, &zero], &bytes));
    before.push(node("DequantizeLinear", &[&bytes, &step, &zero], &back));
    back
}

/// Weights as bytes.
struct Channels<'a> {
    name: &'a str,
    dims: Vec<i64>,
    axis: usize,
    codes: Vec<i8>,
    steps: Vec<f32>,
}

impl<'a> Channels<'a> {
    fn of(model: &Model, layer: &'a Layer, ranges: Ranges) -> Result<Self> {
        let what = format!("initializer {:?}", layer.weight);
        let elements = model.tensor(&layer.weight)?.expect("weights were looked at before");
        let (codes, steps) = weights::quantize(&elements, layer.axis, ranges, &what)?;
        let dims = elements.ty().dims().to_vec();
        Ok(Self { name: &layer.weight, dims, axis: layer.axis, codes, steps })
    }

    /// Puts them into the graph; returns the name of the floats that are made of them.
    fn dequantized(
        self,
        graph: &mut GraphProto,
        names: &mut Names,
        before: &mut Vec<NodeProto>,
    ) -> String {
        let [step, bytes, back] =
            ["scale", "quantized", "dequantized"].map(|what| names.fresh(self.name, what));
        let steps = self.steps.iter().flat_map(|step| step.to_le_bytes()).collect();
        let channels = [self.steps.len() as i64];
        graph.initializer.push(tensor(&step, DataType::Float, &channels, steps));
        let codes = self.codes.iter().map(|&code| code as u8).collect();
        graph.initializer.push(tensor(&bytes, DataType::Int8, &self.dims, codes));
        let mut node = node("DequantizeLinear", &[&bytes, &step], &back);
        node.attribute.push(AttributeProto {
            name: Some("axis".to_owned()),
            r#type: Some(AttributeType::Int.into()),
            i: Some(self.axis as i64),
            ..AttributeProto::default()
        });
        before.push(node);
        back
    }
}

/// Takes out the initializers and constants that nothing reads any more.
fn drop_unread(graph: &mut GraphProto) {
    let inputs = graph.node.iter().flat_map(|node| &node.input).cloned();
    let outputs = graph.output.iter().map(|output| output.name().to_owned());
    let read: BTreeSet<String> = inputs.chain(outputs).collect();
    let unread: BTreeSet<String> = graph
        .initializer
        .iter()
        .map(|tensor| tensor.name().to_owned())
        .filter(|name| !read.contains(name))
        .collect();
    graph.initializer.retain(|tensor| !unread.contains(tensor.name()));
    graph.input.retain(|input| !unread.contains(input.name()));
    let makes_unread = |node: &NodeProto| {
        crate::constant::is_constant(node) && !node.output.iter().any(|made| read.contains(made))
    };
    graph.node.retain(|node| !makes_unread(node));
}

/// A model whose weights lie in it, or in one file beside `file`; external data is looked for beside `path`.
pub(super) fn whole(mut proto: ModelProto, path: &Path, file: &Path) -> Result<Written> {
    let folder = Folder::of(path);
    let graph = proto.graph.as_mut().expect("it was checked before");
    let external = i32::from(DataLocation::External);
    for tensor in &mut graph.initializer {
        if tensor.data_location == Some(external) {
            let what = format!("initializer {:?}", tensor.name());
            let ty = tensor::type_of(tensor, &what)?;
            tensor.raw_data = Some(folder.external(tensor, &ty, &what)?);
            tensor.data_location = None;
            tensor.external_data.clear();
        }
    }
    let raw = |tensor: &TensorProto| tensor.raw_data.as_ref().map_or(0, Bytes::len);
    let inside: usize = graph.initializer.iter().map(raw).sum();
    let mut beside = None;
    if inside > MOST_INSIDE {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{name}.data");
        let mut bytes = Vec::with_capacity(inside);
        for tensor in &mut graph.initializer {
            if raw(tensor) >= LEAST_OUTSIDE {
                move_out(tensor, &name, &mut bytes);
            }
        }
        beside = Some((name, bytes));
    }
    Ok(Written { model: proto.encode_to_vec(), beside })
}

fn move_out(tensor: &mut TensorProto, name: &str, bytes: &mut Vec<u8>) {
    let raw = tensor.raw_data.take().unwrap_or_default();
    let entry = |key: &str, value: String| StringStringEntryProto {
        key: Some(key.to_owned()),
        value: Some(value),
    };
    tensor.external_data = vec![
        entry("location", name.to_owned()),
        entry("offset", bytes.len().to_string()),
        entry("length", raw.len().to_string()),
    ];
    tensor.data_location = Some(DataLocation::External.into());
    bytes.extend_from_slice(&raw);
}
