//! IM-4, IM-8. Operators that are products run on the instruction, others beside it.

use proptest::prelude::*;

use crate::desk::{Desk, machine};

/// What a machine computes of an expression is what the host does; returns the choice.
fn on(device: &str, expression: &str, shape: &str) -> String {
    let desk = Desk::new();
    desk.write("machine.mlir", machine(device));
    desk.weft(&["kernel", expression, "--shape", shape, "--emit", "graph", "-o", "k.mlir"]);
    desk.weft(&["run", "k.mlir", "--outputs", "host.npz"]);
    let on = ["k.mlir", "--device", "machine.mlir"];
    let report = desk.simulate(&[&on[..], &["--expect", "host.npz"]].concat());
    assert_eq!(report["compared"], true, "{expression}");
    let text = desk.weft(&[&["compile"], &on[..], &["--emit", "tile", "-o", "-"]].concat());
    let compute = text.lines().find(|line| line.contains("tile.compute")).expect("a compute");
    let (_, choice) = compute.split_once(" on @").expect("a choice");
    choice.split(' ').next().expect("a name").to_owned()
}

const DEPTHWISE: &str = "O[c,y,x] += W[c,r,s] * I[c,y+r,x+s]";

#[test]
fn im_4_depthwise_takes_lanes_and_pointwise_the_array() {
    for (device, array, lanes) in
        [("systolic", "matmul_f32", "scalar"), ("toy", "mac4x4x4", "valu")]
    {
        assert_eq!(on(device, DEPTHWISE, "c=9,y=7,x=7,r=3,s=3"), lanes);
        assert_eq!(on(device, "O[f,y,x] += W[f,c] * I[c,y,x]", "f=20,y=7,x=7,c=19"), array);
    }
}

/// A separable convolution as one model: depthwise, pointwise, relu.
const SEPARABLE: &str = r#"
func.func @separable(%x: tensor<12x9x9xf32>, %d: tensor<12x3x3xf32>, %p: tensor<20x12xf32>) -> tensor<20x7x7xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<12x7x7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<12x7x7xf32>) -> tensor<12x7x7xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(c, y, x, r, s) -> (c, y + r, x + s)>, affine_map<(c, y, x, r, s) -> (c, r, s)>, affine_map<(c, y, x, r, s) -> (c, y, x)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%x, %d : tensor<12x9x9xf32>, tensor<12x3x3xf32>) outs(%f : tensor<12x7x7xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<12x7x7xf32>
  %e1 = tensor.empty() : tensor<20x7x7xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<20x7x7xf32>) -> tensor<20x7x7xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(f, y, x, c) -> (c, y, x)>, affine_map<(f, y, x, c) -> (f, c)>, affine_map<(f, y, x, c) -> (f, y, x)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%h, %p : tensor<12x7x7xf32>, tensor<20x12xf32>) outs(%f1 : tensor<20x7x7xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<20x7x7xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(f, y, x) -> (f, y, x)>, affine_map<(f, y, x) -> (f, y, x)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%q : tensor<20x7x7xf32>) outs(%e1 : tensor<20x7x7xf32>) {
  ^bb0(%a: f32, %c: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<20x7x7xf32>
  return %r : tensor<20x7x7xf32>
}
"#;

#[test]
fn im_4_a_separable_block_runs_on_both() {
    for (device, array, lanes) in
        [("systolic", "matmul_f32", "scalar"), ("toy", "mac4x4x4", "valu")]
    {
        let desk = Desk::new();
        desk.write("machine.mlir", machine(device));
        desk.write("block.mlir", SEPARABLE);
        desk.weft(&["run", "block.mlir", "--outputs", "host.npz"]);
        // As kernels of their own: in instances lanes do all of a block as small as this one.
        let whole = "tile-split-instances.instances=none";
        let on = ["block.mlir", "--device", "machine.mlir", "--pass-option", whole];
        let report = desk.simulate(&[&on[..], &["--expect", "host.npz"]].concat());
        assert_eq!(report["compared"], true);
        let used = report["instructions"].as_array().expect("instructions");
        let used = used.iter().find(|one| one["name"] == array).expect("it is used");
        assert!(used["count"].as_u64() > Some(0), "{report}");
        let text = desk.weft(&[&["compile"], &on[..], &["--emit", "tile", "-o", "-"]].concat());
        assert_eq!(text.matches(&format!(" on @{array} axes")).count(), 1, "{text}");
        assert_eq!(text.matches(&format!(" on @{lanes} ")).count(), 2, "{text}");
    }
}

/// What no instruction means, and what none is shaped for, falls to the lane unit.
#[test]
fn im_8_what_is_not_mapped_falls_to_lanes() {
    let cases = [
        ("C[i] = exp(A[i]) * 2", "i=300"),
        ("C[i,j] = A[j,i] + B[i]", "i=13,j=31"),
        ("C[j] max= A[i,j]", "i=30,j=17"),
        ("O[c,y,x] max= I[c,2*y+r,2*x+s]", "c=3,y=5,x=5,r=2,s=3"),
        ("C[i] += A[i] * B[i]", "i=77"),
    ];
    for (expression, shape) in cases {
        assert_eq!(on("toy", expression, shape), "valu", "{expression}");
        assert_eq!(on("systolic", expression, shape), "scalar", "{expression}");
    }
}

/// Nothing is read of what an outer product overwrites, and a sum is a product with ones.
#[test]
fn im_5_products_that_start_with_nothing() {
    let m = "m=37,n=29";
    for device in ["toy", "systolic", "dsp", "ipu", "stcp920-like"] {
        on(device, "C[m,n] = A[m] * B[n]", m);
        on(device, "C[m] += A[m,n]", m);
        on(device, "C[] += A[m] * B[m]", "m=1000");
    }
    assert_eq!(on("systolic", "C[m] += A[m,n]", "m=64,n=100"), "matmul_f32");
}

/// Which ends are computed apart.
const ENDS: [&str; 3] = ["none", "all", "cheaper"];

/// What a machine computes of a program is what the host does, for every way with its ends;
/// returns the cycles of each, and the kernels with their instructions.
fn each_way(desk: &Desk, device: &str) -> Vec<(u64, Vec<String>)> {
    desk.write("machine.mlir", machine(device));
    desk.weft(&["run", "k.mlir", "--outputs", "host.npz"]);
    let ways = ENDS.into_iter().map(|ends| {
        let option = format!("tile-peel.ends={ends}");
        // The kernels of the whole and of its ends, and none beside them.
        let best = "tile-construct-rtiles.offer=best";
        let on =
            ["k.mlir", "--device", "machine.mlir", "--pass-option", &option, "--pass-option", best];
        let report = desk.simulate(&[&on[..], &["--expect", "host.npz"]].concat());
        assert_eq!(report["compared"], true, "{device}, {ends}");
        let text = desk.weft(&[&["compile"], &on[..], &["--emit", "tile", "-o", "-"]].concat());
        let choices = text.lines().filter_map(|line| line.split_once("tile.compute"));
        let choices = choices.filter_map(|(_, line)| line.split_once(" on @"));
        let choices = choices.filter_map(|(_, choice)| choice.split(' ').next());
        let choices = choices.map(str::to_owned).collect();
        (report["cycles"].as_f64().expect("cycles") as u64, choices)
    });
    ways.collect()
}

fn ends_of(device: &str, expression: &str, shape: &str) -> Vec<(u64, Vec<String>)> {
    let desk = Desk::new();
    desk.weft(&["kernel", expression, "--shape", shape, "--emit", "graph", "-o", "k.mlir"]);
    each_way(&desk, device)
}

const PRODUCT: &str = "C[m,n] += A[m,k] * B[k,n]";

/// IM-7. Ends that are no whole number of instructions: an array computes zeros more, lanes
/// compute under a condition, or the end is a kernel of its own, and the cheapest is taken.
#[test]
fn im_7_ragged_ends_are_padded_masked_or_peeled_by_cost() {
    for shape in ["m=5,n=7,k=9", "m=17,n=33,k=65", "m=67,n=130,k=31"] {
        for device in ["toy", "systolic"] {
            on(device, PRODUCT, shape);
        }
        let desk = Desk::new();
        let said = desk.weft(&["kernel", PRODUCT, "--shape", shape]);
        assert!(said.contains("matches the reference interpreter's result"), "{said}");
    }
    // Padded: three of 67 rows are less than a handover is worth.
    let padded = ends_of("toy", PRODUCT, "m=67,n=130,k=31");
    assert_eq!(padded[2].1, ["mac4x4x4"]);
    // Masked: one point of 64 would be used of the array's, and all lanes but the last of a row.
    let masked = ends_of("toy", PRODUCT, "m=1,n=130,k=1");
    assert_eq!(masked[2].1, ["valu"]);
    // Peeled: one row more would be sixteen, of the array's one row.
    let peeled = ends_of("systolic", PRODUCT, "m=257,n=64,k=64");
    assert_eq!(peeled[0].1, ["matmul_f32"]);
    assert_eq!(peeled[2].1.len(), 2, "{peeled:?}");
    assert!(peeled[2].0 < peeled[0].0, "{peeled:?}");
}

#[test]
fn im_7_whatever_is_cheapest_all_ends_are_right() {
    let cases = [
        (PRODUCT, "m=17,n=33,k=65"),
        ("C[b,m,n] += A[b,m,k] * B[b,k,n]", "b=3,m=18,n=5,k=21"),
        ("C[m] += A[m,k] * B[k]", "m=37,k=50"),
        ("C[m,n] = A[m] * B[n]", "m=37,n=21"),
        ("O[f,y,x] += W[f,c,r,s] * I[c,2*y+r,x+s]", "f=18,y=7,x=17,c=17,r=3,s=2"),
    ];
    for (expression, shape) in cases {
        for device in ["toy", "systolic"] {
            let ways = ends_of(device, expression, shape);
            assert_eq!(ways[0].1.len(), 1, "{expression} {shape} {device}");
        }
    }
}

/// Sums that begin with a row of numbers, and what reads them.
const BIASED: &str = r#"
func.func @biased(%x: tensor<19x35xf32>, %w: tensor<35x33xf32>, %b: tensor<33xf32>) -> tensor<19x33xf32> {
  %e = tensor.empty() : tensor<19x33xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<33xf32>) outs(%e : tensor<19x33xf32>) {
  ^bb0(%a: f32, %c: f32):
    linalg.yield %a : f32
  } -> tensor<19x33xf32>
  %q = linalg.matmul ins(%x, %w : tensor<19x35xf32>, tensor<35x33xf32>) outs(%f : tensor<19x33xf32>) -> tensor<19x33xf32>
  return %q : tensor<19x33xf32>
}
"#;

#[test]
fn im_7_parts_of_a_sum_begin_where_the_whole_does() {
    for device in ["toy", "systolic"] {
        let desk = Desk::new();
        desk.write("k.mlir", BIASED);
        let ways = each_way(&desk, device);
        assert!(ways[1].1.len() > 1, "{ways:?}");
    }
}

/// What no instruction with axes computes has no end to peel, and lanes end where rows do.
#[test]
fn im_7_what_has_no_instruction_stays_whole() {
    for (device, expression, shape) in [
        ("toy", "C[i] = exp(A[i]) * 2", "i=301"),
        ("systolic", DEPTHWISE, "c=9,y=7,x=7,r=3,s=3"),
        // Whole instructions, and too few points for one.
        ("toy", PRODUCT, "m=8,n=12,k=16"),
        ("systolic", PRODUCT, "m=5,n=7,k=9"),
        ("dsp", PRODUCT, "m=9,n=17,k=33"),
    ] {
        for (_, choices) in ends_of(device, expression, shape) {
            assert_eq!(choices.len(), 1, "{device} {expression} {shape}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn im_7_any_shape_is_right_with_any_ends(m in 1u64..40, n in 1u64..40, k in 1u64..40, toy: bool) {
        ends_of(if toy { "toy" } else { "systolic" }, PRODUCT, &format!("m={m},n={n},k={k}"));
    }
}
