// What is said of bodies that call each other, of one that nobody calls, and of one that is not there.
// RUN: sed 's/@FIRST/@outer/; s/@LAST/@outer/' %s > %t.twice
// RUN: not weft-opt %t.twice -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: sed 's/@FIRST/@one/; s/@LAST/@outer/' %s > %t.round
// RUN: not weft-opt %t.round -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROUND
// RUN: sed 's/@FIRST/@one/; s/@LAST/@two/' %s > %t.idle
// RUN: not weft-opt %t.idle --device-load-machine=file=%S/../Inputs/two-cores-moves.mlir --tile-to-task -o /dev/null 2>&1 | FileCheck %s --check-prefix=IDLE
// RUN: sed 's/@FIRST/@outer/; s/@LAST/@nobody/' %s > %t.none
// RUN: not weft-opt %t.none -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE

// TWICE: error: @outer is called twice
// ROUND: error: the body @outer calls itself
// IDLE: error: no tile.run calls the body @outer
// NONE: error: tile.run calls @nobody, which is not a kernel

graph.symbol "k" from 0 to 9
graph.symbol "l" from 0 to 9
graph.symbol "i" from 0 to 9
graph.symbol "j" from 0 to 9
tile.graph @model inputs ["s"] outputs ["t"] : (tensor<4xf32>) -> tensor<4xf32> {
^bb0(%s: tensor<4xf32>):
  %t = tile.run "loop" @FIRST() into(%s) : (tensor<4xf32>) -> tensor<4xf32>
  tile.output %t : tensor<4xf32>
}
tile.graph @outer inputs ["s"] outputs ["t"] aliases [["s", "t"]] repeat "i" to "4" : (tensor<4xf32>) -> tensor<4xf32> {
^bb0(%s: tensor<4xf32>):
  %t = tile.run "loop" @inner() into(%s) : (tensor<4xf32>) -> tensor<4xf32>
  tile.output %t : tensor<4xf32>
}
tile.graph @inner inputs ["s"] outputs ["t"] aliases [["s", "t"]] repeat "j" to "4" : (tensor<4xf32>) -> tensor<4xf32> {
^bb0(%s: tensor<4xf32>):
  %t = tile.run "loop" @LAST() into(%s) : (tensor<4xf32>) -> tensor<4xf32>
  tile.output %t : tensor<4xf32>
}
tile.graph @one inputs ["s"] outputs ["t"] aliases [["s", "t"]] repeat "k" to "4" : (tensor<4xf32>) -> tensor<4xf32> {
^bb0(%s: tensor<4xf32>):
  tile.output %s : tensor<4xf32>
}
tile.graph @two inputs ["s"] outputs ["t"] aliases [["s", "t"]] repeat "l" to "4" : (tensor<4xf32>) -> tensor<4xf32> {
^bb0(%s: tensor<4xf32>):
  tile.output %s : tensor<4xf32>
}
