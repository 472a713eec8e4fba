//! Gradients, beside how much a sum changes where its arguments do.

use weft_onnx::proto::NodeProto;

use crate::net::{Arg, Draw, doubles, node, run_all, text, texts};

const GRADIENT: &str = "ai.onnx.preview.training.Gradient";

fn as_doubles(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks(8).map(|eight| f64::from_le_bytes(eight.try_into().unwrap())).collect()
}

/// A tensor that a model reads, by name.
type Given = (&'static str, Vec<i64>, Vec<f64>);

/// Fails unless Gradient tells how the sum of `y` changes with each of these.
fn check(nodes: &[NodeProto], given: &[Given]) {
    let args = |given: &[Given]| -> Vec<(&'static str, Arg)> {
        given.iter().map(|(name, dims, values)| (*name, doubles(dims, values))).collect()
    };
    let names: Vec<&str> = given.iter().map(|(name, ..)| *name).collect();
    let changes: Vec<String> = names.iter().map(|name| format!("d{name}")).collect();
    let changes: Vec<&str> = changes.iter().map(String::as_str).collect();
    let attributes = [texts("xs", &names), text("y", "y")];
    let mut all = nodes.to_vec();
    all.push(node(GRADIENT, &names, &changes, &attributes));
    let found = run_all(&all, &args(given), &changes).unwrap_or_else(|why| panic!("{why}"));
    let sum = |given: &[Given]| -> f64 {
        let made = run_all(nodes, &args(given), &["y"]).unwrap_or_else(|why| panic!("{why}"));
        as_doubles(&made[0]).iter().sum()
    };
    const STEP: f64 = 1e-5;
    for (at, found) in found.iter().enumerate() {
        for (place, found) in as_doubles(found).into_iter().enumerate() {
            let [more, less] = [STEP, -STEP].map(|step| {
                let mut moved = given.to_vec();
                moved[at].2[place] += step;
                sum(&moved)
            });
            let expected = (more - less) / (2.0 * STEP);
            let near = (found - expected).abs() <= 1e-6 * (1.0 + expected.abs());
            assert!(near, "{} at {place}: {found}, not {expected}", given[at].0);
        }
    }
}

fn drawn(seed: u64, name: &'static str, dims: &[i64], least: f64) -> Given {
    let count = dims.iter().product::<i64>() as usize;
    let values = Draw::new(seed).floats(count).into_iter();
    (name, dims.to_vec(), values.map(|x| f64::from(x).abs() + least).collect())
}

#[test]
fn operators_element_by_element() {
    for operator in ["Exp", "Identity", "Log", "Neg", "Relu", "Sigmoid", "Sqrt", "Tanh"] {
        let nodes = [node(operator, &["a"], &["y"], &[])];
        check(&nodes, &[drawn(3, "a", &[2, 3], 0.5)]);
    }
    for operator in ["Add", "Div", "Mul", "Sub"] {
        let nodes = [node(operator, &["a", "b"], &["y"], &[])];
        check(&nodes, &[drawn(3, "a", &[2, 3], 0.5), drawn(4, "b", &[2, 3], 0.5)]);
        // What is extended takes the sum of where it went.
        check(&nodes, &[drawn(3, "a", &[4, 1, 3], 0.5), drawn(4, "b", &[2, 1], 0.5)]);
    }
}

#[test]
fn a_layer() {
    let nodes = [
        node("MatMul", &["x", "w"], &["product"], &[]),
        node("Add", &["product", "b"], &["sum"], &[]),
        node("Tanh", &["sum"], &["h"], &[]),
        // Read twice, so two ways lead back.
        node("Mul", &["h", "sum"], &["y"], &[]),
    ];
    let given =
        [drawn(1, "x", &[4, 3], -0.5), drawn(2, "w", &[3, 5], -0.5), drawn(3, "b", &[5], -0.5)];
    check(&nodes, &given);
}

/// The derivative is that at the inputs of the node, whatever else their names stand for.
#[test]
fn elsewhere() {
    let nodes = [
        node("Mul", &["a", "a"], &["y"], &[]),
        node(GRADIENT, &["b"], &["da"], &[texts("xs", &["a"]), text("y", "y")]),
    ];
    let given = [("a", doubles(&[2], &[1.0, 2.0])), ("b", doubles(&[2], &[10.0, 20.0]))];
    let made = run_all(&nodes, &given, &["da"]).expect("it has a meaning");
    assert_eq!(as_doubles(&made[0]), [20.0, 40.0]);
}

#[test]
fn gradients_that_are_refused() {
    let refused = |nodes: &[NodeProto], y: &str, words: &str| {
        let attributes = [texts("xs", &["a"]), text("y", y)];
        let all = [nodes, &[node(GRADIENT, &["a"], &["da"], &attributes)]].concat();
        let given = [("a", doubles(&[2, 3, 3], &[1.0; 18]))];
        let why = run_all(&all, &given, &["da"]).expect_err("it is refused");
        assert!(why.contains(words), "{why}");
    };
    let sine = [node("Sin", &["a"], &["y"], &[])];
    refused(&sine, "y", "goes through Sin, whose derivative is not known");
    let batch = [node("MatMul", &["a", "a"], &["y"], &[])];
    refused(&batch, "y", "goes back to input 0 of MatMul");
    let halves = [
        node("Split", &["a"], &["one", "two"], &[crate::net::int("num_outputs", 2)]),
        node("Neg", &["two"], &["y"], &[]),
    ];
    refused(&halves, "y", "goes through Split");
    refused(&sine, "a", "asks how \"a\" changes, which no node makes");
}
