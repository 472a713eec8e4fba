//! The five papers as one pipeline (N-4): each of Welder, Roller, Rammer and GraphTurbo may be
//! switched off, with any others, and what comes out is right; all of them together are the best.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// What switches each of them off.
const SWITCHES: [(&str, &[&str]); 4] = [
    ("Welder", &["tile-connect-edges.joining=none"]),
    ("Roller", &["tile-construct-rtiles.tiles=enumerated"]),
    ("Rammer", &["tile-to-task.policy=text", "tile-to-task.waits=operators"]),
    (
        "GraphTurbo",
        &[
            "tile-split-instances.instances=none",
            "tile-to-task.near=none",
            "device-overlap-layers.transfers=text",
        ],
    ),
];

/// Attention, two separable convolutions, a network of two layers, and a convolutional one.
const MODELS: [&str; 4] = [
    "tests/welder/attention.mlir",
    "tests/welder/separable.mlir",
    "tests/welder/feed.mlir",
    "../examples/digits/digits.onnx",
];

fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Runs `weft`; what it printed, and what it said.
fn weft(folder: &Path, arguments: &[&str], off: usize) -> (String, String) {
    let options = SWITCHES.iter().enumerate().filter(|(number, _)| off & (1 << number) != 0);
    let options = options.flat_map(|(_, (_, options))| *options);
    let output = Command::new(env!("CARGO_BIN_EXE_weft"))
        .args(arguments)
        .args(options.flat_map(|option| ["--pass-option", option]))
        .current_dir(folder)
        .output()
        .expect("weft starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "without {}: weft {arguments:?}\n{said}", names(off));
    (String::from_utf8_lossy(&output.stdout).into_owned(), said)
}

fn names(off: usize) -> String {
    let off = SWITCHES.iter().enumerate().filter(|(number, _)| off & (1 << number) != 0);
    off.map(|(_, (name, _))| *name).collect::<Vec<_>>().join(", ")
}

/// Looks at every setting's cycles, and the text that they come from, the one with all of them
/// first; each has given what the host gives.
fn settings(
    device: &str,
    models: &[PathBuf],
    outcome: impl Fn(&Path, &str, usize) -> (f64, String),
) {
    let mut differ = false;
    for path in models {
        let folder = tempfile::tempdir().expect("a folder");
        let (folder, path) = (folder.path(), path.to_str().expect("a path"));
        weft(folder, &["run", path, "--outputs", "host.npz"], 0b1111);
        let (all, texts): (Vec<f64>, Vec<String>) =
            (0..16).map(|off| outcome(folder, path, off)).unzip();
        let best =
            (0..16).min_by(|&one, &other| all[one].total_cmp(&all[other])).expect("there are 16");
        assert!(
            all[0] <= 1.03 * all[best],
            "{path} on {device}: {} cycles, without {} {}",
            all[0],
            names(best),
            all[best]
        );
        differ |= texts.iter().any(|own| *own != texts[0]);
    }
    assert!(differ, "on {device} switches change nothing");
}

fn simulated(device: &str) {
    settings(device, &MODELS.map(file), |folder, model, off| {
        let expect = ["--expect", "host.npz", "--rtol", "1e-4", "--atol", "1e-4", "--json"];
        let simulate = [&["simulate", model, "--device", device][..], &expect].concat();
        let text = weft(folder, &simulate, off).0;
        let report: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(report["compared"], true, "{model} without {}", names(off));
        (report["cycles"].as_f64().expect("cycles"), text)
    });
}

/// The cycles that the plan's order is predicted to take, and the plan.
fn predicted(folder: &Path, model: &str, device: &str, off: usize) -> (f64, String) {
    let told = ["--pass-option", "tile-to-task.remarks=true"];
    let compile = ["compile", model, "--device", device, "--emit", "task", "-o", "-"];
    let (text, said) = weft(folder, &[&compile[..], &told].concat(), off);
    let line = said.lines().find_map(|line| line.split_once("order by "));
    let (_, told) = line.expect("the order is told").1.split_once(" with ").expect("its length");
    let cycles = told.split(' ').next().and_then(|cycles| cycles.parse().ok());
    (cycles.expect("a number"), text)
}

#[test]
fn n_4_all_together_are_the_best_on_cores_with_local_buffers() {
    simulated("stcp920-like");
}

#[test]
fn n_4_all_together_are_the_best_on_a_toy() {
    simulated("toy");
}

/// Every setting runs and is right. Work that is worth sharing out is that of the last model alone:
/// two layers of a few hundred rows.
#[test]
fn n_4_all_together_are_the_best_on_processors() {
    let folder = tempfile::tempdir().expect("a folder");
    let large = folder.path().join("large.mlir");
    let text = std::fs::read_to_string(file("tests/welder/feed.mlir")).expect("text");
    let text = text.replace("35x", "385x").replace("x24x", "x96x").replace("50x", "200x");
    std::fs::write(&large, text).expect("written");
    let models = [&MODELS.map(file)[..], &[large]].concat();
    settings("the host", &models, |folder, model, off| {
        let expect = ["--expect", "host.npz", "--rtol", "1e-4", "--atol", "1e-4"];
        weft(folder, &[&["run", model][..], &expect].concat(), off);
        predicted(folder, model, "x86-avx2", off)
    });
}

/// Every setting's program gives what the host gives, lane by lane; its time is the prediction, for lanes
/// of a GPU are simulated without one.
#[test]
fn n_4_all_together_are_the_best_on_a_gpu() {
    for device in ["v100", "h200"] {
        settings(device, &MODELS.map(file), |folder, model, off| {
            let expect = ["--expect", "host.npz", "--rtol", "1e-3", "--atol", "1e-3", "--json"];
            let simulate = ["simulate", model, "--device", device, "--functional-only"];
            let text = weft(folder, &[&simulate[..], &expect].concat(), off).0;
            let report: Value = serde_json::from_str(&text).expect("JSON");
            assert_eq!(report["compared"], true, "{model} without {}", names(off));
            predicted(folder, model, device, off)
        });
    }
}
