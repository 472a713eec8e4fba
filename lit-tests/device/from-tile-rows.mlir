// Rows that the schedule combines together: their lanes are folded at once, after a transpose.
// RUN: weft-opt %s --tile-to-device --split-input-file | FileCheck %s

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1)
  device.move @load from @dram to @vreg issue_cycles(1.0) latency_cycles(2) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(2) strided
  device.move @gather from @vreg to @vreg issue_cycles(1.0) latency_cycles(2) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(3) types([f32])
    operations(["arith.addf"]) reductions(["arith.addf"])
}

// Four sums of eight, each from one: four lines of the turned square, three additions of them and one of the ones, one store.
// CHECK-LABEL: device.kernel @sums
//       CHECK:   %[[SUMS:.+]] = device.alloc : memref<4x1x4xf32, "vreg">
// CHECK-COUNT-4: device.copy @gather %[[SUMS]]{{.+}} count 4 from_dim 0 from_step 1
// CHECK-COUNT-5: device.apply @valu lanes 4
//   CHECK-NOT:   device.{{combine|apply}}
//       CHECK:   device.copy @store {{.+}} to %arg2{{.+}} count 4
tile.kernel @sums {
^bb0(%x: tensor<4x8xf32>, %o: tensor<4xf32>):
  %a = tile.load %x to @vreg : tensor<4x8xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 1 tiles [#tile.rtile<"dram" [4, 8]>, #tile.rtile<"vreg" [4, 4]>] schedule <combine_rows = 0> : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%p: tensor<4x8xf32>, %q: tensor<4xf32>):
    %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%q : tensor<4xf32>) {
    ^bb0(%unread: f32):
      %one = arith.constant 1.0 : f32
      linalg.yield %one : f32
    } -> tensor<4xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<4x8xf32>) outs(%s : tensor<4xf32>) {
    ^bb0(%u: f32, %v: f32):
      %t = arith.addf %v, %u : f32
      linalg.yield %t : f32
    } -> tensor<4xf32>
    tile.yield %r : tensor<4xf32>
  }
  %r = tile.store %c from @vreg to %o : tensor<4xf32>
  tile.yield %r : tensor<4xf32>
}

// Each row by itself.
// CHECK-LABEL: device.kernel @held
//   CHECK-NOT:   @gather
//       CHECK:   device.combine
tile.kernel @held {
^bb0(%x: tensor<4x9xf32>, %o: tensor<4xf32>):
  %a = tile.load %x to @vreg : tensor<4x9xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 1 tiles [#tile.rtile<"dram" [4, 9]>, #tile.rtile<"vreg" [4, 4]>] : (tensor<4x9xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%p: tensor<4x9xf32>, %q: tensor<4xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<4x9xf32>) outs(%q : tensor<4xf32>) {
    ^bb0(%u: f32, %v: f32):
      %t = arith.addf %v, %u : f32
      linalg.yield %t : f32
    } -> tensor<4xf32>
    tile.yield %r : tensor<4xf32>
  }
  %r = tile.store %c from @vreg to %o : tensor<4xf32>
  tile.yield %r : tensor<4xf32>
}
