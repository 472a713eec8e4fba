//! The instructions of a core are in an order in which few wait, and engines work beside each other
//! (GT-8).

use std::collections::HashMap;

use crate::desk::Desk;
use crate::instances::{BLOCK, CHIP, DSP, ROWS};

/// Cycles of a run with an option; its results go to `to`, or are held against those that are there.
fn cycles(desk: &Desk, option: &str, to: &str) -> f64 {
    let option = format!("--pass-option {option}");
    let ran = desk.weft(&format!("simulate model.mlir --json {to} {option}"), "all");
    let (report, _) = ran.unwrap_or_else(|said| panic!("{said}"));
    let report: serde_json::Value = serde_json::from_str(&report).expect("an object");
    report["cycles"].as_f64().expect("a number")
}

/// The order is never slower than the text's, and gives the same. The functional simulator stops at
/// a read of what was not written and at a race.
#[test]
fn gt_8_ordered_instructions_take_less() {
    for (model, machine) in [(BLOCK, CHIP), (BLOCK, DSP), (ROWS, CHIP), (ROWS, DSP)] {
        let desk = Desk::new(model, machine[0], [machine[1], machine[1]]);
        let text = cycles(&desk, "device-order-instructions.order=text", "--outputs text.npz");
        let list = cycles(
            &desk,
            "device-order-instructions.order=list",
            "--expect text.npz --rtol 0 --atol 0",
        );
        assert!(list <= text, "{}: {list} of {text} cycles", machine[0]);
        // Products hardly use lanes on the chip.
        assert!(model != BLOCK || list < text, "{}: {list} of {text} cycles", machine[0]);
    }
}

/// Weights of later layers come while earlier ones are computed: the same results in less time.
#[test]
fn gt_8_layers_overlap() {
    for (model, machine) in [(BLOCK, CHIP), (BLOCK, DSP), (ROWS, CHIP), (ROWS, DSP)] {
        let desk = Desk::new(model, machine[0], [machine[1], machine[1]]);
        let text = cycles(&desk, "device-overlap-layers.transfers=text", "--outputs text.npz");
        let exact = "--expect text.npz --rtol 0 --atol 0";
        let early = cycles(&desk, "device-overlap-layers.transfers=early", exact);
        assert!(early <= text, "{}: {early} of {text} cycles", machine[0]);
        assert!(model != BLOCK || early < 0.95 * text, "{}: {early} of {text}", machine[0]);
    }
}

/// A layer's work on one unit goes on beside another's, as the timeline shows.
#[test]
fn gt_8_the_timeline_shows_units_beside_each_other() {
    let desk = Desk::new(BLOCK, CHIP[0], [CHIP[1], CHIP[1]]);
    cycles(&desk, "device-order-instructions.order=list", "--trace trace.json");
    let trace: serde_json::Value =
        serde_json::from_str(&desk.read("trace.json")).expect("Chrome's trace format");
    // By core and track: begin and end of each operation.
    let mut tracks: HashMap<(u64, u64), Vec<(f64, f64)>> = HashMap::new();
    for event in trace.as_array().expect("events").iter().filter(|event| event["ph"] == "X") {
        let number = |name: &str| event[name].as_f64().expect("a number");
        let own = tracks.entry((number("pid") as u64, number("tid") as u64)).or_default();
        own.push((number("ts"), number("ts") + number("dur")));
    }
    let beside = |one: (u64, u64), other: (u64, u64)| {
        one.0 == other.0
            && one.1 < other.1
            && tracks[&one].iter().any(|a| tracks[&other].iter().any(|b| a.0 < b.1 && b.0 < a.1))
    };
    let pairs = tracks.keys().filter(|one| tracks.keys().any(|other| beside(**one, *other)));
    assert!(pairs.count() > 0, "{} tracks", tracks.len());
}
