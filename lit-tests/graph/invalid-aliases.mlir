// Outputs that lie in no input, or not there.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

// model_c4: both are ports.
// CHECK: graph.model has an alias of "z", which is no output
// CHECK: help: write the name of an input and of an output of its type, each once
graph.model @unknown inputs ["x"] outputs ["y"] aliases [["x", "z"]] {
^bb0(%x: tensor<4xf32>):
  graph.output %x : tensor<4xf32>
}

// -----

// model_c4: they have one type.
// CHECK: graph.model has an alias of tensor<4xf32> and tensor<5xf32>
graph.model @types inputs ["x", "y"] outputs ["z"] aliases [["x", "z"]] {
^bb0(%x: tensor<4xf32>, %y: tensor<5xf32>):
  graph.output %y : tensor<5xf32>
}

// -----

// model_c4: each is in no other.
// CHECK: graph.model has a port in two aliases
graph.model @twice inputs ["x"] outputs ["y", "z"] aliases [["x", "y"], ["x", "z"]] {
^bb0(%x: tensor<4xf32>):
  graph.output %x, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

// model_c4: it is of two.
// CHECK: graph.model has an alias of 1 names
graph.model @one inputs ["x"] outputs ["y"] aliases [["x"]] {
^bb0(%x: tensor<4xf32>):
  graph.output %x : tensor<4xf32>
}

// -----

// graph_c4: the same holds of a tile-graph.
// CHECK: tile.graph has an alias of "z", which is no input
tile.graph @tiles inputs ["x"] outputs ["y"] aliases [["z", "y"]] : (tensor<4xf32>) -> tensor<4xf32> {
^bb0(%x: tensor<4xf32>):
  tile.output %x : tensor<4xf32>
}
