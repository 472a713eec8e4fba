//! Every conversion to and from elements of at most a byte, by the interpreter and by compiled code,
//! against `weft_runtime::narrow`, which searches the numbers of a format for the nearest.

use prost::Message;
use weft::{Device, Options, Unit};
use weft_dialects::graph::Model as Graph;
use weft_onnx::ElementType::{self, *};
use weft_onnx::proto::attribute_proto::AttributeType;
use weft_onnx::proto::tensor_proto::DataType;
use weft_onnx::proto::tensor_shape_proto::{Dimension, dimension};
use weft_onnx::proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorShapeProto,
    TypeProto, ValueInfoProto, type_proto,
};
use weft_passes::interpret::run_model;
use weft_runtime::narrow::{Rounding, Specials};
use weft_runtime::tensor::Number;
use weft_runtime::{DType, Model, Tensor};

/// A conversion: to which type, with which attributes.
#[derive(Clone, Copy, Debug)]
struct To {
    element: ElementType,
    saturates: bool,
    rounding: Rounding,
}

const fn to(element: ElementType) -> To {
    To { element, saturates: true, rounding: Rounding::Up }
}

fn code(element: ElementType) -> DataType {
    let codes = (1..64).filter_map(|code| DataType::try_from(code).ok());
    let mut same = codes.filter(|&code| {
        ElementType::from_onnx(code.into(), "a test").is_ok_and(|found| found == element)
    });
    same.next().expect("ONNX has the type")
}

fn info(name: &str, element: ElementType, count: usize) -> ValueInfoProto {
    let extent =
        Dimension { value: Some(dimension::Value::DimValue(count as i64)), ..Dimension::default() };
    let tensor = type_proto::Tensor {
        elem_type: Some(code(element).into()),
        shape: Some(TensorShapeProto { dim: vec![extent] }),
    };
    let value = Some(type_proto::Value::TensorType(tensor));
    ValueInfoProto {
        name: Some(name.to_owned()),
        r#type: Some(TypeProto { value, ..TypeProto::default() }),
        ..ValueInfoProto::default()
    }
}

fn cast(number: usize, to: To) -> NodeProto {
    let int = |name: &str, i: i64| AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(AttributeType::Int.into()),
        i: Some(i),
        ..AttributeProto::default()
    };
    let mode = match to.rounding {
        Rounding::Up => "up",
        Rounding::Down => "down",
        Rounding::Nearest => "nearest",
    };
    let mode = AttributeProto {
        name: Some("round_mode".to_owned()),
        r#type: Some(AttributeType::String.into()),
        s: Some(mode.into()),
        ..AttributeProto::default()
    };
    let target = int("to", i64::from(i32::from(code(to.element))));
    NodeProto {
        op_type: Some("Cast".to_owned()),
        input: vec!["x".to_owned()],
        output: vec![format!("y{number}")],
        attribute: vec![target, int("saturate", to.saturates.into()), mode],
        ..NodeProto::default()
    }
}

/// A model of one input and all conversions of it.
fn model(from: ElementType, count: usize, all: &[To]) -> Vec<u8> {
    let outputs = all.iter().enumerate();
    let graph = GraphProto {
        name: Some("casts".to_owned()),
        input: vec![info("x", from, count)],
        output: outputs.map(|(n, to)| info(&format!("y{n}"), to.element, count)).collect(),
        node: all.iter().enumerate().map(|(n, to)| cast(n, *to)).collect(),
        ..GraphProto::default()
    };
    let opset = OperatorSetIdProto { version: Some(25), ..OperatorSetIdProto::default() };
    ModelProto { opset_import: vec![opset], graph: Some(graph), ..ModelProto::default() }
        .encode_to_vec()
}

/// What becomes of a number, from the definitions.
fn expected(x: Number, to: To) -> Number {
    if let Some(format) = to.element.format() {
        let code = match format.specials {
            Specials::Scale => format.encode_scale(x.as_f64(), to.rounding, to.saturates),
            _ => format.encode(x.as_f64(), to.saturates),
        };
        return Number::Float(format.decode(code));
    }
    let whole = match (x, to.element.is_narrow_integer(), to.element.integer_range()) {
        (Number::Int(x), _, _) => x,
        (Number::Float(x), true, _) => i128::from(x as i32),
        (Number::Float(x), false, range) => {
            let (least, most) = range.unwrap_or((0, 0));
            (x as i128).clamp(least, most)
        }
    };
    match to.element {
        Bool => Number::Int((x.as_f64() != 0.0).into()),
        _ if to.element.integer_range().is_some() => {
            let unused = 128 - to.element.bits();
            let top = whole << unused;
            let kept = if to.element.is_unsigned() {
                (top as u128 >> unused) as i128
            } else {
                top >> unused
            };
            Number::Int(kept)
        }
        F16 => Number::Float(half::f16::from_f64(x.as_f64()).to_f64()),
        BF16 => Number::Float(half::bf16::from_f64(x.as_f64()).to_f64()),
        F32 => Number::Float((x.as_f64() as f32).into()),
        _ => Number::Float(x.as_f64()),
    }
}

fn same(got: Number, want: Number) -> bool {
    match (got, want) {
        (Number::Float(got), Number::Float(want)) => {
            got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan()
        }
        (got, want) => got == want,
    }
}

fn check(from: ElementType, bytes: &[u8], all: &[To]) {
    let count = bytes.len() / from.bytes();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("casts.onnx");
    std::fs::write(&path, model(from, count, all)).expect("written");
    let context = weft::context();
    let options = Options { device: Device::Host, ..Options::default() };
    let mut unit = Unit::open(&context, &path, options).expect("it is a model");
    let ops = unit.module().body(0).map(|block| block.ops()).unwrap_or_default();
    let graph = ops.into_iter().find_map(Graph::of).expect("the text holds a model");
    let mut weights = |_: &str, _: &str| Err("there are no weights".into());
    let interpreted =
        run_model(graph.op, &[bytes.to_vec()], &mut weights, &mut |_, _| {}).expect("it runs");
    let artifact = folder.path().join("casts.weft");
    unit.write_artifact(&artifact).expect("it compiles");
    let mut compiled = Model::load(&artifact, Some(1)).expect("it loads");
    let mut places = compiled.output_buffers();
    let mut refs: Vec<&mut [u8]> = places.iter_mut().map(Vec::as_mut_slice).collect();
    compiled.run(&[bytes], &mut refs).expect("it runs");

    let tensor = |dtype: DType, bytes: &[u8]| Tensor {
        dtype,
        shape: vec![count as u64],
        bytes: bytes.to_vec(),
    };
    let given = tensor(from.dtype(), bytes);
    for (number, to) in all.iter().enumerate() {
        for (who, got) in [("interpreter", &interpreted[number]), ("code", &places[number])] {
            let got = tensor(to.element.dtype(), got);
            for at in 0..count {
                let (x, got) = (given.number(at), got.number(at));
                let want = expected(x, *to);
                assert!(same(got, want), "{who}: {from} {x} as {to:?} is {got}, not {want}");
            }
        }
    }
}

/// Every conversion to a narrow type.
fn narrowing() -> Vec<To> {
    let mut all = Vec::new();
    for &element in ElementType::NARROW_FLOATS.iter().chain(ElementType::NARROW_INTEGERS) {
        all.push(to(element));
        if element.format().is_some_and(|format| format.bits() == 8) {
            all.push(To { saturates: false, ..to(element) });
        }
    }
    for rounding in [Rounding::Down, Rounding::Nearest] {
        let scale = To { rounding, ..to(F8E8M0FNU) };
        all.extend([scale, To { saturates: false, ..scale }]);
    }
    all
}

/// Every number of every format, the middles between neighbours, and what lies just beside them.
fn borders() -> Vec<f64> {
    let mut all = vec![f64::NAN, f64::INFINITY, 0.0, 1e-45, 1e-39, 3.4e38, 1e9, 3e5, 70_000.0];
    for element in ElementType::NARROW_FLOATS {
        let format = element.format().expect("a format");
        for code in 0..=format.greatest() {
            let low = format.decode(code);
            let high = match code == format.greatest() {
                true => 2.0 * low - format.decode(code - 1),
                false => format.decode(code + 1),
            };
            let middle = (low + high) / 2.0;
            for x in [low, middle, high] {
                all.extend([x, x * (1.0 + 2f64.powi(-23)), x * (1.0 - 2f64.powi(-24))]);
                // A double that a float would round to the middle.
                all.extend([x * (1.0 + 2f64.powi(-45)), x * (1.0 - 2f64.powi(-45))]);
            }
        }
    }
    all.iter().flat_map(|&x| [x, -x]).collect()
}

#[test]
fn from_halves() {
    let all: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    check(F16, &all, &narrowing());
    check(BF16, &all, &narrowing());
}

#[test]
fn from_floats() {
    let singles: Vec<u8> = borders().iter().flat_map(|&x| (x as f32).to_le_bytes()).collect();
    check(F32, &singles, &narrowing());
    let doubles: Vec<u8> = borders().iter().flat_map(|&x| x.to_le_bytes()).collect();
    check(F64, &doubles, &narrowing());
}

#[test]
fn from_integers() {
    let bytes: Vec<u8> = (0..=255).collect();
    check(I8, &bytes, &narrowing());
    check(U8, &bytes, &narrowing());
    let some = [0, 1, -1, 17, 300, -300, 65_504, 1 << 20, i32::MAX, i32::MIN];
    let words: Vec<u8> = some.into_iter().flat_map(i32::to_le_bytes).collect();
    check(I32, &words, &narrowing());
}

#[test]
fn from_narrow_types() {
    for &from in ElementType::NARROW_FLOATS.iter().chain(ElementType::NARROW_INTEGERS) {
        let signed = from.is_narrow_integer() && !from.is_unsigned();
        let unused = 8 - from.bits();
        let byte = |code: u16| match signed {
            true => (((code as u8) << unused) as i8 >> unused) as u8,
            false => code as u8,
        };
        let codes: Vec<u8> = (0..1u16 << from.bits()).map(byte).collect();
        let wide = [F32, F16, BF16, F64, I32, I8, U8, Bool].map(to);
        check(from, &codes, &[&wide[..], &narrowing()].concat());
    }
}
