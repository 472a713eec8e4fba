// A depthwise convolution, clamped, and a pointwise one that reads what it made.
func.func @inverted(%x: tensor<1x15x13x40xf32>, %w: tensor<3x3x40x1xf32>, %b: tensor<40xf32>, %v: tensor<18x1x1x40xf32>, %c: tensor<18xf32>) -> tensor<1x13x11x18xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %d = tosa.depthwise_conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x15x13x40xf32>, tensor<3x3x40x1xf32>, tensor<40xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x13x11x40xf32>
  %r = tosa.clamp %d {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x13x11x40xf32>) -> tensor<1x13x11x40xf32>
  %p = tosa.conv2d %r, %v, %c, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x13x11x40xf32>, tensor<18x1x1x40xf32>, tensor<18xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x13x11x18xf32>
  return %p : tensor<1x13x11x18xf32>
}
