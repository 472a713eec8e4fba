// Windows that slide over rows take nine weights for every row again: on 16 registers tiles have few rows beside them,
// on 32 many.
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx2.mlir --tile-construct-rtiles | FileCheck %s --check-prefix=FEW
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx512.mlir --tile-construct-rtiles | FileCheck %s --check-prefix=MANY

#x = affine_map<(y, x, c, i, j) -> (c, y + i, x + j)>
#w = affine_map<(y, x, c, i, j) -> (c, i, j)>
#y = affine_map<(y, x, c, i, j) -> (y, x)>

//  FEW: tile.compute {{.+}} #tile.rtile<"vreg"[{{[1-4]}}, {{[0-9]+}}, 1, 1, 1]>] schedule <slide = [3, 4]
// MANY: tile.compute {{.+}} #tile.rtile<"vreg"[{{[0-9][0-9]}}, {{[0-9]+}}, 1, 1, 1]>] schedule <slide = [3, 4]
tile.kernel @convolution {
^bb0(%x: tensor<12x130x130xf32>, %w: tensor<12x3x3xf32>, %y: tensor<128x128xf32>):
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<12x130x130xf32>, tensor<12x3x3xf32>) outs(%y : tensor<128x128xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<128x128xf32>
  tile.yield %r : tensor<128x128xf32>
}
