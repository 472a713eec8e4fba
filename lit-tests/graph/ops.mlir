// RUN: weft-opt %s --verify-roundtrip | FileCheck %s
// RUN: weft-opt %s --mlir-print-op-generic | weft-opt | FileCheck %s
// RUN: weft-opt %s --emit-bytecode | weft-opt | FileCheck %s

// CHECK-LABEL: graph.model @model inputs ["x"] outputs ["y", "c"] {
graph.model @model inputs ["x"] outputs ["y", "c"] {
^bb0(%x: tensor<2x32xf32>):
  // CHECK: %[[W:.+]] = graph.weight "w" in "model" hash "9f86d0" : tensor<32x4xf32>
  %w = graph.weight "w" in "model" hash "9f86d0" : tensor<32x4xf32>
  // CHECK: %[[C:.+]] = graph.constant dense<[1, 2]> : tensor<2xi64> -> tensor<2xi64>
  %c = graph.constant dense<[1, 2]> : tensor<2xi64> -> tensor<2xi64>
  // CHECK: %[[Y:.+]] = graph.op "First" "first_1"(%{{.+}}, %[[W]]) with {axis = 1 : i64} : (tensor<2x32xf32>, tensor<32x4xf32>) -> tensor<2x32xf32> {
  %y = graph.op "First" "first_1"(%x, %w) with {axis = 1 : i64} : (tensor<2x32xf32>, tensor<32x4xf32>) -> tensor<2x32xf32> {
  ^bb0(%a: tensor<2x32xf32>, %b: tensor<32x4xf32>):
    // CHECK: graph.yield %{{.+}} : tensor<2x32xf32>
    graph.yield %a : tensor<2x32xf32>
  }
  // CHECK: graph.output %[[Y]], %[[C]] : tensor<2x32xf32>, tensor<2xi64>
  graph.output %y, %c : tensor<2x32xf32>, tensor<2xi64>
}

// Outside a payload booleans are i1 and integers keep their sign.
// CHECK-LABEL: graph.model @payload_types
graph.model @payload_types inputs ["x", "b"] outputs ["y", "d"] {
^bb0(%x: tensor<4xui8>, %b: tensor<4xi1>):
  // CHECK: graph.op "Same" "same_1"(%{{.+}}, %{{.+}}) : (tensor<4xui8>, tensor<4xi1>) -> (tensor<4xui8>, tensor<4xi1>) {
  %y:2 = graph.op "Same" "same_1"(%x, %b) : (tensor<4xui8>, tensor<4xi1>) -> (tensor<4xui8>, tensor<4xi1>) {
  // CHECK: ^bb0(%{{.+}}: tensor<4xi8>, %{{.+}}: tensor<4xi8>):
  ^bb0(%a: tensor<4xi8>, %c: tensor<4xi8>):
    graph.yield %a, %c : tensor<4xi8>, tensor<4xi8>
  }
  graph.output %y#0, %y#1 : tensor<4xui8>, tensor<4xi1>
}

// A model may take nothing and give nothing.
// CHECK-LABEL: graph.model @empty inputs [] outputs [] {
graph.model @empty inputs [] outputs [] {
  // CHECK: graph.output
  graph.output
}
