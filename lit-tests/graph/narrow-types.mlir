// RUN: weft-opt %s --verify-roundtrip | FileCheck %s
// RUN: weft-opt %s --mlir-print-op-generic | weft-opt | FileCheck %s
// RUN: weft-opt %s --emit-bytecode | weft-opt | FileCheck %s
// RUN: weft-opt %s --graph-to-tile | FileCheck %s --check-prefix=TILE

// Elements of at most a byte: between operators they are what they are, in payloads a byte.

// CHECK-LABEL: graph.model @narrow
graph.model @narrow inputs ["x", "f"] outputs ["y", "g", "h"] {
^bb0(%x: tensor<4xi4>, %f: tensor<4xf8E4M3FN>):
  // CHECK: graph.constant dense<[-8, 7, -1, 0]> : tensor<4xi4> -> tensor<4xi4>
  // TILE: graph.constant dense<[-8, 7, -1, 0]> : tensor<4xi8>
  %c = graph.constant dense<[-8, 7, -1, 0]> : tensor<4xi4> -> tensor<4xi4>
  // CHECK: graph.constant dense<[15, 7, 1, 0]> : tensor<4xui4> -> tensor<4xui4>
  // TILE: graph.constant dense<[15, 7, 1, 0]> : tensor<4xi8>
  %u = graph.constant dense<[15, 7, 1, 0]> : tensor<4xui4> -> tensor<4xui4>
  // A float is its bits.
  // CHECK: graph.constant dense<[1.000000e+00, -4.480000e+02, 0.000000e+00, 1.562500e-02]> : tensor<4xf8E4M3FN>
  // TILE: graph.constant dense<[56, -2, 0, 8]> : tensor<4xi8>
  %d = graph.constant dense<[1.0, -448.0, 0.0, 0.015625]> : tensor<4xf8E4M3FN> -> tensor<4xf8E4M3FN>
  // CHECK: (tensor<4xi4>, tensor<4xui4>, tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) -> (tensor<4xi4>, tensor<4xf8E4M3FN>, tensor<4xf4E2M1FN>) {
  %y:3 = graph.op "Sums" "sums"(%c, %u, %d, %f) : (tensor<4xi4>, tensor<4xui4>, tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) -> (tensor<4xi4>, tensor<4xf8E4M3FN>, tensor<4xf4E2M1FN>) {
  // CHECK: ^bb0(%{{.+}}: tensor<4xi8>, %{{.+}}: tensor<4xi8>, %{{.+}}: tensor<4xi8>, %{{.+}}: tensor<4xi8>):
  ^bb0(%p: tensor<4xi8>, %q: tensor<4xi8>, %r: tensor<4xi8>, %s: tensor<4xi8>):
    %e = tensor.empty() : tensor<4xi8>
    %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p, %q : tensor<4xi8>, tensor<4xi8>) outs(%e : tensor<4xi8>) {
    ^bb0(%a: i8, %b: i8, %o: i8):
      %m = arith.minsi %a, %b : i8
      linalg.yield %m : i8
    } -> tensor<4xi8>
    %w = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%r, %s : tensor<4xi8>, tensor<4xi8>) outs(%e : tensor<4xi8>) {
    ^bb0(%a: i8, %b: i8, %o: i8):
      %m = arith.minsi %a, %b : i8
      linalg.yield %m : i8
    } -> tensor<4xi8>
    graph.yield %z, %w, %q : tensor<4xi8>, tensor<4xi8>, tensor<4xi8>
  }
  graph.output %y#0, %y#1, %y#2 : tensor<4xi4>, tensor<4xf8E4M3FN>, tensor<4xf4E2M1FN>
}
