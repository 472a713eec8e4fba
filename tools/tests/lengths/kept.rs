//! Passes that write nests anew where callers, or data, decide how much there is: as they do where all is fixed.

use weft_onnx::proto::tensor_proto::DataType;

use super::net::{Dim, Net, int, ints};
use super::run::Subject;
use super::{check, check_passing, symbol};

const BATCH: Dim = Dim::Named("batch");

/// What passes say of a model that is compiled for one to so many images.
fn remarks(subject: &Subject, most: u64, passes: &[[&str; 3]]) -> String {
    let dim = format!("batch=1..{most}");
    let mut arguments = vec!["compile", "net.onnx", "-o", "said.weft", "--dim", &dim];
    let passes: Vec<String> =
        passes.iter().map(|[pass, option, value]| format!("{pass}.{option}={value}")).collect();
    for pass in &passes {
        arguments.extend(["--pass-option", pass]);
    }
    subject.said(&arguments).expect("it compiles")
}

/// Fails unless a pass says these words of a model, which has the interpreter's results for one to five images.
fn check_images(subject: &Subject, words: &str, passes: &[[&str; 3]]) {
    let told = remarks(subject, 5, passes);
    assert!(told.contains(words), "{words:?} is not said:\n{told}");
    check_passing(subject, &[symbol("batch", 1, 5)], &[&[5], &[1], &[3], &[2]], passes);
}

/// A convolution with a border, with its sums and what is behind them.
fn images(net: &mut Net, x: &str, channels: [i64; 2], step: i64) -> String {
    let [from, to] = channels;
    let w = net.floats(&[to, from, 3, 3], |place| (place % 13) as f32 / 13.0 - 0.45);
    let b = net.floats(&[to], |place| place as f32 / 40.0);
    let attributes = [ints("pads", &[1, 1, 1, 1]), ints("strides", &[step, step])];
    let y = net.op("Conv", &[x, &w, &b], &attributes);
    net.op("Relu", &[&y], &[])
}

fn network() -> Subject {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[BATCH, Dim::Fixed(8), Dim::Fixed(12), Dim::Fixed(12)]);
    let y = images(&mut net, &x, [8, 16], 1);
    let window = [ints("kernel_shape", &[3, 3]), ints("pads", &[1; 4]), ints("strides", &[2, 2])];
    let y = net.op("MaxPool", &[&y], &window);
    let z = images(&mut net, &y, [16, 16], 1);
    let z = net.op("Add", &[&y, &z], &[]);
    let z = images(&mut net, &z, [16, 32], 2);
    let means = net.op("GlobalAveragePool", &[&z], &[]);
    let means = net.op("Flatten", &[&means], &[]);
    let w = net.floats(&[32, 10], |place| (place % 7) as f32 / 7.0 - 0.4);
    let classes = net.op("MatMul", &[&means, &w], &[]);
    Subject::new(net, &[&z, &classes])
}

#[test]
fn images_in_panels() {
    let passes = [["tile-lay-out", "tensors", "all"], ["tile-lay-out", "remarks", "true"]];
    let all = network();
    check_passing(&all, &[symbol("batch", 1, 5)], &[&[5], &[1], &[4]], &passes);
    let cheaper = [["tile-lay-out", "remarks", "true"]];
    check_images(&all, "tensors of @conv", &cheaper);
}

#[test]
fn images_in_transformed_tiles() {
    let pass = "graph-winograd";
    let passes = [
        [pass, "tiles", "any"],
        [pass, "when", "always"],
        [pass, "error", "1000"],
        [pass, "remarks", "true"],
    ];
    check_images(&network(), "is computed by F(", &passes);
}

#[test]
fn borders_of_images() {
    let pass = "tile-fill-borders";
    check_passing(
        &network(),
        &[symbol("batch", 1, 5)],
        &[&[5], &[1], &[4]],
        &[[pass, "borders", "all"]],
    );
}

#[test]
fn factors_of_fewer_bits() {
    let pass = "graph-cut-factors";
    let passes = [[pass, "f32", "tf32x3"], [pass, "when", "always"]];
    check_passing(&network(), &[symbol("batch", 1, 5)], &[&[5], &[1], &[4]], &passes);
}

/// Bytes with scales and zero points around products, sums and windows.
#[test]
fn bytes_of_images() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[BATCH, Dim::Fixed(8), Dim::Fixed(10), Dim::Fixed(10)]);
    let scale = net.scalar(1.0 / 128.0);
    let zero = net.constant(DataType::Uint8, &[], vec![128]);
    let through = |net: &mut Net, x: &str| {
        let bytes = net.op("QuantizeLinear", &[x, &scale, &zero], &[]);
        net.op("DequantizeLinear", &[&bytes, &scale, &zero], &[])
    };
    let weight = |net: &mut Net, dims: &[i64]| {
        let count = dims.iter().product::<i64>();
        let bytes = (0..count).map(|place| (place * 37 % 251 - 125) as i8 as u8).collect();
        let bytes = net.constant(DataType::Int8, dims, bytes);
        let (scale, zero) = (net.scalar(0.001), net.constant(DataType::Int8, &[], vec![0]));
        net.op("DequantizeLinear", &[&bytes, &scale, &zero], &[])
    };
    let y = through(&mut net, &x);
    let w = weight(&mut net, &[12, 8, 3, 3]);
    let y = net.op("Conv", &[&y, &w], &[ints("pads", &[1; 4])]);
    let y = net.op("Relu", &[&y], &[]);
    let y = through(&mut net, &y);
    let window = [ints("kernel_shape", &[3, 3]), ints("pads", &[1; 4]), ints("strides", &[2, 2])];
    let y = net.op("MaxPool", &[&y], &window);
    let turned = net.op("Transpose", &[&y], &[ints("perm", &[0, 2, 3, 1])]);
    let w = weight(&mut net, &[12, 16]);
    let rows = net.op("MatMul", &[&turned, &w], &[]);
    let rows = through(&mut net, &rows);
    let flat = net.op("Flatten", &[&rows], &[int("axis", 3)]);
    let w = weight(&mut net, &[16, 6]);
    let last = net.op("MatMul", &[&flat, &w], &[]);
    let subject = Subject::new(net, &[&rows, &last]);
    check(&subject, &[symbol("batch", 1, 5)], &[&[5], &[1], &[3], &[2]]);
}

/// Weights of four bits in blocks, and activations that are rounded for them.
#[test]
fn weights_of_four_bits() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[BATCH, Dim::Fixed(512)]);
    let bytes = (0..24 * 256).map(|place| (place * 29 % 256) as u8).collect();
    let w = net.constant(DataType::Uint8, &[24, 2, 128], bytes);
    let scales = net.floats(&[48], |place| 0.01 + place as f32 / 1000.0);
    let attributes = [int("K", 512), int("N", 24), int("bits", 4), int("block_size", 256)];
    let y = net.microsoft("MatMulNBits", &[&x, &w, &scales], &attributes, 1).remove(0);
    let y = net.op("Relu", &[&y], &[]);
    // A weight that is what it is stays so.
    let w = net.floats(&[24, 6], |place| (place % 7) as f32 / 7.0 - 0.4);
    let y = net.op("MatMul", &[&y, &w], &[]);
    let subject = Subject::new(net, &[&y]);
    // Blocks are as long as sums of a few rows pay for.
    let pass = "graph-quantise-activations";
    let passes = [[pass, "to", "int16"], [pass, "remarks", "true"]];
    let told = remarks(&subject, 3, &passes);
    assert!(told.contains("multiplies activations of 16 bits"), "{told}");
    for passes in [&passes[..], &[]] {
        check_passing(&subject, &[symbol("batch", 1, 3)], &[&[3], &[1], &[2]], passes);
    }
}

/// A network of fixed size before rows that data keep: what they keep decides nothing about the network.
#[test]
fn a_network_before_what_data_keep() {
    let mut net = Net::default();
    let dims = [Dim::Fixed(1), Dim::Fixed(8), Dim::Fixed(12), Dim::Fixed(12)];
    let x = net.input(DataType::Float, &dims);
    let y = images(&mut net, &x, [8, 32], 1);
    let y = images(&mut net, &y, [32, 32], 1);
    let turned = net.op("Transpose", &[&y], &[ints("perm", &[0, 2, 3, 1])]);
    let shape = net.longs(&[144, 32]);
    let rows = net.op("Reshape", &[&turned, &shape], &[]);
    let most = net.op("ReduceMax", &[&rows], &[int("keepdims", 0)]);
    let axis = net.longs(&[1]);
    let sums = net.op("ReduceMax", &[&rows, &axis], &[int("keepdims", 0)]);
    let half = net.scalar(0.5);
    let least = net.op("Mul", &[&most, &half], &[]);
    let marks = net.op("Greater", &[&sums, &least], &[]);
    let kept = net.op("Compress", &[&rows, &marks], &[int("axis", 0)]);
    let w = net.floats(&[32, 4], |place| (place % 7) as f32 / 7.0 - 0.4);
    let boxes = net.op("MatMul", &[&kept, &w], &[]);
    let subject = Subject::new(net, &[&kept, &boxes]);
    let joined = ["tile-connect-edges", "joining", "all"];
    let panels = ["tile-lay-out", "remarks", "true"];
    let told = subject.said(&[
        "compile",
        "net.onnx",
        "-o",
        "said.weft",
        "--pass-option",
        "tile-lay-out.remarks=true",
    ]);
    assert!(told.expect("it compiles").contains("tensors of @conv"));
    check_passing(&subject, &[], &[&[]], &[panels]);
    check_passing(&subject, &[], &[&[]], &[joined]);
}
