// What is written of an output ends where the output does, for every length that there may be.
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/two-cores-moves.mlir --graph-to-tile --tile-construct-rtiles --tile-to-task -o %t.task
// RUN: weft-opt %t.task --task-check-ends -o /dev/null
//
// A kernel that forgets the length writes all that there may be.
// RUN: sed 's/graph.lengths = \["n", ""\]/other = 0/' %s > %t.mlir
// RUN: not weft-opt %t.mlir --device-load-machine=file=%S/../Inputs/two-cores-moves.mlir --graph-to-tile --tile-construct-rtiles --tile-to-task --task-check-ends 2>&1 | FileCheck %s
// CHECK: error: "neg" writes 320 elements of "y", which has 0 where n = 0
// CHECK: help: let the axes of its kernel end where the output does: graph.lengths
//
// So does one of another length.
// RUN: sed 's/graph.lengths = \["n", ""\]/graph.lengths = ["n + 1", ""]/' %s > %t.mlir
// RUN: not weft-opt %t.mlir --device-load-machine=file=%S/../Inputs/two-cores-moves.mlir --graph-to-tile --tile-construct-rtiles --tile-to-task --task-check-ends 2>&1 | FileCheck %s --check-prefix=MORE
// MORE: error: "neg" writes 8 elements of "y", which has 0 where n = 0
//
// Rows that lie apart from each other are copied to callers, so what is behind them in a row is no one's.
// RUN: sed 's/from 0 to 40/from 0 to 8/; s/\["n", ""\]/["", "n"]/g; s/graph.lengths = \["", "n"\]/other = 0/' %s > %t.mlir
// RUN: weft-opt %t.mlir --device-load-machine=file=%S/../Inputs/two-cores-moves.mlir --graph-to-tile --tile-construct-rtiles --tile-to-task --task-check-ends -o /dev/null

#id = affine_map<(i, j) -> (i, j)>

graph.symbol "n" from 0 to 40
graph.model @m inputs ["x"] outputs ["y"] lengths [["n", ""], ["n", ""]] {
^bb0(%x: tensor<40x8xf32>):
  %y = graph.op "Neg" "neg"(%x) : (tensor<40x8xf32>) -> tensor<40x8xf32> {
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
