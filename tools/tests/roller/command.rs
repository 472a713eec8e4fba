//! `weft kernel --candidates`: Roller's tiles from an expression, and what has none.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn golden(name: &str) -> String {
    format!("{}/../devices/golden/{name}.mlir", env!("CARGO_MANIFEST_DIR"))
}

fn weft(expression: &str, shape: &str, device: &str, more: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_weft");
    let arguments = ["kernel", expression, "--shape", shape, "--device", device, "--candidates"];
    let output = Command::new(program).args(arguments).args(more).output();
    output.expect("weft starts")
}

fn candidates(expression: &str, shape: &str, device: &str, more: &[&str]) -> Value {
    let output = weft(expression, shape, device, more);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).expect("it prints JSON")
}

/// Block tile and register tile of every candidate.
fn tiles(printed: &Value) -> Vec<(Vec<u64>, Vec<u64>)> {
    let sizes = |value: &Value| -> Vec<u64> {
        let all = value.as_array().expect("a list");
        all.iter().map(|size| size.as_u64().expect("a size")).collect()
    };
    let all = printed["candidates"].as_array().expect("a list");
    all.iter().map(|found| (sizes(&found["shared"]), sizes(&found["register"]))).collect()
}

fn refused(expression: &str, shape: &str, device: &str, words: &[&str]) {
    let output = weft(expression, shape, device, &[]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.starts_with("error: ") && !said.contains("panicked"), "{said}");
    for word in words {
        assert!(said.contains(word), "`{word}` is not in\n{said}");
    }
}

const MATMUL: &str = "C[m,n] += A[m,k] * B[k,n]";

#[test]
fn ro_1_in_order() {
    let printed = candidates(MATMUL, "m=4096,n=4096,k=4096", &golden("v100"), &[]);
    assert_eq!(printed["device"], "v100_roller");
    let found = tiles(&printed);
    assert_eq!(found.len(), 10);
    assert_eq!(found[0], (vec![128, 64, 8], vec![8, 4]));
    // The one that was measured to be best.
    assert_eq!(found[5], (vec![128, 64, 32], vec![8, 4]));
}

/// A convolution is a product: filters by places, summed over the window.
#[test]
fn ro_3_a_convolution() {
    let conv = "O[n,f,y,x] += I[n,c,y,x] * W[f,c]";
    let printed = candidates(conv, "n=128,f=42,y=83,x=83,c=42", &golden("v100"), &[]);
    let extent = |axis: usize| printed["axes"][axis]["extent"].as_u64();
    assert_eq!([extent(0), extent(1), extent(2)], [Some(42), Some(881_792), Some(42)]);
    assert_eq!(tiles(&printed)[0], (vec![48, 512, 8], vec![4, 16]));
    assert_eq!(printed["candidates"][0]["epsilon"], 0.2);
}

/// A window that begins before its tensor reads zeros there.
#[test]
fn ro_11_a_border() {
    let pool = "O[n,c,y,x] += I[n,c,2*y+r-1,2*x+s-1]";
    let printed = candidates(pool, "n=128,c=672,y=11,x=11,r=3,s=3", &golden("v100"), &[]);
    assert_eq!(printed["policy"], "plain");
    assert_eq!(tiles(&printed)[0], (vec![1, 4, 16, 3, 3], vec![1, 1, 2]));
}

/// The two scores enlarge other axes first, so other tiles come out.
#[test]
fn ro_6_two_scores() {
    let shape = "m=65536,n=1024,k=1024";
    let shipped = candidates(MATMUL, shape, &golden("k80"), &["--score", "shipped"]);
    let paper = candidates(MATMUL, shape, &golden("k80"), &["--score", "paper"]);
    assert_ne!(tiles(&shipped), tiles(&paper));
}

/// The axes are multiples of the instruction's own.
#[test]
fn ro_10_a_matrix_instruction() {
    let more = ["--matrix", "--dtype", "f16", "--tiles", "aligned"];
    let printed = candidates(MATMUL, "m=4096,n=4096,k=4096", &golden("v100"), &more);
    for (block, registers) in tiles(&printed) {
        let aligned = block.iter().zip([16, 16, 4]).all(|(size, of)| size % of == 0);
        assert!(aligned && registers.iter().all(|size| size % 16 == 0), "{block:?} {registers:?}");
    }
}

#[test]
fn what_has_no_tile() {
    let v100 = golden("v100");
    refused(
        MATMUL,
        "m=3,n=4,k=4096",
        &v100,
        &["no tile of [3, 4]", "multiple of 32", "8 would do"],
    );
    let folder = tempfile::tempdir().expect("a folder");
    let text = std::fs::read_to_string(&v100).expect("the machine is there");
    let with = |name: &str, right: &str, wrong: &str| {
        assert!(text.contains(right));
        let path = folder.path().join(name);
        std::fs::write(&path, text.replace(right, wrong)).expect("written");
        path.display().to_string()
    };
    let small = with("small.mlir", "capacity_bytes(49152)", "capacity_bytes(256)");
    let words = ["[1, 8, 8]", "288 bytes of @smem", "has 256", "capacity_bytes(289)"];
    refused(MATMUL, "m=4096,n=4096,k=4096", &small, &words);
    let bare = with("bare.mlir", " capacity_bytes(12288)", " capacity_bytes(256)");
    refused(MATMUL, "m=4096,n=4096,k=4096", &bare, &["3 registers", "a thread has 2"]);
    refused(MATMUL, "m=64,n=64", &v100, &["k"]);
    refused("C[m,n] += A[m*n,k] * B[k,n]", "m=64,n=64,k=4", &v100, &["sum of axes"]);
    assert!(Path::new(&v100).exists());
    refused(MATMUL, "m=64,n=64,k=4", "x86-avx2", &["no memory of a core"]);
}

/// Axes that are side by side are one before tiles are made (17 x 11 x 3 is 561), and the
/// answer is that of the interpreter on the axes of before. So it is for a convolution.
#[test]
fn ro_4_joined_axes_compute_the_same() {
    let program = env!("CARGO_BIN_EXE_weft");
    for (expression, shape) in [
        ("Y[n,c,h] = relu(X[n,c,h])", "n=17,c=11,h=3"),
        ("Y[n,c,h] = X[n,c,h] + B[c]", "n=17,c=11,h=3"),
        ("O[n,f,y,x] += I[n,c,2*y+r,2*x+s] * W[f,c,r,s]", "n=2,f=5,y=7,x=9,c=3,r=3,s=3"),
        ("O[n,f,y,x] += I[n,c,y,x] * W[f,c]", "n=2,f=5,y=7,x=9,c=3"),
    ] {
        let output = Command::new(program).args(["kernel", expression, "--shape", shape]).output();
        let output = output.expect("weft starts");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            said.contains("ok: matches the reference interpreter's result"),
            "{expression}: {said}"
        );
    }
    let arguments = ["kernel", "Y[n,c,h] = relu(X[n,c,h])", "--shape", "n=17,c=11,h=3"];
    let output = Command::new(program).args(arguments).args(["--emit", "tile"]).output();
    let text = String::from_utf8_lossy(&output.expect("weft starts").stdout).into_owned();
    assert!(text.contains("tensor<561xf32>"), "{text}");
}
