// Copies are made where two tensors cannot share memory.
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/two-cores-moves.mlir --tile-to-task --split-input-file | FileCheck %s
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/two-cores-moves.mlir --tile-to-task --task-check-order --split-input-file -o /dev/null

#id = affine_map<(i) -> (i)>
// An input that is an output, a view of it, and one tensor that is given twice.
// CHECK-LABEL: task.program @outputs
//       CHECK:   %[[X:.+]] = task.input 0 "x" : memref<8x8xf32>
//       CHECK:   %[[Y0:.+]] = task.output 0 "y0" : memref<8x8xf32>
//       CHECK:   %[[Y1:.+]] = task.output 1 "y1" : memref<64xf32>
//       CHECK:   %[[Y2:.+]] = task.output 2 "y2" : memref<64xf32>
//       CHECK:   %[[XV:.+]] = task.view %[[X]] : memref<8x8xf32> to memref<64xf32>
//       CHECK:   %[[A:.+]] = task.range "a" @twice[0 to 4] on 0(%[[XV]], %[[Y1]]) after()
//       CHECK:   %[[YV:.+]] = task.view %[[Y0]] : memref<8x8xf32> to memref<64xf32>
//       CHECK:   task.range "y0" @copy_64xf32[0 to 1] on {{.}}(%[[XV]], %[[YV]]) after()
//       CHECK:   task.range "y2" @copy_64xf32[0 to 1] on {{.}}(%[[Y1]], %[[Y2]]) after(%[[A]])
//       CHECK: tile.kernel @copy_64xf32 {
//       CHECK:   tile.compute {{.+}} on @valu lanes 0 tiles [#tile.rtile<"dram"[64]>, #tile.rtile<"vreg"[64]>]
tile.graph @outputs inputs ["x"] outputs ["y0", "y1", "y2"] : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<64xf32>, tensor<64xf32>) {
^bb0(%x: tensor<8x8xf32>):
  %v = tile.view %x : tensor<8x8xf32> to tensor<64xf32>
  %e = tile.empty in @dram : tensor<64xf32>
  %a = tile.run "a" @twice(%v) into(%e) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  tile.output %x, %a, %a : tensor<8x8xf32>, tensor<64xf32>, tensor<64xf32>
}

tile.kernel @twice {
^bb0(%x: tensor<64xf32>, %o: tensor<64xf32>):
  %a = tile.load %x to @vreg : tensor<64xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram" [16]>, #tile.rtile<"vreg" [16]>] : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%p: tensor<64xf32>, %q: tensor<64xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<64xf32>) outs(%q : tensor<64xf32>) {
    ^bb0(%u: f32, %v: f32):
      %s = arith.addf %u, %u : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    tile.yield %r : tensor<64xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<64xf32>
  tile.yield %s : tensor<64xf32>
}

// -----

#id = affine_map<(i) -> (i)>
// "w" writes a window of what "b" still needs: it works on a copy.
// CHECK-LABEL: task.program @kept
//       CHECK:   %[[Z:.+]] = task.output 1 "z"
//       CHECK:   %[[B:.+]] = task.buffer
//       CHECK:   %[[A:.+]] = task.range "a" @twice[0 to 4] on 0(%{{.+}}, %[[B]]) after()
//       CHECK:   %[[C:.+]] = task.range "w" @copy_64xf32[0 to 1] on 0(%[[B]], %[[Z]]) after(%[[A]])
//       CHECK:   task.range "b" @twice[0 to 4] on 1(%[[B]], %{{.+}}) after(%[[A]])
//       CHECK:   task.range "w" @low[0 to 2] on 0(%{{.+}}, %[[Z]]) after(%[[C]])
tile.graph @kept inputs ["x", "s"] outputs ["y", "z"] : (tensor<64xf32>, tensor<32xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
^bb0(%x: tensor<64xf32>, %s: tensor<32xf32>):
  %e = tile.empty in @dram : tensor<64xf32>
  %a = tile.run "a" @twice(%x) into(%e) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %z = tile.run "w" @low(%s) into(%a) : (tensor<32xf32>, tensor<64xf32>) -> tensor<64xf32>
  %f = tile.empty in @dram : tensor<64xf32>
  %y = tile.run "b" @twice(%a) into(%f) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  tile.output %y, %z : tensor<64xf32>, tensor<64xf32>
}

tile.kernel @twice {
^bb0(%x: tensor<64xf32>, %o: tensor<64xf32>):
  %a = tile.load %x to @vreg : tensor<64xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram" [16]>, #tile.rtile<"vreg" [16]>] : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%p: tensor<64xf32>, %q: tensor<64xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<64xf32>) outs(%q : tensor<64xf32>) {
    ^bb0(%u: f32, %v: f32):
      %s = arith.addf %u, %u : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    tile.yield %r : tensor<64xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<64xf32>
  tile.yield %s : tensor<64xf32>
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

// -----

#id = affine_map<(i) -> (i)>
// "b" overwrites all of a tensor that is needed later: a buffer of its own is enough.
// CHECK-LABEL: task.program @replaced
//   CHECK-NOT:   @copy
//       CHECK:   task.range "a" @twice[0 to 4] on 0(%{{.+}}, %[[B:.+]]) after()
//       CHECK:   task.range "b" @twice[0 to 4] on {{.}}(%{{.+}}, %[[C:.+]]) after()
//   CHECK-NOT: tile.kernel @copy
tile.graph @replaced inputs ["x"] outputs ["y", "z"] : (tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
^bb0(%x: tensor<64xf32>):
  %e = tile.empty in @dram : tensor<64xf32>
  %y = tile.run "a" @twice(%x) into(%e) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %z = tile.run "b" @twice(%x) into(%y) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  tile.output %y, %z : tensor<64xf32>, tensor<64xf32>
}

tile.kernel @twice {
^bb0(%x: tensor<64xf32>, %o: tensor<64xf32>):
  %a = tile.load %x to @vreg : tensor<64xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram" [16]>, #tile.rtile<"vreg" [16]>] : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%p: tensor<64xf32>, %q: tensor<64xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<64xf32>) outs(%q : tensor<64xf32>) {
    ^bb0(%u: f32, %v: f32):
      %s = arith.addf %u, %u : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    tile.yield %r : tensor<64xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<64xf32>
  tile.yield %s : tensor<64xf32>
}
