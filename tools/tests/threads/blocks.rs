//! Kernels in block tiles: right, without the conflicts that were counted away, and within
//! the registers of a thread.

use weft_passes::pipeline::Stage;

use crate::host;
use crate::kernels::{check_as, check_text, reported, unit};

const GEMM: &str = "C[m,n] += A[m,k] * B[k,n]";

/// A description of a machine where blocks are always worth it: whoever loads from far
/// away to registers waits for ages.
pub fn slow(machine: &str) -> tempfile::NamedTempFile {
    let text = host::machine(machine);
    let (before, after) = text.split_once("device.move @load").expect("it loads");
    let (line, rest) = after.split_once("latency_cycles(").expect("that takes time");
    let slow = format!("{before}device.move @load{line}latency_cycles(10000000{rest}");
    let file = tempfile::Builder::new().suffix(".mlir").tempfile().expect("there is room");
    std::fs::write(file.path(), slow).expect("it can be written");
    file
}

/// Holds the answer against the interpreter, and counted turns against those of the
/// addresses that the threads touched.
fn holds(machine: &str, what: (&str, &str), elem: &str) {
    let file = slow(machine);
    let path = file.path().to_str().expect("a path is text");
    let counted = check_as(path, machine, what, elem);
    assert_eq!(counted.blocks, 1, "{machine}, {what:?} of {elem}: not in blocks");
    assert_eq!(counted.said, counted.found, "{machine}, {what:?} of {elem}");
    assert!(counted.found[0] > 0);
}

#[test]
fn ro_9_n_14_ragged_products_of_warps_are_right_and_take_the_turns_that_were_counted() {
    holds("a100", (GEMM, "m=67,n=150,k=45"), "f32");
    holds("a100", (GEMM, "m=100,n=72,k=70"), "f16");
    holds("h200", (GEMM, "m=37,n=70,k=33"), "bf16");
    holds("v100", (GEMM, "m=64,n=64,k=64"), "f16");
}

#[test]
fn ro_9_n_14_ragged_products_of_wavefronts_are_right_and_take_the_turns_that_were_counted() {
    holds("mi300x", (GEMM, "m=67,n=150,k=45"), "f32");
    holds("mi300x", (GEMM, "m=64,n=96,k=64"), "f16");
    holds("mi50", (GEMM, "m=33,n=130,k=20"), "f32");
}

#[test]
fn ro_9_transposed_batched_and_convolved_products_are_right() {
    holds("a100", ("C[m,n] += A[k,m] * B[n,k]", "m=64,n=160,k=48"), "f32");
    holds("a100", ("C[b,m,n] += A[b,m,k] * B[b,k,n]", "b=2,m=40,n=136,k=33"), "f32");
    let convolution = "y[n,o,h,w] += x[n,c,2*h+r,w+s] * f[o,c,r,s]";
    holds("a100", (convolution, "n=2,o=20,h=6,w=36,c=17,r=3,s=2"), "f32");
}

/// A product whose sums begin with a row of numbers, which no group brings near.
const BIASED: &str = r#"
func.func @biased(%x: tensor<67x45xf32>, %w: tensor<45x150xf32>, %b: tensor<150xf32>) -> tensor<67x150xf32> {
  %e = tensor.empty() : tensor<67x150xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<150xf32>) outs(%e : tensor<67x150xf32>) {
  ^bb0(%a: f32, %c: f32):
    linalg.yield %a : f32
  } -> tensor<67x150xf32>
  %q = linalg.matmul ins(%x, %w : tensor<67x45xf32>, tensor<45x150xf32>) outs(%f : tensor<67x150xf32>) -> tensor<67x150xf32>
  return %q : tensor<67x150xf32>
}
"#;

/// A product with an epilogue that reads a row of numbers, a column, and one for each element.
pub fn with_an_epilogue(elem: &str) -> String {
    r#"
func.func @mlp(%x: tensor<67x45xELEM>, %w: tensor<45x150xELEM>, %b: tensor<150xf32>, %c: tensor<67xf32>, %d: tensor<67x150xf32>) -> tensor<67x150xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<67x150xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<67x150xf32>) -> tensor<67x150xf32>
  %q = linalg.matmul ins(%x, %w : tensor<67x45xELEM>, tensor<45x150xELEM>) outs(%f : tensor<67x150xf32>) -> tensor<67x150xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%q, %b, %c, %d : tensor<67x150xf32>, tensor<150xf32>, tensor<67xf32>, tensor<67x150xf32>) outs(%e : tensor<67x150xf32>) {
  ^bb0(%sum: f32, %bias: f32, %scale: f32, %rest: f32, %o: f32):
    %s = arith.addf %sum, %bias : f32
    %m = arith.mulf %s, %scale : f32
    %t = arith.maximumf %m, %z : f32
    %u = arith.addf %t, %rest : f32
    linalg.yield %u : f32
  } -> tensor<67x150xf32>
  return %r : tensor<67x150xf32>
}
"#
    .replace("ELEM", elem)
}

/// The inputs of a product of `elem` with an epilogue, which adds numbers of type `last` at its end.
fn finished_inputs<'e>(elem: &'e str, last: &'e str) -> [(&'e str, Vec<u64>); 5] {
    [
        (elem, vec![67, 45]),
        (elem, vec![45, 150]),
        ("f32", vec![150]),
        ("f32", vec![67]),
        (last, vec![67, 150]),
    ]
}

/// The epilogue runs where the sums are: one kernel, in blocks.
#[test]
fn ro_9_epilogues_run_in_the_registers_of_the_sums() {
    for (machine, elem) in [("a100", "f32"), ("a100", "f16"), ("h200", "bf16"), ("mi300x", "f32")] {
        let file = slow(machine);
        let path = file.path().to_str().expect("a path is text");
        let shapes = finished_inputs(elem, "f32");
        let counted = check_text(path, machine, &with_an_epilogue(elem), &shapes, "f32");
        assert_eq!((counted.blocks, counted.kernels), (1, 1), "{machine}, {elem}");
    }
}

/// The same, with what is stored and what is added last of another type than the sums.
pub fn with_a_cast(elem: &str) -> String {
    let cast = |text: String, from: &str, to: &str| {
        assert!(text.contains(from), "the text has {from}");
        text.replace(from, to)
    };
    let text = with_an_epilogue(elem);
    let text = cast(text, "%d: tensor<67x150xf32>", "%d: tensor<67x150xELEM>");
    let text = cast(text, ") -> tensor<67x150xf32> {", ") -> tensor<67x150xELEM> {");
    let text = cast(text, "  %r =", "  %v = tensor.empty() : tensor<67x150xELEM>\n  %r =");
    let text = cast(
        text,
        "tensor<67xf32>, tensor<67x150xf32>) outs(%e : tensor<67x150xf32>)",
        "tensor<67xf32>, tensor<67x150xELEM>) outs(%v : tensor<67x150xELEM>)",
    );
    let text = cast(text, "%rest: f32, %o: f32", "%rest: ELEM, %o: ELEM");
    let text = cast(
        text,
        "%u = arith.addf %t, %rest : f32",
        "%y = arith.extf %rest : ELEM to f32\n    %p = arith.addf %t, %y : f32\n    %u = arith.truncf %p : f32 to ELEM",
    );
    let text = cast(text, "yield %u : f32", "yield %u : ELEM");
    let text = cast(
        text,
        "} -> tensor<67x150xf32>\n  return %r : tensor<67x150xf32>",
        "} -> tensor<67x150xELEM>\n  return %r : tensor<67x150xELEM>",
    );
    text.replace("ELEM", elem)
}

/// What is stored is narrower than the sums: still one kernel, in blocks.
#[test]
fn ro_9_sums_are_cast_in_their_registers() {
    let cases =
        [("v100", "f16"), ("a100", "bf16"), ("h200", "f16"), ("mi300x", "f16"), ("mi250x", "bf16")];
    for (machine, elem) in cases {
        let file = slow(machine);
        let path = file.path().to_str().expect("a path is text");
        let shapes = finished_inputs(elem, elem);
        let counted = check_text(path, machine, &with_a_cast(elem), &shapes, elem);
        assert_eq!((counted.blocks, counted.kernels), (1, 1), "{machine}, {elem}");
    }
}

#[test]
fn ro_9_products_that_begin_with_a_bias_are_right() {
    for machine in ["a100", "mi300x"] {
        let file = slow(machine);
        let path = file.path().to_str().expect("a path is text");
        let shapes = [vec![67, 45], vec![45, 150], vec![150]].map(|shape| ("f32", shape));
        let counted = check_text(path, machine, BIASED, &shapes, "f32");
        assert_eq!(counted.blocks, 1, "{machine}: not in blocks");
    }
}

/// `Used 128 registers, ...` and `0 bytes spill stores, ...` of every kernel.
fn registers_and_spills(said: &str) -> Vec<(u64, u64)> {
    let number = |text: &str| text.trim().rsplit(' ').next().and_then(|n| n.parse::<u64>().ok());
    let spills = said.lines().filter(|line| line.contains("bytes spill stores"));
    let spills = spills.map(|line| {
        let parts = line.split(',').filter(|part| part.contains("spill"));
        parts.filter_map(|part| part.trim().split(' ').next()?.parse::<u64>().ok()).sum()
    });
    let used = said
        .lines()
        .filter_map(|line| number(line.split_once("Used")?.1.split("registers").next()?));
    used.zip(spills).collect()
}

const SIZES: [&str; 2] = ["m=4096,n=4096,k=4096", "m=1000,n=1000,k=1000"];

#[test]
fn ptxas_spills_nothing_of_a_block() {
    for machine in ["v100", "a100", "h200"] {
        for elem in ["f32", "f16"] {
            for shape in SIZES {
                let (text, said) = reported(machine, (GEMM, shape), elem);
                assert!(text.contains(".shared"), "{machine}, {shape} of {elem}: no block");
                // Waits that the assembler adds, and instructions that it does one after the other.
                for added in ["C7514", "C7517"] {
                    assert!(!said.contains(added), "{machine}, {shape} of {elem}: {said}");
                }
                for (registers, spills) in registers_and_spills(&said) {
                    let most = 255;
                    assert!(registers <= most, "{machine}, {shape} of {elem}: {said}");
                    assert_eq!(spills, 0, "{machine}, {shape} of {elem}: {said}");
                }
            }
        }
    }
}

#[test]
fn wavefronts_need_no_scratch_for_a_block() {
    for elem in ["f32", "f16"] {
        for shape in SIZES {
            let file = slow("mi300x");
            let path = file.path().to_str().expect("a path is text");
            let (text, _) = reported(path, (GEMM, shape), elem);
            assert!(text.contains("ds_read"), "{shape} of {elem}: no block");
            let used = text
                .lines()
                .filter_map(|line| line.trim().strip_prefix(".private_segment_fixed_size:"));
            assert!(used.map(str::trim).all(|bytes| bytes == "0"), "{shape} of {elem}: scratch");
        }
    }
}

/// The first tile, the last and the lanes along each axis of the one kernel that is in blocks.
fn tiles(machine: &str, shape: &str, elem: &str) -> Option<[Vec<u64>; 3]> {
    let context = weft::context();
    let file = slow(machine);
    let path = file.path().to_str().expect("a path is text");
    let (mut unit, _) = unit(&context, path, (GEMM, shape), elem);
    unit.lower(Stage::Tile).expect("the machine can do it");
    let ops = unit.module().body(0).map(|block| block.ops()).unwrap_or_default();
    let computes = ops.into_iter().filter(|op| op.is("tile.kernel")).filter_map(|kernel| {
        kernel.body(0)?.ops().into_iter().find_map(weft_dialects::tile::Compute::of)
    });
    let compute = computes.into_iter().find(|compute| compute.layouts.is_some())?;
    let [block, group] = [0, 1].map(|tile| compute.tiles[tile].sizes.clone());
    let spread = match (&compute.axes, &compute.schedule.spread[..]) {
        (Some(_), _) => vec![1; 3],
        (None, []) => vec![1, 32, 1],
        (None, spread) => spread.to_vec(),
    };
    Some([block, group, spread])
}

#[test]
fn ro_10_tiles_are_whole_instructions_of_the_file() {
    let cases = [
        ("v100", "f16", [16, 16, 4]),
        ("a100", "f16", [16, 8, 16]),
        ("a100", "f32", [1, 1, 1]),
        ("h200", "bf16", [16, 8, 16]),
        ("mi300x", "f16", [32, 32, 8]),
    ];
    for (machine, elem, quanta) in cases {
        for shape in SIZES {
            let [block, group, spread] = tiles(machine, shape, elem)
                .unwrap_or_else(|| panic!("{machine}, {shape} of {elem}: not in blocks"));
            for axis in 0..3 {
                let whole = quanta[axis] * spread[axis];
                assert_eq!(group[axis] % whole, 0, "{machine}, {shape}: {group:?}");
                assert_eq!(block[axis] % group[axis], 0, "{machine}, {shape}: {block:?}");
            }
        }
    }
}
