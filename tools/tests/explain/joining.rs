//! None, base and full joining side by side (WE-12), and the patterns of their kernels (WE-11).

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::desk::{Desk, behind, held, lines, list, number};

/// The small models of Welder's tests.
const MODELS: [&str; 7] =
    ["attention", "feed", "inverted", "norm", "pooled", "separable", "softmax"];

/// What the ranges of `pooled` may be predicted to take of those of its two kernels: its rTasks are counted one after
/// the other, and groups of a unit run several at once.
const POOLED: f64 = 1.2;

/// The report on one of them for a GPU, whose blocks have a memory where tiles wait.
fn report(model: &str) -> Value {
    let desk = Desk::digits();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/welder/{model}.mlir"));
    let path = path.to_str().expect("a path");
    desk.weft(&["explain", path, "--device", "v100", "-o", "page.html"]);
    held(&desk.read("page.html"))
}

fn named<'r>(report: &'r Value, name: &str) -> &'r Value {
    let mut joinings = list(&report["joinings"]).iter();
    joinings.find(|joining| joining["name"] == name).expect("the joining")
}

/// WE-12. Kernels, bytes and the arena of each way are those of its own compilation.
#[test]
fn we_12_each_way_is_a_compilation_of_its_own() {
    let desk = Desk::digits();
    let report = desk.explain(&[]);
    let names: Vec<_> = list(&report["joinings"]).iter().map(|joining| &joining["name"]).collect();
    assert_eq!(names, ["none", "base", "full"]);
    for joining in list(&report["joinings"]) {
        let options = list(&joining["options"]).iter().map(|option| option.as_str().unwrap());
        let more: Vec<_> = options.flat_map(|option| ["--pass-option", option]).collect();
        let text = desk.stage("task", &more);
        assert_eq!(number(&joining["arena_bytes"]), behind(&text, " arena "), "{joining}");
        assert_eq!(number(&joining["ranges"]), lines(&text, "task.range").len() as u64);
    }
    let [none, base] = ["none", "base"].map(|name| named(&report, name));
    assert!(number(&base["kernels"]) < number(&none["kernels"]));
    // What is joined is neither written nor read any more.
    let less = |figure: &str| number(&none[figure]) - number(&base[figure]);
    assert_eq!(less("argument_bytes"), 2 * less("intermediate_bytes"));
    assert_eq!(number(&none["joined_patterns"]), 0);
}

/// WE-12. Base joins elementwise operators only; full joins what folds rows, too, and is better than
/// base in kernels and in bytes of the shared memory wherever one kernel's tile can wait for another, and
/// in predicted time, too, but for `pooled`: its windows are computed again, in the cycles of the wait
/// that is saved, so that predictions do not say which is faster. Where no tile can wait, the products
/// and windows of `separable` stay as they are.
#[test]
fn we_12_full_joining_is_better_than_base() {
    for model in MODELS {
        let report = report(model);
        let [none, base, full] = ["none", "base", "full"].map(|name| {
            let own = named(&report, name);
            let time = own["predicted_ms"].as_f64().expect("a time");
            (number(&own["kernels"]), number(&own["argument_bytes"]), time)
        });
        let less = |one: (u64, u64, f64), other: (u64, u64, f64)| {
            one.0 < other.0 && one.1 < other.1 && one.2 < other.2
        };
        match model {
            "separable" => assert_eq!(full, base, "{model}"),
            "pooled" => {
                let as_fast = (full.0, full.1, full.2 / POOLED);
                assert!(less(as_fast, base), "{model}: {full:?} and {base:?} with base");
            }
            _ => assert!(less(full, base), "{model}: {full:?} and {base:?} with base"),
        }
        match model {
            // Its rows are read by sums only.
            "norm" => assert_eq!(base, none, "{model}"),
            _ => assert!(less(base, none), "{model}: {base:?} and {none:?} with none"),
        }
    }
}

/// The page shows the way that the options ask for.
#[test]
fn what_is_shown_is_what_was_asked_for() {
    let desk = Desk::digits();
    let apart = ["tile-fuse-elementwise.fuse=false", "tile-connect-edges.joining=none"];
    let options = apart.map(|option| ["--pass-option", option]);
    let report = desk.explain(options.as_flattened());
    assert_eq!(named(&report, "none")["shown"], true);
    assert_eq!(named(&report, "base")["shown"], false);
    assert_eq!(report["summary"]["kernels"], named(&report, "none")["kernels"]);
    assert_eq!(list(&report["kernels"]).len() as u64, number(&named(&report, "none")["kernels"]));
}

/// WE-11. Patterns are counted over all kernels of each way; joined ones are no single loop.
#[test]
fn we_11_patterns_are_counted() {
    let report = Desk::digits().explain(&["--device", "x86-avx512"]);
    let patterns = list(&report["patterns"]);
    for joining in list(&report["joinings"]) {
        let name = joining["name"].as_str().unwrap();
        let counts = patterns.iter().map(|pattern| number(&pattern["counts"][name]));
        let counts: Vec<u64> = counts.filter(|&count| count > 0).collect();
        assert_eq!(counts.iter().sum::<u64>(), number(&joining["kernels"]), "{name}");
        assert_eq!(counts.len() as u64, number(&joining["patterns"]), "{name}");
    }
    // Convolution, batch normalisation and relu: what starts a sum, the sum, what ends it.
    let example = |pattern: &&Value| pattern["example"] == "c1+n1+r1";
    let pattern = patterns.iter().find(example).expect("the pattern of the first layer");
    assert_eq!(pattern["joined"], true);
    assert_eq!((number(&pattern["counts"]["none"]), number(&pattern["counts"]["base"])), (0, 1));
    let nests = list(&pattern["nests"]).iter();
    let sum = nests.clone().find(|nest| nest["axes"] == "ppprr").expect("the sum");
    assert_eq!(sum["operations"], serde_json::json!({ "arith.addf": 1, "arith.mulf": 1 }));
    let ends = nests.filter(|nest| nest["axes"] == "ppp");
    assert!(ends.clone().any(|nest| nest["operations"]["arith.select"] == 1), "{pattern}");
    // Its kernel says so, too.
    let kernels = list(&report["kernels"]).iter();
    let of = kernels.filter(|kernel| kernel["op"] == "c1+n1+r1");
    let numbers: Vec<u64> = of.map(|kernel| number(&kernel["pattern"])).collect();
    let at = patterns.iter().position(|own| own == pattern).unwrap() as u64;
    assert_eq!(numbers, [at]);
}

/// The joined kernels of one way over all models, each by its loop nests: how many of them are
/// sums, products or maxima along an axis.
fn joined(reports: &[Value], way: &str) -> BTreeSet<(String, usize)> {
    let patterns = reports.iter().flat_map(|report| list(&report["patterns"]));
    let patterns = patterns.filter(|own| own["joined"] == true && number(&own["counts"][way]) > 0);
    let folds = |nest: &&Value| nest["axes"].as_str().expect("axes").contains('r');
    patterns
        .map(|own| {
            let nests = list(&own["nests"]);
            (own["nests"].to_string(), nests.iter().filter(folds).count())
        })
        .collect()
}

/// WE-11. Over the models, full joining makes kernels that elementwise joining does not know: of
/// several reductions each, or of one and what is not elementwise behind it.
#[test]
fn we_11_full_joining_has_patterns_that_base_lacks() {
    let reports = MODELS.map(report);
    let [none, base, full] = ["none", "base", "full"].map(|way| joined(&reports, way));
    assert!(none.is_empty(), "{none:?}");
    assert!(base.iter().all(|(_, folds)| *folds <= 1), "{base:?}");
    let new: Vec<_> = full.difference(&base).collect();
    // A softmax, a normalisation, a product behind a product, a pool behind a convolution.
    let several = new.iter().filter(|(_, folds)| *folds >= 2).count();
    assert!(several >= 4, "{several} of {new:?}");
    // Base knows epilogues behind sums that several groups of lanes hold, too.
    assert!(new.len() >= base.len(), "{} new ones, {} with base", new.len(), base.len());
}
