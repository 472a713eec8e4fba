// Nothing is laid out for no machine.
// RUN: not weft-opt %s --tile-pack-weights 2>&1 | FileCheck %s --check-prefix=REFUSED

// REFUSED: the module has no device.machine
// REFUSED: help: put one in with device-load-machine
tile.graph @g inputs ["x"] outputs ["y"] : (tensor<4x6xf32>) -> tensor<4x32xf32> {
^bb0(%x: tensor<4x6xf32>):
  %w = graph.weight "w" in "model" hash "00" : tensor<6x32xf32>
  %e = tile.empty in @dram : tensor<4x32xf32>
  %y = tile.run "fc" @mm(%x, %w) into(%e) : (tensor<4x6xf32>, tensor<6x32xf32>, tensor<4x32xf32>) -> tensor<4x32xf32>
  tile.output %y : tensor<4x32xf32>
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
