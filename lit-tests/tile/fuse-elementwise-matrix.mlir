// An array stores what it folds: with an epilogue lanes would do all of it, so the product stays alone.
// RUN: weft-opt %s --device-load-machine=file=%devices/systolic.mlir --tile-fuse-elementwise=remarks=true 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// A kernel that has an epilogue all the same is for lanes.
// RUN: weft-opt %s --tile-fuse-elementwise --device-load-machine=file=%devices/systolic.mlir --tile-construct-rtiles=remarks=true -o /dev/null 2>&1 | FileCheck %s --check-prefix=LANES

// CHECK-LABEL: tile.graph @g
// CHECK-COUNT-2: tile.run
//      REMARK: remark: @relu stays apart from @mm: both together take more [epilogue: {{[0-9]+}} cycles together, {{[0-9]+}} apart]
//       LANES: remark: @mm_relu: @scalar, one point at a time
//       LANES: remark: @mm_relu: {{.+}} stores what it folds, and the kernel has an epilogue
tile.graph @g inputs ["x", "w"] outputs ["y"] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> {
^bb0(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>):
  %e = tile.empty in @dram : tensor<64x64xf32>
  %h = tile.run "fc" @mm(%x, %w) into(%e) : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %f = tile.empty in @dram : tensor<64x64xf32>
  %y = tile.run "relu" @relu(%h) into(%f) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  tile.output %y : tensor<64x64xf32>
}
tile.kernel @mm {
^bb0(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %o: tensor<64x64xf32>):
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<64x64xf32>) {
  ^bb0(%v: f32):
    %z = arith.constant 0.0 : f32
    linalg.yield %z : f32
  } -> tensor<64x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%s : tensor<64x64xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<64x64xf32>
  tile.yield %r : tensor<64x64xf32>
}
tile.kernel @relu {
^bb0(%x: tensor<64x64xf32>, %o: tensor<64x64xf32>):
  %z = arith.constant 0.0 : f32
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x64xf32>) outs(%o : tensor<64x64xf32>) {
  ^bb0(%p: f32, %v: f32):
    %t = arith.maximumf %p, %z : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  tile.yield %r : tensor<64x64xf32>
}
