//! Numbers as small integers, and products of them.

use crate::net::{Net, int};

use weft_onnx::proto::AttributeProto;
use weft_onnx::proto::tensor_proto::DataType;

use DataType::{Float, Float8e4m3fn, Int4, Int8, Int32, Uint8};

fn quantized(scale: &[&str], attributes: Vec<AttributeProto>) -> Net {
    let net = Net::new().opset(21).input("x", &["2", "6", "4"]).input("s", scale);
    net.node_with("QuantizeLinear", &["x", "s"], &["y"], attributes)
}

#[test]
fn to_integers() {
    quantized(&[], vec![]).gives(Uint8, &["2", "6", "4"]);
    quantized(&["6"], vec![]).gives(Uint8, &["2", "6", "4"]);
    let block = vec![int("axis", 1), int("block_size", 4), int("output_dtype", 3)];
    quantized(&["2", "2", "4"], block).gives(Int8, &["2", "6", "4"]);
    quantized(&["5"], vec![]).refused("one for each place on axis 1");
    quantized(&[], vec![int("output_dtype", 22)]).gives(Int4, &["2", "6", "4"]);
    quantized(&[], vec![int("output_dtype", 17)]).gives(Float8e4m3fn, &["2", "6", "4"]);
    quantized(&[], vec![int("output_dtype", 6)]).refused("int8, uint8, int16, uint16");
    // A power of two is a scale, no number to keep.
    quantized(&[], vec![int("output_dtype", 24)]).refused("int8, uint8, int16, uint16");
    quantized(&["2", "2", "4"], vec![int("block_size", -4)]).refused("one scale");
}

#[test]
fn from_integers() {
    let net = |zero: &[&str]| {
        let net = Net::new().input_of("x", Int8, &["2", "3"]).input("s", &["3"]);
        net.input_of("z", Int8, zero).node("DequantizeLinear", &["x", "s", "z"], &["y"])
    };
    net(&["3"]).gives(Float, &["2", "3"]);
    net(&[]).refused("one shape of both");
    let scales = |ty| {
        let net = Net::new().opset(25).input_of("x", Int4, &["2", "3"]).input_of("s", ty, &["3"]);
        net.node_with("DequantizeLinear", &["x", "s"], &["y"], vec![int("output_dtype", 1)])
    };
    scales(DataType::Float8e8m0).gives(Float, &["2", "3"]);
    scales(DataType::Float8e5m2).refused("\"x_scale\"");
    let net = Net::new().input("x", &["2", "3"]).node("DynamicQuantizeLinear", &["x"], &["y"]);
    net.gives(Uint8, &["2", "3"]);
}

#[test]
fn products() {
    let net = |zero: &[&str]| {
        let net =
            Net::new().input_of("a", Uint8, &["5", "2", "3"]).input_of("b", Int8, &["3", "4"]);
        let net = net.input_of("za", Uint8, zero).input_of("zb", Int8, &["4"]);
        net.node("MatMulInteger", &["a", "b", "za", "zb"], &["y"])
    };
    net(&["2"]).gives(Int32, &["5", "2", "4"]);
    net(&[]).gives(Int32, &["5", "2", "4"]);
    net(&["3"]).refused("one for each row on the left or column on the right");
    let net = Net::new()
        .input_of("a", Int8, &["2", "3"])
        .input_of("b", Int8, &["3", "4"])
        .input("s", &[])
        .input_of("z", Int8, &[]);
    let operands = ["a", "s", "z", "b", "s", "z", "s", "z"];
    net.node("QLinearMatMul", &operands, &["y"]).gives(Int8, &["2", "4"]);
}
