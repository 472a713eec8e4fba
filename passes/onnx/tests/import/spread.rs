//! The transposed convolution, sums up to an element, and the first of many.

use crate::net::{Net, int, ints, text};

use weft_onnx::proto::AttributeProto;
use weft_onnx::proto::tensor_proto::DataType;

const FLOAT: DataType = DataType::Float;

fn spread(weights: &[i64], attributes: Vec<AttributeProto>) -> Net {
    let net = Net::new().input("x", &["1", "4", "5", "6"]).zeros("w", weights);
    net.node_with("ConvTranspose", &["x", "w"], &["y"], attributes)
}

#[test]
fn windows_that_are_spread() {
    spread(&[4, 3, 3, 3], vec![]).gives(FLOAT, &["1", "3", "7", "8"]);
    let twice = || ints("strides", &[2, 2]);
    spread(&[4, 3, 2, 2], vec![twice()]).gives(FLOAT, &["1", "3", "10", "12"]);
    spread(&[4, 3, 3, 3], vec![twice(), ints("pads", &[1, 1, 1, 1])])
        .gives(FLOAT, &["1", "3", "9", "11"]);
    let more = vec![twice(), ints("pads", &[1; 4]), ints("output_padding", &[1, 1])];
    spread(&[4, 3, 3, 3], more).gives(FLOAT, &["1", "3", "10", "12"]);
    spread(&[4, 3, 3, 3], vec![ints("dilations", &[2, 1])]).gives(FLOAT, &["1", "3", "9", "8"]);
    spread(&[4, 3, 3, 3], vec![twice(), text("auto_pad", "SAME_UPPER")])
        .gives(FLOAT, &["1", "3", "10", "12"]);
    spread(&[4, 3, 3, 3], vec![twice(), ints("output_shape", &[9, 13])])
        .gives(FLOAT, &["1", "3", "9", "13"]);
    spread(&[4, 3, 3, 3], vec![int("group", 2)]).gives(FLOAT, &["1", "6", "7", "8"]);
}

#[test]
fn windows_that_are_refused() {
    spread(&[3, 3, 3, 3], vec![]).refused("one row for each channel");
    spread(&[4, 3, 3, 3], vec![int("group", 3)]).refused("groups that divide the channels");
    spread(&[4, 3, 3, 3], vec![ints("pads", &[9; 4])]).refused("pads that leave an element");
    spread(&[4, 3, 3, 3], vec![ints("strides", &[1])]).refused("2 numbers for float[1x4x5x6]");
    spread(&[4, 3, 3, 3], vec![ints("kernel_shape", &[2, 2])]).refused("the weights' shape");
    spread(&[4, 3, 3, 3], vec![text("auto_pad", "SOME")]).refused("SAME_LOWER or VALID");
    let net = Net::new().input("x", &["1", "4", "5"]).zeros("w", &[4, 3, 2]).zeros("b", &[2]);
    net.node("ConvTranspose", &["x", "w", "b"], &["y"]).refused("each of its 3 filters");
}

#[test]
fn sums_up_to_an_element() {
    let sum = |axis: i64| {
        let net = Net::new().input("x", &["3", "5"]).ints("axis", &[axis]);
        net.node_with("CumSum", &["x", "axis"], &["y"], vec![int("reverse", 1)])
    };
    sum(-2).gives(FLOAT, &["3", "5"]);
    sum(2).refused("has axis 2 for 2 dimensions");
}

#[test]
fn the_first_of_many() {
    let first = |k: &[i64], outputs: &[&str]| {
        let net = Net::new().input("x", &["3", "5"]).ints("k", k);
        net.node("TopK", &["x", "k"], outputs)
    };
    first(&[2], &["y"]).gives(FLOAT, &["3", "2"]);
    first(&[0], &["v", "y"]).gives(DataType::Int64, &["3", "0"]);
    first(&[6], &["y"]).refused("one number, 0 to 5");
    first(&[1, 2], &["y"]).refused("one number, 0 to 5");
}

#[test]
fn places_that_data_says() {
    let read = |x: &[&str], grid: &[&str], attributes| {
        let net = Net::new().opset(20).input("x", x).input("g", grid);
        net.node_with("GridSample", &["x", "g"], &["y"], attributes)
    };
    read(&["2", "3", "5", "7"], &["2", "4", "6", "2"], vec![text("mode", "cubic")])
        .gives(FLOAT, &["2", "3", "4", "6"]);
    read(&["2", "3", "5", "7", "4"], &["2", "4", "6", "1", "3"], vec![])
        .gives(FLOAT, &["2", "3", "4", "6", "1"]);
    read(&["2", "3", "5", "7"], &["2", "4", "6", "3"], vec![]).refused("as many coordinates");
    read(&["2", "3", "5", "7"], &["2", "4", "6", "2"], vec![text("mode", "area")])
        .refused("nearest, linear or cubic");
    read(&["2", "3", "5", "7"], &["2", "4", "6", "2"], vec![text("padding_mode", "wrap")])
        .refused("zeros, border or reflection");
}

#[test]
fn the_middle_and_the_opposite_order() {
    let middle = |shape: &[i64], axes: &[i64]| {
        let net = Net::new().input("x", &["7", "4", "3"]).ints("s", shape);
        net.node_with("CenterCropPad", &["x", "s"], &["y"], vec![ints("axes", axes)])
    };
    middle(&[5, 6], &[0, 2]).gives(FLOAT, &["5", "4", "6"]);
    middle(&[5, 6, 1], &[0, 2]).refused("2 extents, from 0");
    let turn = |lengths: &[&str], time| {
        let net = Net::new().input("x", &["7", "4"]).input_of("n", DataType::Int64, lengths);
        net.node_with("ReverseSequence", &["x", "n"], &["y"], vec![int("time_axis", time)])
    };
    turn(&["4"], 0).gives(FLOAT, &["7", "4"]);
    turn(&["7"], 0).refused("one length for each place on axis 1");
    turn(&["4"], 1).refused("another axis for time");
}
