// Choices are ranked; the pass takes the one of the rank that it is asked for.
// RUN: weft-opt %s --tile-construct-rtiles | FileCheck %s --check-prefix=BEST
// RUN: weft-opt %s --tile-construct-rtiles=rank=1 | FileCheck %s --check-prefix=NEXT
// RUN: weft-opt %s --tile-construct-rtiles=remarks=true -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not weft-opt %s --tile-construct-rtiles=rank=first 2>&1 | FileCheck %s --check-prefix=REFUSED

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @l2 scope("core") capacity_bytes(65536) caches(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
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

// BEST: tiles [#tile.rtile<"l2"[4, 32, 6]>, #tile.rtile<"vreg"[4, 16, 1]>]
// NEXT: tiles [#tile.rtile<"l2"[4, 32, 6]>, #tile.rtile<"vreg"[2, 32, 1]>]
// REMARK: rank 0: @fma, lanes on axis 1 x2, 4 rows on axis 0: 90 cycles, footprint 736 bytes, traffic 1472 bytes, waste 0.0 %
// REMARK: rank 1: @fma, lanes on axis 1 x4, 2 rows on axis 0
// REFUSED: tile-construct-rtiles: unknown value 'first' for option 'rank'; expected a number
tile.kernel @mm {
^bb0(%x: tensor<4x6xf32>, %w: tensor<6x32xf32>, %o: tensor<4x32xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x6xf32>, tensor<6x32xf32>) outs(%o : tensor<4x32xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<4x32xf32>
  tile.yield %r : tensor<4x32xf32>
}
