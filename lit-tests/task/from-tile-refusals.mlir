// What the conversion from tile to task does not take.
// RUN: not weft-opt %s --device-load-machine=file=%S/../Inputs/two-cores.mlir --tile-to-task --split-input-file 2>&1 | FileCheck %s

#id = affine_map<(i) -> (i)>
// CHECK: the kernel @twice has no rTiles
// CHECK: help: run tile-construct-rtiles first
tile.kernel @twice {
^bb0(%x: tensor<64xf32>, %o: tensor<64xf32>):
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%o : tensor<64xf32>) {
  ^bb0(%u: f32, %v: f32):
    linalg.yield %u : f32
  } -> tensor<64xf32>
  tile.yield %r : tensor<64xf32>
}
tile.graph @g inputs ["x"] outputs ["y"] : (tensor<64xf32>) -> tensor<64xf32> {
^bb0(%x: tensor<64xf32>):
  %e = tile.empty in @dram : tensor<64xf32>
  %y = tile.run "a" @twice(%x) into(%e) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  tile.output %y : tensor<64xf32>
}

// -----

// CHECK: the module has no tile.graph
// CHECK: help: run graph-to-tile first
// -----

#id = affine_map<(i) -> (i)>
// CHECK: the module has a second tile.graph
// CHECK: note: the first one
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
tile.graph @g inputs ["x"] outputs ["y"] : (tensor<64xf32>) -> tensor<64xf32> {
^bb0(%x: tensor<64xf32>):
  %e = tile.empty in @dram : tensor<64xf32>
  %y = tile.run "a" @twice(%x) into(%e) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  tile.output %y : tensor<64xf32>
}
tile.graph @h inputs ["x"] outputs ["y"] : (tensor<64xf32>) -> tensor<64xf32> {
^bb0(%x: tensor<64xf32>):
  %e = tile.empty in @dram : tensor<64xf32>
  %y = tile.run "a" @twice(%x) into(%e) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  tile.output %y : tensor<64xf32>
}
