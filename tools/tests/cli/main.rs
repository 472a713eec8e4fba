//! `weft` as people call it: bad inputs give one clear report and exit code 1.

mod attention;
mod code_object;
mod conformance;
mod host;
mod language_server;
mod limits;
mod quantize;
mod shapes;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use prost::Message;
use weft_onnx::proto::type_proto::{Tensor, Value};
use weft_onnx::proto::{
    GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorShapeProto, TypeProto,
    ValueInfoProto, tensor_shape_proto,
};

const AVX2: &str = include_str!("../../../devices/x86-avx2.mlir");

fn weft(folder: &Path, arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_weft");
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    output.expect("weft starts")
}

/// Standard error of a command that has to fail with one report, and with `words` in it.
fn fails(folder: &Path, arguments: &[&str], words: &[&str]) -> String {
    let output = weft(folder, arguments);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}\n{text}");
    assert_eq!(text.matches("error: ").count(), 1, "{arguments:?}\n{text}");
    assert!(text.starts_with("error: "), "{text}");
    assert!(!text.contains("panicked") && !text.contains('\u{1b}'), "{text}");
    for word in words {
        assert!(text.contains(word), "{word} is not in\n{text}");
    }
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    text
}

fn succeeds(folder: &Path, arguments: &[&str]) -> String {
    let output = weft(folder, arguments);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}\n{text}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn write(folder: &tempfile::TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("written");
    path
}

/// `y = op(x)` on four numbers.
fn model(op: &str) -> Vec<u8> {
    model_of(op, tensor_shape_proto::dimension::Value::DimValue(4))
}

/// `y = op(x)` on a vector of this extent.
fn model_of(op: &str, extent: tensor_shape_proto::dimension::Value) -> Vec<u8> {
    let dim = tensor_shape_proto::Dimension { value: Some(extent), ..Default::default() };
    let tensor = Tensor { elem_type: Some(1), shape: Some(TensorShapeProto { dim: vec![dim] }) };
    let ty = TypeProto { value: Some(Value::TensorType(tensor)), ..Default::default() };
    let port = |name: &str| ValueInfoProto {
        name: Some(name.to_owned()),
        r#type: Some(ty.clone()),
        ..Default::default()
    };
    let node = NodeProto {
        name: Some("the_node".to_owned()),
        op_type: Some(op.to_owned()),
        input: vec!["x".to_owned()],
        output: vec!["y".to_owned()],
        ..Default::default()
    };
    let graph = GraphProto {
        name: Some("g".to_owned()),
        node: vec![node],
        input: vec![port("x")],
        output: vec![port("y")],
        ..Default::default()
    };
    let opset = OperatorSetIdProto { version: Some(17), ..Default::default() };
    let model = ModelProto {
        ir_version: Some(8),
        opset_import: vec![opset],
        graph: Some(graph),
        ..Default::default()
    };
    model.encode_to_vec()
}

#[test]
fn a_good_model_and_wrong_usage() {
    let folder = folder();
    write(&folder, "relu.onnx", model("Relu"));
    let text = succeeds(folder.path(), &["compile", "relu.onnx", "--emit", "graph", "-o", "-"]);
    assert!(text.contains("graph.op \"Relu\" \"the_node\""), "{text}");
    assert_eq!(weft(folder.path(), &["compile", "relu.onnx"]).status.code(), Some(2));
    assert_eq!(weft(folder.path(), &["weave"]).status.code(), Some(2));
}

#[test]
fn a_trace_of_a_measurement() {
    let folder = folder();
    write(&folder, "relu.onnx", model("Relu"));
    let bench = ["bench", "relu.onnx", "--repeat", "1", "--trace", "trace.json"];
    succeeds(folder.path(), &bench);
    let trace = std::fs::read(folder.path().join("trace.json")).expect("written");
    let events: Vec<serde_json::Value> = serde_json::from_slice(&trace).expect("JSON");
    let spans = |pid: u32| {
        let spans = events.iter().filter(|event| event["ph"] == "X" && event["pid"] == pid);
        spans.map(|span| (span["name"].as_str(), span["dur"].as_f64())).collect::<Vec<_>>()
    };
    let (predicted, measured) = (spans(0), spans(1));
    assert!(!predicted.is_empty() && predicted.len() == measured.len());
    for ((predicted, time), (measured, _)) in predicted.iter().zip(&measured) {
        assert_eq!(predicted, measured);
        assert!(predicted.is_some_and(|name| name.starts_with("the_node ")), "{predicted:?}");
        // The machine's facts say how long reading four numbers takes.
        assert!(time.is_some_and(|us| us > 0.0), "{time:?}");
    }
}

#[test]
fn models_that_are_none() {
    let folder = folder();
    let whole = model("Relu");
    write(&folder, "cut.onnx", &whole[..whole.len() / 2]);
    // Not random enough to be a message, nor text.
    let noise: Vec<u8> =
        (0..2000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    write(&folder, "noise.onnx", &noise);
    write(&folder, "noise.mlir", &noise);
    write(&folder, "noise.weft", &noise);
    write(&folder, "empty.onnx", "");
    for model in ["cut.onnx", "noise.onnx", "noise.mlir", "empty.onnx"] {
        fails(folder.path(), &["compile", model, "-o", "out.weft"], &[]);
        assert!(!folder.path().join("out.weft").exists());
    }
    fails(folder.path(), &["run", "noise.weft"], &[]);
    fails(folder.path(), &["run", "none.onnx"], &["none.onnx"]);
    fails(folder.path(), &["run", "none.mlir"], &["none.mlir"]);
    fails(folder.path(), &["run", "none.weft"], &["none.weft"]);
}

#[test]
fn an_unknown_operator() {
    let folder = folder();
    write(&folder, "odd.onnx", model("Frobnicate"));
    fails(folder.path(), &["compile", "odd.onnx", "-o", "out.weft"], &["Frobnicate", "the_node"]);
}

#[test]
fn text_with_a_mistake() {
    let folder = folder();
    write(&folder, "odd.mlir", "module {\n  func.func @f() -> {\n}\n");
    let words = ["odd.mlir:2:", "func.func @f() -> {"];
    fails(folder.path(), &["compile", "odd.mlir", "-o", "-", "--emit", "tile"], &words);
    let deep = format!("module {{\n{}\n}}", "module {".repeat(1000));
    write(&folder, "deep.mlir", deep);
    fails(folder.path(), &["compile", "deep.mlir", "-o", "-", "--emit", "tile"], &["nest"]);
}

#[test]
fn machine_files_with_a_mistake() {
    let folder = folder();
    write(&folder, "relu.onnx", model("Relu"));
    let cases = [
        ("capacity_bytes(32768)", "capacity_bytes(0)", "capacity_bytes 0"),
        ("caches(@l2)", "caches(@l7)", "@l7"),
        (
            "(%a: f32, %b: !f32_vector, %c",
            "(%a: vector<2xf32>, %b: !f32_vector, %c",
            "vector<2xf32>",
        ),
        ("device.unit @core", "device.brain @core", "device.brain"),
    ];
    for (right, wrong, word) in cases {
        assert!(AVX2.contains(right));
        write(&folder, "wrong.mlir", AVX2.replacen(right, wrong, 1));
        let words = [word, "wrong.mlir:"];
        fails(folder.path(), &["devices", "wrong.mlir"], &words);
        let compile = ["compile", "relu.onnx", "--device", "wrong.mlir", "-o", "out.weft"];
        fails(folder.path(), &compile, &words);
        assert!(!folder.path().join("out.weft").exists());
    }
    write(&folder, "two.mlir", "module {}");
    fails(folder.path(), &["devices", "two.mlir"], &["holds 0 machines"]);
    fails(folder.path(), &["devices", "none.mlir"], &["none.mlir", "x86-avx2"]);
}

#[test]
fn machines() {
    let folder = folder();
    let list = succeeds(folder.path(), &["devices"]);
    assert!(list.contains("x86-avx512") && list.contains("x86-avx2"), "{list}");
    let text = succeeds(folder.path(), &["devices", "x86-avx2"]);
    for words in ["16 registers of 32 B", "f32 in @dram, 8xf32 in @vreg", "8 multiply-adds"] {
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn expressions() {
    let folder = folder();
    let kernel = ["kernel", "C[m,n] += A[m,k] * B[k,n]", "--shape", "m=4,n=5,k=6"];
    let text = succeeds(folder.path(), &[&kernel[..], &["--emit", "graph"]].concat());
    assert!(text.contains("tensor<6x5xf32>"), "{text}");
    fails(folder.path(), &["kernel", "C[m] = A[m", "--shape", "m=4"], &["expression:1:"]);
    fails(folder.path(), &["kernel", "C[m] = A[m]"], &["no extent", "--shape m=64"]);
    fails(folder.path(), &["kernel", "C[m] = A[m]", "--shape", "m=0"], &["--shape:1:1"]);
    assert_eq!(
        weft(folder.path(), &["kernel", "C[m] = A[m]", "--dtype", "f8"]).status.code(),
        Some(2)
    );
}

#[test]
fn prints_the_module_after_passes() {
    let folder = folder();
    write(&folder, "relu.onnx", model("Relu"));
    let arguments = ["compile", "relu.onnx", "--emit", "tile", "-o", "-", "--print-ir-after-all"];
    let output = weft(folder.path(), &arguments);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(text.starts_with("// ----- after graph-simplify-payloads\n"), "{text}");
    assert!(text.contains("\n// ----- after graph-to-tile\n"), "{text}");
    assert!(text.contains("tile.graph"), "{text}");
}

/// An operator that no pass can cut into loop nests.
const STUBBORN: &str = r#"graph.model @m inputs ["x"] outputs ["y"] {
^bb0(%x: tensor<4xf32>):
  %y = graph.op "Odd" "odd"(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%t: tensor<4xf32>):
    %r = linalg.exp ins(%t : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
    graph.yield %r : tensor<4xf32>
  }
  graph.output %y : tensor<4xf32>
}
"#;

#[test]
fn a_failing_pass_leaves_a_reproducer() {
    let folder = folder();
    write(&folder, "odd.mlir", STUBBORN);
    std::fs::create_dir(folder.path().join("out")).expect("a folder");
    let arguments = ["compile", "odd.mlir", "-o", "out/odd.weft"];
    let output = weft(folder.path(), &arguments);
    if output.status.success() {
        // Today's passes take it; the unit tests show what a reproducer holds.
        return;
    }
    fails(folder.path(), &arguments, &["odd.mlir:", "weft-opt out/weft-reproducer.mlir"]);
    let path = folder.path().join("out/weft-reproducer.mlir");
    let text = std::fs::read_to_string(path).expect("a reproducer");
    assert!(text.starts_with("// weft-opt out/weft-reproducer.mlir --pass-pipeline='"), "{text}");
    assert!(text.contains("device.machine") && text.contains("graph.model"), "{text}");
}

/// `y = relu((x + x) + x * x)`: three operators, of which the second is a multiply-add.
const THREE: &str = r#"#id = affine_map<(i) -> (i)>
graph.model @m inputs ["x"] outputs ["y"] {
^bb0(%x: tensor<64xf32>):
  %a = graph.op "Double" "first"(%x) : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%t: tensor<64xf32>):
    %e = tensor.empty() : tensor<64xf32>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%t : tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %p : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    graph.yield %r : tensor<64xf32>
  }
  %b = graph.op "MulAdd" "second"(%x, %a) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%t: tensor<64xf32>, %u: tensor<64xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%t, %t : tensor<64xf32>, tensor<64xf32>) outs(%u : tensor<64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    graph.yield %r : tensor<64xf32>
  }
  %y = graph.op "Relu" "third"(%b) : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%t: tensor<64xf32>):
    %e = tensor.empty() : tensor<64xf32>
    %z = arith.constant 0.0 : f32
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%t : tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%p: f32, %q: f32):
      %s = arith.maximumf %p, %z : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    graph.yield %r : tensor<64xf32>
  }
  graph.output %y : tensor<64xf32>
}
"#;

#[test]
fn names_the_first_operator_that_differs() {
    if !std::arch::is_x86_feature_detected!("avx2") || !std::arch::is_x86_feature_detected!("fma") {
        return;
    }
    let folder = folder();
    write(&folder, "three.mlir", THREE);
    // A machine whose multiply-adds forget what they add to.
    let wrong = AVX2.replace("vector.fma %s, %b, %c", "vector.fma %s, %b, %b");
    write(&folder, "wrong.mlir", wrong.replace("vector.fma %a, %b, %c", "vector.fma %a, %b, %b"));
    let right = ["run", "three.mlir", "--device", "x86-avx2"];
    succeeds(folder.path(), &[&right[..], &["--outputs", "ref.npz"]].concat());
    let expect = ["--expect", "ref.npz", "--bisect"];
    let text = succeeds(folder.path(), &[&right[..], &expect[..]].concat());
    assert!(text.contains("as expected"), "{text}");
    let wrong = ["run", "three.mlir", "--device", "wrong.mlir"];
    let words = ["output `y` differs", "operator 2 of 3, MulAdd \"second\"", "got", "expected"];
    fails(folder.path(), &[&wrong[..], &expect[..]].concat(), &words);
    // Another seed than that of the expected outputs: the compiler is not to blame.
    let words = ["every operator matches the reference interpreter's result"];
    fails(folder.path(), &[&right[..], &expect[..], &["--seed", "1"]].concat(), &words);
}
