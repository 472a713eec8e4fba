//! GT-9. Each of GraphTurbo's steps takes no more than the one before, on the simulator.

use std::path::Path;
use std::process::Command;

const APART: &str = "tile-connect-edges.joining=none";
const WHOLE: &str = "tile-split-instances.instances=none";
const IN_TURN: &str = "tile-to-task.policy=text";
const AS_WRITTEN: &str = "device-order-instructions.order=text";
const IN_PLACE: &str = "device-overlap-layers.transfers=text";

const EACH: &str = "tile-split-instances.near=none";
const OWN: &str = "tile-to-task.near=none";

/// What is left out: layer by layer, then with memories of clusters, buffers, instances, an order, and
/// ordered instructions with transfers that begin early (`bench/graphturbo.py` has the same).
const STEPS: [&[&str]; 6] = [
    &[APART, WHOLE, IN_TURN, AS_WRITTEN, IN_PLACE, EACH, OWN],
    &[APART, WHOLE, IN_TURN, AS_WRITTEN, IN_PLACE],
    &[WHOLE, IN_TURN, AS_WRITTEN, IN_PLACE],
    &[IN_TURN, AS_WRITTEN, IN_PLACE],
    &[AS_WRITTEN, IN_PLACE],
    &[],
];

/// Simulated cycles of a model after each step.
fn cycles(model: &str, device: &str) -> Vec<f64> {
    let run = |step: &&[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_weft"))
            .args(["simulate", model, "--device", device, "--timing-only", "--json"])
            .args(step.iter().flat_map(|option| ["--pass-option", option]))
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
            .output()
            .expect("weft starts");
        assert!(output.status.success(), "{model}: {}", String::from_utf8_lossy(&output.stderr));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        report["cycles"].as_f64().expect("a number")
    };
    STEPS.iter().map(run).collect()
}

#[test]
fn gt_9_no_step_is_worse_than_the_one_before() {
    let all = ["attention", "separable", "feed", "norm", "inverted", "softmax", "pooled"];
    let models = all.map(|name| format!("tests/welder/{name}.mlir"));
    for device in ["stcp920-like", "toy"] {
        for model in models.iter().map(String::as_str).chain(["../examples/digits/digits.onnx"]) {
            let cycles = cycles(model, device);
            assert!(cycles.is_sorted_by(|before, after| after <= before), "{model}: {cycles:?}");
            assert!(cycles[5] < cycles[0], "{model} on {device}: {cycles:?}");
        }
    }
}
