//! A program with a mistake stops the simulation, and says where.

use crate::desk::{Desk, machine};

/// The device program of a product on the toy, after an edit.
fn edited(edit: impl Fn(&str) -> String) -> String {
    let desk = Desk::new();
    desk.write("machine.mlir", machine("toy"));
    let product = "C[m,n] += A[m,k] * B[k,n]";
    let device = ["--device", "machine.mlir", "--emit", "device", "-o", "k.mlir"];
    let kernel = ["kernel", product, "--shape", "m=16,n=16,k=64"];
    desk.weft(&[&kernel[..], &device[..]].concat());
    let text = std::fs::read_to_string(desk.path("k.mlir")).expect("text");
    let changed = edit(&text);
    assert_ne!(text, changed, "the edit finds its place");
    desk.write("k.mlir", changed);
    desk.refused(&["simulate", "k.mlir"])
}

/// Leaves out the first line that `is` says something about.
fn without(text: &str, is: impl Fn(&str) -> bool) -> String {
    let mut done = false;
    let kept = text.lines().filter(|line| {
        let out = !done && is(line);
        done |= out;
        !out
    });
    kept.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_sum_that_starts_with_nothing() {
    let said = edited(|text| without(text, |line| line.contains("device.fill")));
    assert!(said.contains("@mac4x4x4"), "{said}");
    assert!(said.contains("which nothing has written"), "{said}");
}

#[test]
fn nobody_waits_for_the_result() {
    // The last wait is the one for what goes out.
    let said = edited(|text| {
        let at = text.rfind("device.wait").expect("a wait");
        let begin = text[..at].rfind('\n').expect("a line");
        let end = at + text[at..].find('\n').expect("a line");
        format!("{}{}", &text[..begin], &text[end..])
    });
    assert!(said.contains("device.transfer @out still reads"), "{said}");
    assert!(said.contains("wait for its token first"), "{said}");
}

#[test]
fn a_tile_that_leaves_its_buffer() {
    let said = edited(|text| {
        text.replacen("memref<2x", "memref<1x", 1).replace("memref<2x4x", "memref<1x4x")
    });
    assert!(said.contains("spad"), "{said}");
}
