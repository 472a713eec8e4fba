// A view is the buffer of the tensor it shows, also where an output is one.
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/two-cores.mlir --tile-to-task | FileCheck %s

#id = affine_map<(i) -> (i)>
// CHECK-LABEL: task.program @views on @core units 2 arena 0
//       CHECK:   %[[X:.+]] = task.input 0 "x" : memref<8x8xf32>
//       CHECK:   %[[Y:.+]] = task.output 0 "y" : memref<4x16xf32>
//   CHECK-DAG:   %[[XV:.+]] = task.view %[[X]] : memref<8x8xf32> to memref<64xf32>
//   CHECK-DAG:   %[[YV:.+]] = task.view %[[Y]] : memref<4x16xf32> to memref<64xf32>
//       CHECK:   task.range "a" @twice[0 to 4] on 0(%[[XV]], %[[YV]]) after()
tile.graph @views inputs ["x"] outputs ["y"] : (tensor<8x8xf32>) -> tensor<4x16xf32> {
^bb0(%x: tensor<8x8xf32>):
  %v = tile.view %x : tensor<8x8xf32> to tensor<64xf32>
  %e = tile.empty in @dram : tensor<64xf32>
  %a = tile.run "a" @twice(%v) into(%e) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %y = tile.view %a : tensor<64xf32> to tensor<4x16xf32>
  tile.output %y : tensor<4x16xf32>
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
