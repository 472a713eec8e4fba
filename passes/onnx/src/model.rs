//! Reads a model: its graph, its functions, and the tensors of all of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use prost::Message;

use crate::elements::Elements;
use crate::error::{Report, Result};
use crate::files::{self, Folder};
use crate::function::Function;
use crate::graph::{Graph, Place};
use crate::proto::{ModelProto, NodeProto, OperatorSetIdProto, TensorProto};
use crate::tensor;

/// A model whose graph holds together.
#[derive(Debug)]
pub struct Model {
    /// The name of the graph.
    pub name: String,
    /// The version of each operator set that the model imports, by its domain.
    opsets: BTreeMap<String, i64>,
    /// What it computes.
    pub graph: Graph,
    /// Operators that the model itself defines.
    functions: BTreeMap<String, Function>,
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
        let opsets = opsets(&proto.opset_import)?;
        let metadata = proto.metadata_props.into_iter();
        let metadata =
            metadata.map(|entry| (entry.key().to_owned(), entry.value().to_owned())).collect();
        let graph = proto.graph.ok_or_else(|| {
            Report::new("this is not an ONNX model")
                .note(format!("its {size} bytes hold no graph"))
                .malformed()
        })?;
        let mut tensors = BTreeMap::new();
        let mut functions = BTreeMap::new();
        for function in proto.functions {
            let id = function_id(function.domain(), function.name(), function.overload());
            let function = Function::check(function, &id, &mut tensors)?;
            if functions.insert(id.clone(), function).is_some() {
                return Err(Report::new(format!("the model defines function {id} twice")).invalid());
            }
        }
        let name = graph.name.clone().unwrap_or_default();
        let graph = Graph::check(graph, &Place::default(), &mut tensors)?;
        Ok(Self { name, opsets, graph, functions, metadata, tensors, folder })
    }

    /// The version of each operator set that the graph imports, by domain.
    pub fn opsets(&self) -> &BTreeMap<String, i64> {
        &self.opsets
    }

    /// The version of the operators of a domain, `""` for the standard ones; 0 when the graph
    /// imports none.
    pub fn opset(&self, domain: &str) -> i64 {
        self.opsets.get(domain).copied().unwrap_or(0)
    }

    /// The function that a node calls.
    pub fn function(&self, node: &NodeProto) -> Option<&Function> {
        let id = function_id(node.domain(), node.op_type(), node.overload());
        self.functions.get(&id).filter(|_| !self.functions.is_empty())
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

/// The versions of the operator sets that a model or a function imports, by domain.
pub fn opsets(imports: &[OperatorSetIdProto]) -> Result<BTreeMap<String, i64>> {
    let mut opsets = BTreeMap::new();
    for import in imports {
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

/// A function's name among those of the model.
fn function_id(space: &str, name: &str, overload: &str) -> String {
    let name = match domain(space) {
        "" => name.to_owned(),
        space => format!("{space}.{name}"),
    };
    if overload.is_empty() { name } else { format!("{name}:{overload}") }
}
