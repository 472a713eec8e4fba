// What a graph.model may not be.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

// model_c1: one input name per block argument.
// CHECK: graph.model has 2 inputs and 1 argument
// CHECK: help: give one name per block argument
graph.model @model_c1 inputs ["x", "y"] outputs [] {
^bb0(%x: tensor<4xf32>):
  graph.output
}

// -----

// model_c1: the names are all different.
// CHECK: graph.model has two inputs named "x"
graph.model @model_c1 inputs ["x", "x"] outputs [] {
^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
  graph.output
}

// -----

// model_c2: one value per output name.
// CHECK: graph.model names 1 output and gives 2 values
// CHECK: note: the values leave here
graph.model @model_c2 inputs ["x"] outputs ["y"] {
^bb0(%x: tensor<4xf32>):
  graph.output %x, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

// model_c2: the body ends in graph.output.
// CHECK: graph.model ends in tile.yield
graph.model @model_c2 inputs [] outputs [] {
  tile.yield
}
