//! A whole network on the systolic array.

use crate::desk::{Desk, machine};
use crate::resnet::resnet18;

/// Convolutions run on the array, the rest on its scalar core; the answer is the host's.
#[test]
fn resnet18_bn_runs_on_the_systolic_array() {
    let desk = Desk::new();
    desk.write("resnet.onnx", resnet18(64));
    desk.write("machine.mlir", machine("systolic"));
    desk.weft(&["run", "resnet.onnx", "--outputs", "host.npz"]);
    let arguments = ["resnet.onnx", "--device", "machine.mlir", "--functional-only"];
    let report = desk.simulate(&[&arguments[..], &["--expect", "host.npz"]].concat());
    assert_eq!(report["compared"], true);
    let tiles = desk.weft(&[
        "compile",
        "resnet.onnx",
        "--device",
        "machine.mlir",
        "--emit",
        "tile",
        "-o",
        "-",
    ]);
    // 20 convolutions of 11 shapes, the sums of the pooling, and the last product.
    assert_eq!(tiles.matches(" on @matmul_f32 axes").count(), 13);
    // The last images are 2 x 2: their rows and columns together are rows of the array.
    assert!(tiles.contains(" on @matmul_f32 axes [[1, 2], [0], [3]]"));
}
