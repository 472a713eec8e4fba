//! What `weft explain` does not take, and text that it does.

use crate::desk::{Desk, held, list};

fn refused(desk: &Desk, arguments: &[&str], words: &[&str]) {
    let output = desk.tool(arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(words.iter().all(|word| said.contains(word)), "{said}");
    assert!(!desk.path("page.html").exists());
}

#[test]
fn edges_are_gone_behind_the_tile_stage() {
    let desk = Desk::digits();
    desk.write("task.mlir", &desk.stage("task", &[]));
    let page = ["explain", "task.mlir", "-o", "page.html"];
    refused(&desk, &page, &["the text is already at the stage task", "stage graph or tile"]);
    desk.weft(&["compile", "digits.onnx", "-o", "digits.weft"]);
    let page = ["explain", "digits.weft", "-o", "page.html"];
    refused(&desk, &page, &["an artifact holds no edges", "the model"]);
}

#[test]
fn machines_that_are_not_at_hand_are_not_run() {
    let desk = Desk::digits();
    let page = ["explain", "digits.onnx", "-o", "page.html", "--device", "toy", "--run"];
    refused(&desk, &page, &["@toy do not run on this processor", "weft simulate"]);
}

/// A tile-graph that was edited is explained as it is.
#[test]
fn text_of_the_tile_stage_is_shown_as_it_is() {
    let desk = Desk::digits();
    let text = desk.stage("tile", &[]);
    desk.write("tile.mlir", &text);
    desk.weft(&["explain", "tile.mlir", "-o", "tile.html"]);
    let (from_text, whole) = (held(&desk.read("tile.html")), desk.explain(&[]));
    assert!(list(&from_text["joinings"]).is_empty() && list(&from_text["patterns"]).is_empty());
    let figures = ["floor_ms", "predicted_ms", "arena_bytes", "argument_bytes"];
    for figure in figures {
        assert_eq!(from_text["summary"][figure], whole["summary"][figure], "{figure}");
    }
    // One instruction less is one worse choice: the page tells of what stands there.
    let edited = text.replacen(" on @vfma_f32 lanes", " on @valu lanes", 1);
    assert_ne!(edited, text);
    desk.write("tile.mlir", &edited);
    desk.weft(&["explain", "tile.mlir", "-o", "tile.html"]);
    let report = held(&desk.read("tile.html"));
    let instructions = |report: &serde_json::Value| -> Vec<String> {
        let kernels = list(&report["kernels"]).iter();
        kernels.map(|kernel| kernel["computes"][0]["instruction"].to_string()).collect()
    };
    assert_ne!(instructions(&report), instructions(&whole));
}

/// On a machine without caches, and with tiles that wait near its units.
#[test]
fn simulated_machines_are_explained() {
    let report = Desk::digits().explain(&["--device", "toy"]);
    assert_eq!(report["device"]["name"], "toy");
    assert!(report["summary"]["predicted_ms"].as_f64().is_some_and(|time| time > 0.0));
    assert!(!list(&report["roofline"]["slopes"]).is_empty());
}
