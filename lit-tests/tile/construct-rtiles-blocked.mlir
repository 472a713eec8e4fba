// Weights in blocks of eight lanes lie 288 bytes a channel apart, and all these bytes are read: a run, which comes while
// the unit works. Counted as rows far apart, tiles of two such blocks lost to tiles of one, whose seven sums hide no latency.
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx2.mlir --tile-construct-rtiles | FileCheck %s

#x = affine_map<(o, y, x, c, i, j, l) -> (c, y + i, x + j)>
#w = affine_map<(o, y, x, c, i, j, l) -> (o, c, i, j, l)>
#y = affine_map<(o, y, x, c, i, j, l) -> (o, l, y, x)>

// CHECK: tile.compute {{.+}} #tile.rtile<"vreg"[2, 1, {{[4-6]}}, 1, 1, 1, 8]>]
tile.kernel @convolution {
^bb0(%x: tensor<128x9x9xf32>, %w: tensor<16x128x3x3x8xf32>, %y: tensor<16x8x7x7xf32>):
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]} ins(%x, %w : tensor<128x9x9xf32>, tensor<16x128x3x3x8xf32>) outs(%y : tensor<16x8x7x7xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<16x8x7x7xf32>
  tile.yield %r : tensor<16x8x7x7xf32>
}
