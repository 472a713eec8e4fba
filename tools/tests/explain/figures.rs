//! Figures of the report against what other commands say of the same model.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::desk::{Desk, behind, lines, list, number};

/// Kernels, ranges, rTiles and the arena are those of the task program.
#[test]
fn kernels_and_arena_are_those_of_the_task_program() {
    let desk = Desk::digits();
    let report = desk.explain(&[]);
    let text = desk.stage("task", &[]);
    let ranges = lines(&text, "task.range");
    assert_eq!(number(&report["summary"]["ranges"]), ranges.len() as u64);
    assert_eq!(number(&report["summary"]["arena_bytes"]), behind(&text, " arena "));
    // No kernel of this small network is split.
    let kernels = list(&report["kernels"]);
    assert_eq!(kernels.len(), ranges.len());
    assert_eq!(number(&report["summary"]["kernels"]), ranges.len() as u64);
    for (kernel, range) in kernels.iter().zip(ranges) {
        let begin = format!(
            "{:?} @{}[",
            kernel["op"].as_str().unwrap(),
            kernel["kernel"].as_str().unwrap()
        );
        assert!(range.contains(&begin), "{begin} is not in {range}");
        let unit = number(&kernel["ranges"][0]["unit"]);
        assert!(range.contains(&format!("] on {unit}(")), "{range}");
        let mhz = report["device"]["clock_mhz"].as_f64().unwrap();
        let floor = kernel["floor_ms"].as_f64().unwrap() * mhz * 1e3;
        assert_eq!(floor.round() as u64, behind(range, "cycles("), "{range}");
    }
    assert_eq!(number(&report["summary"]["constants"]), lines(&text, "task.constant").len() as u64);
}

/// Ranges of one unit follow each other in the predicted schedule, which ends when the program
/// does.
#[test]
fn the_schedule_is_that_of_the_task_program() {
    let desk = Desk::digits();
    let report = desk.explain(&[]);
    let mut units: std::collections::BTreeMap<u64, f64> = std::collections::BTreeMap::new();
    for range in list(&report["kernels"]).iter().flat_map(|kernel| list(&kernel["ranges"])) {
        let [start, end] = [0, 1].map(|side| range["predicted_ms"][side].as_f64().unwrap());
        let free = units.entry(number(&range["unit"])).or_default();
        assert!(*free <= start && start < end, "{range}");
        *free = end;
    }
    let last = units.into_values().fold(0.0, f64::max);
    assert_eq!(Some(last), report["summary"]["predicted_ms"].as_f64());
}

/// Buffers lie where the program puts them, and none that live at once overlap.
#[test]
fn buffers_are_those_of_the_task_program() {
    let desk = Desk::digits();
    let report = desk.explain(&[]);
    let text = desk.stage("task", &[]);
    let arenas = list(&report["arenas"]);
    assert_eq!(arenas.len(), 1);
    let buffers = list(&arenas[0]["buffers"]);
    let offsets: Vec<u64> = buffers.iter().map(|buffer| number(&buffer["offset"])).collect();
    let written = lines(&text, "task.buffer");
    let written: Vec<u64> = written.iter().map(|line| behind(line, "task.buffer at ")).collect();
    assert_eq!(offsets, written);
    let span = |buffer: &Value| (number(&buffer["first"]), number(&buffer["last"]));
    let place = |buffer: &Value| {
        let begin = number(&buffer["offset"]);
        (begin, begin + number(&buffer["bytes"]) - 1)
    };
    let meet = |one: (u64, u64), other: (u64, u64)| one.0 <= other.1 && other.0 <= one.1;
    for (at, one) in buffers.iter().enumerate() {
        for other in &buffers[..at] {
            let clash = meet(span(one), span(other)) && meet(place(one), place(other));
            assert!(!clash, "{one} and {other}");
        }
    }
    let at = |run: u64| -> u64 {
        let lives =
            buffers.iter().filter(|buffer| (span(buffer).0..=span(buffer).1).contains(&run));
        lives.map(|buffer| number(&buffer["bytes"])).sum()
    };
    let most = (0..number(&report["summary"]["kernels"])).map(at).max();
    assert_eq!(Some(number(&arenas[0]["live_bytes"])), most);
}

/// The floors are those of `weft bench --profile`, by operator and kernel.
#[test]
fn floors_are_those_of_the_profile() {
    let desk = Desk::digits();
    let report = desk.explain(&[]);
    let bench = ["bench", "digits.onnx", "--repeat", "1", "--profile", "--json"];
    let bench: Value = serde_json::from_str(&desk.weft(&bench)).expect("JSON");
    let mut floors: BTreeMap<(String, String), f64> = BTreeMap::new();
    let key = |row: &Value| {
        let text = |name: &str| row[name].as_str().unwrap().to_owned();
        (text("op"), text("kernel"))
    };
    for kernel in list(&report["kernels"]) {
        *floors.entry(key(kernel)).or_default() += kernel["floor_total_ms"].as_f64().unwrap();
    }
    let rows = list(&bench["profile"]);
    assert_eq!(rows.len(), floors.len());
    for row in rows {
        let (own, told) = (floors[&key(row)], row["floor_ms"].as_f64().unwrap_or(0.0));
        // The plan counts whole picoseconds.
        assert!((own - told).abs() <= 1e-9 * row["steps"].as_f64().unwrap(), "{own} is not {told}");
    }
}

/// Bytes of arguments, by hand: an element counts once for each kernel that touches it.
#[test]
fn bytes_are_those_of_arguments() {
    let report = Desk::digits().explain(&[]);
    let of = |kernel: &str| {
        let kernels = list(&report["kernels"]);
        let found = kernels.iter().find(|own| own["kernel"] == kernel);
        let found = found.unwrap_or_else(|| panic!("no {kernel}"));
        (number(&found["read_bytes"]), number(&found["written_bytes"]))
    };
    // 512 inputs, 10 x 512 weights, 10 biases; 10 sums.
    assert_eq!(of("gemm_0"), (4 * (512 + 10 * 512 + 10), 4 * 10));
    // Zeros to write over; then 8 x 8 inside 10 x 10.
    assert_eq!(of("conv_0"), (0, 4 * 100));
    assert_eq!(of("conv_1"), (4 * 64, 4 * 64));
}

/// What was chosen is said for every kernel, with the runner-up where there is one; and what
/// passes said is found at whom it is on.
#[test]
fn every_kernel_has_its_reasons() {
    let report = Desk::digits().explain(&[]);
    for kernel in list(&report["kernels"]) {
        assert!(
            kernel["predicted"]["cycles"].as_f64().is_some_and(|cycles| cycles > 0.0),
            "{kernel}"
        );
        let remarks = list(&kernel["remarks"]).iter();
        let said: Vec<_> = remarks.map(|at| &report["remarks"][number(at) as usize]).collect();
        let chosen = |remark: &&&Value| remark["pass"] == "tile-construct-rtiles";
        let first = said.iter().find(chosen).expect("the choice of a tile")["message"].as_str();
        let cycles = kernel["predicted"]["cycles"].as_f64().unwrap();
        let words = format!("with {cycles:.0} cycles predicted");
        assert!(first.is_some_and(|text| text.contains(&words)), "{words}: {first:?}");
        assert!(said.iter().any(|remark| remark["pass"] == "tile-to-task"), "{kernel}");
    }
    let edges = list(&report["graph"]["edges"]);
    let said = edges.iter().flat_map(|edge| list(&edge["remarks"]));
    let mut messages =
        said.filter_map(|at| report["remarks"][number(at) as usize]["message"].as_str());
    assert!(messages.clone().any(|text| text.contains(" stays apart from ")), "a refusal to join");
    // Either memory of an edge, with what it would take.
    assert!(messages.any(|text| text.contains(" in @") && text.contains("apart with ")), "an edge");
}

/// What memories hand over is what their edges carry; near a unit each tensor would otherwise have been
/// written to the memory that all share, unless others find it there, and read from it by each.
#[test]
fn memories_say_what_they_hand_over() {
    let report = Desk::digits().explain(&["--pass-option", "tile-connect-edges.joining=all"]);
    let (graph, shared) = (&report["graph"], &report["device"]["shared"]);
    let edges = list(&graph["edges"]);
    let near: Vec<&Value> = edges.iter().filter(|edge| edge["memory"] != *shared).collect();
    assert!(!near.is_empty(), "joining=all hands over near a unit");
    let read: u64 = near.iter().map(|edge| number(&edge["bytes"])).sum();
    let source = |edge: &Value| (number(&edge["from"]), edge["tensor"].to_string());
    let sources: BTreeSet<_> = near.iter().map(|edge| source(edge)).collect();
    let written = sources.iter().map(|own| {
        let all = || edges.iter().filter(|edge| !edge["from"].is_null() && source(edge) == *own);
        let found = all().any(|edge| edge["memory"] == *shared);
        if found { 0 } else { number(&all().next().expect("an edge")["bytes"]) }
    });
    let unmoved = read + written.sum::<u64>();
    let layers = list(&graph["layers"]);
    let sum = |name: &str| layers.iter().map(|layer| number(&layer[name])).sum::<u64>();
    assert_eq!(sum("unmoved_bytes"), unmoved);
    let carries = |layer: &&Value| layer["memory"] == *shared;
    let own = layers.iter().find(carries).expect("the memory that all share");
    assert_eq!(number(&own["unmoved_bytes"]), 0);
    let groups = list(&graph["groups"]);
    let inside = groups.iter().flat_map(|group| list(&group["layers"]));
    assert_eq!(inside.map(|layer| number(&layer["unmoved_bytes"])).sum::<u64>(), unmoved);
    assert!(groups.iter().all(|group| list(&group["nodes"]).len() > 1));
}

/// The layers of an instance hand over in the local buffer of its core.
#[test]
fn instances_say_what_they_keep() {
    let chip = ["--device", "stcp920-like", "--pass-option", "tile-split-instances.instances=all"];
    let report = Desk::digits().explain(&chip);
    let nodes = list(&report["graph"]["nodes"]);
    let kept = nodes.iter().flat_map(|node| list(&node["inside"]));
    let kept: Vec<&Value> = kept.filter(|layer| layer["memory"] == "l1").collect();
    assert!(!kept.is_empty(), "instances keep tensors in @l1");
    // Each is written and read there at least once.
    assert!(kept.iter().all(|own| number(&own["unmoved_bytes"]) >= 2 * number(&own["bytes"])));
}

/// Without runs nothing depends on the time of day.
#[test]
fn the_same_model_gives_the_same_page() {
    let desk = Desk::digits();
    desk.explain(&[]);
    let (page, json) = (desk.read("digits.html"), desk.read("digits.json"));
    desk.explain(&[]);
    assert!(desk.read("digits.html") == page && desk.read("digits.json") == json);
}

/// Measured times stand beside predicted ones.
#[test]
fn runs_are_measured() {
    let report = Desk::digits().explain(&["--run", "--threads", "1", "--repeat", "3"]);
    assert_eq!(number(&report["measured"]["threads"]), 1);
    assert_eq!(number(&report["measured"]["runs"]), 3);
    let whole = report["summary"]["measured_ms"].as_f64().expect("a time");
    let kernels = list(&report["kernels"]).iter();
    let times: Vec<f64> = kernels.map(|kernel| kernel["measured_ms"].as_f64().unwrap()).collect();
    assert!(whole > 0.0 && times.iter().all(|&time| time >= 0.0), "{whole} {times:?}");
    for joining in list(&report["joinings"]) {
        assert!(joining["measured_ms"].as_f64().is_some_and(|time| time > 0.0), "{joining}");
    }
}
