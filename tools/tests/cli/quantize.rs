//! `weft quantize`: what it writes, how far that is from what it read, and what it refuses.

use std::path::Path;

use prost::Message;
use weft_onnx::proto::tensor_proto::DataLocation;
use weft_onnx::proto::{ModelProto, StringStringEntryProto};
use weft_runtime::npz::{self, Npz};
use weft_runtime::{DType, Tensor};

use super::{fails, folder, succeeds, write};

const DIGITS: &[u8] = include_bytes!("../../../examples/digits/digits.onnx");
const INPUTS: &[u8] = include_bytes!("../../../examples/digits/digits.inputs.npz");

/// A folder with the network, as `change` leaves it, and its inputs.
fn digits(change: impl FnOnce(&mut ModelProto)) -> tempfile::TempDir {
    let folder = folder();
    let mut model = ModelProto::decode(DIGITS).expect("the network");
    change(&mut model);
    write(&folder, "digits.onnx", model.encode_to_vec());
    write(&folder, "in.npz", INPUTS);
    folder
}

const QUANTIZE: &[&str] =
    &["quantize", "digits.onnx", "--calibrate", "in.npz", "-o", "q.onnx", "--no-cache"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [QUANTIZE, more].concat()
}

fn read(folder: &Path, name: &str) -> ModelProto {
    let bytes = std::fs::read(folder.join(name)).expect("it was written");
    ModelProto::decode(&bytes[..]).expect("a model")
}

fn count(model: &ModelProto, kind: &str) -> usize {
    let nodes = &model.graph.as_ref().unwrap().node;
    nodes.iter().filter(|node| node.op_type() == kind).count()
}

/// The L2 norm of the difference of two files' only tensors, by that of the second.
fn distance(folder: &Path, files: [&str; 2]) -> f64 {
    let [one, other] = files.map(|name| {
        let npz = Npz::read(&folder.join(name)).expect("outputs");
        let tensor = npz.names().next().and_then(|name| npz.get(name)).expect("one tensor");
        (0..tensor.elements()).map(|at| tensor.number(at).as_f64()).collect::<Vec<_>>()
    });
    let norm = |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|x| x * x).sum::<f64>().sqrt();
    let off = norm(&mut one.iter().zip(&other).map(|(one, other)| one - other));
    off / norm(&mut other.iter().copied())
}

fn outputs(folder: &Path, model: &str, file: &str) {
    let run = ["run", model, "--inputs", "in.npz", "--outputs", file, "--no-cache"];
    succeeds(folder, &run);
}

/// Every range keeps the answer near; what is told is what two runs differ by.
#[test]
fn products_become_products_of_bytes() {
    let folder = digits(|_| {});
    let at = folder.path();
    outputs(at, "digits.onnx", "f32.npz");
    for range in ["error", "percentile", "extremes"] {
        let text = succeeds(at, &with(&["--range", range]));
        assert!(text.starts_with("3 of 3 products take bytes\n"), "{text}");
        outputs(at, "q.onnx", "q.npz");
        let off = distance(at, ["q.npz", "f32.npz"]);
        assert!((1e-6..0.03).contains(&off), "{range}: {off}");
        let told = format!("probabilities: off by {:.3} %\n", 100.0 * off);
        assert!(text.ends_with(&told), "{told} is not in\n{text}");
    }
    let model = read(at, "q.onnx");
    assert_eq!([count(&model, "QuantizeLinear"), count(&model, "DequantizeLinear")], [3, 6]);
    let weights = model.graph.as_ref().unwrap().initializer.iter();
    let bytes = weights.filter(|tensor| tensor.name().ends_with("_quantized"));
    assert!(bytes.clone().all(|tensor| tensor.data_type() == 3), "int8");
    assert_eq!(bytes.count(), 3);
    // The products are of integers: the mechanism, not its name.
    let device = "x86-avx2+avxvnni";
    let text =
        succeeds(at, &["compile", "q.onnx", "--device", device, "--emit", "tile", "-o", "-"]);
    assert!(text.contains("on @vpdpbusd lanes"), "{text}");
}

/// Numbers that are rare cost the others no codes, where a percentile is asked for.
#[test]
fn ranges_differ_where_numbers_are_rare() {
    let folder = digits(|_| {});
    let at = folder.path();
    // A point as bright as 50 others.
    let npz = Npz::read(&at.join("in.npz")).unwrap();
    let name = npz.names().next().unwrap().to_owned();
    let picture = npz.get(&name).unwrap();
    let mut bytes = picture.bytes.clone();
    bytes[..4].copy_from_slice(&50.0f32.to_le_bytes());
    let light = Tensor { dtype: DType::F32, shape: picture.shape.clone(), bytes };
    npz::write(&at.join("light.npz"), [(name.as_str(), &light)]).unwrap();
    let reads = |range: &str| {
        let text = succeeds(
            at,
            &with(&["--calibrate", "light.npz", "--range", range, "--percentile", "90"]),
        );
        let line = text.lines().find(|line| line.contains("c1 ")).unwrap();
        line.split_whitespace().skip_while(|word| *word != "to").nth(1).unwrap().to_owned()
    };
    let highest = |text: String| text.trim_end_matches(',').parse::<f64>().unwrap();
    assert_eq!(highest(reads("extremes")), 50.0);
    assert!(highest(reads("percentile")) < 2.0);
}

#[test]
fn a_layer_can_stay() {
    let folder = digits(|_| {});
    let text = succeeds(folder.path(), &with(&["--keep", "c1"]));
    assert!(text.starts_with("2 of 3 products take bytes\n"), "{text}");
    assert!(text.contains("left in f32: c1: as asked\n"), "{text}");
    let model = read(folder.path(), "q.onnx");
    assert_eq!([count(&model, "QuantizeLinear"), count(&model, "DequantizeLinear")], [2, 4]);
    // Again: what takes bytes is left as it is.
    let again = ["quantize", "q.onnx", "--calibrate", "in.npz", "-o", "r.onnx", "--no-cache"];
    let text = succeeds(folder.path(), &again);
    assert!(text.contains("1 of 3 products take bytes"), "{text}");
    assert!(text.contains("left in f32: c2: it is quantised\n"), "{text}");
}

/// Weights in another file lie in the new one, which may be in another folder.
#[test]
fn weights_beside_the_model() {
    let folder = digits(|model| {
        let entry = |key: &str, value: &str| StringStringEntryProto {
            key: Some(key.to_owned()),
            value: Some(value.to_owned()),
        };
        let tensors = &mut model.graph.as_mut().unwrap().initializer;
        for tensor in tensors {
            if tensor.raw_data.is_some() && tensor.data_type() == 1 {
                let file = format!("{}.bin", tensor.name().replace(['.', '/'], "_"));
                tensor.external_data = vec![entry("location", &file)];
                tensor.data_location = Some(DataLocation::External.into());
            }
        }
    });
    let original = ModelProto::decode(DIGITS).unwrap();
    for tensor in &original.graph.as_ref().unwrap().initializer {
        if let (Some(raw), 1) = (&tensor.raw_data, tensor.data_type()) {
            write(&folder, &format!("{}.bin", tensor.name().replace(['.', '/'], "_")), raw);
        }
    }
    let at = folder.path();
    std::fs::create_dir(at.join("elsewhere")).unwrap();
    let text = ["quantize", "digits.onnx", "--calibrate", "in.npz", "-o", "elsewhere/q.onnx"];
    succeeds(at, &[&text[..], &["--no-cache"]].concat());
    outputs(at, "elsewhere/q.onnx", "beside.npz");
    let inside = digits(|_| {});
    succeeds(inside.path(), QUANTIZE);
    outputs(inside.path(), "q.onnx", "q.npz");
    let [one, other] = [at.join("beside.npz"), inside.path().join("q.npz")].map(|path| {
        let npz = Npz::read(&path).unwrap();
        let name = npz.names().next().unwrap().to_owned();
        npz.get(&name).unwrap().bytes.clone()
    });
    assert_eq!(one, other);
}

#[test]
fn the_page_has_the_errors() {
    let folder = digits(|_| {});
    let text = succeeds(folder.path(), QUANTIZE);
    let explain = ["explain", "q.onnx", "--device", "x86-avx2", "-o", "page.html"];
    succeeds(folder.path(), &explain);
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    let line = text.lines().find(|line| line.contains("c2 ")).unwrap();
    let percent = line.split("off by ").nth(1).unwrap();
    let row = format!("<tr><th scope=\"row\">c2</th><td class=\"n\">{percent}</td>");
    assert!(page.contains(&row), "{row}");
}

#[test]
fn refusals() {
    let folder = digits(|_| {});
    let at = folder.path();
    let unknown = with(&["--keep", "c7"]);
    fails(at, &unknown, &["no product of the model is called \"c7\"", "\"c1\", \"c2\""]);
    let all = with(&["--keep", "c1", "--keep", "c2", "--keep", "logits"]);
    fails(at, &all, &["no product of digits.onnx can be quantised", "\"c1\": as asked"]);
    let none = with(&["--range", "percentile", "--percentile", "0"]);
    fails(at, &none, &["0 is no percentile", "at most 100"]);
    let over = ["quantize", "digits.onnx", "--calibrate", "in.npz", "-o", "./digits.onnx"];
    fails(at, &over, &["digits.onnx would be written over itself"]);
    assert_eq!(std::fs::read(at.join("digits.onnx")).unwrap().len(), DIGITS.len());
    let missing = ["quantize", "digits.onnx", "--calibrate", "none.npz", "-o", "q.onnx"];
    fails(at, &missing, &["none.npz"]);

    let npz = Npz::read(&at.join("in.npz")).unwrap();
    let name = npz.names().next().unwrap().to_owned();
    let picture = npz.get(&name).unwrap();
    let bytes = f32::NAN.to_le_bytes().repeat(picture.elements());
    let nothing = Tensor { dtype: DType::F32, shape: picture.shape.clone(), bytes };
    npz::write(&at.join("nan.npz"), [(name.as_str(), &nothing)]).unwrap();
    fails(at, &with(&["--calibrate", "nan.npz"]), &["holds no finite numbers with nan.npz"]);
    assert!(!at.join("q.onnx").exists(), "nothing half written");

    let older = digits(|model| model.opset_import[0].version = Some(12));
    fails(older.path(), QUANTIZE, &["imports the standard operators 12", "opset 13 or later"]);
}
