// Images of seven columns in tiles of six leave one, whose two sums would hide no latency: six rows of it are done at once.
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx2.mlir --tile-construct-rtiles | FileCheck %s

#x = affine_map<(o, y, x, c, i, j, l) -> (c, y + i, x + j)>
#w = affine_map<(o, y, x, c, i, j, l) -> (o, c, i, j, l)>
#y = affine_map<(o, y, x, c, i, j, l) -> (o, l, y, x)>

// CHECK-LABEL: tile.kernel @seven
//       CHECK: tile.compute {{.+}} #tile.rtile<"vreg"[2, 1, 6, 1, 1, 1, 8]>] schedule <order = [0, 6, 2, 1], grow = 1, rows = [1, 2, 0], transpose = 2>
tile.kernel @seven {
^bb0(%x: tensor<128x9x9xf32>, %w: tensor<16x128x3x3x8xf32>, %y: tensor<16x8x7x7xf32>):
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]} ins(%x, %w : tensor<128x9x9xf32>, tensor<16x128x3x3x8xf32>) outs(%y : tensor<16x8x7x7xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<16x8x7x7xf32>
  tile.yield %r : tensor<16x8x7x7xf32>
}

// Six columns leave none.
// CHECK-LABEL: tile.kernel @six
//   CHECK-NOT: grow
tile.kernel @six {
^bb0(%x: tensor<128x9x8xf32>, %w: tensor<16x128x3x3x8xf32>, %y: tensor<16x8x7x6xf32>):
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]} ins(%x, %w : tensor<128x9x8xf32>, tensor<16x128x3x3x8xf32>) outs(%y : tensor<16x8x7x6xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<16x8x7x6xf32>
  tile.yield %r : tensor<16x8x7x6xf32>
}
