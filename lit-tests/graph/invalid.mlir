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

// -----

// weight_c1: the shape is static.
// CHECK: graph.weight has the type tensor<?xf32>
func.func @weight_c1() {
  %w = graph.weight "w" in "model" hash "00" : tensor<?xf32>
  return
}

// -----

// constant_c1: the literal has the type of the result.
// CHECK: graph.constant writes tensor<2xi64> and gives tensor<2xi32>
func.func @constant_c1() {
  %c = graph.constant dense<[1, 2]> : tensor<2xi64> -> tensor<2xi32>
  return
}

// -----

// op_c1: one argument per operand.
// CHECK: graph.op has 1 operand and a payload of 0 arguments
func.func @op_c1(%x: tensor<4xf32>) {
  graph.op "Drop" "drop_1"(%x) : (tensor<4xf32>) -> () {
    graph.yield
  }
  return
}

// -----

// op_c1: an argument has the payload type of its operand.
// CHECK: graph.op takes tensor<4xi1>, its payload's argument 0 is tensor<4xi1>
// CHECK: help: the payload type of tensor<4xi1> is tensor<4xi8>
func.func @op_c1(%x: tensor<4xi1>) {
  graph.op "Drop" "drop_1"(%x) : (tensor<4xi1>) -> () {
  ^bb0(%a: tensor<4xi1>):
    graph.yield
  }
  return
}

// -----

// op_c2: one value per result.
// CHECK: graph.op has 1 result and its payload yields 2 values
func.func @op_c2(%x: tensor<4xf32>) {
  %y = graph.op "Twice" "twice_1"(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    graph.yield %a, %a : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

// op_c2: a value has the payload type of its result.
// CHECK: graph.op gives tensor<4xui8>, its payload yields tensor<4xi16>
// CHECK: help: the payload type of tensor<4xui8> is tensor<4xi8>
func.func @op_c2(%x: tensor<4xi16>) {
  %y = graph.op "Narrow" "narrow_1"(%x) : (tensor<4xi16>) -> tensor<4xui8> {
  ^bb0(%a: tensor<4xi16>):
    graph.yield %a : tensor<4xi16>
  }
  return
}

// -----

// op_c2: the payload ends in graph.yield.
// CHECK: the payload of graph.op ends in tile.yield
func.func @op_c2(%x: tensor<4xf32>) {
  graph.op "Drop" "drop_1"(%x) : (tensor<4xf32>) -> () {
  ^bb0(%a: tensor<4xf32>):
    tile.yield
  }
  return
}
