// What is read past its ends is laid out with its border, a plane at a time, in the cache that
// the unit has for itself.
// RUN: not weft-opt %s --tile-construct-rtiles --tile-to-device --split-input-file 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REFUSED < %t

#x = affine_map<(c, j, q) -> (c, j + q)>
#y = affine_map<(c, j, q) -> (c, j)>

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @l2 scope("core") capacity_bytes(4096) caches(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1)
  device.move @load from @dram to @vreg issue_cycles(1.0) latency_cycles(2) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(2) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(3) types([f32])
    operations(["arith.addf"]) reductions(["arith.addf"])
}

// CHECK-LABEL: device.kernel @sums
//       CHECK:   %[[ROOM:.+]] = device.alloc : memref<20xf32, "l2">
//       CHECK:   device.apply @valu lanes 4
//       CHECK:   device.copy @store %{{.+}} to %[[ROOM]]
//       CHECK:   scf.for
//       CHECK:     device.copy @load %arg1[
//       CHECK:     device.copy @store %{{.+}} to %[[ROOM]]
//       CHECK:     device.copy @load %[[ROOM]][
//       CHECK:     device.copy @store %{{.+}} to %arg3[
tile.kernel @sums {
^bb0(%x: tensor<3x12xf32>, %w: tensor<3xf32>, %o: tensor<3x12xf32>):
  %p = tensor.pad %x low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    %zero = arith.constant 0.0 : f32
    tensor.yield %zero : f32
  } : tensor<3x12xf32> to tensor<3x14xf32>
  %r = linalg.generic {indexing_maps = [#x, affine_map<(c, j, q) -> (q)>, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %w : tensor<3x14xf32>, tensor<3xf32>) outs(%o : tensor<3x12xf32>) {
  ^bb0(%u: f32, %unread: f32, %v: f32):
    %t = arith.addf %v, %u : f32
    linalg.yield %t : f32
  } -> tensor<3x12xf32>
  tile.yield %r : tensor<3x12xf32>
}

// -----

// Registers that are filled from a memory that units share: no cache to lay it out in.
// REFUSED: error: @sums: reads past the ends of a tensor, and its schedule has no `border`
#x = affine_map<(c, j, q) -> (c, j + q)>
#y = affine_map<(c, j, q) -> (c, j)>

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1)
  device.move @load from @dram to @vreg issue_cycles(1.0) latency_cycles(2) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(2) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(3) types([f32])
    operations(["arith.addf"]) reductions(["arith.addf"])
}

tile.kernel @sums {
^bb0(%x: tensor<3x12xf32>, %w: tensor<3xf32>, %o: tensor<3x12xf32>):
  %p = tensor.pad %x low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    %zero = arith.constant 0.0 : f32
    tensor.yield %zero : f32
  } : tensor<3x12xf32> to tensor<3x14xf32>
  %r = linalg.generic {indexing_maps = [#x, affine_map<(c, j, q) -> (q)>, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %w : tensor<3x14xf32>, tensor<3xf32>) outs(%o : tensor<3x12xf32>) {
  ^bb0(%u: f32, %unread: f32, %v: f32):
    %t = arith.addf %v, %u : f32
    linalg.yield %t : f32
  } -> tensor<3x12xf32>
  tile.yield %r : tensor<3x12xf32>
}
