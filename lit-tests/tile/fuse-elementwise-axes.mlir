// A reader that has other axes than a product: both are cut where either ends, and lanes add the mask to sums in
// registers. Where groups of lanes share no tiles the reader stays apart, for it costs a pass that others make, too.
// RUN: weft compile %s --device a100 --no-cache --pass-option tile-fuse-elementwise.fuse=always --emit tile -o - | FileCheck %s
// RUN: weft compile %s --device x86-avx2 --no-cache --pass-option tile-fuse-elementwise.remarks=true --emit tile -o /dev/null 2>&1 | FileCheck %s --check-prefix=APART

//     CHECK: tile.run
// CHECK-NOT: tile.run
//     CHECK: tile.kernel @{{.+}}
//     CHECK:   iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]
//     CHECK:   arith.addf %{{.+}}, %{{.+}} : f32
//     CHECK:   ins(%{{.+}} : tensor<8x128xf32>) outs(%{{.+}} : tensor<8x12x128x128xf32>)

// APART: stays apart from @{{.+}}: no axis of one is some axes of the other [axes: [8, 1536, 128] and [96, 128, 128, 64]]

func.func @scores(%q: tensor<96x128x64xf16>, %k: tensor<96x64x128xf16>, %m: tensor<8x128xf32>) -> tensor<8x12x128x128xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x128x128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<96x128x128xf32>) -> tensor<96x128x128xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<96x128x64xf16>, tensor<96x64x128xf16>) outs(%f : tensor<96x128x128xf32>) -> tensor<96x128x128xf32>
  %t = tensor.expand_shape %s [[0, 1], [2], [3]] output_shape [8, 12, 128, 128] : tensor<96x128x128xf32> into tensor<8x12x128x128xf32>
  %d = tensor.empty() : tensor<8x12x128x128xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, h, m, n) -> (b, h, m, n)>, affine_map<(b, h, m, n) -> (b, n)>, affine_map<(b, h, m, n) -> (b, h, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%t, %m : tensor<8x12x128x128xf32>, tensor<8x128xf32>) outs(%d : tensor<8x12x128x128xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %a = arith.addf %x, %y : f32
    linalg.yield %a : f32
  } -> tensor<8x12x128x128xf32>
  return %r : tensor<8x12x128x128xf32>
}
