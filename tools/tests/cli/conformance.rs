//! `weft conformance`: folders in the layouts of the standard's own tests.

use prost::Message;
use serde_json::Value;
use weft_onnx::proto::TensorProto;

use super::{folder, model, succeeds, weft, write};

/// A vector of floats, with or without a name, as the standard's files hold it.
fn tensor(name: Option<&str>, values: &[f32]) -> Vec<u8> {
    let tensor = TensorProto {
        name: name.map(str::to_owned),
        dims: vec![values.len() as i64],
        data_type: Some(1),
        raw_data: Some(
            values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>().into(),
        ),
        ..Default::default()
    };
    tensor.encode_to_vec()
}

fn report(folder: &tempfile::TempDir) -> Value {
    let output = weft(folder.path(), &["conformance", ".", "--json"]);
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn verdict<'r>(report: &'r Value, case: &str) -> &'r Value {
    let rows = report["cases"].as_array().expect("rows");
    &rows.iter().find(|row| row["case"] == case).expect("the case ran")["verdict"]
}

/// Data belongs to inputs by number: names in it may be missing, or be others.
#[test]
fn data_without_names_is_bound_by_number() {
    let folder = folder();
    let data = [("none", None), ("other", Some("another")), ("own", Some("x"))];
    for (case, name) in data {
        let set = folder.path().join(case).join("test_data_set_0");
        std::fs::create_dir_all(&set).expect("a folder");
        write(&folder, &format!("{case}/model.onnx"), model("Neg"));
        std::fs::write(set.join("input_0.pb"), tensor(name, &[1.0, -2.0, 0.0, 4.0])).unwrap();
        let right = [-1.0, 2.0, 0.0, if case == "own" { 5.0 } else { -4.0 }];
        std::fs::write(set.join("output_0.pb"), tensor(None, &right)).unwrap();
    }
    let report = report(&folder);
    assert_eq!(verdict(&report, "none"), "passed", "{report}");
    assert_eq!(verdict(&report, "other"), "passed", "{report}");
    // And an answer that is wrong is said to be.
    assert_eq!(verdict(&report, "own"), "failed", "{report}");
    assert_eq!((&report["total"], &report["failed"]), (&3.into(), &1.into()));
}

/// Light models: outputs beside the model, inputs as the standard's runner makes them.
#[test]
fn light_models_are_given_what_the_runner_gives() {
    let folder = folder();
    for (case, last) in [("light_right", -0.75), ("light_wrong", -1.0)] {
        write(&folder, &format!("{case}.onnx"), model("Neg"));
        let right = [0.0, -0.25, -0.5, last];
        write(&folder, &format!("{case}_output_0.pb"), tensor(Some("y"), &right));
    }
    // A model without known outputs is no case.
    write(&folder, "another.onnx", model("Neg"));
    let report = report(&folder);
    assert_eq!(report["total"], 2, "{report}");
    assert_eq!(verdict(&report, "light_right"), "passed", "{report}");
    assert_eq!(verdict(&report, "light_wrong"), "failed", "{report}");
}

/// What the record names must not pass, and the rest must.
#[test]
fn the_record_only_shrinks() {
    let folder = folder();
    let write_case = |name: &str, operator: &str| {
        let set = folder.path().join("all/suite").join(name).join("test_data_set_0");
        std::fs::create_dir_all(&set).expect("a folder");
        write(&folder, &format!("all/suite/{name}/model.onnx"), model(operator));
        std::fs::write(set.join("input_0.pb"), tensor(None, &[1.0, -2.0, 0.0, 4.0])).unwrap();
        std::fs::write(set.join("output_0.pb"), tensor(None, &[-1.0, 2.0, 0.0, -4.0])).unwrap();
    };
    write_case("right", "Neg");
    write_case("unknown", "Nag");
    succeeds(folder.path(), &["conformance", "all", "--record", "record.json"]);
    let record = std::fs::read_to_string(folder.path().join("record.json")).expect("a record");
    assert!(record.contains("suite/unknown") && !record.contains("suite/right"), "{record}");
    let arguments = ["conformance", "all", "--processes", "2", "--expected", "record.json"];
    succeeds(folder.path(), &arguments);
    write_case("unknown", "Neg");
    write_case("right", "Abs");
    let output = weft(folder.path(), &arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{error}");
    assert!(error.contains("suite/unknown passes, and is in the record"), "{error}");
    assert!(error.contains("suite/right failed"), "{error}");
}

#[test]
fn operators_are_listed() {
    let folder = folder();
    let text = succeeds(folder.path(), &["conformance", "--operators"]);
    let names: Vec<_> = text.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains(&"Conv") && names.contains(&"Constant") && names.is_sorted(), "{text}");
}
