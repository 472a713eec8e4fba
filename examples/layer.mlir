// relu(x . w): the layer whose way through the dialects the README shows.
func.func @layer(%x: tensor<4x64xf32>, %w: tensor<64x32xf32>) -> tensor<4x32xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x32xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<4x32xf32>) -> tensor<4x32xf32>
  %p = linalg.matmul ins(%x, %w : tensor<4x64xf32>, tensor<64x32xf32>) outs(%i : tensor<4x32xf32>) -> tensor<4x32xf32>
  %c = arith.constant dense<0.0> : tensor<4x32xf32>
  %y = arith.maximumf %p, %c : tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}
