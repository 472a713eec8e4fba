// Where the schedule lets windows slide over rows of a tile, what several rows read is loaded once.
// RUN: weft-opt %s --tile-to-device --split-input-file | FileCheck %s

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1)
  device.move @load from @dram to @vreg issue_cycles(1.0) latency_cycles(2) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(2) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(3) types([f32])
    operations(["arith.addf"]) reductions(["arith.addf"])
}

// Three rows of windows of two: four rows are loaded, the two in the middle for two sums each.
// CHECK-LABEL: device.kernel @column
//       CHECK:   %[[SUMS:.+]] = device.alloc : memref<3x1x4xf32, "vreg">
//       CHECK:   affine.for %{{.+}} = 0 to 3 {
//       CHECK:     device.copy @load %arg3
//       CHECK:   device.copy @load %arg1[%[[C0:.+]], {{.+}}] to %[[A:[0-9]+]]
//       CHECK:   device.apply @valu lanes 4 ins(%[[A]]
//       CHECK:   device.copy @load %arg1{{.+}} to %[[B:[0-9]+]]
//       CHECK:   device.apply @valu lanes 4 ins(%[[B]]
//       CHECK:   device.apply @valu lanes 4 ins(%[[B]]
//       CHECK:   device.copy @load %arg1{{.+}} to %[[C:[0-9]+]]
//       CHECK:   device.apply @valu lanes 4 ins(%[[C]]
//       CHECK:   device.apply @valu lanes 4 ins(%[[C]]
//       CHECK:   device.copy @load %arg1{{.+}} to %[[D:[0-9]+]]
//       CHECK:   device.apply @valu lanes 4 ins(%[[D]]
//   CHECK-NOT:   @load
tile.kernel @column {
^bb0(%x: tensor<4x4xf32>, %w: tensor<2xf32>, %o: tensor<3x4xf32>):
  %a = tile.load %x to @vreg : tensor<4x4xf32>
  %c = tile.compute ins(%a, %w) outs(%o) on @valu lanes 1 tiles [#tile.rtile<"dram" [3, 4, 2]>, #tile.rtile<"vreg" [3, 4, 1]>] schedule <slide = [2]> : (tensor<4x4xf32>, tensor<2xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> {
  ^bb0(%p: tensor<4x4xf32>, %s: tensor<2xf32>, %q: tensor<3x4xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, p) -> (i + p, j)>, affine_map<(i, j, p) -> (p)>, affine_map<(i, j, p) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %s : tensor<4x4xf32>, tensor<2xf32>) outs(%q : tensor<3x4xf32>) {
    ^bb0(%u: f32, %unread: f32, %v: f32):
      %t = arith.addf %v, %u : f32
      linalg.yield %t : f32
    } -> tensor<3x4xf32>
    tile.yield %r : tensor<3x4xf32>
  }
  %r = tile.store %c from @vreg to %o : tensor<3x4xf32>
  tile.yield %r : tensor<3x4xf32>
}

// Written out without a window that slides: each tap loads the rows that it reads.
// CHECK-LABEL: device.kernel @written_out
//   CHECK-NOT:   scf.for
//       CHECK:   affine.for %{{.+}} = 0 to 2 {
//       CHECK:     affine.for %[[ROW:.+]] = 0 to 3 {
//       CHECK:       device.copy @load %arg1
tile.kernel @written_out {
^bb0(%x: tensor<4x4xf32>, %w: tensor<2xf32>, %o: tensor<3x4xf32>):
  %a = tile.load %x to @vreg : tensor<4x4xf32>
  %c = tile.compute ins(%a, %w) outs(%o) on @valu lanes 1 tiles [#tile.rtile<"dram" [3, 4, 2]>, #tile.rtile<"vreg" [3, 4, 1]>] schedule <unroll = [2]> : (tensor<4x4xf32>, tensor<2xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> {
  ^bb0(%p: tensor<4x4xf32>, %s: tensor<2xf32>, %q: tensor<3x4xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, p) -> (i + p, j)>, affine_map<(i, j, p) -> (p)>, affine_map<(i, j, p) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %s : tensor<4x4xf32>, tensor<2xf32>) outs(%q : tensor<3x4xf32>) {
    ^bb0(%u: f32, %unread: f32, %v: f32):
      %t = arith.addf %v, %u : f32
      linalg.yield %t : f32
    } -> tensor<3x4xf32>
    tile.yield %r : tensor<3x4xf32>
  }
  %r = tile.store %c from @vreg to %o : tensor<3x4xf32>
  tile.yield %r : tensor<3x4xf32>
}
