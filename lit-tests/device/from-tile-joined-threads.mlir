// What members of a joined kernel hand over waits in the memory of a block where registers are
// spread over lanes: it comes and goes by moves of its own, and lanes meet between two members.
// RUN: weft-opt %s --tile-to-device | FileCheck %s
// RUN: weft-opt %s --tile-to-device --verify-roundtrip -o /dev/null

#m = affine_map<(m) -> (m)>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#rk = affine_map<(m, k) -> (m, k)>
#taps = affine_map<(h, r) -> (h + r)>
#h = affine_map<(h, r) -> (h)>
#t = affine_map<(h, r) -> (r)>

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @smem scope("core") capacity_bytes(4096) bytes_per_cycle(64) static_bytes(1024)
  device.memory @reg scope("warp") capacity_bytes(512) register_bytes(16) lanes(4)
  device.unit @core count(2)
  device.move @load from @dram to @reg issue_cycles(0.5) latency_cycles(70) strided
  device.move @store from @reg to @dram issue_cycles(1.0) latency_cycles(70) strided
  device.move @near_load from @smem to @reg issue_cycles(0.5) latency_cycles(7) strided
  device.move @near_store from @reg to @smem issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @reg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf"]) reductions(["arith.addf"])
  device.instruction @fma on @core operands([@dram, @reg, @reg])
    fragments([unit, affine_map<(l, s) -> (l)>, affine_map<(l, s) -> (l)>])
    issue_cycles(1.0) latency_cycles(4) accuracy(["rounding"])
  meaning {
  ^bb0(%a: tensor<f32>, %b: tensor<4xf32>, %c: tensor<4xf32>):
    %d = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a, %b : tensor<f32>, tensor<4xf32>) outs(%c : tensor<4xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    device.yield %d : tensor<4xf32>
  } lowering {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = math.fma %a, %b, %c : f32
    device.yield %d : f32
  }
}

// Sums of three doubles: neighbours read doubles that other lanes made.
// CHECK-LABEL: device.kernel @sums
//       CHECK:   %[[ROOM:.+]] = device.alloc at 0 : memref<10xf32, "smem">
//       CHECK:   device.copy @load %{{.+}} to %[[X:.+]][
//       CHECK:   device.copy @near_store %{{.+}} to %[[ROOM]]
//   CHECK-NOT:   device.copy @near_load
//       CHECK:   device.barrier "warp"
//   CHECK-NOT:   device.copy @load
//       CHECK:   device.copy @near_load %[[ROOM]]
//       CHECK:   device.copy @store
//   CHECK-NOT:   device.barrier
tile.kernel @sums {
^bb0(%x: tensor<20xf32>, %w: tensor<3xf32>, %o: tensor<18xf32>):
  %e0 = tile.empty in @smem : tensor<20xf32>
  %a0 = tile.load %x to @reg : tensor<20xf32>
  %c0 = tile.compute ins(%a0) outs(%e0) on @valu lanes 0 tiles [#tile.rtile<"dram"[10]>, #tile.rtile<"reg"[4]>] : (tensor<20xf32>, tensor<20xf32>) -> tensor<20xf32> {
  ^bb0(%i: tensor<20xf32>, %j: tensor<20xf32>):
    %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]} ins(%i : tensor<20xf32>) outs(%j : tensor<20xf32>) {
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %p : f32
      linalg.yield %t : f32
    } -> tensor<20xf32>
    tile.yield %r : tensor<20xf32>
  }
  %s0 = tile.store %c0 from @reg to %e0 : tensor<20xf32>
  %a1 = tile.load %s0 to @reg : tensor<20xf32>
  %b1 = tile.load %w to @dram : tensor<3xf32>
  %c1 = tile.compute ins(%a1, %b1) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram"[8, 3]>, #tile.rtile<"reg"[4, 1]>] : (tensor<20xf32>, tensor<3xf32>, tensor<18xf32>) -> tensor<18xf32> {
  ^bb0(%i: tensor<20xf32>, %k: tensor<3xf32>, %j: tensor<18xf32>):
    %z = arith.constant 0.0 : f32
    %f = linalg.generic {indexing_maps = [#m], iterator_types = ["parallel"]} outs(%j : tensor<18xf32>) {
    ^bb0(%q: f32):
      linalg.yield %z : f32
    } -> tensor<18xf32>
    %r = linalg.generic {indexing_maps = [#taps, #t, #h], iterator_types = ["parallel", "reduction"]} ins(%i, %k : tensor<20xf32>, tensor<3xf32>) outs(%f : tensor<18xf32>) {
    ^bb0(%p: f32, %v: f32, %q: f32):
      %u = arith.mulf %p, %v : f32
      %t = arith.addf %q, %u : f32
      linalg.yield %t : f32
    } -> tensor<18xf32>
    tile.yield %r : tensor<18xf32>
  }
  %s1 = tile.store %c1 from @reg to %o : tensor<18xf32>
  tile.yield %s1 : tensor<18xf32>
}

// An instruction takes the one element for all lanes from where it waits.
// CHECK-LABEL: device.kernel @product
//       CHECK:   %[[ROOM:.+]] = device.alloc at 0 : memref<2x6xf32, "smem">
//       CHECK:   device.copy @near_store %{{.+}} to %[[ROOM]]
//       CHECK:   device.barrier "warp"
//       CHECK:   device.copy @load
//       CHECK:   device.invoke @fma(%[[ROOM]][
//       CHECK:   device.copy @store
tile.kernel @product {
^bb0(%x: tensor<4x6xf32>, %w: tensor<6x8xf32>, %o: tensor<4x8xf32>):
  %e0 = tile.empty in @smem : tensor<4x6xf32>
  %a0 = tile.load %x to @reg : tensor<4x6xf32>
  %c0 = tile.compute ins(%a0) outs(%e0) on @valu lanes 1 tiles [#tile.rtile<"dram"[2, 6]>, #tile.rtile<"reg"[1, 4]>] : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32> {
  ^bb0(%i: tensor<4x6xf32>, %j: tensor<4x6xf32>):
    %r = linalg.generic {indexing_maps = [#rk, #rk], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<4x6xf32>) outs(%j : tensor<4x6xf32>) {
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %p : f32
      linalg.yield %t : f32
    } -> tensor<4x6xf32>
    tile.yield %r : tensor<4x6xf32>
  }
  %s0 = tile.store %c0 from @reg to %e0 : tensor<4x6xf32>
  %a1 = tile.load %s0 to @smem : tensor<4x6xf32>
  %b1 = tile.load %w to @reg : tensor<6x8xf32>
  %c1 = tile.compute ins(%a1, %b1) outs(%o) on @fma lanes 1 tiles [#tile.rtile<"dram"[2, 8, 6]>, #tile.rtile<"reg"[2, 8, 1]>] : (tensor<4x6xf32>, tensor<6x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%i: tensor<4x6xf32>, %k: tensor<6x8xf32>, %j: tensor<4x8xf32>):
    %z = arith.constant 0.0 : f32
    %f = linalg.generic {indexing_maps = [#rk], iterator_types = ["parallel", "parallel"]} outs(%j : tensor<4x8xf32>) {
    ^bb0(%q: f32):
      linalg.yield %z : f32
    } -> tensor<4x8xf32>
    %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%i, %k : tensor<4x6xf32>, tensor<6x8xf32>) outs(%f : tensor<4x8xf32>) {
    ^bb0(%p: f32, %v: f32, %q: f32):
      %u = arith.mulf %p, %v : f32
      %t = arith.addf %q, %u : f32
      linalg.yield %t : f32
    } -> tensor<4x8xf32>
    tile.yield %r : tensor<4x8xf32>
  }
  %s1 = tile.store %c1 from @reg to %o : tensor<4x8xf32>
  tile.yield %s1 : tensor<4x8xf32>
}
