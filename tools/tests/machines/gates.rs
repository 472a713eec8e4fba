//! IM-12. The gates of a cell are one product; three compute the same.

use crate::desk::{Desk, machine};

/// A cell of `hidden` units for a batch: two products per gate, as a framework writes them.
fn cell(batch: u64, hidden: u64) -> String {
    let (state, weight) =
        (format!("tensor<{batch}x{hidden}xf32>"), format!("tensor<{hidden}x{hidden}xf32>"));
    let product = |name: &str, input: &str| {
        format!(
            r#"  %w{name} = graph.constant dense<0.0{seed}> : {weight} -> {weight}
  %{name} = graph.op "MatMul" "{name}"(%{input}, %w{name}) : ({state}, {weight}) -> {state} {{
  ^bb0(%p: {state}, %q: {weight}):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : {state}
    %f = linalg.generic {{indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]}} outs(%e : {state}) {{
    ^bb0(%o: f32):
      linalg.yield %z : f32
    }} -> {state}
    %r = linalg.generic {{indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}} ins(%p, %q : {state}, {weight}) outs(%f : {state}) {{
    ^bb0(%i: f32, %j: f32, %o: f32):
      %m = arith.mulf %i, %j : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    }} -> {state}
    graph.yield %r : {state}
  }}
"#,
            seed = name.bytes().map(u64::from).sum::<u64>() % 90 + 10,
        )
    };
    let pointwise = |name: &str, a: &str, b: &str, op: &str| {
        format!(
            r#"  %{name} = graph.op "Pointwise" "{name}"(%{a}, %{b}) : ({state}, {state}) -> {state} {{
  ^bb0(%p: {state}, %q: {state}):
    %e = tensor.empty() : {state}
    %r = linalg.generic {{indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}} ins(%p, %q : {state}, {state}) outs(%e : {state}) {{
    ^bb0(%i: f32, %j: f32, %o: f32):
      %s = arith.{op} %i, %j : f32
      linalg.yield %s : f32
    }} -> {state}
    graph.yield %r : {state}
  }}
"#
        )
    };
    let mut text = format!(
        "#mk = affine_map<(m, n, k) -> (m, k)>\n#kn = affine_map<(m, n, k) -> (k, n)>\n\
         #mn = affine_map<(m, n, k) -> (m, n)>\n#ij = affine_map<(i, j) -> (i, j)>\n\
         graph.model @cell inputs [\"x\", \"h\"] outputs [\"y\"] {{\n^bb0(%x: {state}, %h: {state}):\n"
    );
    for gate in ["z", "r", "n"] {
        text += &product(&format!("x{gate}"), "x");
        text += &product(&format!("h{gate}"), "h");
    }
    text += &pointwise("reset", "xr", "hr", "addf");
    text += &pointwise("left", "reset", "hn", "mulf");
    text += &pointwise("next", "xn", "left", "addf");
    text += &pointwise("update", "xz", "hz", "addf");
    text += &pointwise("y", "update", "next", "mulf");
    text + &format!("  graph.output %y : {state}\n}}\n")
}

#[test]
fn im_12_gates_are_one_product() {
    for (batch, hidden) in [(1, 24), (7, 20)] {
        let desk = Desk::new();
        desk.write("cell.mlir", cell(batch, hidden));
        desk.write("machine.mlir", machine("systolic"));
        desk.weft(&["run", "cell.mlir", "--outputs", "host.npz", "--pass-option", APART]);
        let compile = ["compile", "cell.mlir", "--device", "machine.mlir", "-o", "-", "--emit"];
        let tiles = desk.weft(&[&compile[..], &["tile"]].concat());
        // Two products: of the input, and of the state.
        let gates = |name: &str| tiles.matches(&format!("tile.run \"{name}\" @matmul")).count();
        assert_eq!([gates("xz+xr+xn"), gates("hz+hr+hn")], [1, 1], "{tiles}");
        // Three products each compute the same, and take longer.
        let on = ["cell.mlir", "--device", "machine.mlir", "--expect", "host.npz"];
        let merged = desk.simulate(&on);
        let three = desk.simulate(&[&on[..], &["--pass-option", APART]].concat());
        assert_eq!([&merged["compared"], &three["compared"]], [true, true]);
        let cycles = |report: &serde_json::Value| report["cycles"].as_f64().expect("a number");
        assert!(cycles(&merged) < cycles(&three), "{} and {}", cycles(&merged), cycles(&three));
    }
}

/// Four cores do three products at once.
#[test]
fn im_12_products_for_several_units_stay_apart() {
    let desk = Desk::new();
    desk.write("cell.mlir", cell(7, 20));
    let compile = ["compile", "cell.mlir", "--device", "toy", "-o", "-", "--emit", "tile"];
    let tiles = desk.weft(&compile);
    assert!(!tiles.contains("xz+xr+xn"), "{tiles}");
}

const APART: &str = "graph-merge-products.merge=false";
