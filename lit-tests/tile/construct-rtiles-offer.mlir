// A kernel of more rTasks is offered beside the best of one unit, where units would be idle.
// RUN: weft-opt %s --tile-construct-rtiles | FileCheck %s
// RUN: weft-opt %s --tile-construct-rtiles=offer=best | FileCheck %s --check-prefix=BEST
// RUN: weft-opt %s --tile-construct-rtiles=remarks=true -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: not weft-opt %s --tile-construct-rtiles=offer=all 2>&1 | FileCheck %s --check-prefix=REFUSED

// RUN: not weft-opt %s --tile-construct-rtiles=tiles=smallest 2>&1 | FileCheck %s --check-prefix=TILES

// REFUSED: tile-construct-rtiles: unknown value 'all' for option 'offer'; expected 'wide' or 'best'
// TILES: tile-construct-rtiles: unknown value 'smallest' for option 'tiles'; expected 'constructed' or 'enumerated'

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @l2 scope("core") capacity_bytes(65536) caches(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(16) handover_cycles(20)
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

tile.graph @g inputs ["x", "w"] outputs ["y"] : (tensor<4x6xf32>, tensor<6x32xf32>) -> tensor<4x32xf32> {
^bb0(%x: tensor<4x6xf32>, %w: tensor<6x32xf32>):
  %e = tile.empty in @dram : tensor<4x32xf32>
  %y = tile.run "mm" @mm(%x, %w) into(%e) : (tensor<4x6xf32>, tensor<6x32xf32>, tensor<4x32xf32>) -> tensor<4x32xf32>
  tile.output %y : tensor<4x32xf32>
}

// Two rTasks of 47 cycles; eight of 37.
// CHECK: tile.kernel @mm cycles(94)
// CHECK: tiles [#tile.rtile<"l2"[4, 16, 6]>, #tile.rtile<"vreg"[4, 16, 1]>]
// CHECK: tile.kernel @mm_wide cycles(288)
// CHECK: tiles [#tile.rtile<"l2"[2, 8, 6]>, #tile.rtile<"vreg"[2, 8, 1]>]
// CHECK: tile.run "mm" @mm or [@mm_wide](

// BEST: tile.kernel @mm {
// BEST-NOT: @mm_wide
// BEST: tile.run "mm" @mm(

// SAID: @mm: @mm_wide is offered, @fma, lanes on axis 1
