// Bodies that cannot be repeated, and calls of them.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

// model_c5: it has an end.
// CHECK: graph.model is repeated without end
graph.symbol "i" from 0 to 9
graph.model @model_c5 inputs ["s"] outputs ["t"] aliases [["s", "t"]] repeat "i" {
^bb0(%s: tensor<4xf32>):
  graph.output %s : tensor<4xf32>
}

// -----

// model_c5: rounds are those of something.
// CHECK: graph.model says rounds, and not what is repeated
graph.model @model_c5 inputs ["s"] outputs ["t"] to "4" {
^bb0(%s: tensor<4xf32>):
  graph.output %s : tensor<4xf32>
}

// -----

// model_c5: the name is a symbol.
// CHECK: the module has no symbol i, which stands for a round
// CHECK: it has j
graph.symbol "j" from 0 to 9
graph.model @model_c5 inputs ["s"] outputs ["t"] aliases [["s", "t"]] repeat "i" to "4" {
^bb0(%s: tensor<4xf32>):
  graph.output %s : tensor<4xf32>
}

// -----

// model_c5: nothing else decides it.
// CHECK: i stands for a round, and for something else
graph.symbol "i" from 0 to 9
graph.model @one inputs ["s"] outputs ["t"] aliases [["s", "t"]] repeat "i" to "4" {
^bb0(%s: tensor<4xf32>):
  graph.output %s : tensor<4xf32>
}
graph.model @other inputs ["s"] outputs ["t"] aliases [["s", "t"]] repeat "i" to "4" {
^bb0(%s: tensor<4xf32>):
  graph.output %s : tensor<4xf32>
}

// -----

// model_c5: how many rounds there are is known before the first.
// CHECK: how many rounds there are depends on i, a round
graph.symbol "i" from 0 to 9
graph.model @model_c5 inputs ["s"] outputs ["t"] aliases [["s", "t"]] repeat "i" to "i + 1" {
^bb0(%s: tensor<4xf32>):
  graph.output %s : tensor<4xf32>
}

// -----

// model_c5: states are the last inputs.
// CHECK: graph.model is repeated, and its last inputs are not its states
graph.symbol "i" from 0 to 9
graph.model @model_c5 inputs ["s", "x"] outputs ["t"] aliases [["s", "t"]] repeat "i" to "4" {
^bb0(%s: tensor<4xf32>, %x: tensor<4xf32>):
  graph.output %s : tensor<4xf32>
}

// -----

// model_c5: a condition is a boolean.
// CHECK: the condition of graph.model is no boolean
graph.symbol "i" from 0 to 9
graph.model @model_c5 inputs ["s"] outputs ["t"] aliases [["s", "t"]] repeat "i" while {
^bb0(%s: tensor<4xf32>):
  graph.output %s : tensor<4xf32>
}

// -----

// call_c1: it calls a body.
// CHECK: graph.call names @call_c1, which is no body
graph.model @call_c1 inputs ["s"] outputs ["t"] {
^bb0(%s: tensor<4xf32>):
  %t = graph.call "loop" @call_c1(%s) : (tensor<4xf32>) -> tensor<4xf32>
  graph.output %t : tensor<4xf32>
}

// -----

// call_c1: of these operands.
// CHECK: graph.call of @body has operands (tensor<5xf32>)
// CHECK: the body has (tensor<4xf32>)
graph.symbol "i" from 0 to 9
graph.model @call_c1 inputs ["s"] outputs ["t"] {
^bb0(%s: tensor<5xf32>):
  %t = graph.call "loop" @body(%s) : (tensor<5xf32>) -> tensor<4xf32>
  graph.output %t : tensor<4xf32>
}
graph.model @body inputs ["s"] outputs ["t"] aliases [["s", "t"]] repeat "i" to "4" {
^bb0(%s: tensor<4xf32>):
  graph.output %s : tensor<4xf32>
}

// -----

// call_c1: once.
// CHECK: @body is called twice
graph.symbol "i" from 0 to 9
graph.model @call_c1 inputs ["s"] outputs ["t"] {
^bb0(%s: tensor<4xf32>):
  %t = graph.call "loop" @body(%s) : (tensor<4xf32>) -> tensor<4xf32>
  %u = graph.call "loop" @body(%t) : (tensor<4xf32>) -> tensor<4xf32>
  graph.output %u : tensor<4xf32>
}
graph.model @body inputs ["s"] outputs ["t"] aliases [["s", "t"]] repeat "i" to "4" {
^bb0(%s: tensor<4xf32>):
  graph.output %s : tensor<4xf32>
}

// -----

// call_c2: a result for each state.
// CHECK: graph.call of @body has results ()
graph.symbol "i" from 0 to 9
graph.model @call_c2 inputs ["s"] outputs ["t"] {
^bb0(%s: tensor<4xf32>):
  graph.call "loop" @body(%s) : (tensor<4xf32>) -> ()
  graph.output %s : tensor<4xf32>
}
graph.model @body inputs ["s"] outputs ["t"] aliases [["s", "t"]] repeat "i" to "4" {
^bb0(%s: tensor<4xf32>):
  graph.output %s : tensor<4xf32>
}
