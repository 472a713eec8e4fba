// A loop that a run repeats: as many rows are gone through as a number of the input says, each is added to the
// ones before, and every sum is kept.
//
// README: read this after found.mlir. What is repeated is a model of its own, a body, which the other one calls. Its last
// inputs are states: an output lies in each, and a round finds there what the one before has left. So a state is
// memory that is written over, as a cache is in cache.mlir. `i` stands for the number of the round.
//
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/two-cores-moves.mlir --graph-to-tile --tile-construct-rtiles -o %t.tile
// RUN: FileCheck %s --check-prefix=TILE < %t.tile
// RUN: weft-opt %t.tile --tile-to-task -o %t.task
// RUN: FileCheck %s --check-prefix=TASK < %t.task
// RUN: weft-opt %t.task --task-check-order --tile-to-device -o %t.device
// RUN: FileCheck %s --check-prefix=DEVICE < %t.device
// RUN: weft-opt %s --verify-roundtrip -o /dev/null
// RUN: weft-opt %t.tile --verify-roundtrip -o /dev/null
// RUN: weft-opt %t.task --verify-roundtrip -o /dev/null
// RUN: weft-opt %t.device --verify-roundtrip -o /dev/null
//
// The call asks for how many rounds there are, and so waits for the one that finds it.
// RUN: sed '/@rows.*[[]0 to 1]/s/after([^)]*)/after()/' %t.task > %t.early
// RUN: not weft-opt %t.early --task-check-order -o /dev/null 2>&1 | FileCheck %s --check-prefix=EARLY

graph.symbol "i" from 0 to 39
graph.symbol "n" from 0 to 40
graph.model @sums inputs ["x", "many", "h"] outputs ["last", "all"] lengths [["", ""], [""], ["", ""], ["", ""], ["n", ""]] {
^bb0(%x: tensor<40x8xf32>, %many: tensor<1xi64>, %h: tensor<1x8xf32>):
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
  %e = graph.op "Empty" "all"() : () -> tensor<40x8xf32> {
    %e = tensor.empty() : tensor<40x8xf32>
    graph.yield %e : tensor<40x8xf32>
  }
  %last, %all = graph.call "loop" @rows(%x, %h, %e) : (tensor<40x8xf32>, tensor<1x8xf32>, tensor<40x8xf32>) -> (tensor<1x8xf32>, tensor<40x8xf32>)
  graph.output %last, %all : tensor<1x8xf32>, tensor<40x8xf32>
}
graph.model @rows inputs ["x", "h", "all"] outputs ["next", "more"] aliases [["h", "next"], ["all", "more"]] repeat "i" to "n" {
^bb0(%x: tensor<40x8xf32>, %h: tensor<1x8xf32>, %all: tensor<40x8xf32>):
  %next = graph.op "Add" "step"(%x, %h) : (tensor<40x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32> {
  ^bb0(%a: tensor<40x8xf32>, %b: tensor<1x8xf32>):
    %i = graph.length "i"
    %s = tensor.extract_slice %a[%i, 0] [1, 8] [1, 1] : tensor<40x8xf32> to tensor<1x8xf32>
    %e = tensor.empty() : tensor<1x8xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%s, %b : tensor<1x8xf32>, tensor<1x8xf32>) outs(%e : tensor<1x8xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %t = arith.addf %p, %q : f32
      linalg.yield %t : f32
    } -> tensor<1x8xf32>
    graph.yield %r : tensor<1x8xf32>
  }
  %more = graph.op "Put" "row"(%next, %all) : (tensor<1x8xf32>, tensor<40x8xf32>) -> tensor<40x8xf32> {
  ^bb0(%a: tensor<1x8xf32>, %b: tensor<40x8xf32>):
    %i = graph.length "i"
    %r = tensor.insert_slice %a into %b[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<40x8xf32>
    graph.yield %r : tensor<40x8xf32>
  }
  graph.output %next, %more : tensor<1x8xf32>, tensor<40x8xf32>
}

// =====================================================================================
// tile: a run of the body overwrites its states, as one of a kernel does what it is given. A row is read, and one is
// written, as many elements further on as the round says.

//      TILE: tile.graph @sums
//      TILE:   tile.find "n"
//      TILE:   tile.run "loop" @rows(%{{.+}}) into(%{{.+}}, %{{.+}})
//      TILE: tile.graph @rows {{.+}} aliases {{\[}}["h", "next"], ["all", "more"]] repeat "i" to "n"
//      TILE:   tile.run "step" @{{.+}} shifts ["8 * i", ""]
//      TILE:   tile.run "row" @{{.+}} shifts ["", "8 * i"]

// =====================================================================================
// task: a program for the body. The sum is made beside the state, and then copied there; rows are written where
// the caller wants them.

//      TASK: task.program @sums
//      TASK:   %[[LAST:.+]] = task.output 0 "last"
//      TASK:   %[[ALL:.+]] = task.output 1 "all"
//      TASK:   %[[FOUND:.+]] = task.range "n"
//      TASK:   task.find "n"
//      TASK:   %[[COPY:.+]] = task.range "loop" @copy
//      TASK:   task.range "loop" @rows[0 to 1] on {{.}}(%{{.+}}, %[[LAST]], %[[ALL]]) after(%[[FOUND]], %[[COPY]])
//      TASK: task.program @rows {{.+}} repeat "i" to "n"
//      TASK:   task.output 0 "next" in 1
//      TASK:   task.output 1 "more" in 2
//      TASK:   task.range "step" @{{.+}} shifts ["8 * i", ""]
//      TASK:   task.range "row" @{{.+}} shifts ["", "8 * i"]
//      TASK:   task.range "next" @copy

// =====================================================================================
// device: code knows nothing of rounds.

//      DEVICE: task.program @rows {{.+}} repeat "i" to "n"
//      DEVICE: device.kernel
//  DEVICE-NOT: device.length

// EARLY: error: "loop"[0 to 1] touches what "n"[0 to 1] touches, and no token orders them
