//! The shapes of results, where they take some arithmetic.

use crate::net::{Net, int, ints, text};

use weft_onnx::proto::tensor_proto::DataType;

/// Checks that `net`, whose result is `y`, gives floats of the shape `dims`.
fn gives(net: Net, dims: &[&str]) {
    net.output_of("y", DataType::Float, dims).check().unwrap_or_else(|error| panic!("{error}"));
}

fn image(extents: &[&str]) -> Net {
    Net::new().input("x", &[&["1", "4"], extents].concat())
}

#[test]
fn convolutions() {
    let conv = |attributes| {
        image(&["7", "9"]).zeros("w", &[6, 4, 3, 3]).node_with(
            "Conv",
            &["x", "w"],
            &["y"],
            attributes,
        )
    };
    gives(conv(vec![]), &["1", "6", "5", "7"]);
    gives(conv(vec![ints("pads", &[1, 0, 1, 2])]), &["1", "6", "7", "9"]);
    gives(conv(vec![ints("strides", &[2, 3])]), &["1", "6", "3", "3"]);
    gives(conv(vec![ints("dilations", &[3, 1])]), &["1", "6", "1", "7"]);
    gives(
        conv(vec![text("auto_pad", "SAME_UPPER"), ints("strides", &[2, 2])]),
        &["1", "6", "4", "5"],
    );
    gives(conv(vec![text("auto_pad", "VALID")]), &["1", "6", "5", "7"]);
    let grouped = image(&["7"]).zeros("w", &[8, 2, 3]);
    gives(grouped.node_with("Conv", &["x", "w"], &["y"], vec![int("group", 2)]), &["1", "8", "5"]);
}

#[test]
fn pools() {
    let pool = |op: &str, mut attributes: Vec<_>| {
        attributes.push(ints("kernel_shape", &[3, 3]));
        image(&["7", "8"]).node_with(op, &["x"], &["y"], attributes)
    };
    let half = || ints("strides", &[2, 2]);
    gives(pool("MaxPool", vec![half()]), &["1", "4", "3", "3"]);
    gives(pool("MaxPool", vec![half(), int("ceil_mode", 1)]), &["1", "4", "3", "4"]);
    // The last window would begin in the border.
    let wide = vec![ints("strides", &[4, 4]), ints("pads", &[1, 1, 1, 1]), int("ceil_mode", 1)];
    gives(pool("AveragePool", wide), &["1", "4", "2", "3"]);
    gives(image(&["7", "8"]).node("GlobalAveragePool", &["x"], &["y"]), &["1", "4", "1", "1"]);
}

#[test]
fn products() {
    let product = |a: &[&str], b: &[&str]| {
        Net::new().input("a", a).input("b", b).node("MatMul", &["a", "b"], &["y"])
    };
    gives(product(&["3"], &["3"]), &[]);
    gives(product(&["2", "3"], &["3"]), &["2"]);
    gives(product(&["3"], &["5", "3", "4"]), &["5", "4"]);
    gives(product(&["5", "1", "2", "3"], &["6", "3", "4"]), &["5", "6", "2", "4"]);
}

#[test]
fn slices() {
    let slice = |starts: &[i64], ends: &[i64], axes: &[i64], steps: &[i64]| {
        let net = Net::new().input("x", &["10", "5"]);
        net.ints("starts", starts).ints("ends", ends).ints("axes", axes).ints("steps", steps).node(
            "Slice",
            &["x", "starts", "ends", "axes", "steps"],
            &["y"],
        )
    };
    gives(slice(&[1], &[8], &[0], &[3]), &["3", "5"]);
    gives(slice(&[-3], &[i64::MAX], &[0], &[1]), &["3", "5"]);
    gives(slice(&[-1, -1], &[i64::MIN, -4], &[0, 1], &[-1, -2]), &["10", "2"]);
    gives(slice(&[7], &[3], &[0], &[1]), &["0", "5"]);
    gives(slice(&[i64::MAX], &[i64::MIN], &[0], &[i64::MIN]), &["1", "5"]);
}

#[test]
fn reshapes() {
    let reshape = |shape: &[i64], attributes| {
        let net = Net::new().input("x", &["2", "0", "4"]).input("z", &["2", "3", "4"]);
        let net =
            net.ints("shape", shape).node_with("Reshape", &["z", "shape"], &["y"], attributes);
        net.ints("empty", &[3, 4, 0])
    };
    gives(reshape(&[0, -1], vec![]), &["2", "12"]);
    gives(reshape(&[4, 1, 6], vec![]), &["4", "1", "6"]);
    let net = reshape(&[5, -1], vec![]).output("y");
    assert!(net.error().contains("another number of elements than 24"));
    let net = reshape(&[-1, -1], vec![]).output("y");
    assert!(net.error().contains("several extents"));
    let empty = Net::new().input("x", &["0", "3"]).ints("shape", &[3, 0]);
    let allow = vec![int("allowzero", 1)];
    gives(empty.node_with("Reshape", &["x", "shape"], &["y"], allow), &["3", "0"]);
}

#[test]
fn reductions() {
    let reduce = |axes: &[i64], attributes| {
        let net = Net::new().input("x", &["2", "3", "4"]).ints("axes", axes);
        net.node_with("ReduceSum", &["x", "axes"], &["y"], attributes)
    };
    gives(reduce(&[-1, 0], vec![]), &["1", "3", "1"]);
    gives(reduce(&[1], vec![int("keepdims", 0)]), &["2", "4"]);
    gives(reduce(&[], vec![int("keepdims", 0)]), &[]);
    gives(reduce(&[], vec![int("noop_with_empty_axes", 1)]), &["2", "3", "4"]);
    // Up to version 17 the axes are an attribute.
    let old = Net::new().opset(17).input("x", &["2", "3"]);
    gives(old.node_with("ReduceMax", &["x"], &["y"], vec![ints("axes", &[1])]), &["2", "1"]);
}

#[test]
fn lookups() {
    let net = Net::new().input("x", &["30", "8"]).input_of("i", DataType::Int64, &["2", "5"]);
    gives(net.node("Gather", &["x", "i"], &["y"]), &["2", "5", "8"]);
    let net = Net::new().input("x", &["2", "3"]).ints("axes", &[0, -1]);
    gives(net.node("Unsqueeze", &["x", "axes"], &["y"]), &["1", "2", "3", "1"]);
    let net = Net::new().input("x", &["2", "3"]).ints("repeats", &[2, 3]);
    gives(net.node("Tile", &["x", "repeats"], &["y"]), &["4", "9"]);
    let net = Net::new().input("x", &["2", "3"]).ints("pads", &[1, -1, 0, 2]);
    gives(net.node("Pad", &["x", "pads"], &["y"]), &["3", "4"]);
}
