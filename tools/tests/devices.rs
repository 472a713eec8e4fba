//! `weft devices FILE` on machine files: what it tells, and what it says is wrong.

use std::path::Path;
use std::process::{Command, Output};

const TOY: &str = include_str!("../../devices/toy.mlir");
const DSP: &str = include_str!("../../devices/dsp.mlir");
const SYSTOLIC: &str = include_str!("../../devices/systolic.mlir");

fn weft(folder: &Path, arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_weft");
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    output.expect("weft starts")
}

fn succeeds(folder: &Path, arguments: &[&str]) -> String {
    let output = weft(folder, arguments);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}\n{text}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A machine file is refused: exit code 1, no panic, at `place`, and with all of `words`.
fn refused(text: &str, place: &str, words: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("wrong.mlir"), text).expect("written");
    let output = weft(folder.path(), &["devices", "wrong.mlir"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.starts_with("error: ") && !said.contains("panicked"), "{said}");
    assert!(!said.contains("internal error of weft"), "{said}");
    assert!(output.stdout.is_empty());
    for word in words.iter().chain([&place]) {
        assert!(said.contains(word), "`{word}` is not in\n{said}");
    }
}

/// The file with one thing wrong; the place is where `wrong` begins the line, or is on it.
fn wrong(text: &str, right: &str, wrong: &str, words: &[&str]) {
    assert!(text.contains(right), "`{right}` is not in the machine file");
    let changed = text.replacen(right, wrong, 1);
    let at = text.find(right).expect("just seen");
    let line = changed[..at].matches('\n').count() + 1;
    refused(&changed, &format!("wrong.mlir:{line}:"), words);
}

#[test]
fn facts_that_contradict() {
    wrong(TOY, "@in from @dram", "@in from @dream", &["@dream", "@dram"]);
    wrong(
        TOY,
        "bytes_per_cycle(16) transaction",
        "bytes_per_cycle(0) transaction",
        &["bytes_per_cycle 0", "above zero"],
    );
    wrong(
        TOY,
        "device.engine @dma on @core queue(8)",
        "device.engine @dma on @heart queue(8)",
        &["@heart", "@core"],
    );
    wrong(
        TOY,
        "device.engine @dma on @core queue(8)",
        "device.engine @rest on @core queue(8)\n  device.engine @dma on @core queue(8)",
        &["the engine @rest has no moves or instructions", "remove it"],
    );
    wrong(TOY, "clock_mhz(1000)", "clock_mhz(-1)", &["clock_mhz -1"]);
    wrong(TOY, "@core count(4)", "@core count(99999999999)", &["count 99999999999", "at most"]);
    let encoding =
        TOY.replacen("mac {2}, {0}, {1}\")\n  meaning", "mac {3}, {0}, {1}\")\n  meaning", 1);
    refused(&encoding, "wrong.mlir:", &["asks for `3`", "numbers below 3"]);
    wrong(
        TOY,
        "capacity_bytes(512) register_bytes(16)",
        "capacity_bytes(500) register_bytes(16)",
        &["500 bytes in registers of 16"],
    );
}

#[test]
fn meanings_that_are_none() {
    // It does not type-check.
    wrong(TOY, "%p = arith.mulf %x, %y : f32", "%p = arith.mulf %x, %y : f16", &["f16", "f32"]);
    let shapes = TOY.replacen("%a: tensor<4x4xf32>, %b", "%a: tensor<4x3xf32>, %b", 1);
    refused(&shapes, "wrong.mlir:", &["'%a'", "tensor<4x3xf32>"]);
    let yields = TOY.replacen("    device.yield %d : tensor<4x4xf32>", "    device.yield", 1);
    refused(&yields, "wrong.mlir:", &["the meaning yields nothing"]);
}

#[test]
fn lowerings_that_do_not_fit() {
    wrong(
        TOY,
        "\"toy.mac\"(%a, %b, %c)",
        "\"toy.mad\"(%a, %b, %c)",
        &["toy.mad", "@toy declares toy.mac, toy.square"],
    );
    wrong(
        TOY,
        "\"toy.mac\"(%a, %b, %c) : (index, index, index) -> ()",
        "\"toy.mac\"(%a, %b) : (index, index) -> ()",
        &["expects exactly 3 operands, but got 2"],
    );
    wrong(TOY, "\"toy.mac\"(%a, %b, %c)", "\"toy.mac\"(%a, %b, %b)", &["does not use operand 2"]);
    // What is given as a value cannot be used as an address.
    let values = SYSTOLIC.replacen("%b: index, %c: index)", "%b: index, %c: f32)", 1);
    refused(&values, "wrong.mlir:", &["'%c' expects different type", "'index' vs 'f32'"]);
    let register =
        DSP.replacen("^bb0(%a: f32, %b: !f32_vector", "^bb0(%a: f32, %b: vector<8xf32>", 1);
    let register = register.replacen("vector.fma %s, %b, %c", "vector.fma %s, %c, %c", 1);
    let words =
        ["operand 1 is tensor<16xf32>, and vector<8xf32> in the lowering", "as many elements"];
    refused(&register, "wrong.mlir:", &words);
}

#[test]
fn dialects_that_are_none() {
    wrong(TOY, "irdl.dialect @toy {", "irdl.dialect @arith {", &["@arith", "another name"]);
    wrong(
        TOY,
        "irdl.operation @square",
        "irdl.operation @mac",
        &["redefinition of symbol named 'mac'"],
    );
    wrong(TOY, "%address = irdl.is index", "%address = irdl.is indecks", &["indecks"]);
    let twice = TOY.replacen(
        "  irdl.dialect @toy {",
        "  irdl.dialect @toy {\n  }\n  irdl.dialect @toy {",
        1,
    );
    refused(&twice, "wrong.mlir:", &["toy"]);
    wrong(TOY, "pdl.rewrite %mac {", "pdl.rewrite %mac with \"somebody\" {", &["calls a function"]);
}

#[test]
fn not_one_machine() {
    refused("module {}", "holds 0 machines", &["one device.machine"]);
    let dialect = TOY.replace("@toy arch", "@other arch");
    let dialect = &dialect[dialect.find("device.machine").expect("a machine")..];
    // Two machines may not declare one dialect, either.
    let two = format!("{TOY}\n{}", dialect.replace("irdl.dialect @toy", "irdl.dialect @other"));
    refused(&two, "wrong.mlir:", &["holds 2 machines"]);
    refused("", "holds 0 machines", &[]);
    refused("device.machine @toy", "wrong.mlir:1:", &[]);
    let deep = format!("// irdl.dialect\nmodule {{\n{}\n}}", "module {".repeat(1000));
    refused(&deep, "wrong.mlir:3:", &["nest"]);
}

#[test]
fn fragments_that_miss_or_repeat() {
    let fragment = |map: &str| {
        format!(
            r#"
device.machine @simt arch("simt") features([]) {{
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @reg scope("warp") capacity_bytes(1024) register_bytes(16) lanes(4)
  device.unit @sm count(1)
  device.instruction @add on @sm operands([@reg, @reg]) fragments([{map}, {map}])
    issue_cycles(1.0) latency_cycles(1)
  meaning {{
  ^bb0(%a: tensor<4x2xf32>, %c: tensor<4x2xf32>):
    %d = linalg.generic {{
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    }} ins(%a : tensor<4x2xf32>) outs(%c : tensor<4x2xf32>) {{
    ^bb0(%x: f32, %z: f32):
      %s = arith.addf %z, %x : f32
      linalg.yield %s : f32
    }} -> tensor<4x2xf32>
    device.yield %d : tensor<4x2xf32>
  }} lowering {{
  ^bb0(%a: vector<2xf32>, %c: vector<2xf32>):
    %d = arith.addf %a, %c : vector<2xf32>
    device.yield %d : vector<2xf32>
  }}
}}
"#
        )
    };
    let words = ["the fragment of operand 0", "every element occurs equally often"];
    let misses = fragment("affine_map<(l, s) -> (l, 0)>");
    refused(&misses, "wrong.mlir:6:", &[&words[..], &["misses element [0, 1]"]].concat());
    let outside = fragment("affine_map<(l, s) -> (l, s + 1)>");
    refused(&outside, "wrong.mlir:6:", &[&words[..], &["outside of tensor<4x2xf32>"]].concat());
    let folder = tempfile::tempdir().expect("a folder");
    let right = fragment("affine_map<(l, s) -> (l, s)>");
    std::fs::write(folder.path().join("right.mlir"), right).expect("written");
    let text = succeeds(folder.path(), &["devices", "right.mlir"]);
    assert!(text.contains("over 4 lanes"), "{text}");
    // Lane after lane, on this processor.
    assert!(text.contains("agrees with its meaning to the last bit, 8 times"), "{text}");
    let doubles =
        fragment("affine_map<(l, s) -> (l, s)>").replace("%a, %c : vector", "%c, %c : vector");
    refused(&doubles, "wrong.mlir:", &["does not use operand 0"]);
    let forgets =
        fragment("affine_map<(l, s) -> (l, s)>").replace("addf %a, %c : v", "subf %c, %a : v");
    refused(&forgets, "wrong.mlir:", &["@add: element [0, 0] of operand 1 is", "by the meaning"]);
}

#[test]
fn a_lowering_is_run_against_its_meaning() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = succeeds(folder.path(), &["devices", "dsp"]);
    assert!(text.contains("@vmac"), "{text}");
    if !std::arch::is_x86_feature_detected!("avx2") || !std::arch::is_x86_feature_detected!("fma") {
        return;
    }
    assert!(text.contains("agrees with its meaning"), "{text}");
    // It forgets what it adds to.
    let forgets = DSP.replacen("vector.fma %s, %b, %c", "vector.fma %s, %b, %b", 1);
    refused(&forgets, "wrong.mlir:", &["does not use operand 2"]);
    let swaps = DSP.replacen("vector.fma %s, %b, %c", "vector.fma %s, %c, %b", 1);
    refused(&swaps, "wrong.mlir:", &["@vmac: element [0] of operand 2 is", "by the meaning"]);
}

#[test]
fn what_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = succeeds(folder.path(), &["devices", "toy"]);
    for words in [
        "by the engine @dma",
        "8 orders",
        "64 multiply-adds, 64.0 G a second",
        "@dram 4.0, @spad 0.2",
        "d0 of 4, d1 of 4, d2 of 4, on (d0, d2) (d2, d1) (d0, d1)",
        "toy.mac, whose meaning is the instruction's",
        "GEMM f32",
        "@mac4x4x4, d0 = axis 0, d1 = axis 1, d2 = axis 2",
        "@mac4x4x4 means another body",
    ] {
        assert!(text.contains(words), "`{words}` is not in\n{text}");
    }
    // Twice the same, and the same page on every host.
    assert_eq!(text, succeeds(folder.path(), &["devices", "toy"]));
    let page = succeeds(folder.path(), &["devices", "x86-avx2", "--page", "-o", "-"]);
    assert!(page.starts_with("# @x86_avx2\n\nAn x86-64 core"), "{page}");
    assert!(!page.contains("not run here"), "{page}");
}

#[test]
fn named_operations_in_a_meaning() {
    let begin = TOY.find("    %d = linalg.generic").expect("the meaning");
    let end = TOY.find("    device.yield %d").expect("the meaning ends");
    let named = format!(
        "{}    %d = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) \
         outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>\n{}",
        &TOY[..begin],
        &TOY[end..]
    );
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("named.mlir"), named).expect("written");
    let text = succeeds(folder.path(), &["devices", "named.mlir"]);
    assert!(text.contains("@mac4x4x4, d0 = axis 0, d1 = axis 1, d2 = axis 2"), "{text}");
}

#[test]
fn assembly_and_vendor_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let kernel = ["kernel", "C[m,n] += A[m,k] * B[k,n]", "--shape", "m=8,n=8,k=8", "--device"];
    for device in ["toy", "systolic", "dsp", "ipu", "stcp920-like"] {
        let text =
            succeeds(folder.path(), &[&kernel[..], &[device, "--emit", "asm", "-o", "-"]].concat());
        let machine = device.replace('-', "_");
        assert!(text.starts_with(&format!(".machine {machine}\n\n.kernel ")), "{text}");
        assert!(!text.contains('?') && !text.contains('{'), "{text}");
        let vendor = ["--emit", "vendor", "-o", "vendor.mlir"];
        succeeds(folder.path(), &[&kernel[..], &[device], &vendor[..]].concat());
        // It carries what it is written in, and goes on to the same assembly.
        let again = ["compile", "vendor.mlir", "--emit", "asm", "-o", "-"];
        assert_eq!(text, succeeds(folder.path(), &again), "{device}");
    }
}

/// The text of every stage carries the vendor's dialect, so that it parses and goes on.
#[test]
fn every_stage_is_resumed() {
    let folder = tempfile::tempdir().expect("a folder");
    let kernel = ["kernel", "C[m,n] += A[m,k] * B[k,n]", "--shape", "m=32,n=32,k=32"];
    let device = ["--device", "toy", "-o", "-", "--emit"];
    let whole = succeeds(folder.path(), &[&kernel[..], &device[..], &["asm"]].concat());
    for stage in ["tile", "task", "device", "vendor"] {
        let text = succeeds(folder.path(), &[&kernel[..], &device[..], &[stage]].concat());
        assert!(text.contains("irdl.dialect @toy") && text.contains("pdl.pattern"), "{text}");
        std::fs::write(folder.path().join("stage.mlir"), text).expect("written");
        let again = succeeds(folder.path(), &["compile", "stage.mlir", "-o", "-", "--emit", "asm"]);
        assert_eq!(whole, again, "{stage}");
    }
}

/// Who computes an operator is predicted to take no longer than who comes second.
#[test]
fn winners_take_the_fewest_cycles() {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/devices");
    let mut compared = 0;
    for page in std::fs::read_dir(pages).expect("a folder") {
        let page = std::fs::read_to_string(page.expect("a page").path()).expect("text");
        for row in page.lines().filter(|line| line.starts_with("| ")) {
            let cells: Vec<_> = row.split('|').map(str::trim).collect();
            let [_, _, _, _, winner, _, second, _] = cells[..] else { continue };
            let (Ok(winner), Ok(second)) = (winner.parse::<f64>(), second.parse::<f64>()) else {
                continue;
            };
            assert!(winner <= second * 1.001, "{row}");
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared} rows");
}
