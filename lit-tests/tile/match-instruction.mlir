// RUN: weft-opt %s --split-input-file --tile-construct-rtiles | FileCheck %s

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @vreg scope("thread") capacity_bytes(1024) register_bytes(32)
  device.unit @core count(1)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf"]) reductions(["arith.addf"])
  device.instruction @fma on @core operands([@dram, @vreg, @vreg]) issue_cycles(0.5) latency_cycles(4) accuracy(["rounding"])
  meaning {
  ^bb0(%a: tensor<f32>, %b: tensor<8xf32>, %c: tensor<8xf32>):
    %d = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a, %b : tensor<f32>, tensor<8xf32>) outs(%c : tensor<8xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    device.yield %d : tensor<8xf32>
  } lowering {
  ^bb0(%a: f32, %b: vector<8xf32>, %c: vector<8xf32>):
    %s = vector.broadcast %a : f32 to vector<8xf32>
    %d = vector.fma %s, %b, %c : vector<8xf32>
    device.yield %d : vector<8xf32>
  }
}

// The scalar of the instruction is the second factor: multiplication commutes.
// CHECK-LABEL: tile.kernel @second_factor_is_the_scalar
//       CHECK:   tile.load %{{.+}} to @vreg : tensor<6x70xf32>
//       CHECK:   tile.load %{{.+}} to @dram : tensor<6x3xf32>
//       CHECK:   tile.compute {{.+}} on @fma lanes 1
tile.kernel @second_factor_is_the_scalar {
^bb0(%x: tensor<6x70xf32>, %w: tensor<6x3xf32>, %o: tensor<6x64xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(c, i, k) -> (c, i + k)>, affine_map<(c, i, k) -> (c, k)>, affine_map<(c, i, k) -> (c, i)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<6x70xf32>, tensor<6x3xf32>) outs(%o : tensor<6x64xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %m = arith.mulf %p, %q : f32
    %u = arith.addf %m, %v : f32
    linalg.yield %u : f32
  } -> tensor<6x64xf32>
  tile.yield %r : tensor<6x64xf32>
}

// The unit multiplies, but does not combine lanes by it: none run along the sum.
// CHECK-LABEL: tile.kernel @row_product
//   CHECK-NOT:   lanes 1
//       CHECK:   tile.yield
tile.kernel @row_product {
^bb0(%x: tensor<4x40xf32>, %o: tensor<4xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x40xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%p: f32, %v: f32):
    %u = arith.mulf %v, %p : f32
    linalg.yield %u : f32
  } -> tensor<4xf32>
  tile.yield %r : tensor<4xf32>
}
