//! Models of one node, run by the interpreter.

use prost::Message;
use weft::{Options, Unit};
use weft_onnx::proto::attribute_proto::AttributeType;
use weft_onnx::proto::tensor_proto::DataType;
use weft_onnx::proto::tensor_shape_proto::Dimension;
use weft_onnx::proto::tensor_shape_proto::dimension::Value::DimValue;
use weft_onnx::proto::type_proto::{Tensor, Value};
use weft_onnx::proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto,
    TensorShapeProto, TypeProto, ValueInfoProto,
};
use weft_passes::interpret::run_model;

/// An input of a node.
#[derive(Clone)]
pub struct Arg {
    ty: DataType,
    dims: Vec<i64>,
    bytes: Vec<u8>,
    /// It is part of the model.
    fixed: bool,
    absent: bool,
}

impl Arg {
    fn new(ty: DataType, dims: &[i64], bytes: Vec<u8>) -> Self {
        Self { ty, dims: dims.to_vec(), bytes, fixed: false, absent: false }
    }

    /// The same as part of the model, known when it is imported.
    pub fn fixed(mut self) -> Self {
        self.fixed = true;
        self
    }
}

pub fn floats(dims: &[i64], values: &[f32]) -> Arg {
    Arg::new(DataType::Float, dims, values.iter().flat_map(|x| x.to_le_bytes()).collect())
}

pub fn doubles(dims: &[i64], values: &[f64]) -> Arg {
    Arg::new(DataType::Double, dims, values.iter().flat_map(|x| x.to_le_bytes()).collect())
}

pub fn bytes(dims: &[i64], values: &[u8]) -> Arg {
    Arg::new(DataType::Uint8, dims, values.to_vec())
}

pub fn signed_bytes(dims: &[i64], values: &[i8]) -> Arg {
    Arg::new(DataType::Int8, dims, values.iter().map(|&x| x as u8).collect())
}

pub fn ints(dims: &[i64], values: &[i32]) -> Arg {
    Arg::new(DataType::Int32, dims, values.iter().flat_map(|x| x.to_le_bytes()).collect())
}

pub fn longs(dims: &[i64], values: &[i64]) -> Arg {
    Arg::new(DataType::Int64, dims, values.iter().flat_map(|x| x.to_le_bytes()).collect())
}

/// An input that is left out.
pub fn absent() -> Arg {
    Arg { absent: true, ..Arg::new(DataType::Float, &[], vec![]) }
}

fn attribute(name: &str, kind: AttributeType) -> AttributeProto {
    let (name, kind) = (Some(name.to_owned()), Some(kind.into()));
    AttributeProto { name, r#type: kind, ..Default::default() }
}

pub fn int(name: &str, i: i64) -> AttributeProto {
    AttributeProto { i: Some(i), ..attribute(name, AttributeType::Int) }
}

pub fn ints_of(name: &str, ints: &[i64]) -> AttributeProto {
    AttributeProto { ints: ints.to_vec(), ..attribute(name, AttributeType::Ints) }
}

pub fn floats_of(name: &str, floats: &[f32]) -> AttributeProto {
    AttributeProto { floats: floats.to_vec(), ..attribute(name, AttributeType::Floats) }
}

pub fn text(name: &str, text: &str) -> AttributeProto {
    AttributeProto { s: Some(text.to_owned().into()), ..attribute(name, AttributeType::String) }
}

pub fn texts(name: &str, texts: &[&str]) -> AttributeProto {
    let strings = texts.iter().map(|text| text.as_bytes().to_vec().into()).collect();
    AttributeProto { strings, ..attribute(name, AttributeType::Strings) }
}

pub fn float(name: &str, f: f32) -> AttributeProto {
    AttributeProto { f: Some(f), ..attribute(name, AttributeType::Float) }
}

fn port(name: &str, arg: Option<&Arg>) -> ValueInfoProto {
    let dim = |&dim: &i64| Dimension { value: Some(DimValue(dim)), ..Default::default() };
    let ty = arg.map(|arg| {
        let shape = Some(TensorShapeProto { dim: arg.dims.iter().map(dim).collect() });
        let tensor = Tensor { elem_type: Some(arg.ty.into()), shape };
        TypeProto { value: Some(Value::TensorType(tensor)), ..Default::default() }
    });
    ValueInfoProto { name: Some(name.to_owned()), r#type: ty, ..Default::default() }
}

/// A node: its operator, behind its domain and a dot where it has one, with its attributes.
pub struct Node<'a>(pub &'a str, pub &'a [AttributeProto]);

fn model(node: &Node<'_>, inputs: &[Arg], outputs: usize) -> (ModelProto, Vec<Vec<u8>>) {
    let (domain, operator) = node.0.rsplit_once('.').unwrap_or(("", node.0));
    let mut graph = GraphProto { name: Some("g".to_owned()), ..Default::default() };
    let mut proto = NodeProto {
        op_type: Some(operator.to_owned()),
        domain: Some(domain.to_owned()),
        attribute: node.1.to_vec(),
        output: (0..outputs).map(|at| format!("y{at}")).collect(),
        ..Default::default()
    };
    let mut given = Vec::new();
    for (at, arg) in inputs.iter().enumerate() {
        let name = format!("x{at}");
        proto.input.push(if arg.absent { String::new() } else { name.clone() });
        if arg.absent {
            continue;
        }
        if arg.fixed {
            graph.initializer.push(TensorProto {
                name: Some(name),
                dims: arg.dims.clone(),
                data_type: Some(arg.ty.into()),
                raw_data: Some(arg.bytes.clone().into()),
                ..Default::default()
            });
        } else {
            graph.input.push(port(&name, Some(arg)));
            given.push(arg.bytes.clone());
        }
    }
    graph.output = (0..outputs).map(|at| port(&format!("y{at}"), None)).collect();
    graph.node.push(proto);
    (model_of(graph), given)
}

fn model_of(graph: GraphProto) -> ModelProto {
    let opset = |domain: &str, version| OperatorSetIdProto {
        domain: Some(domain.to_owned()),
        version: Some(version),
    };
    let opset_import = vec![
        opset("", 28),
        opset("com.microsoft", 1),
        opset("ai.onnx.ml", 5),
        opset("ai.onnx.preview.training", 1),
    ];
    ModelProto { ir_version: Some(8), opset_import, graph: Some(graph), ..Default::default() }
}

/// The bytes of every output, or why there is none.
pub fn run(node: &Node<'_>, inputs: &[Arg], outputs: usize) -> Result<Vec<Vec<u8>>, String> {
    let (model, given) = model(node, inputs, outputs);
    interpreted(&model, &given)
}

/// A node: its operator, behind its domain and a dot where it has one, what it reads and what it makes.
pub fn node(
    name: &str,
    reads: &[&str],
    makes: &[&str],
    attributes: &[AttributeProto],
) -> NodeProto {
    let (domain, operator) = name.rsplit_once('.').unwrap_or(("", name));
    let names = |all: &[&str]| all.iter().map(|&name| name.to_owned()).collect();
    NodeProto {
        op_type: Some(operator.to_owned()),
        domain: Some(domain.to_owned()),
        input: names(reads),
        output: names(makes),
        attribute: attributes.to_vec(),
        ..Default::default()
    }
}

/// The bytes of every output of a model of several nodes.
pub fn run_all(
    nodes: &[NodeProto],
    inputs: &[(&str, Arg)],
    outputs: &[&str],
) -> Result<Vec<Vec<u8>>, String> {
    let graph = GraphProto {
        name: Some("g".to_owned()),
        node: nodes.to_vec(),
        input: inputs.iter().map(|(name, arg)| port(name, Some(arg))).collect(),
        output: outputs.iter().map(|name| port(name, None)).collect(),
        ..Default::default()
    };
    let given: Vec<_> = inputs.iter().map(|(_, arg)| arg.bytes.clone()).collect();
    interpreted(&model_of(graph), &given)
}

fn interpreted(model: &ModelProto, given: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("node.onnx");
    std::fs::write(&path, model.encode_to_vec()).expect("written");
    let context = weft::context();
    let unit = Unit::open(&context, &path, Options::default()).map_err(|why| why.to_string())?;
    let ops = unit.module().body(0).expect("a body").ops();
    let model = ops.into_iter().find(|op| op.is("graph.model")).expect("a model");
    let weights = &mut |_: &str, _: &str| unreachable!("what is fixed is short");
    Ok(run_model(model, given, weights, &mut |_, _| {}).expect("it has a meaning"))
}

pub fn as_floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect()
}

pub fn as_ints(bytes: &[u8]) -> Vec<i32> {
    bytes.chunks(4).map(|four| i32::from_le_bytes(four.try_into().unwrap())).collect()
}

pub fn one(x: f32) -> Arg {
    floats(&[], &[x])
}

/// A number as a byte around a zero point.
pub fn byte(x: f64, zero: i64) -> u8 {
    (x.round_ties_even() as i64 + zero).clamp(0, 255) as u8
}

/// Fails unless the outputs are near these numbers.
pub fn check(node: &Node<'_>, inputs: &[Arg], expected: &[Vec<f64>]) {
    let got = run(node, inputs, expected.len()).unwrap_or_else(|why| panic!("{why}"));
    for (at, (got, expected)) in got.iter().zip(expected).enumerate() {
        let got = as_floats(got);
        assert_eq!(got.len(), expected.len(), "elements of output {at} of {}", node.0);
        for (place, (&one, &other)) in got.iter().zip(expected).enumerate() {
            let near = (f64::from(one) - other).abs() <= 2e-5 * (1.0 + other.abs());
            assert!(near, "{}: output {at} has {one} at {place}, not {other}", node.0);
        }
    }
}

/// Fails unless the node is refused with these words.
pub fn refused(node: &Node<'_>, inputs: &[Arg], words: &str) {
    let why = run(node, inputs, 1).expect_err("it is refused");
    assert!(why.contains(words), "{why}");
}

/// Numbers that look arbitrary and are the same each time.
pub struct Draw(u64);

impl Draw {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// Numbers from -1 to 1.
    pub fn floats(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| (self.next() % 2001) as f32 / 1000.0 - 1.0).collect()
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }

    pub fn signed_bytes(&mut self, count: usize) -> Vec<i8> {
        (0..count).map(|_| self.next() as i8).collect()
    }
}
