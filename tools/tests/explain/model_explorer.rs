//! The graph beside the page, in the form that Model Explorer opens.

use std::collections::BTreeSet;

use crate::desk::{Desk, list, number};

#[test]
fn the_collection_is_the_tile_graph_and_holds_the_report() {
    let desk = Desk::digits();
    let report = desk.explain(&["--json", "graph.json"]);
    assert!(!desk.path("digits.json").exists());
    let collection: serde_json::Value =
        serde_json::from_str(&desk.read("graph.json")).expect("JSON");
    assert_eq!(collection["report"], report);
    assert_eq!(collection["label"], "digits.onnx");
    let nodes = list(&collection["graphs"][0]["nodes"]);
    let ids: BTreeSet<_> = nodes.iter().map(|node| node["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), nodes.len(), "ids differ");
    // Kernels, one input, one output.
    assert_eq!(nodes.len(), list(&report["graph"]["nodes"]).len() + 2);
    let mut edges = 0;
    for node in nodes {
        assert!(node["label"].is_string() && node["namespace"].is_string());
        for edge in list(&node["incomingEdges"]) {
            assert!(ids.contains(edge["sourceNodeId"].as_str().unwrap()), "{edge}");
            edges += 1;
        }
    }
    assert_eq!(edges, list(&report["graph"]["edges"]).len());
    let conv = nodes.iter().find(|node| node["label"] == "c1+n1+r1").expect("the first layer");
    let attrs = list(&conv["attrs"]);
    let has = |key: &str| attrs.iter().any(|attr| attr["key"] == key && attr["value"].is_string());
    assert!(has("instruction") && has("rTasks") && has("predicted, ms"), "{conv}");
    let out = &conv["outputsMetadata"][0]["attrs"];
    let memory = list(out).iter().find(|attr| attr["key"] == "memory").expect("a memory");
    let shared = report["device"]["shared"].as_str().unwrap();
    assert_eq!(memory["value"], format!("@{shared}"));
}

/// What weights alone decide does not run, and is not drawn.
#[test]
fn edges_lead_from_kernel_to_kernel() {
    let report = Desk::digits().explain(&[]);
    let nodes = list(&report["graph"]["nodes"]);
    // Nodes stand as in the tile-graph, kernels as they start.
    let mut runs: Vec<u64> = nodes.iter().map(|node| number(&node["runs_in"])).collect();
    runs.sort_unstable();
    assert_eq!(runs, (0..nodes.len() as u64).collect::<Vec<_>>());
    assert!(nodes.iter().all(|node| node["op"] != "n1"), "batch normalisation is a constant");
    for edge in list(&report["graph"]["edges"]) {
        let (from, to) = (edge["from"].as_u64(), edge["to"].as_u64());
        assert!(from.is_some() || edge["port"] == "image", "{edge}");
        assert!(to.is_some() || edge["port"] == "probabilities", "{edge}");
        assert!(from.zip(to).is_none_or(|(from, to)| from < to), "{edge}");
    }
}
