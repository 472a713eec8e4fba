// Lanes along filters, results in planes: each lane of four columns is one store, after a transpose in registers. The
// fifth column is a tile of one, whose lanes are stored one by one.
// RUN: weft-opt %s --tile-to-device | FileCheck %s
// RUN: sed 's/transpose = 1/transpose = 0/' %s > %t.mlir
// RUN: not weft-opt %t.mlir --tile-to-device 2>&1 | FileCheck %s --check-prefix=REFUSED

// REFUSED: error: {{.*}}the schedule's `transpose` is 0, which registers cannot be stored along
// REFUSED: help: name an axis along which all outputs lie side by side, and not along the lanes, where nothing is staged; without reductions inputs lie along the lanes

#x = affine_map<(y, x, c, f) -> (c, y, x)>
#w = affine_map<(y, x, c, f) -> (c, f)>
#y = affine_map<(y, x, c, f) -> (f, y, x)>

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1)
  device.move @load from @dram to @vreg issue_cycles(1.0) latency_cycles(2) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(2) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(3) types([f32])
    operations(["arith.mulf", "arith.addf"]) reductions([])
}

// CHECK-LABEL: device.kernel @planes
//       CHECK:   %[[SUMS:.+]] = device.alloc : memref<2x4x1x4xf32, "vreg">
// CHECK-COUNT-4:   device.copy @store %[[SUMS]]{{.+}} count 4 from_dim 1 from_step 1
//       CHECK:   %[[LAST:.+]] = device.alloc : memref<2x1x4xf32, "vreg">
//       CHECK:   device.copy @store %[[LAST]]{{.+}} count 4 to_dim 0 to_step 1
tile.kernel @planes {
^bb0(%x: tensor<3x2x5xf32>, %w: tensor<3x4xf32>, %y: tensor<4x2x5xf32>):
  %0 = tile.load %x to @dram : tensor<3x2x5xf32>
  %1 = tile.load %w to @vreg : tensor<3x4xf32>
  %2 = tile.compute ins(%0, %1) outs(%y) on @valu lanes 3 tiles [#tile.rtile<"dram"[2, 5, 3, 4]>, #tile.rtile<"vreg"[2, 4, 1, 4]>] schedule <transpose = 1> : (tensor<3x2x5xf32>, tensor<3x4xf32>, tensor<4x2x5xf32>) -> tensor<4x2x5xf32> {
  ^bb0(%a: tensor<3x2x5xf32>, %b: tensor<3x4xf32>, %o: tensor<4x2x5xf32>):
    %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%a, %b : tensor<3x2x5xf32>, tensor<3x4xf32>) outs(%o : tensor<4x2x5xf32>) {
    ^bb0(%p: f32, %q: f32, %s: f32):
      %m = arith.mulf %p, %q : f32
      %t = arith.addf %s, %m : f32
      linalg.yield %t : f32
    } -> tensor<4x2x5xf32>
    tile.yield %r : tensor<4x2x5xf32>
  }
  %3 = tile.store %2 from @vreg to %y : tensor<4x2x5xf32>
  tile.yield %3 : tensor<4x2x5xf32>
}
