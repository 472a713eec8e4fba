// Weights of two or four bits lie several in a byte, neighbours along a sum side by side.
// RUN: weft-opt %s --graph-pack-narrow --verify-roundtrip | FileCheck %s
// RUN: weft-opt %s --graph-pack-narrow=pack=false | FileCheck %s --check-prefix=NOT
// NOT-NOT: "Pack"

#ij = affine_map<(i, j) -> (i, j)>
#ik = affine_map<(i, j, k) -> (i, k)>
#kj = affine_map<(i, j, k) -> (k, j)>
#o = affine_map<(i, j, k) -> (i, j)>

// Both behind the weight, which has a sign; what multiplies it is as it was.
// CHECK-LABEL: graph.model @fours
// CHECK:   %[[Q:.+]] = graph.weight "q"
// CHECK:   %[[P:.+]] = graph.op "Pack" "m"(%[[Q]]) : (tensor<8x3xi4>) -> tensor<4x3xui8> {
// CHECK:     linalg.generic {indexing_maps = [#[[EVEN:.+]], #[[ODD:.+]], #{{.+}}], {{.+}} ins(%[[N:.+]], %[[N]] : tensor<4x2x3xi8>, tensor<4x2x3xi8>)
// CHECK:   %[[T:.+]] = graph.constant dense<[28, 24]> : tensor<2xi32>
// CHECK:   %[[U:.+]] = graph.op "Unpack" "m"(%[[P]], %[[T]]) : (tensor<4x3xui8>, tensor<2xi32>) -> tensor<8x3xi4> {
// CHECK:     arith.extui
// CHECK:     arith.shli
// CHECK:     arith.shrsi
// CHECK:   graph.op "MatMulInteger" "m"(%arg0, %[[U]])
graph.model @fours inputs ["x"] outputs ["y"] {
^bb0(%x: tensor<2x8xi8>):
  %q = graph.weight "q" in "m" hash "00" : tensor<8x3xi4>
  %y = graph.op "MatMulInteger" "m"(%x, %q) : (tensor<2x8xi8>, tensor<8x3xi4>) -> tensor<2x3xi32> {
  ^bb0(%a: tensor<2x8xi8>, %b: tensor<8x3xi8>):
    %z = arith.constant 0 : i32
    %e = tensor.empty() : tensor<2x3xi32>
    %f = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2x3xi32>) {
    ^bb0(%v: i32):
      linalg.yield %z : i32
    } -> tensor<2x3xi32>
    %r = linalg.generic {indexing_maps = [#ik, #kj, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<2x8xi8>, tensor<8x3xi8>) outs(%f : tensor<2x3xi32>) {
    ^bb0(%p: i8, %w: i8, %v: i32):
      %l = arith.extsi %p : i8 to i32
      %m = arith.extsi %w : i8 to i32
      %t = arith.muli %l, %m : i32
      %u = arith.addi %v, %t : i32
      linalg.yield %u : i32
    } -> tensor<2x3xi32>
    graph.yield %r : tensor<2x3xi32>
  }
  graph.output %y : tensor<2x3xi32>
}

// Four in a byte do not divide six, nothing adds these up, and bytes are full.
// CHECK-LABEL: graph.model @stays
// CHECK-NOT: "Pack"
graph.model @stays inputs ["x"] outputs ["y", "c", "b"] {
^bb0(%x: tensor<2x6xi8>):
  %q = graph.weight "q" in "m" hash "00" : tensor<6x3xui2>
  %c = graph.weight "c" in "m" hash "01" : tensor<8xi4>
  %b = graph.weight "b" in "m" hash "02" : tensor<6x3xi8>
  %y = graph.op "MatMulInteger" "m"(%x, %q) : (tensor<2x6xi8>, tensor<6x3xui2>) -> tensor<2x3xi32> {
  ^bb0(%a: tensor<2x6xi8>, %w: tensor<6x3xi8>):
    %z = arith.constant 0 : i32
    %e = tensor.empty() : tensor<2x3xi32>
    %f = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2x3xi32>) {
    ^bb0(%v: i32):
      linalg.yield %z : i32
    } -> tensor<2x3xi32>
    %r = linalg.generic {indexing_maps = [#ik, #kj, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %w : tensor<2x6xi8>, tensor<6x3xi8>) outs(%f : tensor<2x3xi32>) {
    ^bb0(%p: i8, %s: i8, %v: i32):
      %l = arith.extsi %p : i8 to i32
      %m = arith.extui %s : i8 to i32
      %t = arith.muli %l, %m : i32
      %u = arith.addi %v, %t : i32
      linalg.yield %u : i32
    } -> tensor<2x3xi32>
    graph.yield %r : tensor<2x3xi32>
  }
  graph.output %y, %c, %b : tensor<2x3xi32>, tensor<8xi4>, tensor<6x3xi8>
}
