//! Rammer's rows (OSDI'20) that are about time, on machines that exist only as text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::Command;

use serde_json::Value;

/// Runs `weft` on `model.mlir` in a folder of its own; what it printed.
fn weft(model: &str, arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("model.mlir"), model).expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    let output = command.args(arguments).current_dir(folder.path()).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "weft {}\n{said}", arguments.join(" "));
    String::from_utf8(output.stdout).expect("text")
}

/// Cycles of a model on a simulated machine, with data.
fn cycles(model: &str, device: &str, option: &str) -> f64 {
    let option = format!("tile-to-task.{option}");
    let arguments =
        ["simulate", "model.mlir", "--device", device, "--pass-option", &option, "--json"];
    let report: Value = serde_json::from_str(&weft(model, &arguments)).expect("JSON");
    report["cycles"].as_f64().expect("cycles")
}

/// What a launch takes, by the machine's text.
fn launch_cycles(device: &str) -> f64 {
    let text = weft::MACHINES.iter().find(|(name, _)| *name == device).expect("weft ships it").1;
    let fact = text.split("launch_cycles(").nth(1).and_then(|rest| rest.split(')').next());
    fact.and_then(|cycles| cycles.parse().ok()).expect("the unit says it")
}

/// `count` products of 16 x 64 by 64 x 32 that know nothing of each other.
fn products(count: usize) -> String {
    let list = |format: &dyn Fn(usize) -> String| -> String {
        (0..count).map(format).collect::<Vec<_>>().join(", ")
    };
    let arguments = list(&|n| format!("%a{n}: tensor<16x64xf32>, %b{n}: tensor<64x32xf32>"));
    let types = list(&|_| "tensor<16x32xf32>".to_owned());
    let mut text = format!("func.func @products({arguments}) -> ({types}) {{\n");
    // Each starts at a number of its own: equal tensors would be one.
    for n in 0..count {
        writeln!(
            text,
            "  %s{n} = arith.constant {n}.0 : f32
  %e{n} = tensor.empty() : tensor<16x32xf32>
  %f{n} = linalg.fill ins(%s{n} : f32) outs(%e{n} : tensor<16x32xf32>) -> tensor<16x32xf32>
  %c{n} = linalg.matmul ins(%a{n}, %b{n} : tensor<16x64xf32>, tensor<64x32xf32>) outs(%f{n} : tensor<16x32xf32>) -> tensor<16x32xf32>"
        )
        .expect("a string grows");
    }
    let values = list(&|n| format!("%c{n}"));
    text + &format!("  return {values} : {types}\n}}\n")
}

/// Layers and steps of a recurrent network, unrolled: h[l, t] = tanh(W[l] x + U[l] h[l, t - 1]),
/// where x is what the layer below gave in this step.
fn recurrent(layers: usize, steps: usize) -> String {
    const WIDTH: usize = 64;
    let (row, square) = (format!("tensor<1x{WIDTH}xf32>"), format!("tensor<{WIDTH}x{WIDTH}xf32>"));
    let mut arguments: Vec<String> = (0..steps).map(|t| format!("%x0_{t}: {row}")).collect();
    arguments
        .extend((0..layers).map(|l| format!("%w{l}: {square}, %u{l}: {square}, %h{l}: {row}")));
    let mut text = format!(
        "func.func @recurrent({}) -> {row} {{\n  %zero = arith.constant 0.0 : f32\n  %e = tensor.empty() : {row}\n  %z = linalg.fill ins(%zero : f32) outs(%e : {row}) -> {row}\n",
        arguments.join(", ")
    );
    let state = |l: usize, t: usize| match t {
        0 => format!("%h{l}"),
        _ => format!("%x{}_{}", l + 1, t - 1),
    };
    for t in 0..steps {
        for l in 0..layers {
            writeln!(
                text,
                "  %p{l}_{t} = linalg.matmul ins(%x{l}_{t}, %w{l} : {row}, {square}) outs(%z : {row}) -> {row}
  %q{l}_{t} = linalg.matmul ins({}, %u{l} : {row}, {square}) outs(%p{l}_{t} : {row}) -> {row}
  %x{}_{t} = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\"]}} ins(%q{l}_{t} : {row}) outs(%e : {row}) {{
  ^bb0(%a: f32, %b: f32):
    %c = math.tanh %a : f32
    linalg.yield %c : f32
  }} -> {row}",
                state(l, t),
                l + 1
            )
            .expect("a string grows");
        }
    }
    text + &format!("  return %x{layers}_{} : {row}\n}}\n", steps - 1)
}

/// Two products that leave units idle take less time beside each other than one after the other,
/// although the launch is the same.
#[test]
fn rm_10_independent_products_finish_sooner_together() {
    for device in ["v100", "ipu"] {
        let (one, two) = (products(1), products(2));
        let together = cycles(&two, device, "launches=one");
        let apart = cycles(&two, device, "launches=each");
        let alone = cycles(&one, device, "launches=one");
        assert!(together < apart, "@{device}: {together} together, {apart} apart");
        assert!(together < 1.5 * alone, "@{device}: {together} for two, {alone} for one");
    }
}

/// The units that run each kernel of a model, by the text of its task stage.
fn units(model: &str, device: &str) -> Vec<BTreeSet<u64>> {
    let task =
        weft(model, &["compile", "model.mlir", "--device", device, "--emit", "task", "-o", "-"]);
    let mut kernels: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for (_, range) in task.lines().filter_map(|line| line.split_once("= task.range ")) {
        let (kernel, rest) = range.split_once('[').expect("a range has rTasks");
        let (_, rest) = rest.split_once("] on ").expect("a range has a unit");
        let (unit, _) = rest.split_once('(').expect("a range has arguments");
        kernels.entry(kernel).or_default().insert(unit.parse().expect("a number"));
    }
    kernels.into_values().collect()
}

/// What the simulated units did, each from the begin of its first operation to the end of its last.
fn spans(model: &str, device: &str) -> BTreeMap<u64, (f64, f64)> {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("trace.json");
    let to = trace.to_str().expect("a path");
    weft(model, &["simulate", "model.mlir", "--device", device, "--trace", to]);
    let text = std::fs::read_to_string(&trace).expect("it was written");
    let events: Value = serde_json::from_str(&text).expect("Chrome's trace format");
    let mut spans = BTreeMap::new();
    for event in events.as_array().expect("events").iter().filter(|event| event["ph"] == "X") {
        let number = |name: &str| event[name].as_f64().expect("a number");
        let (begin, end) = (number("ts"), number("ts") + number("dur"));
        let own = spans.entry(number("pid") as u64).or_insert((begin, end));
        *own = (own.0.min(begin), own.1.max(end));
    }
    spans
}

/// RM-10. Two products run on units of their own, and at the same time: most of the shorter one's
/// time is the other's, too. One after the other they would share no time, or their units.
#[test]
fn rm_10_independent_products_overlap_in_time() {
    for device in ["ipu", "stcp920-like"] {
        let two = products(2);
        let units = units(&two, device);
        let [one, other] = &units[..] else { panic!("@{device}: two kernels: {units:?}") };
        assert!(one.is_disjoint(other), "@{device}: {one:?} and {other:?}");
        let spans = spans(&two, device);
        let span = |units: &BTreeSet<u64>| {
            let own = units.iter().map(|unit| spans[unit]);
            own.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).expect("a kernel has units")
        };
        let (one, other) = (span(one), span(other));
        let both = one.1.min(other.1) - one.0.max(other.0);
        let shorter = (one.1 - one.0).min(other.1 - other.0);
        assert!(both > 0.8 * shorter, "@{device}: {one:?} and {other:?}");
    }
}

/// Launches of an unrolled recurrent network: one for each operator, or one.
#[test]
fn rm_11_launches_of_an_unrolled_network_become_one() {
    let (layers, steps) = (3, 4);
    let model = recurrent(layers, steps);
    for device in ["v100", "ipu"] {
        let launches = |option: &str| {
            let option = format!("tile-to-task.{option}");
            let arguments = [
                "compile",
                "model.mlir",
                "--device",
                device,
                "--pass-option",
                &option,
                "--emit",
                "task",
                "-o",
                "-",
            ];
            1 + weft(&model, &arguments).matches("task.launch").count()
        };
        let each = launches("launches=each");
        assert!(each >= 2 * layers * steps, "@{device}: {each} operators");
        assert_eq!(launches("policy=wavefront"), 1, "@{device}");
        let together = cycles(&model, device, "policy=wavefront");
        let apart = cycles(&model, device, "launches=each");
        let saved = launch_cycles(device) * (each - 1) as f64;
        assert!(
            together + saved <= apart,
            "@{device}: {together} in one launch, {apart} in {each}"
        );
    }
}
