//! The command-line tool, as a user meets it.

#![cfg(feature = "cli")]

mod common;

use std::path::Path;
use std::process::{Command, Output};

use weft_runtime::npz;
use weft_runtime::plan::CodeKind;
use weft_runtime::{DType, Plan, Tensor};

fn weft_run(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_weft-run"))
        .args(args)
        .current_dir(dir)
        .output()
        .expect("starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn runs_compares_and_measures() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path();
    common::artifact(dir, 2);
    let (x, y) = common::example(5);
    let x = Tensor { dtype: DType::F32, shape: vec![64, 16], bytes: x };
    let mut y = Tensor { dtype: DType::F32, shape: vec![64], bytes: y };
    npz::write(&dir.join("in.npz"), [("x", &x)]).expect("written");
    npz::write(&dir.join("ref.npz"), [("arr_0", &y)]).expect("written");
    y.bytes[40..44].copy_from_slice(&1e6f32.to_le_bytes());
    npz::write(&dir.join("bad.npz"), [("y", &y)]).expect("written");

    let good = weft_run(
        dir,
        &[
            "mirror-2.weft",
            "--inputs",
            "in.npz",
            "--expect",
            "ref.npz",
            "--outputs",
            "out.npz",
            "--threads",
            "2",
        ],
    );
    assert!(good.status.success(), "{}", text(&good.stderr));
    assert_eq!(text(&good.stdout), "y: float32 [64]\n");
    let out = npz::Npz::read(&dir.join("out.npz")).expect("read");
    assert_eq!(out.get("y").map(|t| &t.bytes[..40]), Some(&y.bytes[..40]));

    let bad = weft_run(dir, &["mirror-2.weft", "--inputs", "in.npz", "--expect", "bad.npz"]);
    assert_eq!(bad.status.code(), Some(1));
    let message = text(&bad.stderr);
    assert!(
        message.contains("output `y` differs in 1 of 64 elements; the worst is at [10]"),
        "{message}"
    );

    let bench = weft_run(dir, &["mirror-2.weft", "--bench", "5", "--profile", "--threads", "1"]);
    assert!(bench.status.success(), "{}", text(&bench.stderr));
    let json: serde_json::Value = serde_json::from_slice(&bench.stdout).expect("JSON");
    for key in [
        "compile_s",
        "median_ms",
        "min_ms",
        "p90_ms",
        "peak_rss_mb",
        "threads",
        "device",
        "profile",
    ] {
        assert!(json.get(key).is_some(), "{key} in {json}");
    }
    assert_eq!(json["threads"], 1);
}

#[test]
fn failures_and_wrong_usage_differ() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path();
    common::artifact(dir, 2);
    std::fs::write(dir.join("junk.weft"), "junk").expect("written");
    let fails = |args: &[&str], code, message: &str| {
        let out = weft_run(dir, args);
        assert_eq!(out.status.code(), Some(code), "{args:?}");
        assert!(text(&out.stderr).contains(message), "{args:?}: {}", text(&out.stderr));
    };
    fails(&["junk.weft"], 1, "not a weft artifact");
    fails(&["none.weft"], 1, "cannot open none.weft");
    fails(&["mirror-2.weft", "--threads", "3"], 1, "1 to 2 are accepted");
    fails(&["mirror-2.weft", "--inputs", "none.npz"], 1, "cannot open none.npz");
    fails(&["mirror-2.weft", "--rtol=-1"], 2, "not negative");
    fails(&["mirror-2.weft", "--frobnicate"], 2, "--frobnicate");
    fails(&[], 2, "ARTIFACT");
}

#[test]
fn code_for_another_device_is_refused_by_name() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path();
    let constants = |out: &mut weft_runtime::artifact::Constants<'_>| {
        use std::io::Write;
        Ok(out.write_all(&common::constants())?)
    };
    for (name, kind) in [("ptx.weft", CodeKind::Ptx), ("amd.weft", CodeKind::Amdgcn)] {
        let plan = Plan { code: kind, ..common::plan(1) };
        weft_runtime::artifact::write(&dir.join(name), &plan, b"no code at all", constants)
            .expect("written");
    }
    let ran = weft_run(dir, &["ptx.weft", "--device", "cpu"]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(text(&ran.stderr).contains("is PTX code"), "{}", text(&ran.stderr));
    let ran = weft_run(dir, &["amd.weft"]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(text(&ran.stderr).contains("AMDGCN"), "{}", text(&ran.stderr));
    // With a driver it is the code that is refused, without one the machine.
    let ran = weft_run(dir, &["ptx.weft", "--device", "cuda"]);
    assert_eq!(ran.status.code(), Some(1));
    let said = text(&ran.stderr);
    assert!(said.contains("no CUDA driver") || said.contains("does not"), "{said}");
    let ran = weft_run(dir, &["ptx.weft", "--device", "toaster"]);
    assert_eq!(ran.status.code(), Some(2));
}
