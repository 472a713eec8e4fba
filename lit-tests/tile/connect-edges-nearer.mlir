// What waits is in the nearest cache where it fits: rows of a softmax, a few at a time, where all of the
// larger cache would take dozens.
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx512.mlir --tile-construct-rtiles --tile-connect-edges=remarks=true 2>&1 >/dev/null | FileCheck %s
// RUN: sed 's/4608x1536/460x15360/g; s/4608x/460x/g' %s | weft-opt --device-load-machine=file=%devices/x86-avx512.mlir --tile-construct-rtiles --tile-connect-edges=remarks=true 2>&1 >/dev/null | FileCheck %s --check-prefix=WIDE

// Two or three rows of 6 KiB are at most half of 32 KiB.
// CHECK: remark: @exp, @sum, @scale are one kernel: tiles of [{{1|2|3}}, 1536]
// Rows of 60 KiB do not fit it.
// WIDE: remark: @exp, @sum, @scale are one kernel: tiles of [{{[2-9]}}, 15360]

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

tile.graph @softmax inputs ["x"] outputs ["y"] : (tensor<4608x1536xf32>) -> tensor<4608x1536xf32> {
^bb0(%x: tensor<4608x1536xf32>):
  %e0 = tile.empty in @dram : tensor<4608x1536xf32>
  %e = tile.run "exp" @exp(%x) into(%e0) : (tensor<4608x1536xf32>, tensor<4608x1536xf32>) -> tensor<4608x1536xf32>
  %s0 = tile.empty in @dram : tensor<4608xf32>
  %s = tile.run "sum" @sum(%e) into(%s0) : (tensor<4608x1536xf32>, tensor<4608xf32>) -> tensor<4608xf32>
  %y0 = tile.empty in @dram : tensor<4608x1536xf32>
  %y = tile.run "scale" @scale(%e, %s) into(%y0) : (tensor<4608x1536xf32>, tensor<4608xf32>, tensor<4608x1536xf32>) -> tensor<4608x1536xf32>
  tile.output %y : tensor<4608x1536xf32>
}
tile.kernel @exp {
^bb0(%x: tensor<4608x1536xf32>, %o: tensor<4608x1536xf32>):
  %r = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4608x1536xf32>) outs(%o : tensor<4608x1536xf32>) {
  ^bb0(%u: f32, %v: f32):
    %t = math.exp %u : f32
    linalg.yield %t : f32
  } -> tensor<4608x1536xf32>
  tile.yield %r : tensor<4608x1536xf32>
}
tile.kernel @sum {
^bb0(%x: tensor<4608x1536xf32>, %o: tensor<4608xf32>):
  %f = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%o : tensor<4608xf32>) {
  ^bb0(%v: f32):
    %z = arith.constant 0.0 : f32
    linalg.yield %z : f32
  } -> tensor<4608xf32>
  %r = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4608x1536xf32>) outs(%f : tensor<4608xf32>) {
  ^bb0(%u: f32, %v: f32):
    %t = arith.addf %v, %u : f32
    linalg.yield %t : f32
  } -> tensor<4608xf32>
  tile.yield %r : tensor<4608xf32>
}
tile.kernel @scale {
^bb0(%x: tensor<4608x1536xf32>, %s: tensor<4608xf32>, %o: tensor<4608x1536xf32>):
  %r = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<4608x1536xf32>, tensor<4608xf32>) outs(%o : tensor<4608x1536xf32>) {
  ^bb0(%u: f32, %q: f32, %v: f32):
    %t = arith.mulf %u, %q : f32
    linalg.yield %t : f32
  } -> tensor<4608x1536xf32>
  tile.yield %r : tensor<4608x1536xf32>
}
