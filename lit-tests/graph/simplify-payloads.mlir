// Payloads of many forms become nests, slices and reshapes of elements that memory holds.
// RUN: weft-opt %s --graph-simplify-payloads | FileCheck %s
// RUN: weft-opt %s --graph-simplify-payloads --graph-to-tile -o /dev/null

#row = affine_map<(i) -> (i)>

// A mask between two nests is bytes; both ends say what they mean.
// CHECK-LABEL: graph.model @masks
//       CHECK:   %[[MASK:.+]] = linalg.generic
//  CHECK-SAME:     outs(%{{.+}} : tensor<8xi8>)
//       CHECK:     %[[TRUTH:.+]] = arith.cmpf ogt
//       CHECK:     %[[BYTE:.+]] = arith.extui %[[TRUTH]] : i1 to i8
//       CHECK:     linalg.yield %[[BYTE]] : i8
//       CHECK:   linalg.generic {{.+}} ins(%[[MASK]], %{{.+}} : tensor<8xi8>, tensor<8xf32>)
//  CHECK-NEXT:   ^bb0(%[[IN:.+]]: i8,
//       CHECK:     %[[BACK:.+]] = arith.trunci %[[IN]] : i8 to i1
//       CHECK:     arith.select %[[BACK]]
graph.model @masks inputs ["x"] outputs ["y"] {
^bb0(%x: tensor<8xf32>):
  %y = graph.op "Relu" "relu"(%x) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%t: tensor<8xf32>):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8xi1>
    %m = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%t : tensor<8xf32>) outs(%e : tensor<8xi1>) {
    ^bb0(%in: f32, %out: i1):
      %c = arith.cmpf ogt, %in, %z : f32
      linalg.yield %c : i1
    } -> tensor<8xi1>
    %f = tensor.empty() : tensor<8xf32>
    %r = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]} ins(%m, %t : tensor<8xi1>, tensor<8xf32>) outs(%f : tensor<8xf32>) {
    ^bb0(%b: i1, %in: f32, %out: f32):
      %s = arith.select %b, %in, %z : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    graph.yield %r : tensor<8xf32>
  }
  graph.output %y : tensor<8xf32>
}

// A literal of truths is one of bytes, and they are folded as bytes: lanes know that.
// CHECK-LABEL: graph.model @all
//       CHECK:   arith.constant dense<[1, 0, 1, 1]> : tensor<4xi8>
//       CHECK:   ^bb0(%[[A:.+]]: i8, %[[B:.+]]: i8, %[[SO_FAR:.+]]: i8):
//  CHECK-NEXT:     %[[OR:.+]] = arith.ori %[[A]], %[[B]] : i8
//  CHECK-NEXT:     %[[AND:.+]] = arith.andi %[[OR]], %[[SO_FAR]] : i8
//  CHECK-NEXT:     linalg.yield %[[AND]] : i8
graph.model @all inputs ["x"] outputs ["y"] {
^bb0(%x: tensor<4xi1>):
  %y = graph.op "All" "all"(%x) : (tensor<4xi1>) -> tensor<i1> {
  ^bb0(%t: tensor<4xi8>):
    %k = arith.constant dense<[true, false, true, true]> : tensor<4xi1>
    %s = arith.constant dense<true> : tensor<i1>
    %e = tensor.empty() : tensor<4xi1>
    %m = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%t : tensor<4xi8>) outs(%e : tensor<4xi1>) {
    ^bb0(%in: i8, %out: i1):
      %b = arith.trunci %in : i8 to i1
      linalg.yield %b : i1
    } -> tensor<4xi1>
    %r = linalg.generic {indexing_maps = [#row, #row, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%m, %k : tensor<4xi1>, tensor<4xi1>) outs(%s : tensor<i1>) {
    ^bb0(%a: i1, %b: i1, %out: i1):
      %o = arith.ori %a, %b : i1
      %n = arith.andi %o, %out : i1
      linalg.yield %n : i1
    } -> tensor<i1>
    %v = tensor.empty() : tensor<i8>
    %q = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%r : tensor<i1>) outs(%v : tensor<i8>) {
    ^bb0(%in: i1, %out: i8):
      %b = arith.extui %in : i1 to i8
      linalg.yield %b : i8
    } -> tensor<i8>
    graph.yield %q : tensor<i8>
  }
  graph.output %y : tensor<i1>
}

// Both branches are computed: where one is not taken it reads the first element, and divides by 1.
// CHECK-LABEL: graph.model @branches
//       CHECK:   %[[TAKEN:.+]] = arith.cmpi ult
//       CHECK:   %[[ELSE:.+]] = arith.xori %[[TAKEN]]
//       CHECK:   %[[AT:.+]] = arith.select %[[TAKEN]], %{{.+}}, %{{c0.*}} : index
//       CHECK:   %[[THERE:.+]] = tensor.extract %{{.+}}[%[[AT]]]
//       CHECK:   %[[BY:.+]] = arith.select %[[ELSE]], %{{.+}}, %{{c1.*}} : i32
//       CHECK:   %[[QUOTIENT:.+]] = arith.divsi %{{.+}}, %[[BY]] : i32
//       CHECK:   arith.select %[[TAKEN]], %[[THERE]], %[[QUOTIENT]] : i32
//   CHECK-NOT:   scf.if
graph.model @branches inputs ["x", "d"] outputs ["y"] {
^bb0(%x: tensor<4xi32>, %d: tensor<8xi32>):
  %y = graph.op "Pick" "pick"(%x, %d) : (tensor<4xi32>, tensor<8xi32>) -> tensor<8xi32> {
  ^bb0(%t: tensor<4xi32>, %by: tensor<8xi32>):
    %four = arith.constant 4 : index
    %seven = arith.constant 7 : i32
    %e = tensor.empty() : tensor<8xi32>
    %r = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%by : tensor<8xi32>) outs(%e : tensor<8xi32>) {
    ^bb0(%in: i32, %out: i32):
      %i = linalg.index 0 : index
      %c = arith.cmpi ult, %i, %four : index
      %v = scf.if %c -> (i32) {
        %a = tensor.extract %t[%i] : tensor<4xi32>
        scf.yield %a : i32
      } else {
        %q = arith.divsi %seven, %in : i32
        scf.yield %q : i32
      }
      linalg.yield %v : i32
    } -> tensor<8xi32>
    graph.yield %r : tensor<8xi32>
  }
  graph.output %y : tensor<8xi32>
}

// What is computed of one element moves to where it is used.
// CHECK-LABEL: graph.model @scalars
//   CHECK-NOT:   tensor.extract
//       CHECK:   linalg.generic
//  CHECK-NEXT:   ^bb0(%[[IN:.+]]: f32, %{{.+}}: f32):
//  CHECK-NEXT:     %[[FIRST:.+]] = tensor.extract
//       CHECK:     arith.mulf %[[FIRST]], %[[IN]]
graph.model @scalars inputs ["x"] outputs ["y"] {
^bb0(%x: tensor<8xf32>):
  %y = graph.op "Scale" "scale"(%x) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%t: tensor<8xf32>):
    %i = arith.constant 0 : index
    %s = tensor.extract %t[%i] : tensor<8xf32>
    %e = tensor.empty() : tensor<8xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, #row, #row], iterator_types = ["parallel"]} ins(%s, %t : f32, tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%k: f32, %in: f32, %out: f32):
      %p = arith.mulf %k, %in : f32
      linalg.yield %p : f32
    } -> tensor<8xf32>
    graph.yield %r : tensor<8xf32>
  }
  graph.output %y : tensor<8xf32>
}

// CHECK-LABEL: graph.model @structure
//       CHECK:   tensor.insert_slice {{.+}}[0, 0] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<2x6xf32>
//       CHECK:   %[[ALL:.+]] = tensor.insert_slice {{.+}}[0, 3] [2, 3] [1, 1]
//       CHECK:   %[[ROW:.+]] = tensor.extract_slice %[[ALL]][1, 0] [1, 6] [1, 1] : tensor<2x6xf32> to tensor<1x6xf32>
//       CHECK:   tensor.reshape %[[ROW]]
//       CHECK:   linalg.generic
//       CHECK:     linalg.index 0
//       CHECK:     arith.select
//   CHECK-NOT:   tensor.concat
//   CHECK-NOT:   tensor.insert %
graph.model @structure inputs ["x"] outputs ["y"] {
^bb0(%x: tensor<2x3xf32>):
  %y = graph.op "Row" "row"(%x) : (tensor<2x3xf32>) -> tensor<6xf32> {
  ^bb0(%t: tensor<2x3xf32>):
    %c = tensor.concat dim(1) %t, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
    %r = tensor.extract_slice %c[1, 0] [1, 6] [1, 1] : tensor<2x6xf32> to tensor<6xf32>
    %i = arith.constant 4 : index
    %z = arith.constant 0.0 : f32
    %s = tensor.insert %z into %r[%i] : tensor<6xf32>
    graph.yield %s : tensor<6xf32>
  }
  graph.output %y : tensor<6xf32>
}
