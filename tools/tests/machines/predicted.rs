//! N-8. What is predicted to take longer takes longer on the simulated machine.

use crate::desk::{Desk, machine};

const PRODUCT: &str = "C[m,n] += A[m,k] * B[k,n]";
const CONVOLUTION: &str = "O[f,y,x] += W[f,c,r,s] * I[c,y+r,x+s]";

/// Kernels of several kinds and lengths, whole tiles and ragged ones.
const SUITE: [(&str, &str); 12] = [
    (PRODUCT, "m=16,n=16,k=16"),
    (PRODUCT, "m=64,n=64,k=64"),
    (PRODUCT, "m=96,n=96,k=96"),
    (PRODUCT, "m=128,n=32,k=64"),
    (PRODUCT, "m=10,n=14,k=11"),
    (PRODUCT, "m=32,n=32,k=256"),
    (PRODUCT, "m=72,n=40,k=52"),
    (CONVOLUTION, "f=16,y=8,x=8,c=16,r=3,s=3"),
    (CONVOLUTION, "f=8,y=16,x=16,c=4,r=3,s=3"),
    ("D[c,y,x] += W[c,r,s] * I[c,y+r,x+s]", "c=16,y=12,x=12,r=3,s=3"),
    ("y[i] += A[i,k] * x[k]", "i=128,k=128"),
    ("S[b,m,n] += Q[b,m,d] * K[b,n,d]", "b=4,m=32,n=32,d=16"),
];

/// Cycles that the schedule of `kernel.mlir` is predicted to take, and those that were simulated.
fn cycles(desk: &Desk, options: &[&str]) -> (f64, f64) {
    let device = ["kernel.mlir", "--device", "machine.mlir"];
    let told = ["--pass-option", "tile-to-task.remarks=true"];
    let compile = [&["compile"], &device[..], &["--emit", "task", "-o", "-"], &told, options];
    let said = desk.tool(&compile.concat()).stderr;
    let said = String::from_utf8_lossy(&said).into_owned();
    let (_, order) = said.split_once("order by ").expect("the order is told");
    let (_, order) = order.split_once(" with ").expect("its length is told");
    let (predicted, _) = order.split_once(" cycles predicted").expect("its length is told");
    let report = desk.simulate(&[&device[..], &["--timing-only"], options].concat());
    let simulated = report["cycles"].as_f64().expect("a number");
    (predicted.parse().expect("a number"), simulated)
}

/// The place of each value among all, the mean of the places of those that are equal.
fn ranks(values: &[f64]) -> Vec<f64> {
    let below = |own: f64| values.iter().filter(|other| **other < own).count() as f64;
    let equal = |own: f64| values.iter().filter(|other| **other == own).count() as f64;
    values.iter().map(|&own| below(own) + (equal(own) - 1.0) / 2.0).collect()
}

/// Spearman's correlation of two lists: that of their ranks.
fn correlation(one: &[f64], other: &[f64]) -> f64 {
    let (one, other) = (ranks(one), ranks(other));
    let middle = (one.len() as f64 - 1.0) / 2.0;
    let sum = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - middle) * (b - middle)).sum()
    };
    sum(&one, &other) / (sum(&one, &one) * sum(&other, &other)).sqrt()
}

#[test]
fn n_8_equal_ranks_share_their_place() {
    assert_eq!(ranks(&[3.0, 1.0, 3.0, 9.0]), [1.5, 0.0, 1.5, 3.0]);
    assert_eq!(correlation(&[1.0, 2.0, 3.0], &[10.0, 20.0, 90.0]), 1.0);
    assert_eq!(correlation(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), -1.0);
}

/// Over the suite, the order by prediction is that by simulation but for a few neighbours.
#[test]
fn n_8_predictions_rank_kernels_as_the_simulator_does() {
    for name in ["toy", "dsp"] {
        let desk = Desk::new();
        desk.write("machine.mlir", machine(name));
        let (predicted, simulated): (Vec<f64>, Vec<f64>) = SUITE
            .iter()
            .map(|(expression, shape)| {
                let kernel = ["kernel", expression, "--shape", shape, "--emit", "graph"];
                desk.weft(&[&kernel[..], &["-o", "kernel.mlir"]].concat());
                cycles(&desk, &[])
            })
            .unzip();
        let rho = correlation(&predicted, &simulated);
        println!("@{name}: {rho:.3} of {predicted:?} and {simulated:?}");
        assert!(rho >= 0.8, "@{name}: {rho:.3} of {predicted:?} and {simulated:?}");
    }
}

/// The candidate that is chosen is the fastest of the first eight, within a twentieth.
#[test]
fn n_8_the_chosen_candidate_is_the_fastest() {
    let desk = Desk::new();
    desk.write("machine.mlir", machine("toy"));
    let kernel = ["kernel", PRODUCT, "--shape", "m=96,n=96,k=96", "--emit", "graph"];
    desk.weft(&[&kernel[..], &["-o", "kernel.mlir"]].concat());
    let simulated: Vec<f64> = (0..8)
        .map(|rank| {
            let rank = format!("tile-construct-rtiles.rank={rank}");
            cycles(&desk, &["--pass-option", &rank]).1
        })
        .collect();
    let best = simulated.iter().copied().fold(f64::INFINITY, f64::min);
    let worst = simulated.iter().copied().fold(0.0, f64::max);
    assert!(simulated[0] <= 1.05 * best, "regret: {simulated:?}");
    assert!(worst > 2.0 * best, "candidates differ: {simulated:?}");
}
