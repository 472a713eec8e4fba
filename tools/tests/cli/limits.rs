//! Sizes that no machine has are refused where a tensor is made, before anything is allocated.

use weft_onnx::proto::tensor_shape_proto::dimension::Value::DimValue;

use super::{fails, folder, model_of, succeeds, write};

/// 64 GB as an input, as a constant, and as what a border makes of four numbers.
#[test]
fn large_tensors_are_refused_by_name() {
    let folder = folder();
    write(&folder, "input.onnx", model_of("Relu", DimValue(1 << 34)));
    let words = ["the_node", "--max-bytes", "17179869184 bytes"];
    fails(folder.path(), &["compile", "input.onnx", "-o", "x.weft"], &words[1..]);
    let constant = "func.func @main() -> tensor<17179869184xf32> {
  %c = arith.constant dense<1.0> : tensor<17179869184xf32>
  return %c : tensor<17179869184xf32>
}
";
    write(&folder, "constant.mlir", constant);
    let words = ["\"main\"", "tensor<17179869184xf32>", "--max-bytes"];
    fails(folder.path(), &["compile", "constant.mlir", "-o", "x.weft"], &words);
    let border = "func.func @main(%x: tensor<4xf32>) -> tensor<1099511627776xf32> {
  %z = arith.constant 0.0 : f32
  %y = tensor.pad %x low[0] high[1099511627772] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<4xf32> to tensor<1099511627776xf32>
  return %y : tensor<1099511627776xf32>
}
";
    write(&folder, "border.mlir", border);
    fails(folder.path(), &["run", "border.mlir"], &["tensor<1099511627776xf32>", "--max-bytes"]);
    // Extents whose product has no number, and strides past an extent of none.
    let none = "func.func @main(%x: tensor<0x4611686018427387904x8xf32>) -> tensor<0x4611686018427387904x8xf32> {
  return %x : tensor<0x4611686018427387904x8xf32>
}
";
    write(&folder, "none.mlir", none);
    fails(folder.path(), &["compile", "none.mlir", "-o", "x.weft"], &["--max-bytes"]);
    assert!(!folder.path().join("x.weft").exists());
}

#[test]
fn the_limit_is_an_option() {
    let folder = folder();
    write(&folder, "relu.onnx", model_of("Relu", DimValue(1000)));
    let compile = ["compile", "relu.onnx", "-o", "x.weft", "--max-bytes"];
    fails(folder.path(), &[&compile[..], &["3999"]].concat(), &["tensor<1000xf32>", "3999 bytes"]);
    succeeds(folder.path(), &[&compile[..], &["4K"]].concat());
}
