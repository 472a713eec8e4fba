//! A model of convolutions, as programs of threads run it.

/// Two convolutions with borders in f16 with sums in f32, a bias of f16 and an activation.
pub const PIXELS: &str = r#"
#p = affine_map<(n, c, h, w) -> (n, c, h, w)>
#b = affine_map<(n, c, h, w) -> (c)>
#c = affine_map<(c) -> (c)>
func.func @pixels(%a: tensor<3x16x5x7xf32>, %f: tensor<24x16x3x3xf32>, %g: tensor<8x24x3x3xf32>, %s: tensor<24xf32>) -> tensor<3x8x5x7xf32> {
  %z = arith.constant 0.0 : f16
  %o = arith.constant 0.0 : f32
  %ae = tensor.empty() : tensor<3x16x5x7xf16>
  %ah = linalg.generic {indexing_maps = [#p, #p], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%a : tensor<3x16x5x7xf32>) outs(%ae : tensor<3x16x5x7xf16>) {
  ^bb0(%i: f32, %j: f16):
    %k = arith.truncf %i : f32 to f16
    linalg.yield %k : f16
  } -> tensor<3x16x5x7xf16>
  %fe = tensor.empty() : tensor<24x16x3x3xf16>
  %fh = linalg.generic {indexing_maps = [#p, #p], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%f : tensor<24x16x3x3xf32>) outs(%fe : tensor<24x16x3x3xf16>) {
  ^bb0(%i: f32, %j: f16):
    %k = arith.truncf %i : f32 to f16
    linalg.yield %k : f16
  } -> tensor<24x16x3x3xf16>
  %ge = tensor.empty() : tensor<8x24x3x3xf16>
  %gh = linalg.generic {indexing_maps = [#p, #p], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%g : tensor<8x24x3x3xf32>) outs(%ge : tensor<8x24x3x3xf16>) {
  ^bb0(%i: f32, %j: f16):
    %k = arith.truncf %i : f32 to f16
    linalg.yield %k : f16
  } -> tensor<8x24x3x3xf16>
  %se = tensor.empty() : tensor<24xf16>
  %sh = linalg.generic {indexing_maps = [#c, #c], iterator_types = ["parallel"]} ins(%s : tensor<24xf32>) outs(%se : tensor<24xf16>) {
  ^bb0(%i: f32, %j: f16):
    %k = arith.truncf %i : f32 to f16
    linalg.yield %k : f16
  } -> tensor<24xf16>
  %ap = tensor.pad %ah low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %z : f16
  } : tensor<3x16x5x7xf16> to tensor<3x16x7x9xf16>
  %he = tensor.empty() : tensor<3x24x5x7xf32>
  %hb = linalg.generic {indexing_maps = [#b, #p], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%sh : tensor<24xf16>) outs(%he : tensor<3x24x5x7xf32>) {
  ^bb0(%i: f16, %j: f32):
    %k = arith.extf %i : f16 to f32
    linalg.yield %k : f32
  } -> tensor<3x24x5x7xf32>
  %h = linalg.conv_2d_nchw_fchw ins(%ap, %fh : tensor<3x16x7x9xf16>, tensor<24x16x3x3xf16>) outs(%hb : tensor<3x24x5x7xf32>) -> tensor<3x24x5x7xf32>
  %re = tensor.empty() : tensor<3x24x5x7xf16>
  %r = linalg.generic {indexing_maps = [#p, #p], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%h : tensor<3x24x5x7xf32>) outs(%re : tensor<3x24x5x7xf16>) {
  ^bb0(%i: f32, %j: f16):
    %m = arith.maximumf %i, %o : f32
    %k = arith.truncf %m : f32 to f16
    linalg.yield %k : f16
  } -> tensor<3x24x5x7xf16>
  %rp = tensor.pad %r low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %z : f16
  } : tensor<3x24x5x7xf16> to tensor<3x24x7x9xf16>
  %ye = tensor.empty() : tensor<3x8x5x7xf32>
  %yf = linalg.fill ins(%o : f32) outs(%ye : tensor<3x8x5x7xf32>) -> tensor<3x8x5x7xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%rp, %gh : tensor<3x24x7x9xf16>, tensor<8x24x3x3xf16>) outs(%yf : tensor<3x8x5x7xf32>) -> tensor<3x8x5x7xf32>
  return %y : tensor<3x8x5x7xf32>
}
"#;
pub const PIXELS_INPUTS: [&[u64]; 4] = [&[3, 16, 5, 7], &[24, 16, 3, 3], &[8, 24, 3, 3], &[24]];
