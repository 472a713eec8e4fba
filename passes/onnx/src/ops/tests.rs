//! Whatever a node says, planning it gives a plan or an error, and a plan gives valid payload.

use std::path::Path;

use bytes::Bytes;
use proptest::prelude::*;
use prost::Message;

use weft_dialects::ir::{context, module_op};

use crate::proto::attribute_proto::AttributeType;
use crate::proto::tensor_proto::DataType;
use crate::proto::tensor_shape_proto::{Dimension, dimension};
use crate::proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto,
    TensorShapeProto, TypeProto, ValueInfoProto, type_proto,
};
use crate::{Model, Options, import_model};

const TYPES: &[DataType] = &[
    DataType::Float,
    DataType::Float,
    DataType::Float,
    DataType::Float16,
    DataType::Bfloat16,
    DataType::Double,
    DataType::Int64,
    DataType::Int64,
    DataType::Int32,
    DataType::Int8,
    DataType::Uint8,
    DataType::Uint64,
    DataType::Bool,
    DataType::String,
];

/// A graph input or a small constant.
#[derive(Debug, Clone)]
enum Input {
    Absent,
    Tensor(DataType, Vec<i64>),
    Ints(Vec<i64>),
    Number(DataType, f32),
}

fn number() -> impl Strategy<Value = i64> {
    prop_oneof![
        8 => -3i64..8,
        1 => prop::sample::select(vec![i64::MAX, i64::MIN, i64::from(i32::MAX), 1 << 40, -1 << 40]),
    ]
}

fn dims() -> impl Strategy<Value = Vec<i64>> {
    prop_oneof![
        6 => prop::collection::vec(1i64..5, 0..6),
        2 => prop::collection::vec(0i64..4, 0..5),
        1 => prop::collection::vec(prop::sample::select(vec![1, 1 << 20, 1 << 40]), 0..4),
    ]
}

fn input(ty: DataType, shape: Vec<i64>) -> impl Strategy<Value = Input> {
    let types = prop::sample::select(TYPES);
    let numbers = prop::sample::select(vec![ty, DataType::Int64, DataType::Float]);
    prop_oneof![
        6 => Just(Input::Tensor(ty, shape)),
        4 => dims().prop_map(move |dims| Input::Tensor(ty, dims)),
        2 => (types, dims()).prop_map(|(ty, dims)| Input::Tensor(ty, dims)),
        4 => prop::collection::vec(number(), 0..6).prop_map(Input::Ints),
        2 => (numbers, -2.0f32..4.0).prop_map(|(ty, x)| Input::Number(ty, x)),
        1 => Just(Input::Absent),
    ]
}

fn attribute(name: &'static str) -> impl Strategy<Value = AttributeProto> {
    let texts = vec![
        "SAME_UPPER",
        "VALID",
        "LEFT",
        "RIGHT",
        "tanh",
        "CRD",
        "edge",
        "reflect",
        "wrap",
        "?",
        "linear",
        "cubic",
        "asymmetric",
        "ceil",
        "none",
        "add",
        "sum",
        "reverse",
        "circular",
        "ij,jk->ik",
        "...i->...",
        "ab,b",
        "ii->i",
    ];
    let of = move |ty: AttributeType| AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(ty.into()),
        ..AttributeProto::default()
    };
    let many = ["axes", "dilations", "kernel_shape", "pads", "perm", "strides"].contains(&name)
        || ["output_padding", "output_shape"].contains(&name);
    let text = ["auto_pad", "direction", "approximate", "mode"].contains(&name)
        || ["coordinate_transformation_mode", "equation", "nearest_mode", "reduction"]
            .contains(&name);
    let real = ["alpha", "beta", "gamma", "epsilon", "bias", "lambd", "momentum"].contains(&name);
    prop_oneof![
        if many { 20 } else { 1 } => prop::collection::vec(number(), 0..7)
            .prop_map(move |ints| AttributeProto { ints, ..of(AttributeType::Ints) }),
        if text { 20 } else { 1 } => prop::sample::select(texts)
            .prop_map(move |s| AttributeProto { s: Some(s.into()), ..of(AttributeType::String) }),
        if real { 20 } else { 1 } => any::<f32>()
            .prop_map(move |f| AttributeProto { f: Some(f), ..of(AttributeType::Float) }),
        if many || text || real { 1 } else { 20 } => number()
            .prop_map(move |i| AttributeProto { i: Some(i), ..of(AttributeType::Int) }),
    ]
}

fn attributes(names: &'static [&'static str]) -> impl Strategy<Value = Vec<AttributeProto>> {
    let each: Vec<_> =
        names.iter().map(|name| prop::option::weighted(0.5, attribute(name))).collect();
    each.prop_map(|attributes| attributes.into_iter().flatten().collect())
}

/// A model of one node of some operator, with operands that often fit.
fn model() -> impl Strategy<Value = ModelProto> {
    let operators: Vec<_> = super::every_form().collect();
    let shape = prop_oneof![dims(), prop::collection::vec(1i64..7, 3..5)];
    let ty = prop::sample::select(TYPES);
    (prop::sample::select(operators), ty, shape).prop_flat_map(|(operator, ty, shape)| {
        let (least, most) = operator.inputs;
        let inputs = prop::collection::vec(input(ty, shape), least..=most.min(8));
        let opset = prop::sample::select(match super::newest(operator.name) {
            Some(newest) if newest.since != operator.since => vec![operator.since],
            _ => vec![7i64, 9, 11, 13, 17, 18, 20, 27],
        });
        (inputs, 1..=operator.outputs.min(4), attributes(operator.attributes), opset).prop_map(
            move |(inputs, outputs, attribute, opset)| {
                one_node(operator, inputs, outputs, attribute, opset.max(operator.since))
            },
        )
    })
}

fn one_node(
    operator: &super::Operator,
    inputs: Vec<Input>,
    outputs: usize,
    attribute: Vec<AttributeProto>,
    opset_standard: i64,
) -> ModelProto {
    let mut graph = GraphProto::default();
    let mut node = NodeProto {
        op_type: Some(operator.name.to_owned()),
        domain: Some(operator.domain.to_owned()),
        attribute,
        ..NodeProto::default()
    };
    let constant = |name: &str, ty: DataType, dims: Vec<i64>| TensorProto {
        name: Some(name.to_owned()),
        data_type: Some(ty.into()),
        dims,
        ..TensorProto::default()
    };
    for (at, input) in inputs.into_iter().enumerate() {
        let name = format!("x{at}");
        node.input.push(name.clone());
        match input {
            Input::Absent => node.input[at].clear(),
            Input::Tensor(ty, dims) => graph.input.push(tensor_info(&name, Some(ty), &dims)),
            Input::Ints(ints) => graph.initializer.push(TensorProto {
                int64_data: ints.clone(),
                ..constant(&name, DataType::Int64, vec![ints.len() as i64])
            }),
            Input::Number(DataType::Int64, x) => graph.initializer.push(TensorProto {
                int64_data: vec![x as i64],
                ..constant(&name, DataType::Int64, vec![])
            }),
            Input::Number(_, x) => graph.initializer.push(TensorProto {
                float_data: vec![x],
                ..constant(&name, DataType::Float, vec![])
            }),
        }
    }
    for at in 0..outputs {
        node.output.push(format!("y{at}"));
        graph
            .output
            .push(ValueInfoProto { name: Some(format!("y{at}")), ..ValueInfoProto::default() });
    }
    graph.node.push(node);
    let opset = |domain: &str, version: i64| OperatorSetIdProto {
        domain: Some(domain.to_owned()),
        version: Some(version),
    };
    let others = super::DOMAINS.iter().filter(|domain| !domain.name.is_empty());
    let others = others.map(|domain| opset(domain.name, domain.newest));
    let opset_import = std::iter::once(opset("", opset_standard)).chain(others).collect();
    ModelProto { opset_import, graph: Some(graph), ..ModelProto::default() }
}

fn tensor_info(name: &str, ty: Option<DataType>, dims: &[i64]) -> ValueInfoProto {
    let dim = dims
        .iter()
        .map(|&dim| Dimension {
            value: Some(dimension::Value::DimValue(dim)),
            ..Dimension::default()
        })
        .collect();
    let tensor =
        type_proto::Tensor { elem_type: ty.map(Into::into), shape: Some(TensorShapeProto { dim }) };
    let value = Some(type_proto::Value::TensorType(tensor));
    ValueInfoProto {
        name: Some(name.to_owned()),
        r#type: Some(TypeProto { value, ..TypeProto::default() }),
        ..ValueInfoProto::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_node_gives_valid_payload_or_an_error(models in prop::collection::vec(model(), 16)) {
        thread_local!(static CONTEXT: &'static weft_dialects::ir::Context = Box::leak(Box::new(context())));
        let context = CONTEXT.with(|context| *context);
        for model in models {
            let bytes = Bytes::from(model.encode_to_vec());
            let Ok(model) = Model::from_bytes(bytes, Path::new("model.onnx")) else { continue };
            if let Ok((module, _)) = import_model(model, &Options::default(), context) {
                prop_assert!(module_op(&module).verify());
            }
        }
    }
}

#[test]
fn operators_are_listed_once() {
    let mut names: Vec<_> = super::all().map(|operator| (operator.domain, operator.name)).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}
