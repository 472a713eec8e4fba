// Products of one tensor with several weights are one product, where its readers take slices.
// RUN: weft-opt %s --split-input-file --graph-merge-products=remarks=true 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>

// The weights are one constant, side by side along n; who reads a gate reads a slice.
// CHECK-LABEL: graph.model @gates
//       CHECK:   %[[W:.+]] = graph.op "Concat" "a+b"
//       CHECK:     tensor.insert_slice {{.+}}[0, 0] [3, 5] [1, 1] : tensor<3x5xf32> into tensor<3x10xf32>
//       CHECK:     tensor.insert_slice {{.+}}[0, 5] [3, 5] [1, 1] : tensor<3x5xf32> into tensor<3x10xf32>
//       CHECK:   %[[Y:.+]] = graph.op "MatMul" "a+b"(%arg0, %[[W]]) : (tensor<2x3xf32>, tensor<3x10xf32>) -> tensor<2x10xf32>
//   CHECK-NOT:   graph.op "MatMul"
//       CHECK:   graph.op "Neg" "c"(%[[Y]])
//       CHECK:     tensor.extract_slice %{{.+}}[0, 0] [2, 5] [1, 1]
//       CHECK:   graph.op "Neg" "d"(%[[Y]])
//       CHECK:     tensor.extract_slice %{{.+}}[0, 5] [2, 5] [1, 1]
graph.model @gates inputs ["x"] outputs ["c", "d"] {
^bb0(%x: tensor<2x3xf32>):
  %v = graph.weight "v" in "model" hash "c0ffee" : tensor<3x5xf32>
  %a = graph.op "MatMul" "a"(%x, %v) : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32> {
  ^bb0(%p: tensor<2x3xf32>, %q: tensor<3x5xf32>):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x5xf32>
    %f = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2x5xf32>) {
    ^bb0(%o: f32):
      linalg.yield %z : f32
    } -> tensor<2x5xf32>
    %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<2x3xf32>, tensor<3x5xf32>) outs(%f : tensor<2x5xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %m = arith.mulf %i, %j : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x5xf32>
    graph.yield %r : tensor<2x5xf32>
  }
  %w = graph.weight "w" in "model" hash "c0ffed" : tensor<3x5xf32>
  %b = graph.op "MatMul" "b"(%x, %w) : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32> {
  ^bb0(%p: tensor<2x3xf32>, %q: tensor<3x5xf32>):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x5xf32>
    %f = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2x5xf32>) {
    ^bb0(%o: f32):
      linalg.yield %z : f32
    } -> tensor<2x5xf32>
    %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<2x3xf32>, tensor<3x5xf32>) outs(%f : tensor<2x5xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %m = arith.mulf %i, %j : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x5xf32>
    graph.yield %r : tensor<2x5xf32>
  }
  %c = graph.op "Neg" "c"(%a) : (tensor<2x5xf32>) -> tensor<2x5xf32> {
  ^bb0(%p: tensor<2x5xf32>):
    %e = tensor.empty() : tensor<2x5xf32>
    %r = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<2x5xf32>) outs(%e : tensor<2x5xf32>) {
    ^bb0(%i: f32, %o: f32):
      %n = arith.negf %i : f32
      linalg.yield %n : f32
    } -> tensor<2x5xf32>
    graph.yield %r : tensor<2x5xf32>
  }
  %d = graph.op "Neg" "d"(%b) : (tensor<2x5xf32>) -> tensor<2x5xf32> {
  ^bb0(%p: tensor<2x5xf32>):
    %e = tensor.empty() : tensor<2x5xf32>
    %r = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<2x5xf32>) outs(%e : tensor<2x5xf32>) {
    ^bb0(%i: f32, %o: f32):
      %n = arith.negf %i : f32
      linalg.yield %n : f32
    } -> tensor<2x5xf32>
    graph.yield %r : tensor<2x5xf32>
  }
  graph.output %c, %d : tensor<2x5xf32>, tensor<2x5xf32>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>

// A result that leaves the model would be copied out of a wider one.
// CHECK-LABEL: graph.model @leaves
//       CHECK:   graph.op "MatMul" "a"
//       CHECK:   graph.op "MatMul" "b"
//      REMARK: remark: "{{a|b}}" stays a product of its own: its result leaves by graph.output
graph.model @leaves inputs ["x"] outputs ["c", "d"] {
^bb0(%x: tensor<2x3xf32>):
  %v = graph.weight "v" in "model" hash "c0ffee" : tensor<3x5xf32>
  %w = graph.weight "w" in "model" hash "c0ffed" : tensor<3x5xf32>
  %a = graph.op "MatMul" "a"(%x, %v) : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32> {
  ^bb0(%p: tensor<2x3xf32>, %q: tensor<3x5xf32>):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x5xf32>
    %f = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2x5xf32>) {
    ^bb0(%o: f32):
      linalg.yield %z : f32
    } -> tensor<2x5xf32>
    %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<2x3xf32>, tensor<3x5xf32>) outs(%f : tensor<2x5xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %m = arith.mulf %i, %j : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x5xf32>
    graph.yield %r : tensor<2x5xf32>
  }
  %b = graph.op "MatMul" "b"(%x, %w) : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32> {
  ^bb0(%p: tensor<2x3xf32>, %q: tensor<3x5xf32>):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x5xf32>
    %f = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2x5xf32>) {
    ^bb0(%o: f32):
      linalg.yield %z : f32
    } -> tensor<2x5xf32>
    %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<2x3xf32>, tensor<3x5xf32>) outs(%f : tensor<2x5xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %m = arith.mulf %i, %j : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x5xf32>
    graph.yield %r : tensor<2x5xf32>
  }
  graph.output %a, %b : tensor<2x5xf32>, tensor<2x5xf32>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>

// Weights on the right stand side by side, weights on the left below each other.
// CHECK-LABEL: graph.model @sides
// CHECK-COUNT-2: graph.op "MatMul"
//   CHECK-NOT:   graph.op "Concat"
graph.model @sides inputs ["x"] outputs ["c", "d"] {
^bb0(%x: tensor<4x4xf32>):
  %w = graph.weight "w" in "model" hash "c0ffee" : tensor<4x4xf32>
  %v = graph.weight "v" in "model" hash "c0ffed" : tensor<4x4xf32>
  %a = graph.op "MatMul" "a"(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%p: tensor<4x4xf32>, %q: tensor<4x4xf32>):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4x4xf32>
    %f = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %z : f32
    } -> tensor<4x4xf32>
    %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %m = arith.mulf %i, %j : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<4x4xf32>
    graph.yield %r : tensor<4x4xf32>
  }
  %c = graph.op "Neg" "c"(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%p: tensor<4x4xf32>):
    %e = tensor.empty() : tensor<4x4xf32>
    %r = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
    ^bb0(%i: f32, %o: f32):
      %n = arith.negf %i : f32
      linalg.yield %n : f32
    } -> tensor<4x4xf32>
    graph.yield %r : tensor<4x4xf32>
  }
  %b = graph.op "MatMul" "b"(%v, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%p: tensor<4x4xf32>, %q: tensor<4x4xf32>):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4x4xf32>
    %f = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %z : f32
    } -> tensor<4x4xf32>
    %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %m = arith.mulf %i, %j : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<4x4xf32>
    graph.yield %r : tensor<4x4xf32>
  }
  %d = graph.op "Neg" "d"(%b) : (tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%p: tensor<4x4xf32>):
    %e = tensor.empty() : tensor<4x4xf32>
    %r = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
    ^bb0(%i: f32, %o: f32):
      %n = arith.negf %i : f32
      linalg.yield %n : f32
    } -> tensor<4x4xf32>
    graph.yield %r : tensor<4x4xf32>
  }
  graph.output %c, %d : tensor<4x4xf32>, tensor<4x4xf32>
}
