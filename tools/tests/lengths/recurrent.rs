//! Recurrent nodes whose steps are a loop.

use weft_onnx::proto::tensor_proto::DataType;

use super::net::{Dim, Net, int, word};
use super::run::Subject;
use super::{SEQ, check, symbol};

/// Recurrent nodes in each direction, of as many steps and sequences as callers decide; and of many.
#[test]
fn recurrent_nodes() {
    let net = |operator: &str, way: &str, dims: [Dim; 2], batch_first: i64| {
        let gates = match operator {
            "LSTM" => 4,
            "GRU" => 3,
            _ => 1,
        };
        let ways = if way == "bidirectional" { 2 } else { 1 };
        let mut net = Net::default();
        let [steps, batch] = dims;
        let (x, state) = match batch_first {
            0 => ([steps, batch, Dim::Fixed(6)], [Dim::Fixed(ways), batch, Dim::Fixed(8)]),
            _ => ([batch, steps, Dim::Fixed(6)], [batch, Dim::Fixed(ways), Dim::Fixed(8)]),
        };
        let x = net.input(DataType::Float, &x);
        let start = net.input(DataType::Float, &state);
        let weight = |net: &mut Net, dims: &[i64]| {
            net.floats(dims, |place| ((place * 7 + 3) % 13) as f32 / 26.0 - 0.25)
        };
        let w = weight(&mut net, &[ways, gates * 8, 6]);
        let r = weight(&mut net, &[ways, gates * 8, 8]);
        let b = weight(&mut net, &[ways, 2 * gates * 8]);
        let attributes =
            [int("hidden_size", 8), word("direction", way), int("layout", batch_first)];
        let outputs = if operator == "LSTM" { 3 } else { 2 };
        let made = net.several(operator, &[&x, &w, &r, &b, "", &start], &attributes, outputs);
        let made: Vec<&str> = made.iter().map(String::as_str).collect();
        Subject::new(net, &made)
    };
    for operator in ["LSTM", "GRU", "RNN"] {
        for (way, batch_first) in [("forward", 1), ("reverse", 0), ("bidirectional", 0)] {
            let fixed = net(operator, way, [Dim::Fixed(21), Dim::Fixed(3)], batch_first);
            check(&fixed, &[], &[&[]]);
            let open = net(operator, way, [SEQ, Dim::Named("batch")], batch_first);
            let symbols = [symbol("seq", 1, 19), symbol("batch", 1, 4)];
            check(&open, &symbols, &[&[19, 4], &[1, 1], &[7, 3]]);
        }
    }
}

/// Each direction is a body with weights of its own: where they lie in an artifact follows from the text.
#[test]
fn bodies_give_the_same_bytes() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[Dim::Fixed(20), Dim::Fixed(2), Dim::Fixed(6)]);
    let nodes = (0..3).map(|node| {
        let weight = |net: &mut Net, dims: &[i64]| {
            net.floats(dims, |place| ((place * 7 + node) % 13) as f32 / 26.0 - 0.25)
        };
        let (w, r) = (weight(&mut net, &[2, 8, 6]), weight(&mut net, &[2, 8, 8]));
        let attributes = [int("hidden_size", 8), word("direction", "bidirectional")];
        net.op("RNN", &[&x, &w, &r], &attributes)
    });
    let made: Vec<String> = nodes.collect();
    let subject = Subject::new(net, &made.iter().map(String::as_str).collect::<Vec<_>>());
    let bytes = || {
        subject.compile(&[], 2).expect("it compiles");
        std::fs::read(subject.folder().join("net.weft")).expect("it is written")
    };
    let first = bytes();
    // Six bodies come in one order of 720 by chance.
    assert!(bytes() == first && bytes() == first, "artifacts differ");
}
