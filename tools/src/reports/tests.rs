//! Snapshots of reports.

use super::*;
use crate::failure::Reported;

const MACHINE: &str = "\
device.machine @toy {
  device.memory @spad capacity_bytes(0)
  device.unit @core count(1)
}
";

fn diagnostic(
    line: usize,
    column: usize,
    notes: Vec<(Option<(usize, usize)>, String)>,
) -> Diagnostic {
    Diagnostic {
        is_error: true,
        place: Some((line, column)),
        message: "device.memory has capacity_bytes 0".to_owned(),
        notes,
    }
}

fn reported(diagnostics: Vec<Diagnostic>, texts: &[(&str, &str)]) -> Failure {
    let mut sources = Sources::default();
    for (name, text) in texts {
        sources.add(name, text);
    }
    Failure::Reported(Reported { diagnostics, sources })
}

/// Drawn without colours, and without the blanks that margins end in.
fn drawn(failure: &Failure) -> String {
    draw(failure, false).lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[test]
fn underlines_the_token() {
    let help = (Some((2, 3)), "help: give it at least 1".to_owned());
    let failure = reported(vec![diagnostic(2, 3, vec![help])], &[("toy.mlir", MACHINE)]);
    assert_eq!(
        drawn(&failure),
        "\
error: device.memory has capacity_bytes 0
   ╭─[ toy.mlir:2:3 ]
   │
 2 │   device.memory @spad capacity_bytes(0)
   │   ──────┬──────
   │         ╰──────── here
   │
   │ Help: give it at least 1
───╯
"
    );
}

#[test]
fn points_into_both_texts() {
    let model = "module {\n  graph.model\n}\n";
    let note = (Some((2, 3)), "the model is here".to_owned());
    let failure =
        reported(vec![diagnostic(6, 3, vec![note])], &[("m.mlir", model), ("toy.mlir", MACHINE)]);
    let text = drawn(&failure);
    assert!(text.contains("toy.mlir:2:3"), "{text}");
    assert!(text.contains("m.mlir:2:3"), "{text}");
    assert!(text.contains("the model is here"), "{text}");
}

#[test]
fn without_a_place() {
    let mut error = diagnostic(1, 1, vec![(None, "help: less".to_owned())]);
    error.place = None;
    error.notes.push((Some((1, 1)), "see current operation: \"a\"() {...}".to_owned()));
    let failure = reported(vec![error.clone(), error], &[]);
    assert_eq!(drawn(&failure), "error: device.memory has capacity_bytes 0\n  help: less\n");
}

#[test]
fn a_long_line_is_not_shown() {
    let text = format!("{MACHINE}// {}", "x".repeat(1000));
    let failure = reported(vec![diagnostic(5, 1, Vec::new())], &[("toy.mlir", &text)]);
    assert_eq!(drawn(&failure), "error: device.memory has capacity_bytes 0\n  at toy.mlir:5:1\n");
}

#[test]
fn text_beyond_ascii_and_the_end() {
    for column in 1..40 {
        let failure = reported(
            vec![diagnostic(1, column, Vec::new()), diagnostic(2, column, Vec::new())],
            &[("é.mlir", "// été \u{2028} \"日本\" é %0\n"), ("b.mlir", "")],
        );
        assert!(draw(&failure, true).contains("capacity_bytes 0"));
    }
}

#[test]
fn many_errors_are_cut() {
    let errors = (1..20).map(|column| diagnostic(2, column, Vec::new())).collect();
    let text = drawn(&reported(errors, &[]));
    // Without their texts they are all alike.
    assert_eq!(text.matches("error:").count(), 1);
}

#[test]
fn notes_and_help_of_the_importer() {
    let report = weft_onnx::Report::new("no such operator").note("node 3").help("Relu");
    let failure = Failure::Import(report.unsupported());
    assert_eq!(drawn(&failure), "error: no such operator\n  note: node 3\n  help: Relu\n");
}

#[test]
fn words_with_help() {
    let failure = Failure::said("this is wrong", "that");
    assert_eq!(drawn(&failure), "error: this is wrong\n  help: that\n");
    let source = std::io::Error::other("the disk is full");
    let failure = Failure::File { doing: "write", path: "a".into(), source };
    assert_eq!(drawn(&failure), "error: cannot write a: the disk is full\n");
}
