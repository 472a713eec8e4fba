// Two products share a weight of 16 KiB, and each is followed by its own negation. Fused, each would lay the weight out
// for itself: that is done where the result that need not be stored takes more.
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx2.mlir --tile-fuse-elementwise=remarks=true 2>&1 -o - | FileCheck %s
// RUN: sed 's/128x/16x/g' %s | weft-opt --device-load-machine=file=%devices/x86-avx2.mlir --tile-fuse-elementwise=remarks=true 2>&1 -o - | FileCheck %s --check-prefix=FEW

// CHECK-NOT: stays apart
// CHECK: tile.graph
// CHECK-COUNT-2: tile.run
// CHECK-NOT: tile.run

// FEW-COUNT-2: remark: @neg stays apart from @mm: another kernel reads its weight, which would be held twice for less than it takes [weight]
// FEW: tile.graph
// FEW-COUNT-4: tile.run

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
#id = affine_map<(i, j) -> (i, j)>
tile.graph @two inputs ["x", "y"] outputs ["p", "q"] : (tensor<128x64xf32>, tensor<128x64xf32>) -> (tensor<128x64xf32>, tensor<128x64xf32>) {
^bb0(%x: tensor<128x64xf32>, %y: tensor<128x64xf32>):
  %w = graph.weight "w" in "model" hash "00" : tensor<64x64xf32>
  %0 = tile.empty in @dram : tensor<128x64xf32>
  %1 = tile.run "one" @mm(%x, %w) into(%0) : (tensor<128x64xf32>, tensor<64x64xf32>, tensor<128x64xf32>) -> tensor<128x64xf32>
  %2 = tile.empty in @dram : tensor<128x64xf32>
  %3 = tile.run "one" @neg(%1) into(%2) : (tensor<128x64xf32>, tensor<128x64xf32>) -> tensor<128x64xf32>
  %4 = tile.empty in @dram : tensor<128x64xf32>
  %5 = tile.run "two" @mm(%y, %w) into(%4) : (tensor<128x64xf32>, tensor<64x64xf32>, tensor<128x64xf32>) -> tensor<128x64xf32>
  %6 = tile.empty in @dram : tensor<128x64xf32>
  %7 = tile.run "two" @neg(%5) into(%6) : (tensor<128x64xf32>, tensor<128x64xf32>) -> tensor<128x64xf32>
  tile.output %3, %7 : tensor<128x64xf32>, tensor<128x64xf32>
}
tile.kernel @mm {
^bb0(%x: tensor<128x64xf32>, %w: tensor<64x64xf32>, %y: tensor<128x64xf32>):
  %f = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%y : tensor<128x64xf32>) {
  ^bb0(%v: f32):
    %z = arith.constant 0.0 : f32
    linalg.yield %z : f32
  } -> tensor<128x64xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<128x64xf32>, tensor<64x64xf32>) outs(%f : tensor<128x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<128x64xf32>
  tile.yield %r : tensor<128x64xf32>
}
tile.kernel @neg {
^bb0(%x: tensor<128x64xf32>, %y: tensor<128x64xf32>):
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<128x64xf32>) outs(%y : tensor<128x64xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.negf %a : f32
    linalg.yield %t : f32
  } -> tensor<128x64xf32>
  tile.yield %r : tensor<128x64xf32>
}
