// A transpose is a square of registers: lanes along one axis as it is loaded, along the other
// as it is stored.
// RUN: weft-opt %s --tile-construct-rtiles | FileCheck %s
// RUN: weft-opt %s --tile-construct-rtiles --tile-to-device | FileCheck %s --check-prefix=DEVICE

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1)
  device.move @load from @dram to @vreg issue_cycles(1.0) latency_cycles(2) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(2) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(3) types([f32])
    operations(["arith.negf"]) reductions([])
}

// CHECK-LABEL: tile.kernel @turned
//       CHECK:   lanes 0 tiles [{{.+}}, #tile.rtile<"vreg"[4, 4]>]
// A lane of all rows at a time is stored side by side.
// DEVICE-LABEL: device.kernel @turned
//       DEVICE:   device.copy @load
//   DEVICE-NOT:   from_dim
// DEVICE-COUNT-4: device.copy @store {{.+}}from_dim
tile.kernel @turned {
^bb0(%x: tensor<8x12xf32>, %o: tensor<12x8xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x12xf32>) outs(%o : tensor<12x8xf32>) {
  ^bb0(%p: f32, %v: f32):
    %t = arith.negf %p : f32
    linalg.yield %t : f32
  } -> tensor<12x8xf32>
  tile.yield %r : tensor<12x8xf32>
}

// Both sides lie along one axis: nothing turns.
// CHECK-LABEL: tile.kernel @straight
//       CHECK:   lanes 1 tiles [{{.+}}, #tile.rtile<"vreg"[1,
tile.kernel @straight {
^bb0(%x: tensor<8x5x12xf32>, %o: tensor<8x12xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, 2, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x5x12xf32>) outs(%o : tensor<8x12xf32>) {
  ^bb0(%p: f32, %v: f32):
    %t = arith.negf %p : f32
    linalg.yield %t : f32
  } -> tensor<8x12xf32>
  tile.yield %r : tensor<8x12xf32>
}
