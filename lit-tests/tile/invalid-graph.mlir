// What a tile.graph may not be.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

// graph_c1: one input name and one type per block argument.
// CHECK: tile.graph names 1 input, gives 2 types and has 1 argument
tile.graph @graph_c1 inputs ["x"] outputs [] : (tensor<4xf32>, tensor<4xf32>) -> () {
^bb0(%x: tensor<4xf32>):
  tile.output
}

// -----

// graph_c1: an argument has the payload type of its graph type.
// CHECK: the input "x" is tensor<4xi1>, its argument is tensor<4xi1>
// CHECK: help: the payload type of tensor<4xi1> is tensor<4xi8>
tile.graph @graph_c1 inputs ["x"] outputs [] : (tensor<4xi1>) -> () {
^bb0(%x: tensor<4xi1>):
  tile.output
}

// -----

// graph_c1: the signature is a function type.
// CHECK: tile.graph has the signature f32
tile.graph @graph_c1 inputs [] outputs [] : f32 {
  tile.output
}

// -----

// graph_c2: one value per output.
// CHECK: tile.graph names 1 output, has 1 type and gives 0 values
tile.graph @graph_c2 inputs [] outputs ["y"] : () -> tensor<4xf32> {
  tile.output
}

// -----

// graph_c2: a value has the payload type of its result.
// CHECK: the output "y" is tensor<4xui8>, its value is tensor<4xui8>
tile.graph @graph_c2 inputs ["x"] outputs ["y"] : (tensor<4xui8>) -> tensor<4xui8> {
^bb0(%x: tensor<4xi8>):
  %y = builtin.unrealized_conversion_cast %x : tensor<4xi8> to tensor<4xui8>
  tile.output %y : tensor<4xui8>
}

// -----

// graph_c2: the body ends in tile.output.
// CHECK: tile.graph ends in tile.yield
tile.graph @graph_c2 inputs [] outputs [] : () -> () {
  tile.yield
}
