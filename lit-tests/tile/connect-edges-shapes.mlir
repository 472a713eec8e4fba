// @square sees one row of numbers, @sum channels of pixels. As they are, a tile of the sum would ask for all
// squares; over channels and pixels both have tiles of some pixels, and the run of @square is one of a kernel over
// these, with views around it.
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx512.mlir --tile-construct-rtiles --tile-connect-edges="joining=all remarks=true" 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx512.mlir --tile-construct-rtiles --tile-connect-edges=joining=all --tile-join-kernels | FileCheck %s --check-prefix=ONE

// REMARK: remark: @square, @sum are one kernel: tiles of [{{[0-9]+}}, 16] that move
// CHECK: %[[X:.+]] = tile.view %arg0 : tensor<1048576xf32> to tensor<16x65536xf32>
// CHECK: %[[O:.+]] = tile.view %{{.+}} : tensor<1048576xf32> to tensor<16x65536xf32>
// CHECK: %[[Q:.+]] = tile.run "square" @square_near(%[[X]]) into(%[[O]]) : (tensor<16x65536xf32>, tensor<16x65536xf32>) -> tensor<16x65536xf32>
// CHECK: %[[N:.+]] = tile.connect %[[Q]] in @l1
// CHECK: tile.run "sum" @sum_near(%[[N]])
// CHECK: tile.kernel @square_near
// CHECK-NEXT: ^bb0(%{{.+}}: tensor<16x65536xf32>, %{{.+}}: tensor<16x65536xf32>):

// ONE-COUNT-1: tile.run
// ONE-NOT: tile.run
tile.graph @sums inputs ["x"] outputs ["y"] : (tensor<1048576xf32>) -> tensor<65536xf32> {
^bb0(%x: tensor<1048576xf32>):
  %q0 = tile.empty in @dram : tensor<1048576xf32>
  %q = tile.run "square" @square(%x) into(%q0) : (tensor<1048576xf32>, tensor<1048576xf32>) -> tensor<1048576xf32>
  %p = tile.view %q : tensor<1048576xf32> to tensor<16x65536xf32>
  %y0 = tile.empty in @dram : tensor<65536xf32>
  %y = tile.run "sum" @sum(%p) into(%y0) : (tensor<16x65536xf32>, tensor<65536xf32>) -> tensor<65536xf32>
  tile.output %y : tensor<65536xf32>
}
tile.kernel @square {
^bb0(%x: tensor<1048576xf32>, %o: tensor<1048576xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<1048576xf32>) outs(%o : tensor<1048576xf32>) {
  ^bb0(%u: f32, %v: f32):
    %t = arith.mulf %u, %u : f32
    linalg.yield %t : f32
  } -> tensor<1048576xf32>
  tile.yield %r : tensor<1048576xf32>
}
tile.kernel @sum {
^bb0(%x: tensor<16x65536xf32>, %o: tensor<65536xf32>):
  %f = linalg.generic {indexing_maps = [affine_map<(p) -> (p)>], iterator_types = ["parallel"]} outs(%o : tensor<65536xf32>) {
  ^bb0(%v: f32):
    %z = arith.constant 0.0 : f32
    linalg.yield %z : f32
  } -> tensor<65536xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(p, c) -> (c, p)>, affine_map<(p, c) -> (p)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<16x65536xf32>) outs(%f : tensor<65536xf32>) {
  ^bb0(%u: f32, %v: f32):
    %t = arith.addf %v, %u : f32
    linalg.yield %t : f32
  } -> tensor<65536xf32>
  tile.yield %r : tensor<65536xf32>
}
