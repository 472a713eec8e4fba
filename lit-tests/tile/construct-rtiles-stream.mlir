// What is stored past the caches is what would have left the largest of them before anybody reads it: more than half of its
// 32 MiB, beside a stream. 16 MiB stay for their reader, though 32 are touched.
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx2.mlir --tile-construct-rtiles | FileCheck %s

#id = affine_map<(i) -> (i)>

// CHECK-LABEL: tile.kernel @stays
//   CHECK-NOT: stream
// CHECK-LABEL: tile.kernel @leaves
//       CHECK: stream = @stream
tile.kernel @stays {
^bb0(%x: tensor<4194304xf32>, %y: tensor<4194304xf32>):
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4194304xf32>) outs(%y : tensor<4194304xf32>) {
  ^bb0(%a: f32, %b: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<4194304xf32>
  tile.yield %r : tensor<4194304xf32>
}
tile.kernel @leaves {
^bb0(%x: tensor<4194305xf32>, %y: tensor<4194305xf32>):
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4194305xf32>) outs(%y : tensor<4194305xf32>) {
  ^bb0(%a: f32, %b: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<4194305xf32>
  tile.yield %r : tensor<4194305xf32>
}
