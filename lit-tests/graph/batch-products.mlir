// Products with one weight are one product of all their rows, where the machine is bound to take
// less time for the model then.
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/slow-memory.mlir --split-input-file --graph-batch-products=remarks=true 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/slow-memory.mlir --split-input-file --graph-batch-products=batch=false | FileCheck %s --check-prefix=OFF

// OFF: @steps
// OFF-NOT: insert_slice

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>

// What is multiplied last is made from what reads the first product's neighbour, so the product of
// both stands behind it, and the first one's reader behind that.
// REMARK: remark: "a" becomes one of 2 products: the model takes 26 cycles or more, 48 with all apart
// CHECK-LABEL: graph.model @steps
//       CHECK:   %[[H:.+]] = graph.op "Neg" "h"(%arg1)
//       CHECK:   %[[Z:.+]] = graph.op "Concat" "a+b"(%arg0, %[[H]])
//       CHECK:     tensor.insert_slice {{.+}}[0, 0] [2, 5] [1, 1] : tensor<2x5xf32> into tensor<4x5xf32>
//       CHECK:     tensor.insert_slice {{.+}}[2, 0] [2, 5] [1, 1] : tensor<2x5xf32> into tensor<4x5xf32>
//       CHECK:   %[[C:.+]] = graph.op "MatMul" "a+b"(%[[Z]], %{{.+}}) : (tensor<4x5xf32>, tensor<5x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
//       CHECK:     linalg.generic {{.+}} ins(%{{.+}} : tensor<4xf32>) outs(%{{.+}} : tensor<4x4xf32>)
//   CHECK-NOT:   graph.op "MatMul"
//       CHECK:   graph.op "Neg" "c"(%[[C]])
//       CHECK:     tensor.extract_slice %{{.+}}[0, 0] [2, 4] [1, 1]
//       CHECK:   graph.op "Neg" "d"(%[[C]])
//       CHECK:     tensor.extract_slice %{{.+}}[2, 0] [2, 4] [1, 1]
graph.model @steps inputs ["x", "y"] outputs ["c", "d"] {
^bb0(%x: tensor<2x5xf32>, %y: tensor<2x5xf32>):
  %w = graph.weight "w" in "model" hash "c0ffee" : tensor<5x4xf32>
  %v = graph.weight "v" in "model" hash "c0ffed" : tensor<4xf32>
  %a = graph.op "MatMul" "a"(%x, %w, %v) : (tensor<2x5xf32>, tensor<5x4xf32>, tensor<4xf32>) -> tensor<2x4xf32> {
  ^bb0(%p: tensor<2x5xf32>, %q: tensor<5x4xf32>, %t: tensor<4xf32>):
    %e = tensor.empty() : tensor<2x4xf32>
    %f = linalg.generic {indexing_maps = [#j, #ij], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<4xf32>) outs(%e : tensor<2x4xf32>) {
    ^bb0(%i: f32, %o: f32):
      linalg.yield %i : f32
    } -> tensor<2x4xf32>
    %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<2x5xf32>, tensor<5x4xf32>) outs(%f : tensor<2x4xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %m = arith.mulf %i, %j : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    graph.yield %r : tensor<2x4xf32>
  }
  %c = graph.op "Neg" "c"(%a) : (tensor<2x4xf32>) -> tensor<2x4xf32> {
  ^bb0(%p: tensor<2x4xf32>):
    %e = tensor.empty() : tensor<2x4xf32>
    %r = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
    ^bb0(%i: f32, %o: f32):
      %n = arith.negf %i : f32
      linalg.yield %n : f32
    } -> tensor<2x4xf32>
    graph.yield %r : tensor<2x4xf32>
  }
  %h = graph.op "Neg" "h"(%y) : (tensor<2x5xf32>) -> tensor<2x5xf32> {
  ^bb0(%p: tensor<2x5xf32>):
    %e = tensor.empty() : tensor<2x5xf32>
    %r = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<2x5xf32>) outs(%e : tensor<2x5xf32>) {
    ^bb0(%i: f32, %o: f32):
      %n = arith.negf %i : f32
      linalg.yield %n : f32
    } -> tensor<2x5xf32>
    graph.yield %r : tensor<2x5xf32>
  }
  %b = graph.op "MatMul" "b"(%h, %w, %v) : (tensor<2x5xf32>, tensor<5x4xf32>, tensor<4xf32>) -> tensor<2x4xf32> {
  ^bb0(%p: tensor<2x5xf32>, %q: tensor<5x4xf32>, %t: tensor<4xf32>):
    %e = tensor.empty() : tensor<2x4xf32>
    %f = linalg.generic {indexing_maps = [#j, #ij], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<4xf32>) outs(%e : tensor<2x4xf32>) {
    ^bb0(%i: f32, %o: f32):
      linalg.yield %i : f32
    } -> tensor<2x4xf32>
    %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<2x5xf32>, tensor<5x4xf32>) outs(%f : tensor<2x4xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %m = arith.mulf %i, %j : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    graph.yield %r : tensor<2x4xf32>
  }
  %d = graph.op "Neg" "d"(%b) : (tensor<2x4xf32>) -> tensor<2x4xf32> {
  ^bb0(%p: tensor<2x4xf32>):
    %e = tensor.empty() : tensor<2x4xf32>
    %r = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
    ^bb0(%i: f32, %o: f32):
      %n = arith.negf %i : f32
      linalg.yield %n : f32
    } -> tensor<2x4xf32>
    graph.yield %r : tensor<2x4xf32>
  }
  graph.output %c, %d : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>

// A step that waits for the one before is none of its rows.
// CHECK-LABEL: graph.model @state
// CHECK-COUNT-2: graph.op "MatMul"
//   CHECK-NOT:   graph.op "Concat"
graph.model @state inputs ["x"] outputs ["c"] {
^bb0(%x: tensor<2x4xf32>):
  %w = graph.weight "w" in "model" hash "c0ffee" : tensor<4x4xf32>
  %a = graph.op "MatMul" "a"(%x, %w) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32> {
  ^bb0(%p: tensor<2x4xf32>, %q: tensor<4x4xf32>):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x4xf32>
    %f = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2x4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %z : f32
    } -> tensor<2x4xf32>
    %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<2x4xf32>, tensor<4x4xf32>) outs(%f : tensor<2x4xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %m = arith.mulf %i, %j : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    graph.yield %r : tensor<2x4xf32>
  }
  %h = graph.op "Neg" "h"(%a) : (tensor<2x4xf32>) -> tensor<2x4xf32> {
  ^bb0(%p: tensor<2x4xf32>):
    %e = tensor.empty() : tensor<2x4xf32>
    %r = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
    ^bb0(%i: f32, %o: f32):
      %n = arith.negf %i : f32
      linalg.yield %n : f32
    } -> tensor<2x4xf32>
    graph.yield %r : tensor<2x4xf32>
  }
  %b = graph.op "MatMul" "b"(%h, %w) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32> {
  ^bb0(%p: tensor<2x4xf32>, %q: tensor<4x4xf32>):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x4xf32>
    %f = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2x4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %z : f32
    } -> tensor<2x4xf32>
    %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<2x4xf32>, tensor<4x4xf32>) outs(%f : tensor<2x4xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %m = arith.mulf %i, %j : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    graph.yield %r : tensor<2x4xf32>
  }
  %c = graph.op "Neg" "c"(%b) : (tensor<2x4xf32>) -> tensor<2x4xf32> {
  ^bb0(%p: tensor<2x4xf32>):
    %e = tensor.empty() : tensor<2x4xf32>
    %r = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
    ^bb0(%i: f32, %o: f32):
      %n = arith.negf %i : f32
      linalg.yield %n : f32
    } -> tensor<2x4xf32>
    graph.yield %r : tensor<2x4xf32>
  }
  graph.output %c : tensor<2x4xf32>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>

// What leaves the model would be copied out of the rows of both.
// CHECK-LABEL: graph.model @leaves
// CHECK-COUNT-2: graph.op "MatMul"
//   CHECK-NOT:   graph.op "Concat"
graph.model @leaves inputs ["x", "y"] outputs ["a", "b"] {
^bb0(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>):
  %w = graph.weight "w" in "model" hash "c0ffee" : tensor<4x4xf32>
  %a = graph.op "MatMul" "a"(%x, %w) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32> {
  ^bb0(%p: tensor<2x4xf32>, %q: tensor<4x4xf32>):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x4xf32>
    %f = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2x4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %z : f32
    } -> tensor<2x4xf32>
    %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<2x4xf32>, tensor<4x4xf32>) outs(%f : tensor<2x4xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %m = arith.mulf %i, %j : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    graph.yield %r : tensor<2x4xf32>
  }
  %b = graph.op "MatMul" "b"(%y, %w) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32> {
  ^bb0(%p: tensor<2x4xf32>, %q: tensor<4x4xf32>):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x4xf32>
    %f = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2x4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %z : f32
    } -> tensor<2x4xf32>
    %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<2x4xf32>, tensor<4x4xf32>) outs(%f : tensor<2x4xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %m = arith.mulf %i, %j : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    graph.yield %r : tensor<2x4xf32>
  }
  graph.output %a, %b : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>

// A weight on the right has rows of its inputs, one on the left columns.
// CHECK-LABEL: graph.model @sides
// CHECK-COUNT-2: graph.op "MatMul"
//   CHECK-NOT:   graph.op "Concat"
graph.model @sides inputs ["x", "y"] outputs ["c", "d"] {
^bb0(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>):
  %w = graph.weight "w" in "model" hash "c0ffee" : tensor<4x4xf32>
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
  %b = graph.op "MatMul" "b"(%w, %y) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
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

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>
#oj = affine_map<(i, j) -> (0, j)>

// Sums that begin with a tensor of the payload's own are not read as a product.
// CHECK-LABEL: graph.model @begins
// CHECK-COUNT-2: graph.op "MatMul"
//   CHECK-NOT:   graph.op "Concat"
graph.model @begins inputs ["x", "y"] outputs ["c", "d"] {
^bb0(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>):
  %w = graph.weight "w" in "model" hash "c0ffee" : tensor<4x4xf32>
  %a = graph.op "MatMul" "a"(%x, %w) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32> {
  ^bb0(%p: tensor<2x4xf32>, %q: tensor<4x4xf32>):
    %z = arith.constant dense<[[5.0, 6.0, 7.0, 8.0]]> : tensor<1x4xf32>
    %e = tensor.empty() : tensor<2x4xf32>
    %f = linalg.generic {indexing_maps = [#oj, #ij], iterator_types = ["parallel", "parallel"]} ins(%z : tensor<1x4xf32>) outs(%e : tensor<2x4xf32>) {
    ^bb0(%i: f32, %o: f32):
      linalg.yield %i : f32
    } -> tensor<2x4xf32>
    %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<2x4xf32>, tensor<4x4xf32>) outs(%f : tensor<2x4xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %m = arith.mulf %i, %j : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    graph.yield %r : tensor<2x4xf32>
  }
  %c = graph.op "Neg" "c"(%a) : (tensor<2x4xf32>) -> tensor<2x4xf32> {
  ^bb0(%p: tensor<2x4xf32>):
    %e = tensor.empty() : tensor<2x4xf32>
    %r = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
    ^bb0(%i: f32, %o: f32):
      %n = arith.negf %i : f32
      linalg.yield %n : f32
    } -> tensor<2x4xf32>
    graph.yield %r : tensor<2x4xf32>
  }
  %b = graph.op "MatMul" "b"(%y, %w) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32> {
  ^bb0(%p: tensor<2x4xf32>, %q: tensor<4x4xf32>):
    %z = arith.constant dense<[[5.0, 6.0, 7.0, 8.0]]> : tensor<1x4xf32>
    %e = tensor.empty() : tensor<2x4xf32>
    %f = linalg.generic {indexing_maps = [#oj, #ij], iterator_types = ["parallel", "parallel"]} ins(%z : tensor<1x4xf32>) outs(%e : tensor<2x4xf32>) {
    ^bb0(%i: f32, %o: f32):
      linalg.yield %i : f32
    } -> tensor<2x4xf32>
    %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<2x4xf32>, tensor<4x4xf32>) outs(%f : tensor<2x4xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %m = arith.mulf %i, %j : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    graph.yield %r : tensor<2x4xf32>
  }
  %d = graph.op "Neg" "d"(%b) : (tensor<2x4xf32>) -> tensor<2x4xf32> {
  ^bb0(%p: tensor<2x4xf32>):
    %e = tensor.empty() : tensor<2x4xf32>
    %r = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
    ^bb0(%i: f32, %o: f32):
      %n = arith.negf %i : f32
      linalg.yield %n : f32
    } -> tensor<2x4xf32>
    graph.yield %r : tensor<2x4xf32>
  }
  graph.output %c, %d : tensor<2x4xf32>, tensor<2x4xf32>
}
