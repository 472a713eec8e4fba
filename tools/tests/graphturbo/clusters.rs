//! What the units of a cluster hand to each other lies in the memory that they share (GT-4, GT-7,
//! GT-11), and the same passes find the memory of a core on every machine (GT-10).

use crate::desk::Desk;
use crate::instances::{CHIP, buffer};

/// Products on both sides of a softmax without its largest, the second of which reads columns: `n`
/// rows.
fn transposed(n: usize) -> String {
    let t = |dims: [usize; 2]| format!("tensor<1x{}x{}xf32>", dims[0], dims[1]);
    let (x, w, h, v) = (t([n, 48]), t([48, 96]), t([n, 96]), t([n, 80]));
    let (one, turned, y) = (t([n, 1]), t([96, n]), t([96, 80]));
    format!(
        "func.func @m(%x: {x}, %w: {w}, %v: {v}) -> {y} {{
  %z = \"tosa.const\"() <{{values = dense<0.0> : tensor<1xf32>}}> : () -> tensor<1xf32>
  %h = tosa.matmul %x, %w, %z, %z : ({x}, {w}, tensor<1xf32>, tensor<1xf32>) -> {h}
  %r = tosa.exp %h : ({h}) -> {h}
  %m = tosa.reduce_sum %r {{axis = 2 : i32}} : ({h}) -> {one}
  %i = tosa.reciprocal %m : ({one}) -> {one}
  %c = \"tosa.const\"() <{{values = dense<0> : tensor<1xi8>}}> : () -> tensor<1xi8>
  %s = tosa.mul %r, %i, %c : ({h}, {one}, tensor<1xi8>) -> {h}
  %t = tosa.transpose %s {{perms = array<i32: 0, 2, 1>}} : ({h}) -> {turned}
  %o = tosa.matmul %t, %v, %z, %z : ({turned}, {v}, tensor<1xf32>, tensor<1xf32>) -> {y}
  return %o : {y}
}}
"
    )
}

/// Two products with an exponential between them, on `n` rows.
fn rows(n: usize) -> String {
    let t = |rows: usize, columns: usize| format!("tensor<1x{rows}x{columns}xf32>");
    let (x, w, h, v) = (t(n, 48), t(48, 64), t(n, 64), t(64, 48));
    format!(
        "func.func @m(%x: {x}, %w: {w}, %v: {v}) -> {x} {{
  %z = \"tosa.const\"() <{{values = dense<0.0> : tensor<1xf32>}}> : () -> tensor<1xf32>
  %h = tosa.matmul %x, %w, %z, %z : ({x}, {w}, tensor<1xf32>, tensor<1xf32>) -> {h}
  %e = tosa.exp %h : ({h}) -> {h}
  %o = tosa.matmul %e, %v, %z, %z : ({h}, {v}, tensor<1xf32>, tensor<1xf32>) -> {x}
  return %o : {x}
}}
"
    )
}

const SHARED: [&str; 2] = ["stcp920-like.mlir", "@llb scope(\"cluster\") capacity_bytes(8388608)"];

/// One cluster of the chip, and what its pass says.
const CLUSTER: &str = "--pass-option tile-to-task.units=8 --pass-option tile-to-task.remarks=true";

/// What was said of the memory that a cluster shares.
fn said(desk: &Desk) -> Vec<String> {
    let task = format!("compile model.mlir --emit task -o task.mlir {CLUSTER}");
    let said = desk.weft(&task, "all").unwrap_or_else(|said| panic!("{said}")).1;
    let own = said.lines().filter_map(|line| line.split_once("argument ").map(|own| own.1));
    own.map(str::to_owned).collect()
}

/// Who reads the rows that it is given stays in the core's buffer; who reads columns of what several
/// cores made finds it in the memory that they share, and not in the one that all share.
#[test]
fn gt_4_a_transposed_reader_forces_the_shared_buffer() {
    let desk = Desk::new(&transposed(64), SHARED[0], [SHARED[1], SHARED[1]]);
    let handed = "2 of 24576 bytes is in @llb of cluster 0, whose units alone use it";
    let said = said(&desk);
    assert!(said.iter().any(|line| line == handed), "{said:#?}");
    let task = desk.read("task.mlir");
    // What rows hand to rows: the product, its exponential, their sum, and what is divided by it.
    let rooms = task.matches("tile.empty in @l1").count();
    assert!(rooms >= 6, "{rooms} tensors wait in the core");
    assert!(
        !task.contains("task.buffer at 0 in @ddr"),
        "nothing is handed over by the slow memory"
    );
    // It gives what it gives without: each way from the same inputs.
    desk.simulate("none", "--outputs whole.npz");
    desk.simulate("all", &format!("--expect whole.npz --rtol 1e-4 --atol 1e-4 {CLUSTER}"));
    desk.simulate("all", "--expect whole.npz --rtol 1e-4 --atol 1e-4");
    // The last cluster of a part of the chip has fewer units, and a program may have launches.
    let odd = "--pass-option tile-to-task.units=13 --pass-option tile-to-task.launches=each";
    desk.simulate("all", &format!("--expect whole.npz --rtol 1e-4 --atol 1e-4 {odd}"));
}

/// Whatever lies in the memory of a cluster ends inside of it, and a smaller one holds less; the
/// simulator stops at bytes that two tensors have at once.
#[test]
fn gt_7_what_a_cluster_shares_fits() {
    let mut moved = Vec::new();
    for bytes in [8_388_608, 40_000, 26_000] {
        let held = buffer(SHARED, bytes);
        let desk = Desk::new(&transposed(64), SHARED[0], [SHARED[1], &held]);
        desk.simulate("none", "--outputs whole.npz --pass-option tile-to-task.near=none");
        let ran = desk.simulate("all", "--expect whole.npz --rtol 1e-4 --atol 1e-4");
        moved.push(ran.shared_bytes);
        let report = desk.weft("simulate model.mlir --timing-only --json", "all").expect("runs").0;
        let report: serde_json::Value = serde_json::from_str(&report).expect("an object");
        let shared = report["memories"].as_array().expect("memories");
        let shared = shared.iter().find(|own| own["name"] == "llb").expect("it has one");
        let peak = shared["peak_bytes"].as_u64().expect("a number");
        assert!(0 < peak && peak <= bytes, "{peak} of {bytes} bytes");
        // The verifier sees what this test counts on.
        let text = desk.weft("compile model.mlir --emit task -o -", "all").expect("text").0;
        let less = text.replacen(&format!("cluster_arena = {peak} "), "cluster_arena = 64 ", 1);
        desk.write("less.mlir", &less);
        let refused = desk.weft("compile less.mlir --emit device -o -", "all");
        assert!(refused.expect_err("too small").contains("of an arena of 64"));
    }
    assert!(moved[0] <= moved[1] && moved[1] <= moved[2] && moved[0] < moved[2], "{moved:?}");
}

/// More of a batch is done in one pass, until the local buffer is full; then there are more passes.
#[test]
fn gt_11_a_pass_grows_until_the_buffer_is_full() {
    let of = |n: usize| {
        let desk = Desk::new(&rows(n), CHIP[0], [CHIP[1], &buffer(CHIP, 131_072)]);
        let said = desk.remarks().concat();
        let (before, behind) = said.split_once(" instances, ").expect("a count");
        let count = before.rsplit(' ').next().and_then(|own| own.parse::<usize>().ok());
        let bytes = behind.rsplit("; ").next().and_then(|own| own.split(' ').next());
        (count.expect("a number"), bytes.and_then(|own| own.parse::<u64>().ok()).expect("bytes"))
    };
    let passes = [32, 128, 512, 2048, 8192].map(|n| {
        let (count, bytes) = of(n);
        // A half is for what waits, the rest for what is worked on.
        assert!(bytes <= 131_072 / 2, "{bytes} bytes for {n} rows");
        n.div_ceil(count)
    });
    assert_eq!(passes, [8, 32, 64, 64, 64]);
    // A pass of twice as many would not fit: a row takes 48 + 64 floats.
    assert!(of(8192).1 + 64 * (48 + 64) * 4 > 131_072 / 2);
}

/// What cores of a cluster hand over grows with the batch until the memory that they share is full.
#[test]
fn gt_11_the_shared_buffer_fills_up() {
    let kept = |n: usize| {
        let desk = Desk::new(&transposed(n), SHARED[0], [SHARED[1], &buffer(SHARED, 262_144)]);
        let handed = format!("2 of {} bytes ", n * 96 * 4);
        let said = said(&desk);
        said.into_iter().find(|line| line.starts_with(&handed)).expect("it is handed over")
    };
    for n in [128, 256, 512] {
        assert!(kept(n).contains("is in @llb of cluster 0"), "{}", kept(n));
    }
    assert!(kept(1024).ends_with("[room: @llb holds 262144]"), "{}", kept(1024));
}

/// A softmax is done in the memory of a core, whatever that is: the same passes on chips with local
/// buffers, on GPUs and on processors. Between kernels, tensors lie in the memory that all share,
/// behind the cache that a GPU's and a processor's cores have in common.
#[test]
fn gt_10_the_same_passes_find_the_memory_of_a_core() {
    let (ty, one) = ("tensor<512x1024xf32>", "tensor<512x1xf32>");
    let softmax = format!(
        "func.func @m(%x: {ty}) -> {ty} {{
  %m = tosa.reduce_max %x {{axis = 1 : i32}} : ({ty}) -> {one}
  %s = tosa.sub %x, %m : ({ty}, {one}) -> {ty}
  %e = tosa.exp %s : ({ty}) -> {ty}
  %q = tosa.reduce_sum %e {{axis = 1 : i32}} : ({ty}) -> {one}
  %i = tosa.reciprocal %q : ({one}) -> {one}
  %c = \"tosa.const\"() <{{values = dense<0> : tensor<1xi8>}}> : () -> tensor<1xi8>
  %o = tosa.mul %e, %i, %c : ({ty}, {one}, tensor<1xi8>) -> {ty}
  return %o : {ty}
}}
"
    );
    for (device, memory) in [
        ("stcp920-like.mlir", "l1"),
        ("dsp.mlir", "tcm"),
        ("toy.mlir", "spad"),
        ("x86-avx2.mlir", "l1"),
        ("h200.mlir", "smem"),
        ("mi300x.mlir", "lds"),
    ] {
        let desk = Desk::new(&softmax, device, ["device.machine", "device.machine"]);
        let all = "--pass-option tile-connect-edges.joining=all";
        let text = desk.weft(&format!("compile model.mlir --emit tile -o - {all}"), "auto");
        let text = text.unwrap_or_else(|said| panic!("{device}: {said}")).0;
        let scope = format!("device.memory @{memory} scope(\"core\")");
        assert!(text.contains(&scope), "{device} has {memory} for each core");
        let program = &text[text.find("tile.graph").expect("a graph")..];
        let near = program.matches(&format!("in @{memory} ")).count();
        assert!(near >= 2, "{device}: {near} tensors in @{memory}");
    }
}
