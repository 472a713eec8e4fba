//! Reads a model and checks that it is a graph.
//!
//! The result has unique names, every value that is read, and nodes in an order in which each
//! stands after those it reads from. What a node means is not looked at here.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use prost::Message;

use crate::constant;
use crate::elements::Elements;
use crate::error::{Report, Result};
use crate::files::{self, Folder};
use crate::proto::{GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto};
use crate::tensor;

/// A model whose graph holds together.
#[derive(Debug)]
pub struct Model {
    /// The name of the graph.
    pub name: String,
    /// The version of each operator set that the model imports, by its domain.
    opsets: BTreeMap<String, i64>,
    /// The inputs that the caller gives, without those that have an initializer.
    pub inputs: Vec<ValueInfoProto>,
    /// The outputs.
    pub outputs: Vec<ValueInfoProto>,
    /// The nodes that some output depends on, each after those it reads from; no constants.
    pub nodes: Vec<NodeProto>,
    /// What its author wrote down about the model, by key.
    pub metadata: BTreeMap<String, String>,
    tensors: BTreeMap<String, TensorProto>,
    folder: Folder,
}

impl Model {
    /// Reads a `.onnx` file; its weights stay in the file.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes = files::map(path)?;
        Self::decode(bytes, Folder::of(path))
    }

    /// The files beside the model that its weights lie in.
    pub fn outside(&self) -> Vec<PathBuf> {
        self.folder.paths(self.tensors.values())
    }

    /// Reads a model from memory; external data is looked for beside `path`.
    pub fn from_bytes(bytes: Bytes, path: &Path) -> Result<Self> {
        Self::decode(bytes, Folder::of(path))
    }

    fn decode(bytes: Bytes, folder: Folder) -> Result<Self> {
        let size = bytes.len();
        let proto = ModelProto::decode(bytes).map_err(|e| {
            Report::new("this is not an ONNX model")
                .note(format!("reading its {size} bytes as protobuf failed: {e}"))
                .help("a complete file written by onnx.save or an exporter")
                .malformed()
        })?;
        let opsets = opsets(&proto)?;
        let metadata = proto.metadata_props.into_iter();
        let metadata =
            metadata.map(|entry| (entry.key().to_owned(), entry.value().to_owned())).collect();
        let graph = proto.graph.ok_or_else(|| {
            Report::new("this is not an ONNX model")
                .note(format!("its {size} bytes hold no graph"))
                .malformed()
        })?;
        if !proto.functions.is_empty() {
            let names: Vec<_> = proto.functions.iter().map(|f| f.name()).collect();
            return Err(Report::new(format!("the model defines functions: {}", names.join(", ")))
                .help("inline them before the export: onnx.inliner.inline_local_functions")
                .unsupported());
        }
        let model = Self::check(graph, opsets, folder)?;
        Ok(Self { metadata, ..model })
    }

    fn check(graph: GraphProto, opsets: BTreeMap<String, i64>, folder: Folder) -> Result<Self> {
        if let Some(sparse) = graph.sparse_initializer.first() {
            let name = sparse.values.as_ref().map(|values| values.name()).unwrap_or_default();
            return Err(Report::new(format!("initializer {name:?} is sparse")).unsupported());
        }
        let mut tensors = BTreeMap::new();
        for tensor in graph.initializer {
            let name = tensor.name().to_owned();
            if tensors.insert(name.clone(), tensor).is_some() {
                return Err(twice("initializers", &name));
            }
        }
        let mut defined = BTreeSet::new();
        for input in &graph.input {
            if input.name().is_empty() {
                return Err(Report::new("a graph input has no name").invalid());
            }
            if !defined.insert(input.name()) {
                return Err(twice("graph inputs", input.name()));
            }
        }
        defined.extend(tensors.keys().map(String::as_str));
        let order = order(&graph.node, &defined)?;
        let live = alive(&graph.node, &order, &graph.output, &defined)?;

        // Up to IR version 3 an initializer is an input too; later that is a default value.
        let inputs = graph.input.into_iter().filter(|i| !tensors.contains_key(i.name())).collect();
        let mut unordered: Vec<_> = graph.node.into_iter().map(Some).collect();
        let mut nodes = Vec::with_capacity(live.len());
        for at in live {
            let node = unordered[at].take().expect("the order names every node once");
            if constant::is_constant(&node) {
                let (name, tensor) = constant::tensor_of(node)?;
                tensors.insert(name, tensor);
            } else {
                nodes.push(node);
            }
        }
        let model = Self {
            name: graph.name.unwrap_or_default(),
            opsets,
            inputs,
            outputs: graph.output,
            nodes,
            metadata: BTreeMap::new(),
            tensors,
            folder,
        };
        Ok(model)
    }

    /// The version of the operators of a domain, `""` for the standard ones; 0 when the model
    /// imports none.
    pub fn opset(&self, domain: &str) -> i64 {
        self.opsets.get(domain).copied().unwrap_or(0)
    }

    /// The elements of an initializer or of what a `Constant` node makes.
    pub fn tensor(&self, name: &str) -> Result<Option<Elements>> {
        let Some(tensor) = self.tensors.get(name) else {
            return Ok(None);
        };
        tensor::elements_of(tensor, &self.folder, &format!("initializer {name:?}")).map(Some)
    }

    /// The elements of a tensor that is an attribute.
    pub fn attribute(&self, tensor: &TensorProto, what: &str) -> Result<Elements> {
        tensor::elements_of(tensor, &self.folder, what)
    }
}

/// The domain of operators by its one name: `ai.onnx` is the empty one.
pub fn domain(name: &str) -> &str {
    if name == "ai.onnx" { "" } else { name }
}

/// The operators of a domain in messages.
pub fn operators_of(domain: &str) -> String {
    match domain {
        "" => "the standard operators".to_owned(),
        domain => format!("the operators of domain {domain:?}"),
    }
}

/// The versions of the operator sets that a model imports, by domain.
fn opsets(model: &ModelProto) -> Result<BTreeMap<String, i64>> {
    let mut opsets = BTreeMap::new();
    for import in &model.opset_import {
        let (domain, version) = (domain(import.domain()), import.version());
        let first = *opsets.entry(domain.to_owned()).or_insert(version);
        if first != version {
            return Err(Report::new(format!("the model imports {} twice", operators_of(domain)))
                .note(format!("as versions {first} and {version}"))
                .invalid());
        }
    }
    Ok(opsets)
}

fn twice(what: &str, name: &str) -> crate::ImportError {
    Report::new(format!("two {what} are named {name:?}"))
        .help("every value has its own name")
        .invalid()
}

/// Returns the name of a node in messages.
pub fn describe(node: &NodeProto) -> String {
    let op = match domain(node.domain()) {
        "" => node.op_type().to_owned(),
        domain => format!("{domain}.{}", node.op_type()),
    };
    match (node.name(), node.output.first()) {
        ("", Some(output)) => format!("node {op} that makes {output:?}"),
        ("", None) => format!("node {op}"),
        (name, _) => format!("node {name:?} ({op})"),
    }
}

/// The order of the nodes: that of the file wherever it is possible.
fn order(nodes: &[NodeProto], defined: &BTreeSet<&str>) -> Result<Vec<usize>> {
    let mut maker = BTreeMap::new();
    for (at, node) in nodes.iter().enumerate() {
        for output in node.output.iter().filter(|output| !output.is_empty()) {
            if defined.contains(output.as_str()) {
                return Err(Report::new(format!(
                    "{} makes a value that exists already",
                    describe(node)
                ))
                .note(format!("{output:?} is a graph input or an initializer"))
                .invalid());
            }
            if let Some(first) = maker.insert(output.as_str(), at) {
                return Err(Report::new(format!("two nodes make {output:?}"))
                    .note(describe(&nodes[first]))
                    .note(describe(node))
                    .invalid());
            }
        }
    }
    let mut readers = vec![Vec::new(); nodes.len()];
    let mut missing = vec![0usize; nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        for input in node.input.iter().filter(|input| !input.is_empty()) {
            if let Some(&from) = maker.get(input.as_str()) {
                readers[from].push(at);
                missing[at] += 1;
            } else if !defined.contains(input.as_str()) {
                return Err(Report::new(format!(
                    "{} reads {input:?}, which nothing makes",
                    describe(node)
                ))
                .help("a graph input, an initializer or the output of a node")
                .invalid());
            }
        }
    }
    let mut ready: BinaryHeap<_> =
        (0..nodes.len()).filter(|&at| missing[at] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(Reverse(at)) = ready.pop() {
        order.push(at);
        for &reader in &readers[at] {
            missing[reader] -= 1;
            if missing[reader] == 0 {
                ready.push(Reverse(reader));
            }
        }
    }
    if order.len() < nodes.len() {
        return Err(cycle(nodes, &maker, &missing));
    }
    Ok(order)
}

/// Names the nodes of one cycle. Whoever still waits for an input waits, in the end, for itself.
fn cycle(
    nodes: &[NodeProto],
    maker: &BTreeMap<&str, usize>,
    missing: &[usize],
) -> crate::ImportError {
    let before = |at: usize| {
        let inputs = nodes[at].input.iter();
        let makers = inputs.filter_map(|input| maker.get(input.as_str()).copied());
        makers.into_iter().find(|&from| missing[from] > 0)
    };
    let mut path = Vec::new();
    let mut seen = vec![false; nodes.len()];
    let mut at = missing.iter().position(|&n| n > 0);
    while let Some(node) = at {
        if seen[node] {
            path.drain(..path.iter().position(|&p| p == node).unwrap_or(0));
            break;
        }
        seen[node] = true;
        path.push(node);
        at = before(node);
    }
    let mut report = Report::new("the graph has a cycle");
    for &node in path.iter().rev().take(8) {
        report = report.note(format!("{} is on it", describe(&nodes[node])));
    }
    report.help("every node reads only what was made before it").invalid()
}

/// The nodes of `order` that an output depends on; what nobody reads need not be understood.
fn alive(
    nodes: &[NodeProto],
    order: &[usize],
    outputs: &[ValueInfoProto],
    defined: &BTreeSet<&str>,
) -> Result<Vec<usize>> {
    let mut wanted = BTreeSet::new();
    for output in outputs {
        if !wanted.insert(output.name()) {
            return Err(twice("graph outputs", output.name()));
        }
    }
    if wanted.is_empty() {
        return Err(Report::new("the graph has no output").invalid());
    }
    let made: BTreeSet<_> =
        nodes.iter().flat_map(|node| &node.output).map(String::as_str).collect();
    if let Some(lost) = wanted.iter().find(|&&name| !defined.contains(name) && !made.contains(name))
    {
        return Err(Report::new(format!("nothing makes the graph output {lost:?}"))
            .help("a graph input, an initializer or the output of a node")
            .invalid());
    }
    let mut live = Vec::new();
    for &at in order.iter().rev() {
        let node = &nodes[at];
        if node.output.iter().any(|output| !output.is_empty() && wanted.contains(output.as_str())) {
            wanted.extend(node.input.iter().map(String::as_str));
            live.push(at);
        }
    }
    live.reverse();
    Ok(live)
}
