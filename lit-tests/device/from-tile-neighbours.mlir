// Each lane takes so many points side by side as the schedule's `neighbours` says: a register has every fourth of them,
// and a body that asks for its place gets that of the lane's first.
// RUN: weft-opt %s --tile-to-device | FileCheck %s
// RUN: sed 's/neighbours = 4/neighbours = 8/' %s | not weft-opt --tile-to-device 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: sed 's/(i) -> (i)> \/\/ read/(i) -> (2 * i)>/; s/ins(.p : tensor<16/ins(%%p : tensor<31/; s/bb0(.p: tensor<16/bb0(%%p: tensor<31/; s/bb0(.x: tensor<16/bb0(%%x: tensor<31/; s/@vreg : tensor<16/@vreg : tensor<31/; s/: (tensor<16xf32>, /: (tensor<31xf32>, /' %s | not weft-opt --tile-to-device 2>&1 | FileCheck %s --check-prefix=APART

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1)
  device.move @load from @dram to @vreg issue_cycles(1.0) latency_cycles(2) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(2) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(3) types([f32, i32])
    operations(["arith.addf", "arith.index_cast", "arith.sitofp"]) reductions(["arith.addf"])
}

#read = affine_map<(i) -> (i)> // read
#made = affine_map<(i) -> (i)>

// CHECK-LABEL: device.kernel @add
//       CHECK:   affine.for %[[R:.+]] = 0 to 4
//       CHECK:     device.copy @load {{.+}} count 4 from_dim 0 from_step 4
//       CHECK:     device.apply @valu lanes 4
//       CHECK:       %[[LANE:.+]] = device.lane
//       CHECK:       arith.muli %[[LANE]], %{{.+}} : index
//       CHECK:   device.copy @store {{.+}} count 4 to_dim 0 to_step 4
// MANY: error: @add: the schedule's `neighbours` is 8, and tiles have 16 points along 4 lanes
// MANY: help: give a number whose multiple by the lanes divides the tile's size
// APART: error: @add: the schedule's `neighbours` is 4, and a tensor has them elsewhere than in its order
tile.kernel @add {
^bb0(%x: tensor<16xf32>, %o: tensor<16xf32>):
  %a = tile.load %x to @vreg : tensor<16xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram" [16]>, #tile.rtile<"vreg" [16]>] schedule <neighbours = 4> : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%p: tensor<16xf32>, %q: tensor<16xf32>):
    %r = linalg.generic {indexing_maps = [#read, #made], iterator_types = ["parallel"]} ins(%p : tensor<16xf32>) outs(%q : tensor<16xf32>) {
    ^bb0(%u: f32, %v: f32):
      %n = linalg.index 0 : index
      %k = arith.index_cast %n : index to i32
      %f = arith.sitofp %k : i32 to f32
      %t = arith.addf %f, %u : f32
      linalg.yield %t : f32
    } -> tensor<16xf32>
    tile.yield %r : tensor<16xf32>
  }
  %r = tile.store %c from @vreg to %o : tensor<16xf32>
  tile.yield %r : tensor<16xf32>
}
