//! Whatever is wrong with a file is said, and said with the facts that disagree.

use std::fs;
use std::path::Path;

use crate::net::{Net, int, ints, tensor, text};
use bytes::Bytes;
use proptest::prelude::*;

use prost::Message;
use weft_onnx::proto::tensor_proto::{DataLocation, DataType};
use weft_onnx::proto::{OperatorSetIdProto, StringStringEntryProto, TensorProto};
use weft_onnx::{ImportError, Model, Options, Weights, check};

fn relu() -> Net {
    Net::new().input("x", &["2", "3"]).node("Relu", &["x"], &["y"]).output("y")
}

#[test]
fn a_good_model_is_taken() {
    relu().check().unwrap();
}

#[test]
fn not_a_model() {
    let error = Model::from_bytes(Bytes::from_static(b"not a model"), Path::new("x.onnx"));
    assert!(matches!(error, Err(ImportError::Malformed(_))));
    let error = Model::from_bytes(Bytes::new(), Path::new("x.onnx")).unwrap_err();
    assert!(error.to_string().contains("hold no graph"), "{error}");
}

#[test]
fn no_file() {
    let error = Model::open(Path::new("/nowhere/at/all.onnx")).unwrap_err();
    assert!(matches!(error, ImportError::Io { .. }));
    assert!(error.to_string().starts_with("cannot open /nowhere/at/all.onnx"), "{error}");
}

#[test]
fn unknown_operator() {
    let mut net = relu();
    net.graph().node[0].op_type = Some("Frobnicate".to_owned());
    net.graph().node[0].name = Some("frob_1".to_owned());
    let error = net.check().unwrap_err();
    assert!(error.is_unsupported());
    let error = error.to_string();
    assert!(error.contains(r#"node "frob_1" (Frobnicate) is not supported"#), "{error}");
    assert!(error.contains(r#"operator "Frobnicate", version 18"#), "{error}");
    assert!(error.contains("`weft conformance --operators` lists"), "{error}");
    // A name that is nearly right is answered with the right one, and not with all of them.
    net.graph().node[0].op_type = Some("LeakyRelue".to_owned());
    let error = net.error();
    assert!(error.contains("help: LeakyRelu"), "{error}");
    assert!(error.len() < 300, "{error}");
}

#[test]
fn unknown_domain() {
    let mut net = relu();
    net.graph().node[0].domain = Some("com.example".to_owned());
    assert!(net.error().contains(r#"operator "Relu" of domain "com.example""#));
}

#[test]
fn domains_with_operators() {
    let net = |domain: &str, op: &str, version: Option<i64>| {
        let mut net = relu();
        net.graph().node[0].op_type = Some(op.to_owned());
        net.graph().node[0].domain = Some(domain.to_owned());
        net.proto.opset_import.extend(version.map(|version| OperatorSetIdProto {
            domain: Some(domain.to_owned()),
            version: Some(version),
        }));
        net
    };
    net("com.microsoft", "QuickGelu", Some(1)).check().unwrap();
    let error = net("com.microsoft", "QuickGelo", Some(1)).error();
    assert!(error.contains(r#"operator "QuickGelo" of domain "com.microsoft""#), "{error}");
    assert!(error.contains("help: com.microsoft.QuickGelu"), "{error}");
    // The domain of a node decides, and what is elsewhere is named in full.
    let error = net("", "FastGelu", None).error();
    assert!(error.contains("help: com.microsoft.FastGelu"), "{error}");
    let error = net("com.microsoft", "QuickGelu", None).error();
    assert!(error.contains(r#"needs the operators of domain "com.microsoft""#), "{error}");
    assert!(error.contains("up to version 1"), "{error}");
    let error = net("com.microsoft", "QuickGelu", Some(2)).error();
    assert!(error.contains(r#"version 2 of the operators of domain "com.microsoft""#), "{error}");
    let mut twice = net("com.microsoft", "QuickGelu", Some(1));
    twice
        .proto
        .opset_import
        .push(OperatorSetIdProto { domain: Some("com.microsoft".to_owned()), version: Some(3) });
    assert!(twice.error().contains(r#"imports the operators of domain "com.microsoft" twice"#));
    let all = weft_onnx::operators();
    assert!(all.contains(&("com.microsoft.Gelu".to_owned(), 1)));
    assert!(all.contains(&("Gelu".to_owned(), 20)));
}

#[test]
fn versions() {
    let softmax = |version| {
        let net = Net::new().opset(version).input("x", &["2", "3"]);
        net.node("Softmax", &["x"], &["y"]).output("y").check()
    };
    softmax(13).unwrap();
    for (version, told) in [(99, "1 to 28"), (0, "no version")] {
        let error = softmax(version).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
    let net = Net::new().opset(13).input("x", &["2", "3"]);
    let error = net.node("Trilu", &["x"], &["y"]).output("y").check().unwrap_err().to_string();
    assert!(error.contains("Trilu since version 14, up to 28"), "{error}");
}

#[test]
fn cycle() {
    let net = Net::new()
        .input("x", &["2"])
        .node("Add", &["x", "c"], &["a"])
        .node("Neg", &["a"], &["b"])
        .node("Abs", &["b"], &["c"])
        .output("a");
    let error = net.error();
    assert!(error.starts_with("the graph has a cycle"), "{error}");
    for node in ["Add", "Neg", "Abs"] {
        assert!(error.contains(node), "{error}");
    }
}

#[test]
fn order_of_the_file_does_not_matter() {
    let net = Net::new()
        .input("x", &["2"])
        .node("Neg", &["a"], &["b"])
        .node("Abs", &["x"], &["a"])
        .output("b");
    net.check().unwrap();
}

#[test]
fn missing_values() {
    let net = Net::new().input("x", &["2"]).node("Add", &["x", "w"], &["y"]).output("y");
    assert!(net.error().contains(r#"reads "w", which nothing makes"#));
    let net = Net::new().input("x", &["2"]).node("Neg", &["x"], &["y"]).output("z");
    assert!(net.error().contains(r#"nothing makes the graph output "z""#));
    let net = Net::new().input("x", &["2"]).node("Neg", &["x"], &["y"]);
    assert!(net.error().contains("no output"));
}

#[test]
fn names_twice() {
    let twice = |net: Net, told: &str| {
        let error = net.error();
        assert!(error.contains(told), "{error}");
    };
    twice(relu().input("x", &["2"]), "two graph inputs are named \"x\"");
    twice(relu().zeros("w", &[2]).zeros("w", &[2]), "two initializers are named \"w\"");
    twice(relu().node("Neg", &["x"], &["y"]), "two nodes make \"y\"");
    twice(relu().node("Neg", &["y"], &["x"]), "makes a value that exists already");
    twice(relu().output("y"), "two graph outputs are named \"y\"");
}

#[test]
fn what_nobody_reads_may_be_anything() {
    relu().node("Frobnicate", &["x"], &["z"]).check().unwrap();
}

#[test]
fn sizes_that_overflow() {
    let huge = i64::MAX.to_string();
    let net = Net::new().input("x", &[&huge, "4"]).node("Neg", &["x"], &["y"]).output("y");
    assert!(net.error().contains("more bytes than a process can address"));
    let net = Net::new()
        .input("x", &["1"])
        .ints("shape", &[1 << 30, 1 << 30])
        .node("Expand", &["x", "shape"], &["y"])
        .output("y");
    assert!(net.error().contains("more bytes than a process can address"));
    let net = relu().initializer(tensor("w", DataType::Float, &[1 << 62, 1 << 62]));
    net.clone().check().unwrap();
    assert!(net.node("Neg", &["w"], &["z"]).output("z").error().contains("initializer \"w\""));
}

#[test]
fn negative_dimensions() {
    let net = Net::new()
        .initializer(tensor("w", DataType::Float, &[-2]))
        .node("Neg", &["w"], &["y"])
        .output("y");
    assert!(net.error().contains("initializer \"w\" has a dimension of -2"));
}

#[test]
fn open_dimensions() {
    let net = || Net::new().node("Relu", &["x"], &["y"]).output("y");
    let error = net().input("x", &["batch", "3"]).check().unwrap_err();
    assert!(error.is_unsupported());
    let error = error.to_string();
    assert!(error.contains(r#"input "x" has an unknown dimension 0, "batch""#), "{error}");
    assert!(error.contains("--shape x=Nx3"), "{error}");
    // What somebody is about to run the model on says it, too; never against the model.
    let offered = |dims: &[i64]| {
        let offered = [("x".to_owned(), dims.to_vec()), ("other".to_owned(), vec![7])].into();
        let options = Options { offered, ..Options::default() };
        net().input("x", &["batch", "3"]).check_with(&options)
    };
    assert!(offered(&[5, 3]).is_ok());
    let error = offered(&[5, 4]).expect_err("the model says 3").to_string();
    assert!(error.contains("the model declares 3 for dimension 1"), "{error}");
    assert!(net().input("x", &["2", "?"]).error().contains("unknown dimension 1"));
    assert!(net().input("x", &["2", "-1"]).error().contains("unknown dimension 1"));
}

#[test]
fn shapes_from_outside() {
    let net = Net::new()
        .input("x", &["batch", "3"])
        .input("z", &["batch", "?"])
        .node("Relu", &["x"], &["y"])
        .output("y");
    let with = |arguments: &[&str]| {
        let mut options = Options::default();
        for argument in arguments {
            options.add_shape(argument).unwrap();
        }
        net.check_with(&options).map_err(|error| error.to_string())
    };
    with(&["x=4x3", "z=4x1"]).unwrap();
    assert!(with(&["x=4x3"]).unwrap_err().contains(r#"input "z" has an unknown dimension 1"#));
    assert!(with(&["x=4x3", "z=5x1"]).unwrap_err().contains("which is 4 elsewhere"));
    assert!(with(&["x=4x5", "z=4x1"]).unwrap_err().contains("declares 3 for dimension 1"));
    assert!(with(&["x=4", "z=4x1"]).unwrap_err().contains("declares 2 dimensions"));
    assert!(with(&["w=4"]).unwrap_err().contains(r#"its inputs: "x", "z""#));
    let mut options = Options::default();
    options.add_shape("z=7x1").unwrap();
    net.check_with(&options).unwrap();
}

#[test]
fn attributes() {
    let softmax = |attribute| {
        let net = Net::new().input("x", &["2", "3"]).output("y");
        net.node_with("Softmax", &["x"], &["y"], vec![attribute]).error()
    };
    let error = softmax(text("axis", "last"));
    assert!(error.contains(r#"has attribute "axis" of type STRING"#), "{error}");
    assert!(error.contains("is of type INT"), "{error}");
    assert!(softmax(int("axis", 2)).contains("-2 to 1"));
    assert!(softmax(int("axes", 2)).contains("Softmax has no such attribute; it has axis"));
}

#[test]
fn operands() {
    let net = || Net::new().input("x", &["2", "3"]).output("y");
    let error = net().input("z", &["4", "3"]).node("Add", &["x", "z"], &["y"]).error();
    assert!(error.contains("do not broadcast: 2x3 and 4x3"), "{error}");
    let error = net().ints("k", &[1, 2]).node("Add", &["x", "k"], &["y"]).error();
    assert!(error.contains("mixes float[2x3] and int64[2]"), "{error}");
    assert!(net().node("Add", &["x"], &["y"]).error().contains("has 1 inputs"));
    assert!(net().node("Add", &["", "x"], &["y"]).error().contains("lacks its input 0"));
    assert!(net().node("Neg", &["x"], &["y", "z"]).error().contains("has 2 outputs"));
    let error = net().ints("k", &[1]).node("Softmax", &["k"], &["y"]).error();
    assert!(error.contains("float16, bfloat16, float, double"), "{error}");
    let error = net().zeros("w", &[4, 4]).node("MatMul", &["x", "w"], &["y"]).error();
    assert!(error.contains("multiplies float[2x3] by float[4x4]"), "{error}");
}

#[test]
fn shapes_known_only_at_run_time() {
    let net = Net::new()
        .input("x", &["2", "3"])
        .input_of("shape", DataType::Int64, &["2"])
        .node("Reshape", &["x", "shape"], &["y"])
        .output("y");
    let error = net.check().unwrap_err();
    assert!(error.is_unsupported());
    assert!(error.to_string().contains("needs to be known at compile time"), "{error}");
    let mut options = Options::default();
    let shape = weft_onnx::Elements::from_ints(&[3, -1]);
    options.known_inputs.insert("shape".to_owned(), shape);
    net.check_with(&options).unwrap();
}

#[test]
fn declared_outputs() {
    let net = |ty, dims| {
        Net::new().input("x", &["2", "3"]).node("Relu", &["x"], &["y"]).output_of("y", ty, dims)
    };
    net(DataType::Float, &["2", "n"]).check().unwrap();
    let error = net(DataType::Float, &["2", "4"]).error();
    assert!(error.contains("output \"y\" is float[2x3]"), "{error}");
    assert!(error.contains("declares float of 2x4"), "{error}");
    assert!(net(DataType::Double, &["2", "3"]).error().contains("declares double"));
}

#[test]
fn data_that_does_not_fit() {
    let with = |tensor: TensorProto| {
        Net::new().initializer(tensor).node("Neg", &["w"], &["y"]).output("y").error()
    };
    let float = tensor("w", DataType::Float, &[2]);
    let error = with(TensorProto { raw_data: Some(vec![0; 7].into()), ..float.clone() });
    assert!(error.contains("has 7 bytes of data"), "{error}");
    assert!(error.contains("float[2] takes 8"), "{error}");
    assert!(with(float).contains("has 0 bytes"));
    let byte = TensorProto { int32_data: vec![1, 300], ..tensor("w", DataType::Int8, &[2]) };
    assert!(with(byte).contains("holds 300, which is no int8"));
    let truth = TensorProto { raw_data: Some(vec![7].into()), ..tensor("w", DataType::Bool, &[1]) };
    assert!(with(truth).contains("element 0 is 7"));
    assert!(with(tensor("w", DataType::String, &[1])).contains("element type string"));
    assert!(
        with(TensorProto { data_type: Some(77), ..tensor("w", DataType::Bool, &[1]) })
            .contains("77")
    );
}

/// Elements of less than a byte lie side by side in a file.
#[test]
fn narrow_data() {
    let known = |tensor: TensorProto| {
        let bytes = tensor.encode_to_vec();
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), bytes).unwrap();
        weft_onnx::tensor_file(file.path()).map(|(_, elements)| elements)
    };
    let ints = |tensor| known(tensor).unwrap().ints().unwrap();
    let raw = |ty, count, bytes: &[u8]| TensorProto {
        raw_data: Some(bytes.to_vec().into()),
        ..tensor("w", ty, &[count])
    };
    assert_eq!(ints(raw(DataType::Int4, 3, &[0x8f, 0x07])), [-1, -8, 7]);
    assert_eq!(ints(raw(DataType::Uint4, 3, &[0x8f, 0x07])), [15, 8, 7]);
    assert_eq!(ints(raw(DataType::Int2, 5, &[0b10_01_00_11, 0b10])), [-1, 0, 1, -2, -2]);
    assert_eq!(ints(raw(DataType::Uint4, 0, &[])), [0; 0]);
    let entries = TensorProto { int32_data: vec![0x8f, 0x07], ..tensor("w", DataType::Int4, &[3]) };
    assert_eq!(ints(entries), [-1, -8, 7]);
    let floats = |tensor: TensorProto| -> Vec<f64> {
        known(tensor).unwrap().scalars().map(|x| x.as_f64()).collect()
    };
    assert_eq!(floats(raw(DataType::Float8e4m3fn, 2, &[0x38, 0xfe])), [1.0, -448.0]);
    assert_eq!(floats(raw(DataType::Float4e2m1, 3, &[0x72, 0x0b])), [1.0, 6.0, -1.5]);
    assert_eq!(floats(raw(DataType::Float6e2m3, 2, &[0x48, 0x08])), [1.0, -0.125]);
    let apart = TensorProto { int32_data: vec![8, 33], ..tensor("w", DataType::Float6e2m3, &[2]) };
    assert_eq!(floats(apart), [1.0, -0.125]);
    let error = |tensor| known(tensor).unwrap_err().to_string();
    let short = error(raw(DataType::Int4, 3, &[0x8f]));
    assert!(short.contains("has 1 bytes of data") && short.contains("int4[3] takes 2"), "{short}");
    let wide = TensorProto { int32_data: vec![64], ..tensor("w", DataType::Float6e2m3, &[1]) };
    assert!(error(wide).contains("holds 64, which is no float6e2m3"));
}

/// A model in a folder of its own, whose weight lies in `location`.
fn external(entries: &[(&str, &str)]) -> (tempfile::TempDir, Net) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("model")).unwrap();
    fs::write(folder.path().join("secret.bin"), [1; 64]).unwrap();
    fs::write(folder.path().join("model/weights.bin"), [0; 64]).unwrap();
    let entry = |&(key, value): &(&str, &str)| StringStringEntryProto {
        key: Some(key.to_owned()),
        value: Some(value.to_owned()),
    };
    let net = Net::new()
        .initializer(TensorProto {
            data_location: Some(DataLocation::External.into()),
            external_data: entries.iter().map(entry).collect(),
            ..tensor("w", DataType::Float, &[3, 4])
        })
        .node("Neg", &["w"], &["y"])
        .output("y");
    (folder, net)
}

fn check_in(folder: &tempfile::TempDir, net: &Net) -> Result<(), ImportError> {
    let path = folder.path().join("model/net.onnx");
    fs::write(&path, net.bytes()).unwrap();
    check(&Model::open(&path)?, &Options::default())
}

#[test]
fn external_data() {
    let (folder, net) =
        external(&[("location", "weights.bin"), ("offset", "16"), ("length", "48")]);
    check_in(&folder, &net).unwrap();
    let weights = Weights::open(&folder.path().join("model/net.onnx")).unwrap();
    assert_eq!(weights.tensor("w").unwrap().bytes().len(), 48);
    assert!(weights.tensor("v").unwrap_err().to_string().contains("no weight \"v\""));
}

#[test]
fn external_data_elsewhere() {
    let absolute = std::env::temp_dir().join("weights.bin").display().to_string();
    for location in ["../secret.bin", "a/../../secret.bin", "/etc/passwd", &absolute, ""] {
        let (folder, net) = external(&[("location", location)]);
        let error = check_in(&folder, &net).unwrap_err().to_string();
        assert!(error.contains("outside of the model's folder"), "{location}: {error}");
    }
}

#[cfg(unix)]
#[test]
fn external_data_behind_a_link() {
    let (folder, net) = external(&[("location", "link.bin")]);
    let link = folder.path().join("model/link.bin");
    std::os::unix::fs::symlink(folder.path().join("secret.bin"), link).unwrap();
    let error = check_in(&folder, &net).unwrap_err().to_string();
    assert!(error.contains("outside of the model's folder"), "{error}");
}

#[test]
fn external_data_that_is_not_there() {
    let (folder, net) = external(&[("location", "other.bin")]);
    assert!(matches!(check_in(&folder, &net), Err(ImportError::Io { .. })));
    for (offset, length, told) in [
        ("32", "48", "past the end"),
        ("18446744073709551615", "48", "past the end"),
        ("0", "40", "has 40 bytes"),
        ("-1", "48", "offset \"-1\""),
    ] {
        let entries = [("location", "weights.bin"), ("offset", offset), ("length", length)];
        let (folder, net) = external(&entries);
        let error = check_in(&folder, &net).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}

/// A model with something of everything.
fn sample() -> Net {
    Net::new()
        .input("x", &["1", "2", "6", "6"])
        .zeros("w", &[4, 1, 3, 3])
        .ints("shape", &[0, -1])
        .node_with("Conv", &["x", "w"], &["a"], vec![int("group", 2), ints("pads", &[1, 1, 1, 1])])
        .node_with("MaxPool", &["a"], &["b"], vec![ints("kernel_shape", &[2, 2])])
        .node("Shape", &["b"], &["c"])
        .node("Reshape", &["b", "shape"], &["d"])
        .node_with("Softmax", &["d"], &["e"], vec![int("axis", 1)])
        .node("Expand", &["e", "shape2"], &["f"])
        .ints("shape2", &[3, 1, 1])
        .output("f")
        .output("c")
}

#[test]
fn the_sample_is_right() {
    sample().check().unwrap();
}

fn survives(bytes: Vec<u8>) {
    if let Ok(model) = Model::from_bytes(Bytes::from(bytes), Path::new("net.onnx")) {
        let _ = check(&model, &Options::default());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        survives(bytes);
    }

    #[test]
    fn bits_turned(flips in prop::collection::vec((any::<prop::sample::Index>(), 0u8..8), 1..6)) {
        let mut bytes = sample().bytes();
        for (at, bit) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
        }
        survives(bytes);
    }

    #[test]
    fn cut_off(at in any::<prop::sample::Index>()) {
        let mut bytes = sample().bytes();
        bytes.truncate(at.index(bytes.len()));
        survives(bytes);
    }
}
