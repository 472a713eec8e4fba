// What members of a joined kernel hand over lies in one arena.
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/small-cache.mlir --tile-to-device | FileCheck %s

#m = affine_map<(m) -> (m)>
#taps = affine_map<(h, r) -> (h + r)>
#h = affine_map<(h, r) -> (h)>
#r = affine_map<(h, r) -> (r)>

// Sums of three of sums of three of doubles. The doubles were read when the last tile is made.
// CHECK-LABEL: device.kernel @in_turns
//       CHECK:   %[[A:.+]] = device.alloc at 0 : memref<11xf32, "l2">
//       CHECK:   %[[B:.+]] = device.alloc at 64 : memref<9xf32, "l2">
//       CHECK:   %[[C:.+]] = device.alloc at 0 : memref<7xf32, "l2">
//       CHECK:   device.copy @store %{{.+}} to %[[A]]
//       CHECK:   device.copy @store %{{.+}} to %[[B]]
//   CHECK-NOT:   to %[[A]]
//       CHECK:   device.copy @store %{{.+}} to %[[C]]
//   CHECK-NOT:   %[[A]]
tile.kernel @in_turns {
^bb0(%x: tensor<16xf32>, %w: tensor<3xf32>, %o: tensor<10xf32>):
  %e0 = tile.empty in @l2 at 0 : tensor<16xf32>
  %e1 = tile.empty in @l2 at 64 : tensor<14xf32>
  %e2 = tile.empty in @l2 at 0 : tensor<12xf32>
  %a0 = tile.load %x to @vreg : tensor<16xf32>
  %c0 = tile.compute ins(%a0) outs(%e0) on @valu lanes 0 tiles [#tile.rtile<"l2"[16]>, #tile.rtile<"vreg"[8]>] : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%i: tensor<16xf32>, %j: tensor<16xf32>):
    %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]} ins(%i : tensor<16xf32>) outs(%j : tensor<16xf32>) {
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %p : f32
      linalg.yield %t : f32
    } -> tensor<16xf32>
    tile.yield %r : tensor<16xf32>
  }
  %s0 = tile.store %c0 from @vreg to %e0 : tensor<16xf32>
  %a1 = tile.load %s0 to @vreg : tensor<16xf32>
  %b1 = tile.load %w to @dram : tensor<3xf32>
  %c1 = tile.compute ins(%a1, %b1) outs(%e1) on @valu lanes 0 tiles [#tile.rtile<"l2"[8, 3]>, #tile.rtile<"vreg"[8, 1]>] : (tensor<16xf32>, tensor<3xf32>, tensor<14xf32>) -> tensor<14xf32> {
  ^bb0(%i: tensor<16xf32>, %k: tensor<3xf32>, %j: tensor<14xf32>):
    %z = arith.constant 0.0 : f32
    %f = linalg.generic {indexing_maps = [#m], iterator_types = ["parallel"]} outs(%j : tensor<14xf32>) {
    ^bb0(%q: f32):
      linalg.yield %z : f32
    } -> tensor<14xf32>
    %r = linalg.generic {indexing_maps = [#taps, #r, #h], iterator_types = ["parallel", "reduction"]} ins(%i, %k : tensor<16xf32>, tensor<3xf32>) outs(%f : tensor<14xf32>) {
    ^bb0(%p: f32, %v: f32, %q: f32):
      %u = arith.mulf %p, %v : f32
      %t = arith.addf %q, %u : f32
      linalg.yield %t : f32
    } -> tensor<14xf32>
    tile.yield %r : tensor<14xf32>
  }
  %s1 = tile.store %c1 from @vreg to %e1 : tensor<14xf32>
  %a2 = tile.load %s1 to @vreg : tensor<14xf32>
  %b2 = tile.load %w to @dram : tensor<3xf32>
  %c2 = tile.compute ins(%a2, %b2) outs(%e2) on @valu lanes 0 tiles [#tile.rtile<"l2"[8, 3]>, #tile.rtile<"vreg"[8, 1]>] : (tensor<14xf32>, tensor<3xf32>, tensor<12xf32>) -> tensor<12xf32> {
  ^bb0(%i: tensor<14xf32>, %k: tensor<3xf32>, %j: tensor<12xf32>):
    %z = arith.constant 0.0 : f32
    %f = linalg.generic {indexing_maps = [#m], iterator_types = ["parallel"]} outs(%j : tensor<12xf32>) {
    ^bb0(%q: f32):
      linalg.yield %z : f32
    } -> tensor<12xf32>
    %r = linalg.generic {indexing_maps = [#taps, #r, #h], iterator_types = ["parallel", "reduction"]} ins(%i, %k : tensor<14xf32>, tensor<3xf32>) outs(%f : tensor<12xf32>) {
    ^bb0(%p: f32, %v: f32, %q: f32):
      %u = arith.mulf %p, %v : f32
      %t = arith.addf %q, %u : f32
      linalg.yield %t : f32
    } -> tensor<12xf32>
    tile.yield %r : tensor<12xf32>
  }
  %s2 = tile.store %c2 from @vreg to %e2 : tensor<12xf32>
  %a3 = tile.load %s2 to @vreg : tensor<12xf32>
  %b3 = tile.load %w to @dram : tensor<3xf32>
  %c3 = tile.compute ins(%a3, %b3) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"l2"[5, 3]>, #tile.rtile<"vreg"[5, 1]>] : (tensor<12xf32>, tensor<3xf32>, tensor<10xf32>) -> tensor<10xf32> {
  ^bb0(%i: tensor<12xf32>, %k: tensor<3xf32>, %j: tensor<10xf32>):
    %z = arith.constant 0.0 : f32
    %f = linalg.generic {indexing_maps = [#m], iterator_types = ["parallel"]} outs(%j : tensor<10xf32>) {
    ^bb0(%q: f32):
      linalg.yield %z : f32
    } -> tensor<10xf32>
    %r = linalg.generic {indexing_maps = [#taps, #r, #h], iterator_types = ["parallel", "reduction"]} ins(%i, %k : tensor<12xf32>, tensor<3xf32>) outs(%f : tensor<10xf32>) {
    ^bb0(%p: f32, %v: f32, %q: f32):
      %u = arith.mulf %p, %v : f32
      %t = arith.addf %q, %u : f32
      linalg.yield %t : f32
    } -> tensor<10xf32>
    tile.yield %r : tensor<10xf32>
  }
  %s3 = tile.store %c3 from @vreg to %o : tensor<10xf32>
  tile.yield %s3 : tensor<10xf32>
}

// What is doubled again is written over.
// CHECK-LABEL: device.kernel @over
//       CHECK:   %[[A:.+]] = device.alloc at 0 : memref<7xf32, "l2">
//   CHECK-NOT:   "l2">{{$}}
//       CHECK:   device.copy @store %{{.+}} to %[[A]]
//       CHECK:   device.copy @load %[[A]]
//       CHECK:   device.copy @store %{{.+}} to %[[A]]
//       CHECK:   device.copy @load %[[A]]
tile.kernel @over {
^bb0(%x: tensor<16xf32>, %w: tensor<3xf32>, %o: tensor<14xf32>):
  %e0 = tile.empty in @l2 at 0 : tensor<16xf32>
  %e1 = tile.empty in @l2 at 0 : tensor<16xf32>
  %a0 = tile.load %x to @vreg : tensor<16xf32>
  %c0 = tile.compute ins(%a0) outs(%e0) on @valu lanes 0 tiles [#tile.rtile<"l2"[16]>, #tile.rtile<"vreg"[8]>] : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%i: tensor<16xf32>, %j: tensor<16xf32>):
    %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]} ins(%i : tensor<16xf32>) outs(%j : tensor<16xf32>) {
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %p : f32
      linalg.yield %t : f32
    } -> tensor<16xf32>
    tile.yield %r : tensor<16xf32>
  }
  %s0 = tile.store %c0 from @vreg to %e0 : tensor<16xf32>
  %a1 = tile.load %s0 to @vreg : tensor<16xf32>
  %c1 = tile.compute ins(%a1) outs(%e1) on @valu lanes 0 tiles [#tile.rtile<"l2"[16]>, #tile.rtile<"vreg"[8]>] : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%i: tensor<16xf32>, %j: tensor<16xf32>):
    %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]} ins(%i : tensor<16xf32>) outs(%j : tensor<16xf32>) {
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %p : f32
      linalg.yield %t : f32
    } -> tensor<16xf32>
    tile.yield %r : tensor<16xf32>
  }
  %s1 = tile.store %c1 from @vreg to %e1 : tensor<16xf32>
  %a2 = tile.load %s1 to @vreg : tensor<16xf32>
  %b2 = tile.load %w to @dram : tensor<3xf32>
  %c2 = tile.compute ins(%a2, %b2) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"l2"[5, 3]>, #tile.rtile<"vreg"[5, 1]>] : (tensor<16xf32>, tensor<3xf32>, tensor<14xf32>) -> tensor<14xf32> {
  ^bb0(%i: tensor<16xf32>, %k: tensor<3xf32>, %j: tensor<14xf32>):
    %z = arith.constant 0.0 : f32
    %f = linalg.generic {indexing_maps = [#m], iterator_types = ["parallel"]} outs(%j : tensor<14xf32>) {
    ^bb0(%q: f32):
      linalg.yield %z : f32
    } -> tensor<14xf32>
    %r = linalg.generic {indexing_maps = [#taps, #r, #h], iterator_types = ["parallel", "reduction"]} ins(%i, %k : tensor<16xf32>, tensor<3xf32>) outs(%f : tensor<14xf32>) {
    ^bb0(%p: f32, %v: f32, %q: f32):
      %u = arith.mulf %p, %v : f32
      %t = arith.addf %q, %u : f32
      linalg.yield %t : f32
    } -> tensor<14xf32>
    tile.yield %r : tensor<14xf32>
  }
  %s2 = tile.store %c2 from @vreg to %o : tensor<14xf32>
  tile.yield %s2 : tensor<14xf32>
}
