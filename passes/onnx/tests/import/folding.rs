//! What decides shapes is calculated at import and leaves no trace; what does not, stays.

use crate::net::{Net, int, ints, tensor};

use weft_dialects::ir::{context, module_op};
use weft_onnx::proto::TensorProto;
use weft_onnx::proto::tensor_proto::DataType;
use weft_onnx::{Options, Weights, import_model};

fn text(net: &Net) -> String {
    let context = context();
    let (module, _) = import_model(net.model().unwrap(), &Options::default(), &context).unwrap();
    let op = module_op(&module);
    assert!(op.verify());
    op.text()
}

/// The kinds of the operators that are left, in order.
fn kinds(text: &str) -> Vec<&str> {
    text.lines()
        .filter_map(|line| line.split_once("graph.op \""))
        .map(|(_, rest)| rest.split('"').next().unwrap())
        .collect()
}

#[test]
fn a_shape_that_is_calculated() {
    // What exporters write for x.view(x.size(0), -1, 4 * 2).
    let net = Net::new()
        .input("x", &["3", "16", "2"])
        .ints("zero", &[0])
        .ints("rest", &[-1])
        .ints("four", &[4])
        .ints("two", &[2])
        .node("Shape", &["x"], &["all"])
        .node_with("Gather", &["all", "zero"], &["batch"], vec![int("axis", 0)])
        .node("Mul", &["four", "two"], &["last"])
        .node_with("Concat", &["batch", "rest", "last"], &["shape"], vec![int("axis", 0)])
        .node("Reshape", &["x", "shape"], &["y"])
        .output("y");
    let text = text(&net);
    assert_eq!(kinds(&text), ["Reshape"]);
    assert!(text.contains("-> tensor<3x4x8xf32>"), "{text}");
    assert!(!text.contains("graph.constant"), "{text}");
}

#[test]
fn everything_shapes_are_calculated_with() {
    let net = Net::new()
        .input("x", &["6", "8", "1"])
        .ints("axes", &[0])
        .ints("one", &[1])
        .ints("two", &[2])
        .ints("three", &[3])
        .node("Shape", &["x"], &["shape"])
        .node("Slice", &["shape", "axes", "two", "axes"], &["head"])
        .node("ReduceProd", &["head"], &["product"])
        .node("Div", &["product", "two"], &["half"])
        .node_with("Cast", &["half"], &["real"], vec![int("to", 1)])
        .node("Floor", &["real"], &["floor"])
        .node_with("Cast", &["floor"], &["whole"], vec![int("to", 7)])
        .node("Squeeze", &["whole"], &["scalar"])
        .node("Unsqueeze", &["scalar", "axes"], &["again"])
        .node("Less", &["again", "three"], &["small"])
        .node("Where", &["small", "three", "again"], &["chosen"])
        .node("Max", &["chosen", "one"], &["most"])
        .node("Expand", &["most", "two"], &["twice"])
        .node("Split", &["twice"], &["left", "right"])
        .node("Sub", &["left", "right"], &["none"])
        .node("Add", &["none", "left"], &["sum"])
        .node("Mod", &["sum", "left"], &["mod"])
        .node_with("Concat", &["sum", "two", "mod"], &["result"], vec![int("axis", 0)])
        .node("Expand", &["value", "result2"], &["y"])
        .zeros("value", &[1])
        .node("Slice", &["result", "axes", "two", "axes"], &["result2"])
        .output("y");
    let text = text(&net);
    assert_eq!(kinds(&text), ["Expand"]);
    assert!(text.contains("-> tensor<24x2xf32>"), "{text}");
}

#[test]
fn a_range_is_made_of_shapes() {
    let net = Net::new()
        .input("x", &["5", "2"])
        .initializer(TensorProto { int64_data: vec![0], ..tensor("zero", DataType::Int64, &[]) })
        .initializer(TensorProto { int64_data: vec![1], ..tensor("one", DataType::Int64, &[]) })
        .node("Shape", &["x"], &["shape"])
        .node("Gather", &["shape", "zero"], &["length"])
        .node("Range", &["zero", "length", "one"], &["y"])
        .output("y");
    let text = text(&net);
    assert!(text.contains("dense<[0, 1, 2, 3, 4]>"), "{text}");
}

#[test]
fn weights_are_not_calculated_with() {
    let net = Net::new().zeros("w", &[64, 64]).node("Neg", &["w"], &["y"]).output("y");
    let text = text(&net);
    assert_eq!(kinds(&text), ["Neg"]);
    assert!(text.contains(r#"graph.weight "w" in "model" hash "#), "{text}");
}

#[test]
fn inputs_that_are_bound_stay_inputs() {
    let net = Net::new()
        .input("x", &["2", "3"])
        .input_of("k", DataType::Int64, &["1"])
        .node("Add", &["k", "k"], &["sum"])
        .node("ReduceSum", &["x", "k"], &["y"])
        .output("y")
        .output("sum");
    let mut options = Options::default();
    options.known_inputs.insert("k".to_owned(), weft_onnx::Elements::from_ints(&[1]));
    let context = context();
    let (module, _) = import_model(net.model().unwrap(), &options, &context).unwrap();
    let text = module_op(&module).text();
    assert!(text.contains(r#"inputs ["x", "k"]"#), "{text}");
    assert_eq!(kinds(&text), ["Add", "ReduceSum"]);
}

#[test]
fn outputs_that_no_operator_makes() {
    let net = Net::new().input("x", &["2"]).zeros("w", &[2]).output("x").output("w");
    assert_eq!(kinds(&text(&net)), ["Identity", "Identity"]);
}

#[test]
fn a_constant_is_a_weight() {
    use prost::Message;
    let mut value = crate::net::ints("value", &[]);
    value.r#type = Some(weft_onnx::proto::attribute_proto::AttributeType::Tensor.into());
    value.t = Some(TensorProto {
        float_data: (0..100).map(|x| x as f32).collect(),
        ..tensor("", DataType::Float, &[100])
    });
    let net = Net::new()
        .node_with("Constant", &[], &["c"], vec![value])
        .node("Neg", &["c"], &["y"])
        .output("y");
    assert!(text(&net).contains(r#"graph.weight "c" in"#));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.onnx");
    std::fs::write(&path, net.proto.encode_to_vec()).unwrap();
    let bytes = Weights::open(&path).unwrap().tensor("c").unwrap();
    assert_eq!(bytes.bytes()[4..8], 1.0f32.to_le_bytes());
}

#[test]
fn a_literal_goes_into_the_body() {
    let net = Net::new()
        .input("x", &["4"])
        .initializer(TensorProto { float_data: vec![2.5], ..tensor("k", DataType::Float, &[]) })
        .node("Mul", &["x", "k"], &["y"])
        .output("y");
    let text = text(&net);
    assert!(text.contains("arith.constant 2.500000e+00 : f32"), "{text}");
    assert!(!text.contains("graph.constant"), "{text}");
}

#[test]
fn equal_imports_are_equal() {
    let net = Net::new()
        .input("x", &["1", "8", "5", "5"])
        .zeros("w", &[8, 1, 3, 3])
        .node_with("Conv", &["x", "w"], &["y"], vec![int("group", 8), ints("pads", &[1, 1, 1, 1])])
        .output("y");
    assert_eq!(text(&net), text(&net));
}

#[test]
fn weights_of_another_file() {
    use safetensors::tensor::{Dtype, TensorView};

    let bytes: Vec<u8> = (0..24).collect();
    let view = TensorView::new(Dtype::F32, vec![2, 3], &bytes).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weights.safetensors");
    safetensors::serialize_to_file([("w", view)], None, &path).unwrap();
    let weights = Weights::open(&path).unwrap();
    let found = weights.tensor("w").unwrap();
    assert_eq!((found.ty().dims(), &found.bytes()[..]), (&[2, 3][..], &bytes[..]));
    assert!(weights.tensor("v").is_err());

    std::fs::write(&path, &std::fs::read(&path).unwrap()[..40]).unwrap();
    assert!(Weights::open(&path).unwrap_err().to_string().contains("is not a safetensors file"));
}
