// A cache that grows where it lies: rows are put behind those that are there, and none is copied.
//
// README: read this after lengths.mlir. `present` is `past` with one row more, in the same memory: the
// caller gives one tensor, laid out for the most rows that there may be, as input and as output. What
// is there already is not touched; only the row behind it is written, and then all of them are summed.
//
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/two-cores-moves.mlir --graph-to-tile -o %t.cut
// RUN: FileCheck %s --check-prefix=TILE < %t.cut
// RUN: weft-opt %t.cut --tile-construct-rtiles --tile-to-task -o %t.task
// RUN: FileCheck %s --check-prefix=TASK < %t.task
// RUN: weft-opt %t.task --task-check-order -o /dev/null
// RUN: weft-opt %t.cut --verify-roundtrip -o /dev/null
// RUN: weft-opt %t.task --verify-roundtrip -o /dev/null
//
// Whoever reads the cache as it was needs a memory of its own for it.
// RUN: sed 's/tile.output %\([0-9a-z_]*\), /tile.output %arg0, /' %t.cut > %t.old
// RUN: not weft-opt %t.old --tile-construct-rtiles --tile-to-task -o /dev/null 2>&1 | FileCheck %s --check-prefix=OLD
//
// A sum that does not wait for the new row is found.
// RUN: sed 's/after(%[0-9]*)/after()/' %t.task > %t.early
// RUN: not weft-opt %t.early --task-check-order -o /dev/null 2>&1 | FileCheck %s --check-prefix=EARLY

graph.symbol "past" from 0 to 15
graph.model @cache inputs ["past", "new"] outputs ["present", "y"] lengths [["", "past", ""], ["", "", ""], ["", "past + 1", ""], ["", ""]] aliases [["past", "present"]] {
^bb0(%past: tensor<2x16x8xf32>, %new: tensor<2x1x8xf32>):
  %present = graph.op "Concat" "present"(%past, %new) : (tensor<2x16x8xf32>, tensor<2x1x8xf32>) -> tensor<2x16x8xf32> {
  ^bb0(%old: tensor<2x16x8xf32>, %row: tensor<2x1x8xf32>):
    %end = graph.length "past"
    %all = tensor.insert_slice %row into %old[0, %end, 0] [2, 1, 8] [1, 1, 1] : tensor<2x1x8xf32> into tensor<2x16x8xf32>
    graph.yield %all : tensor<2x16x8xf32>
  }
  %y = graph.op "ReduceSum" "sum"(%present) : (tensor<2x16x8xf32>) -> tensor<2x8xf32> {
  ^bb0(%a: tensor<2x16x8xf32>):
    %e = tensor.empty() : tensor<2x8xf32>
    %z = arith.constant 0.0 : f32
    %f = linalg.generic {indexing_maps = [affine_map<(b, n) -> (b, n)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2x8xf32>) {
    ^bb0(%o: f32):
      linalg.yield %z : f32
    } -> tensor<2x8xf32>
    %r = linalg.generic {graph.lengths = ["", "", "past + 1"], indexing_maps = [affine_map<(b, n, i) -> (b, i, n)>, affine_map<(b, n, i) -> (b, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a : tensor<2x16x8xf32>) outs(%f : tensor<2x8xf32>) {
    ^bb0(%p: f32, %o: f32):
      %t = arith.addf %o, %p : f32
      linalg.yield %t : f32
    } -> tensor<2x8xf32>
    graph.yield %r : tensor<2x8xf32>
  }
  graph.output %present, %y : tensor<2x16x8xf32>, tensor<2x8xf32>
}

// =====================================================================================
// tile: one run, which writes into the input.

//       TILE: tile.graph @cache {{.+}} aliases {{.}}["past", "present"]]
//       TILE:   %[[ALL:.+]] = tile.run "present" @{{.+}}(%{{.+}}) into(%arg0) shifts ["", "8 * past"]
//       TILE:   tile.run "sum" @{{.+}}(%[[ALL]])
//       TILE:   tile.output %[[ALL]],
//   TILE-NOT:   "present" @{{.+}}

// =====================================================================================
// task: the output lies in the input, which counts as written, and is written.

//       TASK: task.program @cache
//       TASK:   %[[CACHE:.+]] = task.input 0 "past" : memref<2x16x8xf32>
//       TASK:   task.output 0 "present" in 0 : memref<2x16x8xf32>
//   TASK-NOT:   task.buffer
//       TASK:   %[[ROW:.+]] = task.range "present" @{{.+}} on {{.}}(%{{.+}}, %[[CACHE]]) shifts ["", "8 * past"] after()
//       TASK:   task.range "sum" @{{.+}} on {{.}}(%[[CACHE]], %{{.+}}) after(%[[ROW]])

//        OLD: "present" is a copy of a tensor whose length callers decide

//      EARLY: error: {{.*}}"sum"
