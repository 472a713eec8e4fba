//! Operators as the first versions of the standard have them.

use weft_onnx::proto::tensor_proto::DataType;

use super::net::{Net, float, int, ints, text, texts};

fn net(version: i64) -> Net {
    Net::new().opset(version).input("x", &["2", "3"])
}

#[test]
fn shapes_are_attributes() {
    let x = || net(1).node_with("Reshape", &["x"], &["y"], vec![ints("shape", &[3, -1])]);
    x().gives(DataType::Float, &["3", "2"]);
    net(1).node("Concat", &["x", "x"], &["y"]).gives(DataType::Float, &["2", "6"]);
    net(4).node("Concat", &["x", "x"], &["y"]).refused("lacks the attribute \"axis\"");
    net(1)
        .node_with("Split", &["x"], &["y", "z"], vec![int("axis", 1), ints("split", &[1, 2])])
        .gives(DataType::Float, &["2", "1"]);
    net(1)
        .node_with("Pad", &["x"], &["y"], vec![ints("paddings", &[0, 1, 0, 2])])
        .gives(DataType::Float, &["2", "6"]);
}

#[test]
fn types_have_names() {
    let to = |name| net(1).node_with("Cast", &["x"], &["y"], vec![text("to", name)]);
    to("INT32").gives(DataType::Int32, &["2", "3"]);
    to("INT33").refused("casts to \"INT33\"");
}

#[test]
fn inputs_may_be_consumed() {
    let node = |version, op: &str| {
        let consumed = vec![ints("consumed_inputs", &[0])];
        net(version).node_with(op, &["x"], &["y"], consumed)
    };
    for op in ["Relu", "Abs", "Neg", "Sqrt", "Sigmoid", "Selu"] {
        node(1, op).gives(DataType::Float, &["2", "3"]);
    }
    node(6, "Relu").refused("has an attribute \"consumed_inputs\"");
}

#[test]
fn one_axis_is_repeated_or_scaled() {
    let x = net(1).ints("tiles", &[4]).ints("axis", &[1]);
    x.node("Tile", &["x", "tiles", "axis"], &["y"]).gives(DataType::Float, &["2", "12"]);
    let scales =
        vec![float("height_scale", 2.0), float("width_scale", 3.0), text("mode", "nearest")];
    Net::new()
        .opset(1)
        .input("x", &["1", "1", "2", "3"])
        .node_with("Upsample", &["x"], &["y"], scales)
        .gives(DataType::Float, &["1", "1", "4", "9"]);
}

#[test]
fn cells_say_whether_all_steps_are_wanted() {
    let attributes =
        vec![int("hidden_size", 2), int("output_sequence", 1), texts("activations", &["Relu"])];
    Net::new()
        .opset(1)
        .input("x", &["5", "1", "3"])
        .zeros("w", &[1, 2, 3])
        .zeros("r", &[1, 2, 2])
        .node_with("RNN", &["x", "w", "r"], &["y"], attributes)
        .gives(DataType::Float, &["5", "1", "1", "2"]);
}

#[test]
fn what_has_another_name_now() {
    let data = || Net::new().opset(10).input("x", &["2", "3"]).ints("at", &[0]);
    let net = data().input_of("i", DataType::Int64, &["1", "3"]).input("u", &["1", "3"]);
    net.node("Scatter", &["x", "i", "u"], &["y"]).gives(DataType::Float, &["2", "3"]);
    let net = Net::new().opset(11).input("x", &["2", "3"]);
    let net = net.input_of("i", DataType::Int64, &["1", "3"]).input("u", &["1", "3"]);
    net.node("Scatter", &["x", "i", "u"], &["y"]).refused("Scatter from version 9 to 10");
}
