// A depthwise convolution, clamped, and the largest of each window of it: neighbours read the same rows.
func.func @pooled(%x: tensor<1x15x13x70xf32>, %w: tensor<3x3x70x1xf32>, %b: tensor<70xf32>) -> tensor<1x11x9x70xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %d = tosa.depthwise_conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x15x13x70xf32>, tensor<3x3x70x1xf32>, tensor<70xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x13x11x70xf32>
  %r = tosa.clamp %d {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x13x11x70xf32>) -> tensor<1x13x11x70xf32>
  %p = tosa.max_pool2d %r {kernel = array<i64: 3, 3>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x13x11x70xf32>) -> tensor<1x11x9x70xf32>
  return %p : tensor<1x11x9x70xf32>
}
