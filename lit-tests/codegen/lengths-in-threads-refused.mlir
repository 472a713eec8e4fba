// Code for threads has no lengths: it says so before anything is written.
// RUN: not weft-opt %s --device-load-machine=file=%devices/a100.mlir --graph-to-tile --tile-construct-rtiles --tile-to-task --tile-to-device --device-lower-to-threads 2>&1 | FileCheck %s
// CHECK: error: the kernel asks for `8 * n`, and code for threads has no lengths
// CHECK: help: one number for each dimension, as --dim NAME=64; what data decide is for processors

#id = affine_map<(i, j) -> (i, j)>

graph.symbol "n" from 1 to 40
graph.model @m inputs ["x"] outputs ["y"] lengths [["n", ""], ["n", ""]] {
^bb0(%x: tensor<40x8xf32>):
  %y = graph.op "Add" "twice"(%x) : (tensor<40x8xf32>) -> tensor<40x8xf32> {
  ^bb0(%a: tensor<40x8xf32>):
    %e = tensor.empty() : tensor<40x8xf32>
    %r = linalg.generic {graph.lengths = ["n", ""], indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<40x8xf32>) outs(%e : tensor<40x8xf32>) {
    ^bb0(%p: f32, %o: f32):
      %t = arith.addf %p, %p : f32
      linalg.yield %t : f32
    } -> tensor<40x8xf32>
    graph.yield %r : tensor<40x8xf32>
  }
  graph.output %y : tensor<40x8xf32>
}
