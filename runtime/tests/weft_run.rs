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
fn a_trace_shows_what_was_predicted_and_measured() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path();
    // Units 0 and 1, then both again; each of the latter waits for both of the former.
    let plan = Plan { least_ps: vec![3_000_000, 1_000_000, 2_500, 500], ..common::plan(2) };
    let code = common::compile(common::KERNELS, dir);
    weft_runtime::artifact::write(&dir.join("model.weft"), &plan, &code, |out| {
        use std::io::Write;
        Ok(out.write_all(&common::constants())?)
    })
    .expect("written");
    for (threads, bench) in [("1", "0"), ("2", "3")] {
        let args = ["model.weft", "--threads", threads, "--bench", bench, "--trace", "trace.json"];
        let ran = weft_run(dir, &args);
        assert!(ran.status.success(), "{}", text(&ran.stderr));
        let trace = std::fs::read(dir.join("trace.json")).expect("written");
        let events: Vec<serde_json::Value> = serde_json::from_slice(&trace).expect("JSON");
        let names = |what: &str| -> Vec<&str> {
            let named = events.iter().filter(|event| event["name"] == what);
            named.filter_map(|event| event["args"]["name"].as_str()).collect()
        };
        assert_eq!(names("process_name"), ["predicted", "measured"]);
        assert_eq!(names("thread_name"), ["unit 0", "unit 1", "unit 0", "unit 1"]);
        for pid in [0, 1] {
            // In picoseconds, which microseconds in binary hold only nearly.
            let ps = |value: &serde_json::Value| (value.as_f64().expect("a number") * 1e6).round();
            let spans: Vec<_> =
                events.iter().filter(|event| event["ph"] == "X" && event["pid"] == pid).collect();
            let times: Vec<(f64, f64)> = spans
                .iter()
                .map(|span| (ps(&span["ts"]), ps(&span["ts"]) + ps(&span["dur"])))
                .collect();
            assert_eq!(spans.len(), plan.steps.len());
            for (i, (span, step)) in spans.iter().zip(&plan.steps).enumerate() {
                assert_eq!(span["tid"], step.unit);
                assert_eq!(span["args"]["step"], i);
                assert_eq!(span["args"]["begin"], step.begin);
                assert_eq!(span["args"]["end"], step.end);
                let name = ["Scale_0 scale", "Mirror_1 mirror"][step.op as usize];
                assert_eq!(span["name"], name);
                for &wait in &step.waits {
                    assert!(
                        times[wait as usize].1 <= times[i].0,
                        "{i} waits for {wait}: {times:?}"
                    );
                }
                let of_unit = (0..i).filter(|&other| plan.steps[other].unit == step.unit);
                for other in of_unit {
                    assert!(times[other].1 <= times[i].0, "{other} and {i} overlap: {times:?}");
                }
            }
            if pid == 0 {
                assert_eq!(
                    times,
                    [(0.0, 3e6), (0.0, 1e6), (3e6, 3e6 + 2500.0), (3e6, 3e6 + 500.0)]
                );
            } else {
                assert!(times.iter().all(|(begin, end)| begin <= end) && times[3].1 > 0.0);
            }
        }
    }
}

#[test]
fn a_thread_that_cannot_start_is_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path();
    common::artifact(dir, 2);
    let ran = Command::new(env!("CARGO_BIN_EXE_weft-run"))
        .args(["mirror-2.weft", "--threads", "2"])
        .current_dir(dir)
        // More than a process can have.
        .env("RUST_MIN_STACK", "200000000000000")
        .output()
        .expect("starts");
    assert_eq!(ran.status.code(), Some(1));
    assert!(text(&ran.stderr).contains("cannot start worker 1 of 2"), "{}", text(&ran.stderr));
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
    assert!(text(&ran.stderr).contains("AMD code object"), "{}", text(&ran.stderr));
    // With a driver it is the code that is refused, without one the machine.
    let ran = weft_run(dir, &["ptx.weft", "--device", "cuda"]);
    assert_eq!(ran.status.code(), Some(1));
    let said = text(&ran.stderr);
    assert!(said.contains("no CUDA driver") || said.contains("does not"), "{said}");
    let ran = weft_run(dir, &["ptx.weft", "--device", "toaster"]);
    assert_eq!(ran.status.code(), Some(2));
}
