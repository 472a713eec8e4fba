// What may fail is not done where there is no point: the last register of five elements
// has one, and three zeros that nobody may divide by.
// RUN: weft-opt %s --tile-construct-rtiles --tile-to-device | FileCheck %s

#id = affine_map<(i) -> (i)>

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1)
  device.move @load from @dram to @vreg issue_cycles(1.0) latency_cycles(2) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(2) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(3) types([i32])
    operations(["arith.divsi", "arith.addi"]) reductions([])
}

// CHECK-LABEL: device.kernel @divide
//       CHECK:   device.apply @valu lanes 4
//       CHECK:     arith.divsi
//       CHECK:   device.apply @valu lanes 1
//       CHECK:     arith.divsi
tile.kernel @divide {
^bb0(%x: tensor<5xi32>, %y: tensor<5xi32>, %o: tensor<5xi32>):
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %y : tensor<5xi32>, tensor<5xi32>) outs(%o : tensor<5xi32>) {
  ^bb0(%p: i32, %q: i32, %v: i32):
    %t = arith.divsi %p, %q : i32
    linalg.yield %t : i32
  } -> tensor<5xi32>
  tile.yield %r : tensor<5xi32>
}

// Adding zeros cannot fail: whole registers are simpler.
// CHECK-LABEL: device.kernel @add
//   CHECK-NOT:   lanes 1
tile.kernel @add {
^bb0(%x: tensor<5xi32>, %y: tensor<5xi32>, %o: tensor<5xi32>):
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %y : tensor<5xi32>, tensor<5xi32>) outs(%o : tensor<5xi32>) {
  ^bb0(%p: i32, %q: i32, %v: i32):
    %t = arith.addi %p, %q : i32
    linalg.yield %t : i32
  } -> tensor<5xi32>
  tile.yield %r : tensor<5xi32>
}
