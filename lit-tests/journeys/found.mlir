// A length that data decide: how many rows are to be kept says one number of the input, and what
// follows does as many.
//
// README: read this after lengths.mlir. `n` is a name like `seq` there, but nobody says it: a kernel
// calculates a number, and from there on the name stands for it. Tensors are laid out for the most that
// there may be, 40 rows; kernels ask how many there are, and whoever asks waits for the one that finds it.
//
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/two-cores-moves.mlir --graph-to-tile --tile-construct-rtiles -o %t.tile
// RUN: FileCheck %s --check-prefix=TILE < %t.tile
//
// An rTask of 8 rows in the place of all 40, so that both units have work.
// RUN: sed 's/"dram"\[320\]/"dram"[64]/' %t.tile > %t.edited
// RUN: weft-opt %t.edited --tile-to-task=split-cycles=0 -o %t.task
// RUN: FileCheck %s --check-prefix=TASK < %t.task
// RUN: weft-opt %t.task --task-check-order --tile-to-device -o %t.device
// RUN: FileCheck %s --check-prefix=DEVICE < %t.device
// RUN: weft-opt %s --verify-roundtrip -o /dev/null
// RUN: weft-opt %t.tile --verify-roundtrip -o /dev/null
// RUN: weft-opt %t.task --verify-roundtrip -o /dev/null
// RUN: weft-opt %t.device --verify-roundtrip -o /dev/null
//
// Rows that do not wait for the number are found, though no tensor says that they should.
// RUN: sed '/"rows"/s/after(%[0-9]*)/after()/' %t.task > %t.early
// RUN: not weft-opt %t.early --task-check-order -o /dev/null 2>&1 | FileCheck %s --check-prefix=EARLY
//
// Nothing may ask for it before.
// RUN: sed '/^  graph.find/d; s/^  graph.output/  graph.find "n" %%n : tensor<1xi64>\n  graph.output/' %s > %t.late
// RUN: not weft-opt %t.late -o /dev/null 2>&1 | FileCheck %s --check-prefix=LATE

graph.symbol "n" from 0 to 40
graph.model @kept inputs ["x", "many"] outputs ["y"] lengths [["", ""], [""], ["n", ""]] {
^bb0(%x: tensor<40x8xf32>, %many: tensor<1xi64>):
  %n = graph.op "Identity" "n"(%many) : (tensor<1xi64>) -> tensor<1xi64> {
  ^bb0(%a: tensor<1xi64>):
    %e = tensor.empty() : tensor<1xi64>
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<1xi64>) outs(%e : tensor<1xi64>) {
    ^bb0(%p: i64, %o: i64):
      linalg.yield %p : i64
    } -> tensor<1xi64>
    graph.yield %r : tensor<1xi64>
  }
  graph.find "n" %n : tensor<1xi64>
  %y = graph.op "Add" "rows"(%x) : (tensor<40x8xf32>) -> tensor<40x8xf32> {
  ^bb0(%a: tensor<40x8xf32>):
    %e = tensor.empty() : tensor<40x8xf32>
    %r = linalg.generic {graph.lengths = ["n", ""], indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<40x8xf32>) outs(%e : tensor<40x8xf32>) {
    ^bb0(%p: f32, %o: f32):
      %t = arith.addf %p, %p : f32
      linalg.yield %t : f32
    } -> tensor<40x8xf32>
    graph.yield %r : tensor<40x8xf32>
  }
  graph.output %y : tensor<40x8xf32>
}

// =====================================================================================
// tile: the number is a tensor that a run makes, and stays one for itself.

//      TILE: graph.symbol "n" from 0 to 40
//      TILE: tile.graph @kept
//      TILE:   %[[N:.+]] = tile.run "n"
// TILE-NEXT:   tile.find "n" %[[N]] : tensor<1xi64>
//      TILE:   tile.run "rows"

// =====================================================================================
// task: both units do their share of as many rTasks as there are, when it is known how many.

//      TASK: %[[FOUND:.+]] = task.range "n" @{{.+}} on {{.}}({{.+}}) after()
// TASK-NEXT: task.find "n" in %{{.+}} after(%[[FOUND]]) : memref<1xi64>
//      TASK: task.range "rows" @{{.+}} part 0 of 2 on 0({{.+}}) after(%[[FOUND]])
//      TASK: task.range "rows" @{{.+}} part 1 of 2 on 1({{.+}}) after(%[[FOUND]])

// =====================================================================================
// device: code asks for it as for any length.

//      DEVICE: device.kernel @{{.+}} tasks 5 length "ceil(8 * n, 64)"
//      DEVICE:   device.length "8 * n"

// EARLY: error: "rows"[0 to 5] touches what "n"[0 to 1] touches, and no token orders them
//  LATE: error: graph.op asks for n, which is not known yet
