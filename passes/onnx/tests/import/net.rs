//! Small models, built in memory.

use std::path::Path;

use bytes::Bytes;
use prost::Message;

use weft_onnx::proto::attribute_proto::AttributeType;
use weft_onnx::proto::tensor_proto::DataType;
use weft_onnx::proto::tensor_shape_proto::{Dimension, dimension};
use weft_onnx::proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto,
    TensorShapeProto, TypeProto, ValueInfoProto, type_proto,
};
use weft_onnx::{ImportError, Model, Options, check};

/// A model under construction.
#[derive(Clone)]
pub struct Net {
    pub proto: ModelProto,
    unroll: bool,
}

impl Net {
    /// An empty graph, in version 18 of the operators.
    pub fn new() -> Self {
        let opset = OperatorSetIdProto { version: Some(18), ..OperatorSetIdProto::default() };
        let graph = GraphProto { name: Some("net".to_owned()), ..GraphProto::default() };
        let proto =
            ModelProto { opset_import: vec![opset], graph: Some(graph), ..ModelProto::default() };
        Self { proto, unroll: false }
    }

    pub fn graph(&mut self) -> &mut GraphProto {
        self.proto.graph.as_mut().expect("made with a graph")
    }

    pub fn opset(mut self, version: i64) -> Self {
        self.proto.opset_import[0].version = Some(version);
        self
    }

    /// A graph input of floats; a dimension is a number, a symbol, or "?".
    pub fn input(mut self, name: &str, dims: &[&str]) -> Self {
        self.graph().input.push(info(name, DataType::Float, dims));
        self
    }

    pub fn input_of(mut self, name: &str, ty: DataType, dims: &[&str]) -> Self {
        self.graph().input.push(info(name, ty, dims));
        self
    }

    /// A graph output of any type.
    pub fn output(mut self, name: &str) -> Self {
        self.graph()
            .output
            .push(ValueInfoProto { name: Some(name.to_owned()), ..ValueInfoProto::default() });
        self
    }

    /// A graph output that declares its type.
    pub fn output_of(mut self, name: &str, ty: DataType, dims: &[&str]) -> Self {
        self.graph().output.push(info(name, ty, dims));
        self
    }

    pub fn ints(mut self, name: &str, ints: &[i64]) -> Self {
        let tensor = tensor(name, DataType::Int64, &[ints.len() as i64]);
        self.graph().initializer.push(TensorProto { int64_data: ints.to_vec(), ..tensor });
        self
    }

    /// An initializer of floats, all zero.
    pub fn zeros(mut self, name: &str, dims: &[i64]) -> Self {
        let tensor = tensor(name, DataType::Float, dims);
        let raw = vec![0; 4 * dims.iter().product::<i64>() as usize];
        self.graph().initializer.push(TensorProto { raw_data: Some(raw.into()), ..tensor });
        self
    }

    pub fn initializer(mut self, tensor: TensorProto) -> Self {
        self.graph().initializer.push(tensor);
        self
    }

    pub fn node(self, op: &str, inputs: &[&str], outputs: &[&str]) -> Self {
        self.node_with(op, inputs, outputs, vec![])
    }

    pub fn node_with(
        mut self,
        op: &str,
        inputs: &[&str],
        outputs: &[&str],
        attribute: Vec<AttributeProto>,
    ) -> Self {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        self.graph().node.push(NodeProto {
            op_type: Some(op.to_owned()),
            input: names(inputs),
            output: names(outputs),
            attribute,
            ..NodeProto::default()
        });
        self
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.proto.encode_to_vec()
    }

    pub fn model(&self) -> Result<Model, ImportError> {
        Model::from_bytes(Bytes::from(self.bytes()), Path::new("net.onnx"))
    }

    /// Fails unless the result `y` has this type.
    pub fn gives(self, ty: DataType, dims: &[&str]) {
        self.output_of("y", ty, dims).check().unwrap_or_else(|error| panic!("{error}"));
    }

    /// Fails unless the node that makes `y` is refused with these words.
    pub fn refused(self, words: &str) {
        let error = self.output("y").error();
        assert!(error.contains(words), "{error}");
    }

    /// The same on a machine that repeats nothing.
    pub fn unrolled(mut self) -> Self {
        self.unroll = true;
        self
    }

    /// What is wrong with the model.
    pub fn check(&self) -> Result<(), ImportError> {
        self.check_with(&Options { unroll: self.unroll, ..Options::default() })
    }

    pub fn check_with(&self, options: &Options) -> Result<(), ImportError> {
        check(&self.model()?, options)
    }

    /// The message about what is wrong, which must be there.
    pub fn error(&self) -> String {
        self.check().expect_err("the model is wrong").to_string()
    }
}

pub fn tensor(name: &str, ty: DataType, dims: &[i64]) -> TensorProto {
    TensorProto {
        name: Some(name.to_owned()),
        data_type: Some(ty.into()),
        dims: dims.to_vec(),
        ..TensorProto::default()
    }
}

pub fn info(name: &str, ty: DataType, dims: &[&str]) -> ValueInfoProto {
    let dim = dims
        .iter()
        .map(|&dim| {
            let value = match dim.parse() {
                Ok(extent) => Some(dimension::Value::DimValue(extent)),
                Err(_) if dim == "?" => None,
                Err(_) => Some(dimension::Value::DimParam(dim.to_owned())),
            };
            Dimension { value, ..Dimension::default() }
        })
        .collect();
    let tensor =
        type_proto::Tensor { elem_type: Some(ty.into()), shape: Some(TensorShapeProto { dim }) };
    let value = Some(type_proto::Value::TensorType(tensor));
    ValueInfoProto {
        name: Some(name.to_owned()),
        r#type: Some(TypeProto { value, ..TypeProto::default() }),
        ..ValueInfoProto::default()
    }
}

fn attribute(name: &str, ty: AttributeType) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(ty.into()),
        ..AttributeProto::default()
    }
}

pub fn int(name: &str, i: i64) -> AttributeProto {
    AttributeProto { i: Some(i), ..attribute(name, AttributeType::Int) }
}

pub fn ints(name: &str, ints: &[i64]) -> AttributeProto {
    AttributeProto { ints: ints.to_vec(), ..attribute(name, AttributeType::Ints) }
}

pub fn text(name: &str, text: &str) -> AttributeProto {
    AttributeProto { s: Some(text.to_owned().into()), ..attribute(name, AttributeType::String) }
}

pub fn float(name: &str, f: f32) -> AttributeProto {
    AttributeProto { f: Some(f), ..attribute(name, AttributeType::Float) }
}

pub fn texts(name: &str, texts: &[&str]) -> AttributeProto {
    let strings = texts.iter().map(|text| text.as_bytes().to_vec().into()).collect();
    AttributeProto { strings, ..attribute(name, AttributeType::Strings) }
}
