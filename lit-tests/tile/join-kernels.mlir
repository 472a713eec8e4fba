// Runs that are connected near a unit become one kernel; its edges are words in the text.
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/small-cache.mlir --split-input-file --tile-join-kernels | FileCheck %s

#m = affine_map<(m) -> (m)>
#taps = affine_map<(h, r) -> (h + r)>
#h = affine_map<(h, r) -> (h)>
#r = affine_map<(h, r) -> (r)>

// What is doubled waits in @l2 until windows of three were summed. Tensors keep their shapes: the tile of
// the doubles, seven for five sums, follows from the last kernel's.
// CHECK-LABEL: tile.graph @chain
//       CHECK:   %[[E:.+]] = tile.empty in @dram : tensor<10xf32>
//       CHECK:   %[[Y:.+]] = tile.run "double+sum" @double_sum(%arg0, %{{.+}}) into(%[[E]]) : (tensor<12xf32>, tensor<3xf32>, tensor<10xf32>) -> tensor<10xf32>
//   CHECK-NOT:   tile.connect
//   CHECK-NOT:   tile.run
//       CHECK:   tile.output %[[Y]]
//   CHECK-NOT: tile.kernel @double {
//       CHECK: tile.kernel @double_sum {
//       CHECK:   ^bb0(%[[X:.+]]: tensor<12xf32>, %[[W:.+]]: tensor<3xf32>, %[[O:.+]]: tensor<10xf32>):
//       CHECK:   %[[ROOM:.+]] = tile.empty in @l2 at 0 : tensor<12xf32>
//       CHECK:   %[[L:.+]] = tile.load %[[X]] to @vreg
//       CHECK:   tile.compute ins(%[[L]]) outs(%[[ROOM]]) on @valu
//       CHECK:   %[[H:.+]] = tile.store %{{.+}} from @vreg to %[[ROOM]]
//       CHECK:   tile.load %[[H]] to @vreg
//       CHECK:   tile.compute {{.+}} outs(%[[O]]) on @valu lanes 0 tiles [#tile.rtile<"l2"[5, 3]>
//       CHECK:   tile.yield
tile.graph @chain inputs ["x", "w"] outputs ["y"] : (tensor<12xf32>, tensor<3xf32>) -> tensor<10xf32> {
^bb0(%x: tensor<12xf32>, %w: tensor<3xf32>):
  %e = tile.empty in @dram : tensor<12xf32>
  %h = tile.run "double" @double(%x) into(%e) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %n = tile.connect %h in @l2 : tensor<12xf32>
  %f = tile.empty in @dram : tensor<10xf32>
  %y = tile.run "sum" @sum(%n, %w) into(%f) : (tensor<12xf32>, tensor<3xf32>, tensor<10xf32>) -> tensor<10xf32>
  tile.output %y : tensor<10xf32>
}
tile.kernel @double {
^bb0(%x: tensor<12xf32>, %o: tensor<12xf32>):
  %a = tile.load %x to @vreg : tensor<12xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"l2"[12]>, #tile.rtile<"vreg"[8]>] : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32> {
  ^bb0(%i: tensor<12xf32>, %j: tensor<12xf32>):
    %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]} ins(%i : tensor<12xf32>) outs(%j : tensor<12xf32>) {
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %p : f32
      linalg.yield %t : f32
    } -> tensor<12xf32>
    tile.yield %r : tensor<12xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<12xf32>
  tile.yield %s : tensor<12xf32>
}
tile.kernel @sum {
^bb0(%x: tensor<12xf32>, %w: tensor<3xf32>, %o: tensor<10xf32>):
  %a = tile.load %x to @vreg : tensor<12xf32>
  %b = tile.load %w to @dram : tensor<3xf32>
  %c = tile.compute ins(%a, %b) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"l2"[5, 3]>, #tile.rtile<"vreg"[5, 1]>] : (tensor<12xf32>, tensor<3xf32>, tensor<10xf32>) -> tensor<10xf32> {
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
  %s = tile.store %c from @vreg to %o : tensor<10xf32>
  tile.yield %s : tensor<10xf32>
}
