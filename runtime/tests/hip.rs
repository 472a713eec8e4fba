//! AMD's runtime, against a driver of our own: what it is asked for, in which order, and that all of
//! it is given back.

#![cfg(feature = "cli")]

mod common;

use std::path::Path;
use std::process::{Command, Output};

use weft_runtime::plan::CodeKind;
use weft_runtime::{DType, Plan, Tensor, artifact, npz};

/// Compiles C of this test's folder to a shared object.
fn compile(source: &str, object: &Path, more: &[&str]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hip");
    let status = Command::new("cc")
        .args(["-shared", "-O2", "-fPIC", "-Wall", "-Werror", "-o"])
        .arg(object)
        .arg(folder.join(source))
        .args(more)
        .status();
    assert!(status.expect("cc is installed").success(), "{source} compiles");
}

/// A folder with the driver, `net.weft` of these kernels, an input and the expected output.
fn model(more: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    // The name that is tried first.
    compile("driver.c", &dir.join("libamdhip64.so.7"), &["-ldl"]);
    compile("kernels.c", &dir.join("kernels.so"), more);
    let code = std::fs::read(dir.join("kernels.so")).expect("the object was written");
    write(dir, &code);
    let (x, y) = common::example(5);
    let x = Tensor { dtype: DType::F32, shape: vec![64, 16], bytes: x };
    let y = Tensor { dtype: DType::F32, shape: vec![64], bytes: y };
    npz::write(&dir.join("in.npz"), [("x", &x)]).expect("written");
    npz::write(&dir.join("ref.npz"), [("y", &y)]).expect("written");
    folder
}

fn write(dir: &Path, code: &[u8]) {
    let plan = Plan { code: CodeKind::Amdgcn, device: "loom".into(), ..common::plan(2) };
    artifact::write(&dir.join("net.weft"), &plan, code, |out| {
        use std::io::Write;
        Ok(out.write_all(&common::constants())?)
    })
    .expect("written");
}

fn run(dir: &Path, more: &[&str], environment: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_weft-run"))
        .args(["net.weft", "--device", "hip", "--inputs", "in.npz", "--expect", "ref.npz"])
        .args(more)
        .current_dir(dir)
        .env("LD_LIBRARY_PATH", dir)
        .envs(environment.iter().copied())
        .output()
        .expect("starts")
}

fn said(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stderr).into_owned()
}

#[test]
fn launches_are_recorded_once_and_everything_is_given_back() {
    let folder = model(&[]);
    let ran = run(folder.path(), &[], &[]);
    assert!(ran.status.success(), "{}", said(&ran));
    // `scale` by two units is one launch, and `mirror` another.
    assert_eq!(said(&ran), "left 0, launched 2, together 0, replayed 1\n");
}

#[test]
fn measured_by_the_events_of_the_device() {
    let folder = model(&[]);
    let ran = run(folder.path(), &["--bench", "3", "--profile"], &[]);
    assert!(ran.status.success(), "{}", said(&ran));
    let json: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    // Events of this driver are a quarter of a millisecond apart.
    assert_eq!(json["median_ms"], 0.25);
    assert_eq!(json["profile"].as_array().map(Vec::len), Some(2));
    // One to warm up and three, each of two launches; then each launch by itself.
    assert_eq!(said(&ran), "left 0, launched 10, together 0, replayed 4\n");
}

#[test]
fn a_program_is_launched_together_and_its_counters_are_cleared() {
    let folder = model(&["-DPROGRAM"]);
    let ran = run(folder.path(), &["--bench", "2"], &[]);
    assert!(ran.status.success(), "{}", said(&ran));
    // This driver, as AMD's, runs such blocks at once where a recording was begun: so there is none.
    assert_eq!(said(&ran), "left 0, launched 3, together 3, replayed 0\n");
}

#[test]
fn failures_name_what_was_asked_and_what_the_driver_says() {
    let folder = model(&[]);
    let fails = [
        ("hipInit", "cannot open the first device: the HIP driver says hipErrorOutOfMemory"),
        ("hipMalloc", "cannot get 64 bytes of memory: the HIP driver says hipErrorOutOfMemory"),
        ("hipMemcpy", "cannot copy to the device: the HIP driver says hipErrorOutOfMemory"),
        ("hipStreamBeginCapture", "cannot record launches: the HIP driver says"),
        ("hipGraphInstantiate", "cannot prepare recorded launches: the HIP driver says"),
        ("hipModuleLaunchKernel", "cannot launch 8 blocks of 8 threads: the HIP driver says"),
        ("hipGraphLaunch", "cannot launch recorded kernels: the HIP driver says"),
        ("hipDeviceSynchronize", "cannot run the model: the HIP driver says"),
        ("hipModuleLoadData", "hipErrorOutOfMemory\nthe device at hand is called `Loom 1`"),
    ];
    for (function, expected) in fails {
        let ran = run(folder.path(), &[], &[("FAIL", function)]);
        assert_eq!(ran.status.code(), Some(1), "{function}: {}", said(&ran));
        assert!(said(&ran).contains(expected), "{function}: {}", said(&ran));
        assert!(said(&ran).contains("left 0, "), "{function}: {}", said(&ran));
    }
    let ran = run(folder.path(), &[], &[("NO_DEVICE", "1")]);
    assert!(said(&ran).contains("hipErrorNoDevice"), "{}", said(&ran));
}

#[test]
fn code_of_another_kind_and_a_machine_without_a_driver_are_told() {
    let folder = model(&[]);
    let dir = folder.path();
    // Where there is a driver after all, it is the code that is refused.
    let ran = run(dir, &[], &[("LD_LIBRARY_PATH", "/nonexistent")]);
    assert_eq!(ran.status.code(), Some(1));
    let words = ["there is no HIP driver on this machine", "the driver does not take"];
    assert!(words.iter().any(|words| said(&ran).contains(words)), "{}", said(&ran));
    write(dir, b"no code at all");
    let ran = run(dir, &[], &[]);
    assert_eq!(ran.status.code(), Some(1));
    let expected = "not an AMD code object with its launches; it was compiled for `loom`";
    assert!(said(&ran).contains(expected), "{}", said(&ran));
    std::fs::write(dir.join("libamdhip64.so.7"), "no library").expect("writable");
    compile("kernels.c", &dir.join("kernels.so"), &[]);
    write(dir, &std::fs::read(dir.join("kernels.so")).expect("the object was written"));
    let ran = run(dir, &[], &[]);
    let expected = "the HIP driver's library libamdhip64.so.7 cannot be opened: ";
    assert!(said(&ran).contains(expected), "{}", said(&ran));
}
