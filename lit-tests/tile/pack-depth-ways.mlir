// Panels that are read side by side lie a multiple of a way of the smallest cache apart: no more of them than it has ways are.
// RUN: weft compile %s --device x86-avx512+avx512vnni --emit tile -o - | FileCheck %s

// CHECK-LABEL: tile.kernel @matmulinteger_0 {
//       CHECK:   on @vpdpbusd {{.*}}#tile.rtile<"vreg"[{{[1-8]}}, 1, 1, 16]>] because "roller: fills the ways of the smallest cache
graph.model @row inputs ["x"] outputs ["y"] {
^bb0(%x: tensor<1x4096xi8>):
  %w = graph.constant dense<1> : tensor<4096x4096xi8> -> tensor<4096x4096xi8>
  %y = graph.op "MatMulInteger" "m"(%x, %w) : (tensor<1x4096xi8>, tensor<4096x4096xi8>) -> tensor<1x4096xi32> {
  ^bb0(%p: tensor<1x4096xi8>, %q: tensor<4096x4096xi8>):
    %n = arith.constant 0 : i32
    %e = tensor.empty() : tensor<1x4096xi32>
    %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<1x4096xi32>) {
    ^bb0(%o: i32):
      linalg.yield %n : i32
    } -> tensor<1x4096xi32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<1x4096xi8>, tensor<4096x4096xi8>) outs(%b : tensor<1x4096xi32>) {
    ^bb0(%a: i8, %c: i8, %o: i32):
      %s = arith.extui %a : i8 to i32
      %t = arith.extsi %c : i8 to i32
      %u = arith.muli %s, %t : i32
      %v = arith.addi %o, %u : i32
      linalg.yield %v : i32
    } -> tensor<1x4096xi32>
    graph.yield %r : tensor<1x4096xi32>
  }
  graph.output %y : tensor<1x4096xi32>
}
