//! RO-2, RO-8: the tiles that feed a matrix instruction are constructed ones: they are whole
//! instructions, fit their memory and are predicted to take no longer than all powers of two.
//!
//! The rules are checked on the text of `tile` alone; nothing of the construction is used.

use crate::compiled::weft;

const MACHINES: [&str; 4] = ["toy", "systolic", "stcp920-like", "ipu"];

/// Expressions, their shapes, and the extents in the order of their axes.
const KERNELS: [(&str, &str); 7] = [
    ("C[m,n] += A[m,k] * B[k,n]", "m=100,n=100,k=100"),
    ("C[m,n] += A[m,k] * B[k,n]", "m=200,n=72,k=40"),
    ("C[m,n] += A[m,k] * B[k,n]", "m=35,n=49,k=256"),
    ("C[b,m,n] += A[b,m,k] * B[b,k,n]", "b=4,m=48,n=32,k=64"),
    ("O[f,y,x] += W[f,c,r,s] * I[c,y+r,x+s]", "f=16,y=14,x=14,c=16,r=3,s=3"),
    ("O[f,y,x] += W[f,c,r,s] * I[c,y+r,x+s]", "f=64,y=28,x=28,c=8,r=1,s=1"),
    ("C[m] += A[m,k] * B[k]", "m=256,k=128"),
];

/// The best tile that waits beside the instruction and its predicted cycles; `None` where something
/// else is faster.
fn compile(
    (expression, shape): (&str, &str),
    machine: &str,
    tiles: &str,
) -> Option<(Vec<u64>, f64)> {
    let folder = tempfile::tempdir().expect("a folder");
    let kernel = ["kernel", expression, "--shape", shape, "--emit", "graph", "-o", "k.mlir"];
    weft(&kernel, folder.path());
    let option = format!("tile-construct-rtiles.tiles={tiles}");
    let compile = ["compile", "k.mlir", "--device", machine, "--emit", "tile", "-o", "-"];
    let options = ["--remarks", "--pass-option", &option];
    let [text, said] = weft(&[&compile[..], &options].concat(), folder.path());
    let line =
        text.lines().find(|line| line.contains("tile.compute") && line.contains(" axes ["))?;
    let tile = line.rsplit("#tile.rtile<").next()?.split('[').nth(1)?.split(']').next()?;
    let best = said.lines().rfind(|line| line.contains(": rank 0: ")).expect("it is ranked");
    let cycles = best.split(" cycles").next().and_then(|text| text.rsplit(' ').next());
    let tile = tile.split(", ").map(|size| size.parse().expect("a size")).collect();
    Some((tile, cycles.expect("cycles").parse().expect("a number")))
}

#[test]
fn ro_2_constructed_tiles_are_as_good_as_powers_of_two() {
    let (mut sum, mut count) = (0.0, 0.0);
    for machine in MACHINES {
        for kernel in KERNELS {
            let [ours, all] =
                ["constructed", "enumerated"].map(|tiles| compile(kernel, machine, tiles));
            let (Some((tile, ours)), Some((_, all))) = (ours, all) else { continue };
            let ratio = ours / all;
            assert!(ratio <= 1.05, "{machine}, {kernel:?}: {tile:?} takes {ratio}");
            sum += ratio.ln();
            count += 1.0;
        }
    }
    assert!(count >= 24.0 && sum <= 0.0, "{} of {count}", (sum / count).exp());
}

/// 200 rows are four tiles of 52 for four cores: whole instructions of 4 rows, and no more than 8 rows
/// that are none; the powers of two have 64 and 56.
#[test]
fn ro_8_tiles_are_those_that_waste_least() {
    let (tile, _) = compile(KERNELS[1], "toy", "constructed").expect("an instruction");
    assert_eq!(tile[..2], [52, 72], "{tile:?}");
    let (tile, _) = compile(KERNELS[1], "toy", "enumerated").expect("an instruction");
    assert_eq!(tile[..2], [64, 72], "{tile:?}");
}
