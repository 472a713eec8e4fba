//! The device programs of GPUs run in the simulator: warps, fragments, shared memory.

use crate::desk::Desk;

const CHIPS: [&str; 6] = ["v100", "a100", "h200", "mi50", "mi250x", "mi300x"];

/// GEMM, elementwise, reduction and convolution, with ragged ends everywhere.
const KERNELS: [(&str, &str); 4] = [
    ("C[m,n] += A[m,k] * B[k,n]", "m=35,n=70,k=40"),
    ("C[i] = exp(A[i]) * B[i]", "i=3001"),
    ("C[i] += A[i,j]", "i=37,j=70"),
    ("O[f,y,x] += W[f,c,r,s] * I[c,y+r,x+s]", "f=9,y=6,x=20,c=5,r=3,s=3"),
];

#[test]
fn programs_of_threads_agree_with_the_host() {
    for (expression, shape) in KERNELS {
        for (dtype, tolerance) in [("f32", "1e-4"), ("f16", "5e-3")] {
            let desk = Desk::new();
            let kernel = ["kernel", expression, "--shape", shape, "--dtype", dtype];
            desk.weft(&[&kernel[..], &["--emit", "graph", "-o", "k.mlir"]].concat());
            desk.weft(&["run", "k.mlir", "--outputs", "host.npz"]);
            for chip in CHIPS {
                let arguments = ["k.mlir", "--device", chip, "--expect", "host.npz"];
                let within = ["--rtol", tolerance, "--atol", tolerance];
                let report = desk.simulate(&[&arguments[..], &within[..]].concat());
                assert_eq!(report["compared"], true, "{expression} of {dtype} on {chip}");
            }
        }
    }
}
