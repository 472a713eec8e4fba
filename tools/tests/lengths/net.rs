//! Models with dimensions that have names, put together node by node.

use prost::Message;
use weft_onnx::proto::attribute_proto::AttributeType;
use weft_onnx::proto::tensor_proto::DataType;
use weft_onnx::proto::tensor_shape_proto::Dimension;
use weft_onnx::proto::tensor_shape_proto::dimension::Value::{DimParam, DimValue};
use weft_onnx::proto::type_proto::{Tensor, Value};
use weft_onnx::proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto,
    TensorShapeProto, TypeProto, ValueInfoProto,
};

/// A dimension: a number, or a name that callers say the length of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dim {
    Fixed(i64),
    Named(&'static str),
}

/// A model that grows.
#[derive(Clone, Debug, Default)]
pub struct Net {
    graph: GraphProto,
    /// Shapes of the inputs, by number.
    pub inputs: Vec<(DataType, Vec<Dim>)>,
    count: usize,
    /// What the names of its values begin with.
    prefix: String,
}

/// An attribute of a node.
pub fn ints(name: &str, ints: &[i64]) -> AttributeProto {
    let kind = Some(AttributeType::Ints.into());
    AttributeProto {
        name: Some(name.into()),
        ints: ints.to_vec(),
        r#type: kind,
        ..Default::default()
    }
}

/// An attribute of a node.
pub fn int(name: &str, i: i64) -> AttributeProto {
    let kind = Some(AttributeType::Int.into());
    AttributeProto { name: Some(name.into()), i: Some(i), r#type: kind, ..Default::default() }
}

/// An attribute of a node.
pub fn word(name: &str, s: &str) -> AttributeProto {
    let kind = Some(AttributeType::String.into());
    let s = Some(s.as_bytes().to_vec().into());
    AttributeProto { name: Some(name.into()), s, r#type: kind, ..Default::default() }
}

impl Net {
    fn name(&mut self) -> String {
        self.count += 1;
        format!("{}v{}", self.prefix, self.count)
    }

    /// A graph for an attribute of a node, which sees the values around it: what `build` makes of its
    /// inputs, of these types.
    pub fn body(
        &mut self,
        name: &str,
        inputs: &[DataType],
        build: impl FnOnce(&mut Self, &[String]) -> Vec<String>,
    ) -> AttributeProto {
        let mut body = Self { prefix: self.name(), ..Self::default() };
        let inputs: Vec<_> = inputs.iter().map(|&ty| body.open(ty)).collect();
        let outputs = build(&mut body, &inputs);
        let kind = Some(AttributeType::Graph.into());
        let graph = body.graph_with(&outputs.iter().map(String::as_str).collect::<Vec<_>>());
        AttributeProto {
            name: Some(name.into()),
            g: Some(graph),
            r#type: kind,
            ..Default::default()
        }
    }

    /// An input of a body, which says nothing of its shape.
    fn open(&mut self, ty: DataType) -> String {
        let name = self.name();
        let tensor = Tensor { elem_type: Some(ty.into()), shape: None };
        let ty = TypeProto { value: Some(Value::TensorType(tensor)), ..Default::default() };
        let (own, r#type) = (Some(name.clone()), Some(ty));
        self.graph.input.push(ValueInfoProto { name: own, r#type, ..Default::default() });
        name
    }

    fn graph_with(mut self, outputs: &[&str]) -> GraphProto {
        let port =
            |name: &&str| ValueInfoProto { name: Some((*name).to_owned()), ..Default::default() };
        self.graph.name = Some("net".to_owned());
        self.graph.output = outputs.iter().map(port).collect();
        self.graph
    }

    /// An input of floats, or of whole numbers.
    pub fn input(&mut self, ty: DataType, dims: &[Dim]) -> String {
        let name = format!("x{}", self.inputs.len());
        let dim = |dim: &Dim| Dimension {
            value: Some(match dim {
                Dim::Fixed(extent) => DimValue(*extent),
                Dim::Named(name) => DimParam((*name).to_owned()),
            }),
            ..Default::default()
        };
        let shape = Some(TensorShapeProto { dim: dims.iter().map(dim).collect() });
        let tensor = Tensor { elem_type: Some(ty.into()), shape };
        let ty_proto = TypeProto { value: Some(Value::TensorType(tensor)), ..Default::default() };
        let port = ValueInfoProto {
            name: Some(name.clone()),
            r#type: Some(ty_proto),
            ..Default::default()
        };
        self.graph.input.push(port);
        self.inputs.push((ty, dims.to_vec()));
        name
    }

    /// A tensor of floats that is part of the model.
    pub fn floats(&mut self, dims: &[i64], value: impl Fn(usize) -> f32) -> String {
        let count = dims.iter().product::<i64>() as usize;
        let bytes = (0..count).flat_map(|place| value(place).to_le_bytes()).collect::<Vec<_>>();
        self.constant(DataType::Float, dims, bytes)
    }

    /// A number that is part of the model.
    pub fn scalar(&mut self, value: f32) -> String {
        self.constant(DataType::Float, &[], value.to_le_bytes().to_vec())
    }

    /// A list of whole numbers that is part of the model.
    pub fn longs(&mut self, values: &[i64]) -> String {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(DataType::Int64, &[values.len() as i64], bytes)
    }

    /// A tensor that is part of the model, of the bytes of its elements.
    pub fn constant(&mut self, ty: DataType, dims: &[i64], bytes: Vec<u8>) -> String {
        let name = self.name();
        self.graph.initializer.push(TensorProto {
            name: Some(name.clone()),
            dims: dims.to_vec(),
            data_type: Some(ty.into()),
            raw_data: Some(bytes.into()),
            ..Default::default()
        });
        name
    }

    /// A node with one result.
    pub fn op(&mut self, operator: &str, inputs: &[&str], attribute: &[AttributeProto]) -> String {
        self.several(operator, inputs, attribute, 1).remove(0)
    }

    /// A node of ONNX Runtime's own, with so many results.
    pub fn microsoft(
        &mut self,
        operator: &str,
        inputs: &[&str],
        attribute: &[AttributeProto],
        results: usize,
    ) -> Vec<String> {
        let names = self.several(operator, inputs, attribute, results);
        let node = self.graph.node.last_mut().expect("it was added");
        node.domain = Some("com.microsoft".to_owned());
        names
    }

    /// A node with so many results.
    pub fn several(
        &mut self,
        operator: &str,
        inputs: &[&str],
        attribute: &[AttributeProto],
        results: usize,
    ) -> Vec<String> {
        let names: Vec<_> = (0..results).map(|_| self.name()).collect();
        self.graph.node.push(NodeProto {
            op_type: Some(operator.to_owned()),
            input: inputs.iter().map(|&input| input.to_owned()).collect(),
            output: names.clone(),
            attribute: attribute.to_vec(),
            ..Default::default()
        });
        names
    }

    /// The model as a file's bytes, with these outputs.
    pub fn finish(self, outputs: &[&str]) -> Vec<u8> {
        let opset = OperatorSetIdProto { version: Some(23), ..Default::default() };
        let domain = Some("com.microsoft".to_owned());
        let microsoft = OperatorSetIdProto { version: Some(1), domain };
        let model = ModelProto {
            ir_version: Some(9),
            opset_import: vec![opset, microsoft],
            graph: Some(self.graph_with(outputs)),
            ..Default::default()
        };
        model.encode_to_vec()
    }
}
