// RM-2. A run has several kernels, each with its rTasks and their cycles, and the schedule takes
// one for each wave: the fastest, unless a wave's fastest are more rTasks than the 16 units run at
// once; then those of the least work.
//
// RUN: weft-opt %s --tile-construct-rtiles -o %t.tile
// RUN: FileCheck %s --check-prefix=OFFERED < %t.tile
// RUN: weft-opt %t.tile --tile-to-task="policy=wavefront remarks=true" -o %t.task 2> %t.said
// RUN: FileCheck %s < %t.task
// RUN: FileCheck %s --check-prefix=SAID < %t.said
//
// Where only the best of one unit is offered, the lone "d" leaves 14 units idle.
// RUN: weft-opt %s --tile-construct-rtiles=offer=best --tile-to-task=policy=wavefront | FileCheck %s --check-prefix=BEST

// Two rTasks, or eight smaller ones, which are more work together.
// OFFERED: tile.kernel @mm cycles(
// OFFERED: tiles [#tile.rtile<"l2"[4, 16, 32]>, #tile.rtile<"vreg"[4, 16, 1]>]
// OFFERED: tile.kernel @mm_wide cycles(
// OFFERED: tiles [#tile.rtile<"l2"[2, 8, 32]>, #tile.rtile<"vreg"[2, 8, 1]>]
// OFFERED-COUNT-4: @mm or [@mm_wide](

// CHECK-COUNT-6: task.range "{{[abc]}}" @mm[
// CHECK-NOT:     task.range "{{[abc]}}"
// CHECK:         task.range "d" @mm_wide[0 to 1] on 0(
// CHECK:         task.range "d" @mm_wide[7 to 8] on 7(
// CHECK-NOT:     task.range

// SAID: wave of "a", "b", "c": the most efficient kernels, for the fastest take 24 groups of lanes of 16
// SAID: wave of "d": the fastest kernels, for the fastest take 8 groups of lanes of 16
// SAID: "a" is done by @mm with {{[0-9]+}} cycles predicted; second @mm_wide with {{[0-9]+}}; the machine is full [wave: 2 groups of lanes, 8]
// SAID: "d" is done by @mm_wide with {{[0-9]+}} cycles predicted; second @mm with {{[0-9]+}}

// BEST:     task.range "d" @mm[0 to 1] on 0(
// BEST:     task.range "d" @mm[1 to 2] on 1(
// BEST-NOT: task.range

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @l2 scope("core") capacity_bytes(65536) caches(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(16) handover_cycles(20)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf"]) reductions(["arith.addf"])
}

tile.kernel @mm {
^bb0(%x: tensor<4x32xf32>, %w: tensor<32x32xf32>, %o: tensor<4x32xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x32xf32>, tensor<32x32xf32>) outs(%o : tensor<4x32xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<4x32xf32>
  tile.yield %r : tensor<4x32xf32>
}

tile.graph @g inputs ["x", "w"] outputs ["b", "c", "d"] : (tensor<4x32xf32>, tensor<32x32xf32>) -> (tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>) {
^bb0(%x: tensor<4x32xf32>, %w: tensor<32x32xf32>):
  %e0 = tile.empty in @dram : tensor<4x32xf32>
  %a = tile.run "a" @mm(%x, %w) into(%e0) : (tensor<4x32xf32>, tensor<32x32xf32>, tensor<4x32xf32>) -> tensor<4x32xf32>
  %e1 = tile.empty in @dram : tensor<4x32xf32>
  %b = tile.run "b" @mm(%x, %w) into(%e1) : (tensor<4x32xf32>, tensor<32x32xf32>, tensor<4x32xf32>) -> tensor<4x32xf32>
  %e2 = tile.empty in @dram : tensor<4x32xf32>
  %c = tile.run "c" @mm(%x, %w) into(%e2) : (tensor<4x32xf32>, tensor<32x32xf32>, tensor<4x32xf32>) -> tensor<4x32xf32>
  %e3 = tile.empty in @dram : tensor<4x32xf32>
  %d = tile.run "d" @mm(%a, %w) into(%e3) : (tensor<4x32xf32>, tensor<32x32xf32>, tensor<4x32xf32>) -> tensor<4x32xf32>
  tile.output %b, %c, %d : tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>
}
