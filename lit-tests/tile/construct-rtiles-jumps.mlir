// Loops leave in place what is jumped to, though the other input has more bytes: panels of weights come in runs, the
// pixels of 128 blocks of channels from as many rows.
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx2.mlir --tile-construct-rtiles | FileCheck %s
// RUN: sed -E 's/ jump_cycles\([0-9]+\)//' %devices/x86-avx2.mlir > %t.mlir
// RUN: weft-opt %s --device-load-machine=file=%t.mlir --tile-construct-rtiles | FileCheck %s --check-prefix=BYTES

#x = affine_map<(o, p, c, d, v) -> (c, p, d)>
#w = affine_map<(o, p, c, d, v) -> (o, c, d, v)>
#y = affine_map<(o, p, c, d, v) -> (o, p, v)>

// CHECK: tile.compute {{.+}} schedule <order = [1, 0, 4]
// BYTES: tile.compute {{.+}} #tile.rtile<"vreg"[{{2|3}}, {{[0-9]+}}, 1, 1, 8]>] schedule <order = [0, 4, 1]
tile.kernel @product {
^bb0(%x: tensor<128x196x8xf32>, %w: tensor<64x128x8x8xf32>, %y: tensor<64x196x8xf32>):
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction", "parallel"]} ins(%x, %w : tensor<128x196x8xf32>, tensor<64x128x8x8xf32>) outs(%y : tensor<64x196x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x196x8xf32>
  tile.yield %r : tensor<64x196x8xf32>
}
