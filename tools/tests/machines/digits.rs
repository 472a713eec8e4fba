//! `examples/digits` on every machine that only the simulator has.

use crate::desk::{Desk, machine};

const MACHINES: [&str; 5] = ["toy", "systolic", "dsp", "ipu", "stcp920-like"];

const ANSWER: [&str; 4] = ["--inputs", "digits.inputs.npz", "--expect", "digits.ref.npz"];

#[test]
fn every_machine_gives_the_right_class() {
    for name in MACHINES {
        let desk = Desk::digits();
        desk.write("machine.mlir", machine(name));
        let mut arguments = vec!["digits.onnx", "--device", "machine.mlir"];
        arguments.extend(ANSWER);
        let report = desk.simulate(&arguments);
        assert_eq!(report["compared"], true, "{name}");
    }
}

/// An artifact for a machine that is no processor runs wherever the runtime does.
#[test]
fn an_artifact_runs_without_the_machine_file() {
    let desk = Desk::digits();
    desk.write("machine.mlir", machine("toy"));
    desk.weft(&["compile", "digits.onnx", "--device", "machine.mlir", "-o", "toy.weft"]);
    std::fs::remove_file(desk.path("machine.mlir")).expect("removed");
    let mut arguments = vec!["run", "toy.weft"];
    arguments.extend(ANSWER);
    let said = desk.weft(&arguments);
    assert!(said.contains("as expected"), "{said}");
}

/// N-9. Everything is compiled and run with no accelerator; the simulator tells how long it
/// takes, how busy each engine is, and how much of each memory is taken.
#[test]
fn n_9_device_free_compile_and_run() {
    for name in MACHINES {
        let desk = Desk::digits();
        desk.write("machine.mlir", machine(name));
        let report = desk.simulate(&["digits.onnx", "--device", "machine.mlir"]);
        let cycles = report["cycles"].as_f64().expect("a number");
        assert!(cycles > 1000.0, "{name} takes {cycles} cycles");
        for memory in report["memories"].as_array().expect("memories") {
            let of = |fact: &str| memory[fact].as_u64().expect("a number");
            assert!(of("peak_bytes") <= of("capacity_bytes"), "{name}: {memory}");
        }
        let shared = &report["memories"][0];
        assert!(shared["read_bytes"].as_u64() > Some(0), "{name}: {shared}");
        let busy = |unit: &serde_json::Value| unit["occupancy"].as_f64().expect("a share");
        let units = report["units"].as_array().expect("units");
        assert!(units.iter().map(busy).all(|share| (0.0..=1.0).contains(&share)), "{name}");
        assert!(units.iter().map(busy).any(|share| share > 0.0), "{name}");
    }
}

/// What was made for one machine is not silently run as if it were for another.
#[test]
fn another_machine_is_refused() {
    let desk = Desk::digits();
    desk.weft(&["compile", "digits.onnx", "--device", "toy", "-o", "toy.weft"]);
    desk.weft(&["compile", "digits.onnx", "--device", "toy", "--emit", "task", "-o", "toy.mlir"]);
    for command in [
        &["simulate", "toy.weft", "--device", "ipu"][..],
        &["run", "toy.weft", "--device", "ipu"],
        &["simulate", "toy.mlir", "--device", "ipu"],
    ] {
        let said = desk.refused(command);
        assert!(said.contains("@toy") && said.contains("@ipu"), "{said}");
    }
    let said = desk.refused(&["compile", "toy.mlir", "--emit", "tile", "-o", "-"]);
    assert!(said.contains("already at the stage task"), "{said}");
}

/// Without data the time is the same, for it does not depend on values.
#[test]
fn time_needs_no_data() {
    let desk = Desk::digits();
    desk.write("machine.mlir", machine("toy"));
    let run = |extra: &[&str]| {
        let mut arguments = vec!["digits.onnx", "--device", "machine.mlir"];
        arguments.extend(extra);
        desk.simulate(&arguments)["cycles"].as_f64().expect("a number")
    };
    assert_eq!(run(&[]), run(&["--timing-only"]));
}
