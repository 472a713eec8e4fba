//! RNN, GRU and LSTM: the shapes of what they make, and why they refuse.

use crate::net::{Net, int, text, texts};

use weft_onnx::proto::AttributeProto;
use weft_onnx::proto::tensor_proto::DataType;

const FLOAT: DataType = DataType::Float;

/// Seven steps of three sequences of two numbers, four hidden ones.
fn cell(op: &str, directions: i64, outputs: &[&str], attributes: Vec<AttributeProto>) -> Net {
    let gates = match op {
        "LSTM" => 4,
        "GRU" => 3,
        _ => 1,
    };
    let net = Net::new()
        .input("x", &["7", "3", "2"])
        .zeros("w", &[directions, 4 * gates, 2])
        .zeros("r", &[directions, 4 * gates, 4]);
    net.node_with(op, &["x", "w", "r"], outputs, attributes)
}

#[test]
fn what_they_make() {
    for op in ["RNN", "GRU", "LSTM"] {
        cell(op, 1, &["y"], vec![]).gives(FLOAT, &["7", "1", "3", "4"]);
        cell(op, 1, &["", "y"], vec![int("hidden_size", 4)]).gives(FLOAT, &["1", "3", "4"]);
        let both = || vec![text("direction", "bidirectional")];
        cell(op, 2, &["y"], both()).gives(FLOAT, &["7", "2", "3", "4"]);
        cell(op, 2, &["a", "y"], both()).gives(FLOAT, &["2", "3", "4"]);
        // With layout 1 the batch is first.
        cell(op, 1, &["y"], vec![int("layout", 1)]).gives(FLOAT, &["7", "3", "1", "4"]);
        cell(op, 1, &["a", "y"], vec![int("layout", 1)]).gives(FLOAT, &["7", "1", "4"]);
    }
    cell("LSTM", 1, &["a", "b", "y"], vec![]).gives(FLOAT, &["1", "3", "4"]);
}

#[test]
fn sequences_of_several_lengths() {
    let net = |lengths: &[&str]| {
        let mut net = cell("GRU", 1, &["y"], vec![]).input_of("n", DataType::Int32, lengths);
        net.graph().node[0].input.extend([String::new(), "n".to_owned()]);
        net
    };
    net(&["3"]).gives(FLOAT, &["7", "1", "3", "4"]);
    net(&["7"]).refused("one number for each of the 3 sequences");
}

#[test]
fn functions() {
    let named = |names: &[&str]| cell("GRU", 1, &["y"], vec![texts("activations", names)]);
    named(&["HardSigmoid", "relu"]).gives(FLOAT, &["7", "1", "3", "4"]);
    named(&["Tanh"]).refused("2 for each of its 1 directions");
    named(&["Sigmoid", "Sine"]).refused("Affine, HardSigmoid, LeakyRelu, Relu, Sigmoid, Tanh");
}

#[test]
fn refusals() {
    cell("RNN", 1, &["y"], vec![int("hidden_size", 5)]).refused("its hidden_size 5");
    cell("RNN", 2, &["y"], vec![]).refused("weights of 2 directions");
    let around = vec![text("direction", "around")];
    cell("RNN", 1, &["y"], around).refused("forward, reverse or bidirectional");
    let long = |steps| {
        let net = Net::new().input("x", &[steps, "1", "2"]);
        let net = net.zeros("w", &[1, 4, 2]).zeros("r", &[1, 4, 4]);
        net.node("RNN", &["x", "w", "r"], &["y"])
    };
    long("5000").gives(DataType::Float, &["5000", "1", "1", "4"]);
    long("5000").unrolled().refused("at most 4096 in all, where they are unrolled");
    long("0").refused("no empty axis");
    let net = Net::new().input("x", &["7", "3", "2"]).zeros("w", &[1, 4, 2]).zeros("r", &[1, 4, 4]);
    net.node("GRU", &["x", "w", "r"], &["y"]).refused("1x12x2");
}
