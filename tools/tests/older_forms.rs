//! Operators as versions of ONNX before 13 have them, against what these say.
//!
//! What is imported is run by the interpreter: the question is what is meant.

use prost::Message;
use weft::{Options, Unit};
use weft_onnx::proto::attribute_proto::AttributeType;
use weft_onnx::proto::tensor_shape_proto::Dimension;
use weft_onnx::proto::tensor_shape_proto::dimension::Value::DimValue;
use weft_onnx::proto::type_proto::{Tensor, Value};
use weft_onnx::proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto,
    TensorShapeProto, TypeProto, ValueInfoProto,
};
use weft_passes::interpret::run_model;

/// An input of a node: shape and numbers of a tensor, some integers of the model, or none.
enum Input<'a> {
    Given(&'a [i64], &'a [f32]),
    Numbers(&'a [f32]),
    Ints(&'a [i64]),
}

use Input::{Given, Ints, Numbers};

fn attribute(name: &str, kind: AttributeType) -> AttributeProto {
    let (name, kind) = (Some(name.to_owned()), Some(kind.into()));
    AttributeProto { name, r#type: kind, ..Default::default() }
}

fn int(name: &str, i: i64) -> AttributeProto {
    AttributeProto { i: Some(i), ..attribute(name, AttributeType::Int) }
}

fn ints(name: &str, ints: &[i64]) -> AttributeProto {
    AttributeProto { ints: ints.to_vec(), ..attribute(name, AttributeType::Ints) }
}

fn float(name: &str, f: f32) -> AttributeProto {
    AttributeProto { f: Some(f), ..attribute(name, AttributeType::Float) }
}

fn floats(name: &str, floats: &[f32]) -> AttributeProto {
    AttributeProto { floats: floats.to_vec(), ..attribute(name, AttributeType::Floats) }
}

fn text(name: &str, s: &'static str) -> AttributeProto {
    AttributeProto { s: Some(s.into()), ..attribute(name, AttributeType::String) }
}

fn port(name: &str, dims: Option<&[i64]>) -> ValueInfoProto {
    let dim = |&dim: &i64| Dimension { value: Some(DimValue(dim)), ..Default::default() };
    let shape = dims.map(|dims| TensorShapeProto { dim: dims.iter().map(dim).collect() });
    let ty = Value::TensorType(Tensor { elem_type: Some(1), shape });
    let ty = TypeProto { value: Some(ty), ..Default::default() };
    ValueInfoProto { name: Some(name.to_owned()), r#type: Some(ty), ..Default::default() }
}

/// A model of one node, and the bytes of its inputs.
fn model(
    operator: &str,
    version: i64,
    attributes: &[AttributeProto],
    inputs: &[Input<'_>],
    outputs: usize,
) -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut graph = GraphProto { name: Some("g".to_owned()), ..Default::default() };
    let mut node = NodeProto {
        op_type: Some(operator.to_owned()),
        attribute: attributes.to_vec(),
        output: (0..outputs).map(|at| format!("y{at}")).collect(),
        ..Default::default()
    };
    let mut given = Vec::new();
    for (at, input) in inputs.iter().enumerate() {
        let name = format!("x{at}");
        let tensor = |kind, count: usize| TensorProto {
            name: Some(name.clone()),
            dims: vec![count as i64],
            data_type: Some(kind),
            ..Default::default()
        };
        match input {
            Given(dims, numbers) => {
                graph.input.push(port(&name, Some(dims)));
                given.push(numbers.iter().flat_map(|number| number.to_le_bytes()).collect());
            }
            Numbers(numbers) => graph
                .initializer
                .push(TensorProto { float_data: numbers.to_vec(), ..tensor(1, numbers.len()) }),
            Ints(ints) => graph
                .initializer
                .push(TensorProto { int64_data: ints.to_vec(), ..tensor(7, ints.len()) }),
        }
        node.input.push(name);
    }
    // The last is all that is looked at.
    graph.output = vec![port(&format!("y{}", outputs - 1), None)];
    graph.node.push(node);
    let opset = OperatorSetIdProto { version: Some(version), ..Default::default() };
    let (opset_import, graph) = (vec![opset], Some(graph));
    let model = ModelProto { ir_version: Some(3), opset_import, graph, ..Default::default() };
    (model.encode_to_vec(), given)
}

/// What the last output is, or why there is none.
fn result(
    operator: &str,
    version: i64,
    attributes: &[AttributeProto],
    inputs: &[Input<'_>],
    outputs: usize,
) -> Result<Vec<f32>, String> {
    let (bytes, given) = model(operator, version, attributes, inputs, outputs);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("node.onnx");
    std::fs::write(&path, bytes).expect("written");
    let context = weft::context();
    let unit = Unit::open(&context, &path, Options::default()).map_err(|why| why.to_string())?;
    let ops = unit.module().body(0).expect("a body").ops();
    let model = ops.into_iter().find(|op| op.is("graph.model")).expect("a model");
    let weights = &mut |_: &str, _: &str| unreachable!("short lists stand in the text");
    let got = run_model(model, &given, weights, &mut |_, _| {}).expect("it has a meaning");
    let numbers = got[0].chunks(4).map(|four| f32::from_le_bytes(four.try_into().unwrap()));
    Ok(numbers.collect())
}

fn check(
    operator: &str,
    version: i64,
    attributes: &[AttributeProto],
    inputs: &[Input<'_>],
    expected: &[f32],
) {
    let got = result(operator, version, attributes, inputs, 1);
    let got = got.unwrap_or_else(|why| panic!("{operator} of version {version}: {why}"));
    let near = |(one, other): (&f32, &f32)| (one - other).abs() < 1e-5;
    assert!(
        got.len() == expected.len() && got.iter().zip(expected).all(near),
        "{operator} of version {version}: {got:?}, not {expected:?}"
    );
}

const SIX: &[f32] = &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0];

#[test]
fn attributes_that_became_inputs() {
    let row = Given(&[2, 3], SIX);
    check("Unsqueeze", 9, &[ints("axes", &[0, 3])], std::slice::from_ref(&row), SIX);
    check("Squeeze", 9, &[ints("axes", &[0])], &[Given(&[1, 6], SIX)], SIX);
    check("Squeeze", 9, &[], &[Given(&[1, 6, 1], SIX)], SIX);
    let second = [int("axis", 1), ints("split", &[1])];
    check("Split", 9, &second, &[Given(&[6, 1], SIX)], SIX);
    let parts = result("Split", 2, &[int("axis", 1)], std::slice::from_ref(&row), 3);
    assert_eq!(parts.expect("three parts"), [2.0, 5.0]);
    let bounds = [float("min", 1.5), float("max", 4.0)];
    check("Clip", 9, &bounds, std::slice::from_ref(&row), &[1.5, 1.5, 2.0, 3.0, 4.0, 4.0]);
    check("Clip", 6, &[float("max", 2.0)], &[Given(&[3], &[-9.0, 2.0, 3.0])], &[-9.0, 2.0, 2.0]);
    let pads = [ints("pads", &[0, 1, 1, 0]), float("value", 7.0)];
    let padded = [7.0, 0.0, 1.0, 2.0, 7.0, 3.0, 4.0, 5.0, 7.0, 7.0, 7.0, 7.0];
    check("Pad", 9, &pads, std::slice::from_ref(&row), &padded);
    let reflected = [ints("pads", &[0, 1, 0, 0]), text("mode", "reflect")];
    check("Pad", 2, &reflected, &[row], &[1.0, 0.0, 1.0, 2.0, 4.0, 3.0, 4.0, 5.0]);
    let slices = [ints("starts", &[-2]), ints("ends", &[1000]), ints("axes", &[1])];
    check("Slice", 9, &slices, &[Given(&[2, 3], SIX)], &[1.0, 2.0, 4.0, 5.0]);
    let four = Given(&[4], &[3.0, 9.0, 1.0, 9.0]);
    check("TopK", 9, &[int("k", 3)], std::slice::from_ref(&four), &[9.0, 9.0, 3.0]);
    check("TopK", 10, &[], &[four, Ints(&[2])], &[9.0, 9.0]);
}

/// Before 13 an axis meant itself and all behind it.
#[test]
fn shares_along_an_axis_and_all_behind_it() {
    let x = Given(&[2, 3, 1, 1], &[0.0, 1.0, 2.0, 5.0, 5.0, 5.0]);
    let first = [0.0f32, 1.0, 2.0].map(f32::exp);
    let sum: f32 = first.iter().sum();
    let third = 1.0 / 3.0;
    let shares = [first[0] / sum, first[1] / sum, first[2] / sum, third, third, third];
    check("Softmax", 9, &[], std::slice::from_ref(&x), &shares);
    check("LogSoftmax", 11, &[int("axis", -3)], std::slice::from_ref(&x), &shares.map(f32::ln));
    check("Hardmax", 9, &[], &[x], &[0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
    // The last axis alone, all of them, and none.
    let pairs = Given(&[3, 2], &[0.0, 0.0, 1.0, 1.0, 2.0, 2.0]);
    check("Softmax", 7, &[int("axis", 1)], std::slice::from_ref(&pairs), &[0.5; 6]);
    let all: Vec<f32> = [0.0f32, 0.0, 1.0, 1.0, 2.0, 2.0].map(f32::exp).to_vec();
    let of_all: Vec<f32> = all.iter().map(|one| one / all.iter().sum::<f32>()).collect();
    check("Softmax", 7, &[int("axis", 0)], &[pairs], &of_all);
    check("Softmax", 7, &[], &[Given(&[2], &[3.0, 4.0])], &[1.0, 1.0]);
}

/// Before 7 the second operand's dimensions were those of the first from an axis on.
#[test]
fn operands_aligned_at_an_axis() {
    let twelve: Vec<f32> = (0..12u8).map(f32::from).collect();
    let x = Given(&[2, 3, 2], &twelve);
    let channel = [int("broadcast", 1), int("axis", 1)];
    let added = [0.0, 1.0, 12.0, 13.0, 24.0, 25.0, 6.0, 7.0, 18.0, 19.0, 30.0, 31.0];
    check("Add", 6, &channel, &[x, Given(&[3], &[0.0, 10.0, 20.0])], &added);
    check("Add", 6, &channel, &[Given(&[2, 3, 2], &twelve), Numbers(&[0.0, 10.0, 20.0])], &added);
    let behind = [int("broadcast", 1)];
    check(
        "Mul",
        6,
        &behind,
        &[Given(&[2, 3], SIX), Given(&[3], &[1.0, 0.0, 2.0])],
        &[0.0, 0.0, 4.0, 3.0, 0.0, 10.0],
    );
    check(
        "Sub",
        6,
        &[],
        &[Given(&[3], &[1.0, 2.0, 3.0]), Numbers(&[1.0, 1.0, 1.0])],
        &[0.0, 1.0, 2.0],
    );
    let one = [Given(&[2, 3], SIX), Given(&[1, 1], &[10.0])];
    check("Div", 6, &channel, &one, &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5]);
    check("Pow", 6, &[], &[Given(&[2], &[2.0, 3.0]), Given(&[2], &[3.0, 2.0])], &[8.0, 9.0]);
    let signs = Given(&[1, 3, 2], &[-1.0, 1.0, -1.0, 1.0, -1.0, 1.0]);
    check(
        "PRelu",
        6,
        &[],
        &[signs, Given(&[3], &[1.0, 2.0, 3.0])],
        &[-1.0, 1.0, -2.0, 1.0, -3.0, 1.0],
    );
}

#[test]
fn nothing_is_trained() {
    let row = || Given(&[2, 3], SIX);
    check("Dropout", 9, &[float("ratio", 0.5)], &[row()], SIX);
    check("Dropout", 6, &[int("is_test", 1)], &[row()], SIX);
    // Before 10 the mask has the type of what it is of.
    let mask = result("Dropout", 9, &[], &[row()], 2);
    assert_eq!(mask.expect("a mask"), [1.0; 6]);
    // 6 (x - 1) / 2 + 10, channel by channel.
    let (scale, bias, mean, variance) = ([6.0; 3], [10.0, 20.0, 30.0], [1.0; 3], [4.0; 3]);
    let inputs = [row(), Numbers(&scale), Numbers(&bias), Numbers(&mean), Numbers(&variance)];
    let normal = [7.0, 20.0, 33.0, 16.0, 29.0, 42.0];
    for (version, attributes) in [(7, vec![]), (6, vec![int("is_test", 1)])] {
        let attributes = [attributes, vec![float("epsilon", 0.0)]].concat();
        check("BatchNormalization", version, &attributes, &inputs, &normal);
    }
    let trains = |operator, inputs: &[Input<'_>], outputs| {
        let why = result(operator, 6, &[], inputs, outputs).expect_err("it trains");
        assert!(why.contains("trains") && why.contains("help: is_test 1"), "{why}");
    };
    trains("Dropout", &[row()], 1);
    trains("BatchNormalization", &inputs, 1);
    let why = result("BatchNormalization", 7, &[int("spatial", 0)], &inputs, 1);
    assert!(why.expect_err("not by channels").contains("help: spatial 1"));
}

/// Before 11 an image grew from its corner.
#[test]
fn images_that_grow() {
    let x = || Given(&[1, 1, 1, 3], &[0.0, 4.0, 8.0]);
    let nearest = [0.0, 0.0, 4.0, 4.0, 8.0, 8.0];
    let linear = [0.0, 2.0, 4.0, 6.0, 8.0, 8.0];
    let twice = [1.0, 1.0, 1.0, 2.0];
    check("Upsample", 7, &[floats("scales", &twice)], &[x()], &nearest);
    check("Upsample", 9, &[], &[x(), Numbers(&twice)], &nearest);
    check("Upsample", 9, &[text("mode", "linear")], &[x(), Numbers(&twice)], &linear);
    check("Resize", 10, &[text("mode", "linear")], &[x(), Numbers(&twice)], &linear);
    // The standard's own case of an image that shrinks (version 10).
    let eight = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    let less = [1.0, 1.0, 0.6, 0.6];
    check("Resize", 10, &[], &[Given(&[1, 1, 2, 4], &eight), Numbers(&less)], &[1.0, 3.0]);
    let half_more = [1.0, 1.0, 1.0, 1.5];
    check("Resize", 10, &[], &[x(), Numbers(&half_more)], &[0.0, 0.0, 4.0, 8.0]);
}

#[test]
fn what_a_version_has_not_is_refused() {
    let pair = [Given(&[2, 3], SIX), Given(&[3], &[1.0, 2.0, 3.0])];
    let refused = |operator, version, attributes: &[AttributeProto], inputs: &[Input<'_>]| {
        result(operator, version, attributes, inputs, 1).expect_err("it is refused")
    };
    let why = refused("Add", 6, &[], &pair);
    assert!(why.contains("help: operands of one shape, or broadcast 1"), "{why}");
    let why = refused("Add", 6, &[int("broadcast", 1), int("axis", 5)], &pair);
    assert!(why.contains("axis 5 for 2 dimensions"), "{why}");
    let long = [Given(&[2, 3], SIX), Given(&[2, 3], SIX)];
    let why = refused("Add", 6, &[int("broadcast", 1), int("axis", 1)], &long);
    assert!(why.contains("from axis 1 on"), "{why}");
    let why = refused("Upsample", 10, &[], &[Given(&[1], &[1.0]), Numbers(&[2.0])]);
    assert!(why.contains("Upsample from version 1 to 9"), "{why}");
    let why = refused("Unsqueeze", 9, &[], &[Given(&[2], &[1.0, 2.0]), Ints(&[0])]);
    assert!(why.contains("2 inputs"), "{why}");
    let why = refused("Unsqueeze", 13, &[ints("axes", &[0])], &[Given(&[2], &[1.0, 2.0])]);
    assert!(why.contains("Unsqueeze takes 2"), "{why}");
    let why = refused("Pad", 9, &[], &[Given(&[2], &[1.0, 2.0])]);
    assert!(why.contains("attribute pads"), "{why}");
    let why = refused("Slice", 9, &[ints("starts", &[0])], &[Given(&[2], &[1.0, 2.0])]);
    assert!(why.contains("starts and ends"), "{why}");
}

/// What kept its form and changed its meaning.
#[test]
fn the_same_form_with_an_older_meaning() {
    // Of 1 0 1+2 0 2+3 0 3 one is cut: behind before 11, then in front.
    let wanted = [ints("output_shape", &[6]), ints("strides", &[2])];
    let grown = |version| {
        let inputs = [Given(&[1, 1, 3], &[1.0, 2.0, 3.0]), Given(&[1, 1, 3], &[1.0, 0.0, 1.0])];
        result("ConvTranspose", version, &wanted, &inputs, 1).expect("it is known")
    };
    assert_eq!(grown(9), [1.0, 0.0, 3.0, 0.0, 5.0, 0.0]);
    assert_eq!(grown(11), [0.0, 3.0, 0.0, 5.0, 0.0, 3.0]);
    let maximum = [Given(&[2], &[1.0, 5.0]), Given(&[2], &[3.0, 4.0])];
    check("Max", 6, &[], &maximum, &[3.0, 5.0]);
    let pool = [ints("kernel_shape", &[2]), ints("pads", &[1, 0])];
    let three = || Given(&[1, 1, 3], &[1.0, 3.0, 8.0]);
    check("MaxPool", 1, &pool, &[three()], &[1.0, 3.0, 8.0]);
    // What lies outside is not counted.
    check("AveragePool", 1, &pool, &[three()], &[1.0, 2.0, 5.5]);
    // Before 11 a place below 0 is none; then it counts from the end.
    let hot = [Given(&[1], &[-1.0]), Numbers(&[3.0]), Given(&[2], &[7.0, 9.0])];
    check("OneHot", 9, &[], &hot, &[7.0, 7.0, 7.0]);
    check("OneHot", 11, &[], &hot, &[7.0, 7.0, 9.0]);
    let blocks = Given(&[1, 4, 1, 1], &[1.0, 2.0, 3.0, 4.0]);
    check("DepthToSpace", 9, &[int("blocksize", 2)], &[blocks], &[1.0, 2.0, 3.0, 4.0]);
}
