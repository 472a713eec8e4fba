//! N-5. The memory of each edge over all layers of a GPU, by cost alone: registers, what a block
//! shares, what all units share. Every option is at its default.

use crate::edges::Desk;

const MACHINES: [&str; 2] = ["h200", "a100"];

/// Sums that are not shared out among units: their parts would be a kernel more.
const WHOLE: &str = "--pass-option tile-split-reductions.split=false";

/// The stage `tile` of a model.
fn tile(model: &str, device: &str) -> String {
    let desk = Desk::new("feed.mlir");
    desk.write("layers.mlir", model);
    desk.weft(&format!("compile layers.mlir --device {device} --emit tile -o - {WHOLE}"))
}

/// What is said of edges.
fn told(model: &str, device: &str) -> String {
    let desk = Desk::new("feed.mlir");
    desk.write("layers.mlir", model);
    let remarks = "--pass-option tile-connect-edges.remarks=true";
    let ran = desk
        .run(&format!("compile layers.mlir --device {device} --emit tile -o t {WHOLE} {remarks}"));
    String::from_utf8(ran.stderr).expect("text")
}

fn lines<'t>(text: &'t str, word: &str) -> Vec<&'t str> {
    text.lines().filter(|line| line.contains(word)).collect()
}

/// The text of one kernel.
fn kernel<'t>(text: &'t str, name: &str) -> &'t str {
    let (_, rest) = text.split_once(&format!("tile.kernel @{name} ")).expect("the kernel");
    rest.split_once("tile.kernel @").map_or(rest, |(own, _)| own)
}

const CHAIN: &str = r#"
func.func @chain(%x: tensor<1x2048x64xf16>, %w: tensor<1x64x2048xf16>, %b: tensor<1x1x2048xf16>) -> tensor<1x2048x2048xf16> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf16>}> : () -> tensor<1xf16>
  %n = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %h = tosa.matmul %x, %w, %z, %z : (tensor<1x2048x64xf16>, tensor<1x64x2048xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<1x2048x2048xf16>
  %a = tosa.add %h, %b : (tensor<1x2048x2048xf16>, tensor<1x1x2048xf16>) -> tensor<1x2048x2048xf16>
  %s = tosa.sigmoid %a : (tensor<1x2048x2048xf16>) -> tensor<1x2048x2048xf16>
  %g = tosa.mul %a, %s, %n : (tensor<1x2048x2048xf16>, tensor<1x2048x2048xf16>, tensor<1xi8>) -> tensor<1x2048x2048xf16>
  return %g : tensor<1x2048x2048xf16>
}
"#;

/// What is done to each element is done to sums that are still in registers: no tensor between the
/// four is left that a memory could carry.
#[test]
fn n_5_three_elementwise_operators_behind_a_product_pass_in_registers() {
    for device in MACHINES {
        let text = tile(CHAIN, device);
        let runs = lines(&text, "= tile.run ");
        assert_eq!(runs.len(), 1, "{device}: {runs:#?}");
        assert!(lines(&text, "tile.connect").is_empty(), "{device}");
        let name = runs[0].split('@').nth(1).and_then(|rest| rest.split('(').next());
        let own = kernel(&text, name.expect("a kernel").split(' ').next().expect("a name"));
        assert_eq!(own.matches("= tile.compute ").count(), 1, "{device}");
        assert!(own.contains("#tile.rtile<\"reg\""), "{device}: its last tile is in registers");
        // The sum, the bias, the sigmoid and the product with it.
        assert!(own.contains("math.exp") && own.matches("arith.mulf").count() >= 2, "{own}");
        assert!(own.contains("\"reduction\""), "{own}");
    }
}

const SOFTMAX: &str = r#"
func.func @softmax(%x: tensor<4096x256xf32>) -> tensor<4096x256xf32> {
  %n = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %m = tosa.reduce_max %x {axis = 1 : i32} : (tensor<4096x256xf32>) -> tensor<4096x1xf32>
  %d = tosa.sub %x, %m : (tensor<4096x256xf32>, tensor<4096x1xf32>) -> tensor<4096x256xf32>
  %e = tosa.exp %d : (tensor<4096x256xf32>) -> tensor<4096x256xf32>
  %t = tosa.reduce_sum %e {axis = 1 : i32} : (tensor<4096x256xf32>) -> tensor<4096x1xf32>
  %r = tosa.reciprocal %t : (tensor<4096x1xf32>) -> tensor<4096x1xf32>
  %p = tosa.mul %e, %r, %n : (tensor<4096x256xf32>, tensor<4096x1xf32>, tensor<1xi8>) -> tensor<4096x256xf32>
  return %p : tensor<4096x256xf32>
}
"#;

/// A row and its folds wait in the memory of a block, each time one run reads what another made.
#[test]
fn n_5_the_rows_of_a_softmax_wait_in_the_memory_of_a_block() {
    for device in MACHINES {
        let text = tile(SOFTMAX, device);
        let edges = lines(&text, "tile.connect");
        assert!(edges.len() >= 3, "{device}: {edges:#?}");
        assert!(edges.iter().all(|edge| edge.contains(" in @smem : ")), "{device}: {edges:#?}");
        // The largest of a row, and the exponentials with both of their readers.
        let of = |ty: &str| edges.iter().filter(|edge| edge.ends_with(ty)).count();
        assert!(of("tensor<4096xf32>") >= 1 && of("tensor<4096x256xf32>") >= 2, "{edges:#?}");
    }
}

/// Two products of 8192 rows; the first sums `k` products for each of its results.
fn products(k: u64) -> String {
    format!(
        r#"
func.func @products(%x: tensor<1x8192x{k}xf16>, %w: tensor<1x{k}x32xf16>, %v: tensor<1x32x16xf16>) -> tensor<1x8192x16xf16> {{
  %z = "tosa.const"() <{{values = dense<0.0> : tensor<1xf16>}}> : () -> tensor<1xf16>
  %h = tosa.matmul %x, %w, %z, %z : (tensor<1x8192x{k}xf16>, tensor<1x{k}x32xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<1x8192x32xf16>
  %o = tosa.matmul %h, %v, %z, %z : (tensor<1x8192x32xf16>, tensor<1x32x16xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<1x8192x16xf16>
  return %o : tensor<1x8192x16xf16>
}}
"#
    )
}

/// With a long sum before it the same edge saves next to nothing, and is left where all units see
/// it: only the extent differs, and the numbers that are told decide.
#[test]
fn n_5_an_edge_between_products_is_shared_or_global_by_the_length_of_the_sum() {
    for device in MACHINES {
        let short = tile(&products(64), device);
        let edges = lines(&short, "tile.connect");
        assert_eq!(edges.len(), 1, "{device}: {edges:#?}");
        assert!(edges[0].contains(" in @smem : tensor<8192x32xf16>"), "{device}: {edges:#?}");
        let long = tile(&products(4096), device);
        assert!(lines(&long, "tile.connect").is_empty(), "{device}");
        assert_eq!(lines(&long, "= tile.run ").len(), 2, "{device}");
        let between = lines(&long, " in @global : tensor<1x8192x32xf16>");
        assert_eq!(between.len(), 1, "{device}: what the first product makes is in @global");
        let told = told(&products(4096), device);
        assert!(told.contains("too little is saved [saves: at most "), "{device}: {told}");
    }
}
