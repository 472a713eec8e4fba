//! IM-9. A toy accelerator of one text file runs shapes of DeepBench on the simulator.

use crate::desk::{Desk, machine};

/// `(M, N, K)` of DeepBench's inference sets.
const SHAPES: [(u64, u64, u64); 4] =
    [(35, 700, 2048), (64, 1, 1216), (128, 1, 1408), (3072, 1, 128)];

/// What the host computes of the same inputs is the judge.
fn agrees(shape: (u64, u64, u64), name: &str, instruction: &str) {
    let (m, n, k) = shape;
    let desk = Desk::new();
    desk.write("machine.mlir", machine(name));
    let (expression, shape) = match n {
        1 => ("C[m] += A[m,k] * B[k]", format!("m={m},k={k}")),
        _ => ("C[m,n] += A[m,k] * B[k,n]", format!("m={m},n={n},k={k}")),
    };
    desk.weft(&["kernel", expression, "--shape", &shape, "--emit", "graph", "-o", "k.mlir"]);
    desk.weft(&["run", "k.mlir", "--outputs", "host.npz"]);
    // Sums of up to 2048 products, in another order than the host's.
    let tolerance = ["--rtol", "1e-3", "--atol", "1e-3"];
    let arguments = ["k.mlir", "--device", "machine.mlir", "--expect", "host.npz"];
    let report = desk.simulate(&[&arguments[..], &tolerance[..]].concat());
    assert_eq!(report["compared"], true);
    let used = report["instructions"].as_array().expect("instructions");
    let used = used.iter().find(|one| one["name"] == instruction);
    assert!(used.is_some_and(|one| one["count"].as_u64() > Some(0)), "{shape} on {name}: {report}");
}

#[test]
fn im_9_deepbench_shapes_on_the_toy() {
    for shape in SHAPES {
        agrees(shape, "toy", "mac4x4x4");
    }
}

#[test]
fn odd_shapes_on_every_machine() {
    let by = [("toy", "mac4x4x4"), ("systolic", "matmul_f32"), ("dsp", "vmac"), ("ipu", "amp")];
    for (name, instruction) in by {
        // Many units are worth their instruction where there is work for them.
        agrees(if name == "ipu" { (67, 130, 257) } else { (35, 70, 41) }, name, instruction);
    }
}

/// Reductions that wait in pieces, a last register of one point: what a memory holds
/// decides neither the answer nor whether there is one.
#[test]
fn long_sums_and_short_tails() {
    let cases = [
        ("C[] += A[i]", "i=100003", "toy"),
        ("C[m] += A[m,k]", "m=2,k=70001", "dsp"),
        ("C[m] max= A[m,k]", "m=3,k=70001", "ipu"),
        ("C[m,n] += A[m,k] * B[k,n]", "m=9,n=17,k=32", "dsp"),
        ("C[m,n] += A[m,k] * B[k,n]", "m=100,n=129,k=100", "dsp"),
    ];
    for (expression, shape, device) in cases {
        let desk = Desk::new();
        let said = desk.weft(&["kernel", expression, "--shape", shape, "--device", device]);
        assert!(
            said.contains("matches the reference interpreter's result"),
            "{expression} {shape}: {said}"
        );
    }
}
