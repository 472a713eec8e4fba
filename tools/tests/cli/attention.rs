//! The operator `Attention`: which keys a token sees, against the formula of the standard in f64.

use prost::Message;
use weft_onnx::proto::attribute_proto::AttributeType;
use weft_onnx::proto::tensor_shape_proto::{Dimension, dimension};
use weft_onnx::proto::type_proto::{Tensor, Value};
use weft_onnx::proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto,
    TensorShapeProto, TypeProto, ValueInfoProto,
};

use super::{folder, weft, write};

const TOKENS: usize = 3;
const KEYS: usize = 6;
const WIDTH: usize = 2;

/// What bounds the keys of a token, `None` where nothing does.
#[derive(Clone, Copy, Debug, Default)]
struct Case {
    causal: bool,
    left: Option<i64>,
    right: Option<i64>,
    /// Keys that count.
    length: Option<i64>,
}

impl Case {
    fn sees(self, token: usize, key: usize) -> bool {
        let (key, end) = (key as i64, self.length.unwrap_or(KEYS as i64));
        let front = self.length.map_or(0, |length| length - TOKENS as i64);
        let place = token as i64 + front;
        key < end
            && (!self.causal || key <= place)
            && self.right.is_none_or(|keys| key <= place + keys)
            && self.left.is_none_or(|keys| key >= place - keys)
    }

    /// One head's values, weighed; a token that sees no key has none.
    fn expected(self, [q, k, v]: &[Vec<f32>; 3]) -> Vec<f32> {
        let mut found = Vec::new();
        for token in 0..TOKENS {
            let score = |key: usize| -> f64 {
                let product = |at: usize| f64::from(q[token * WIDTH + at] * k[key * WIDTH + at]);
                (0..WIDTH).map(product).sum::<f64>() / (WIDTH as f64).sqrt()
            };
            let seen: Vec<usize> = (0..KEYS).filter(|&key| self.sees(token, key)).collect();
            let total: f64 = seen.iter().map(|&key| score(key).exp()).sum();
            for at in 0..WIDTH {
                let weighed =
                    seen.iter().map(|&key| score(key).exp() * f64::from(v[key * WIDTH + at]));
                let sum: f64 = weighed.sum();
                found.push(if seen.is_empty() { 0.0 } else { (sum / total) as f32 });
            }
        }
        found
    }

    fn model(self) -> Vec<u8> {
        let port = |name: &str, elem: i32, dims: &[usize]| {
            let dim = |&extent: &usize| Dimension {
                value: Some(dimension::Value::DimValue(extent as i64)),
                ..Default::default()
            };
            let shape = TensorShapeProto { dim: dims.iter().map(dim).collect() };
            let tensor = Tensor { elem_type: Some(elem), shape: Some(shape) };
            let ty = TypeProto { value: Some(Value::TensorType(tensor)), ..Default::default() };
            ValueInfoProto { name: Some(name.to_owned()), r#type: Some(ty), ..Default::default() }
        };
        let number = |name: &str, value: Option<i64>| {
            Some(AttributeProto {
                name: Some(name.to_owned()),
                r#type: Some(AttributeType::Int as i32),
                i: Some(value?),
                ..Default::default()
            })
        };
        let attributes = [
            number("is_causal", self.causal.then_some(1)),
            number("left_window_size", self.left),
            number("right_window_size", self.right),
        ];
        let mut inputs = vec![
            port("q", 1, &[1, 1, TOKENS, WIDTH]),
            port("k", 1, &[1, 1, KEYS, WIDTH]),
            port("v", 1, &[1, 1, KEYS, WIDTH]),
        ];
        let mut read = vec!["q", "k", "v"];
        if self.length.is_some() {
            inputs.push(port("n", 7, &[1]));
            read.extend(["", "", "", "n"]);
        }
        let node = NodeProto {
            op_type: Some("Attention".to_owned()),
            input: read.into_iter().map(str::to_owned).collect(),
            output: vec!["y".to_owned()],
            attribute: attributes.into_iter().flatten().collect(),
            ..Default::default()
        };
        let graph = GraphProto {
            name: Some("g".to_owned()),
            node: vec![node],
            input: inputs,
            output: vec![port("y", 1, &[1, 1, TOKENS, WIDTH])],
            ..Default::default()
        };
        let opset = OperatorSetIdProto { version: Some(25), ..Default::default() };
        let model = ModelProto {
            ir_version: Some(11),
            opset_import: vec![opset],
            graph: Some(graph),
            ..Default::default()
        };
        model.encode_to_vec()
    }
}

fn tensor(data_type: i32, dims: &[usize], data: Vec<u8>) -> Vec<u8> {
    let tensor = TensorProto {
        dims: dims.iter().map(|&extent| extent as i64).collect(),
        data_type: Some(data_type),
        raw_data: Some(data.into()),
        ..Default::default()
    };
    tensor.encode_to_vec()
}

fn floats(values: &[f32], tokens: usize) -> Vec<u8> {
    let data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    tensor(1, &[1, 1, tokens, WIDTH], data)
}

#[test]
fn a_token_sees_what_masks_windows_and_lengths_leave() {
    let all = Case::default();
    let cases = [
        all,
        Case { causal: true, ..all },
        // Tokens are the last of the keys that count; of fewer keys than tokens the first ones see none.
        Case { causal: true, length: Some(5), ..all },
        Case { causal: true, length: Some(2), ..all },
        Case { length: Some(4), ..all },
        Case { left: Some(1), ..all },
        Case { left: Some(2), right: Some(0), ..all },
        Case { left: Some(0), right: Some(2), length: Some(5), ..all },
        Case { causal: true, right: Some(3), left: Some(1), length: Some(6) },
    ];
    let folder = folder();
    let numbers = |count: usize, step: usize| -> Vec<f32> {
        (0..count * WIDTH).map(|at| ((at * step + 3) % 11) as f32 / 4.0 - 1.25).collect()
    };
    let data = [numbers(TOKENS, 7), numbers(KEYS, 5), numbers(KEYS, 3)];
    for (number, case) in cases.into_iter().enumerate() {
        let set = folder.path().join(format!("{number}/test_data_set_0"));
        std::fs::create_dir_all(&set).expect("a folder");
        write(&folder, &format!("{number}/model.onnx"), case.model());
        for (at, (values, rows)) in data.iter().zip([TOKENS, KEYS, KEYS]).enumerate() {
            std::fs::write(set.join(format!("input_{at}.pb")), floats(values, rows)).unwrap();
        }
        if let Some(length) = case.length {
            let data = tensor(7, &[1], length.to_le_bytes().to_vec());
            std::fs::write(set.join("input_3.pb"), data).unwrap();
        }
        std::fs::write(set.join("output_0.pb"), floats(&case.expected(&data), TOKENS)).unwrap();
    }
    let output = weft(folder.path(), &["conformance", "."]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        said.contains("9 cases: 9 passed"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
