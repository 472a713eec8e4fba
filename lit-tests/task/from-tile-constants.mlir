// What depends on weights alone is evaluated when the artifact is written.
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/two-cores.mlir --tile-to-task | FileCheck %s

#id = affine_map<(i) -> (i)>
// CHECK-LABEL: task.program @folds
//       CHECK:   %[[W:.+]] = task.weight "w" in "model" hash "00" : memref<32xf32>
//       CHECK:   %[[L:.+]] = task.literal dense<1.000000e+00> : tensor<32xf32> -> memref<32xf32>
//   CHECK-NOT:   "unused"

// A window of a tensor without content: the rest starts as zeros.
//       CHECK:   %[[P:.+]] = task.constant "low" @low(%[[W]]) : (memref<32xf32>) -> memref<64xf32>

// A window of another constant, which is not overwritten: it is read below.
//       CHECK:   %[[Q:.+]] = task.constant "high" @high(%[[L]], %[[P]]) : (memref<32xf32>, memref<64xf32>) -> memref<64xf32>

// A tensor without content reads as zeros.
//       CHECK:   %[[Z:.+]] = task.literal dense<0.000000e+00> : tensor<64xf32> -> memref<64xf32>

//   CHECK-NOT:   task.constant
//       CHECK:   %[[A:.+]] = task.range "a" @add[0 to 4] on 0(%{{.+}}, %[[P]], %{{.+}}) after()
//       CHECK:   %[[B:.+]] = task.range "b" @add[0 to 4] on 0(%{{.+}}, %[[Q]], %{{.+}}) after(%[[A]])
//       CHECK:   task.range "c" @add[0 to 4] on 0(%{{.+}}, %[[Z]], %{{.+}}) after(%[[B]])
tile.graph @folds inputs ["x"] outputs ["y"] : (tensor<64xf32>) -> tensor<64xf32> {
^bb0(%x: tensor<64xf32>):
  %w = graph.weight "w" in "model" hash "00" : tensor<32xf32>
  %unused = graph.weight "unused" in "model" hash "00" : tensor<32xf32>
  %l = graph.constant dense<1.0> : tensor<32xf32> -> tensor<32xf32>
  %e0 = tile.empty in @dram : tensor<64xf32>
  %p = tile.run "low" @low(%w) into(%e0) : (tensor<32xf32>, tensor<64xf32>) -> tensor<64xf32>
  %q = tile.run "high" @high(%l) into(%p) : (tensor<32xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e1 = tile.empty in @dram : tensor<64xf32>
  %a = tile.run "a" @add(%x, %p) into(%e1) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e2 = tile.empty in @dram : tensor<64xf32>
  %b = tile.run "b" @add(%a, %q) into(%e2) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %z = tile.empty in @dram : tensor<64xf32>
  %e4 = tile.empty in @dram : tensor<64xf32>
  %y = tile.run "c" @add(%b, %z) into(%e4) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e3 = tile.empty in @dram : tensor<32xf32>
  %dead = tile.run "dead" @half(%unused) into(%e3) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  tile.output %y : tensor<64xf32>
}

tile.kernel @low {
^bb0(%x: tensor<32xf32>, %o: tensor<64xf32>):
  %a = tile.load %x to @vreg : tensor<32xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram" [16]>, #tile.rtile<"vreg" [16]>] : (tensor<32xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%p: tensor<32xf32>, %q: tensor<64xf32>):
    %w = tensor.extract_slice %q[0] [32] [1] : tensor<64xf32> to tensor<32xf32>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<32xf32>) outs(%w : tensor<32xf32>) {
    ^bb0(%u: f32, %v: f32):
      %s = arith.addf %u, %u : f32
      linalg.yield %s : f32
    } -> tensor<32xf32>
    %k = tensor.insert_slice %r into %q[0] [32] [1] : tensor<32xf32> into tensor<64xf32>
    tile.yield %k : tensor<64xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<64xf32>
  tile.yield %s : tensor<64xf32>
}

tile.kernel @high {
^bb0(%x: tensor<32xf32>, %o: tensor<64xf32>):
  %a = tile.load %x to @vreg : tensor<32xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram" [16]>, #tile.rtile<"vreg" [16]>] : (tensor<32xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%p: tensor<32xf32>, %q: tensor<64xf32>):
    %w = tensor.extract_slice %q[32] [32] [1] : tensor<64xf32> to tensor<32xf32>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<32xf32>) outs(%w : tensor<32xf32>) {
    ^bb0(%u: f32, %v: f32):
      %s = arith.addf %u, %u : f32
      linalg.yield %s : f32
    } -> tensor<32xf32>
    %k = tensor.insert_slice %r into %q[32] [32] [1] : tensor<32xf32> into tensor<64xf32>
    tile.yield %k : tensor<64xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<64xf32>
  tile.yield %s : tensor<64xf32>
}

tile.kernel @half {
^bb0(%x: tensor<32xf32>, %o: tensor<32xf32>):
  %a = tile.load %x to @vreg : tensor<32xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram" [16]>, #tile.rtile<"vreg" [16]>] : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32> {
  ^bb0(%p: tensor<32xf32>, %q: tensor<32xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<32xf32>) outs(%q : tensor<32xf32>) {
    ^bb0(%u: f32, %v: f32):
      %s = arith.addf %u, %u : f32
      linalg.yield %s : f32
    } -> tensor<32xf32>
    tile.yield %r : tensor<32xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<32xf32>
  tile.yield %s : tensor<32xf32>
}

tile.kernel @add {
^bb0(%x: tensor<64xf32>, %y: tensor<64xf32>, %o: tensor<64xf32>):
  %a = tile.load %x to @vreg : tensor<64xf32>
  %b = tile.load %y to @vreg : tensor<64xf32>
  %c = tile.compute ins(%a, %b) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram" [16]>, #tile.rtile<"vreg" [16]>] : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%p: tensor<64xf32>, %q: tensor<64xf32>, %z: tensor<64xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%p, %q : tensor<64xf32>, tensor<64xf32>) outs(%z : tensor<64xf32>) {
    ^bb0(%u: f32, %v: f32, %w: f32):
      %s = arith.addf %u, %v : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    tile.yield %r : tensor<64xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<64xf32>
  tile.yield %s : tensor<64xf32>
}
