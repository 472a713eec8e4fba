//! Writing where data says, and losses, which look up the right class.

use crate::net::{Net, int, text};

use weft_onnx::proto::tensor_proto::DataType;

const FLOAT: DataType = DataType::Float;

#[test]
fn elements() {
    let net = |indices: &[&str], axis| {
        let net = Net::new().input("x", &["3", "5"]).input_of("i", DataType::Int64, indices);
        let net = net.input("u", &["2", "5"]);
        net.node_with("ScatterElements", &["x", "i", "u"], &["y"], vec![int("axis", axis)])
    };
    net(&["2", "5"], 0).gives(FLOAT, &["3", "5"]);
    net(&["2", "4"], 0).refused("an index for each update");
    net(&["2", "5"], 2).refused("has axis 2");
}

#[test]
fn rows() {
    let net = |indices: &[&str], how| {
        let net = Net::new().input("x", &["3", "5"]).input_of("i", DataType::Int64, indices);
        let net = net.input("u", &["4", "5"]);
        net.node_with("ScatterND", &["x", "i", "u"], &["y"], vec![text("reduction", how)])
    };
    net(&["4", "1"], "add").gives(FLOAT, &["3", "5"]);
    net(&["4", "2"], "none").refused("rows of indices");
    net(&["4", "1"], "mean").refused("none, add, mul, max or min");
}

#[test]
fn caches() {
    let net = |update: &[&str], axis| {
        let net = Net::new().opset(24).input("x", &["2", "3", "8", "4"]).input("u", update);
        let net = net.input_of("i", DataType::Int64, &["2"]);
        net.node_with("TensorScatter", &["x", "u", "i"], &["y"], vec![int("axis", axis)])
    };
    net(&["2", "3", "1", "4"], -2).gives(FLOAT, &["2", "3", "8", "4"]);
    net(&["2", "3", "9", "4"], -2).refused("no more than there is");
    net(&["2", "3", "8", "4"], 0).refused("the batch before it");
}

#[test]
fn losses() {
    for op in ["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"] {
        let net = |target: &[&str], how| {
            let net =
                Net::new().input("x", &["2", "5", "3"]).input_of("t", DataType::Int64, target);
            net.node_with(op, &["x", "t"], &["y"], vec![text("reduction", how)])
        };
        net(&["2", "3"], "none").gives(FLOAT, &["2", "3"]);
        net(&["2", "3"], "mean").gives(FLOAT, &[]);
        net(&["2", "5"], "mean").refused("one class for all but classes");
        net(&["2", "3"], "most").refused("none, sum or mean");
        let weighed = net(&["2", "3"], "sum").input("w", &["4"]);
        let mut weighed = weighed;
        weighed.graph().node[0].input.push("w".to_owned());
        weighed.refused("weighs classes by float[4]");
    }
}
