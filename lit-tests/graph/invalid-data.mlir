// Weights and constants that have not what their types say.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

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
