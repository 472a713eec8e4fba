// Operators become kernels of one loop nest each, hung in a tile-graph.
// RUN: not weft-opt %s --graph-to-tile --split-input-file 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REFUSED < %t

// The bias only starts the sum, so it goes into the kernel of the sum.
//   CHECK-DAG: #[[BIAS:.+]] = affine_map<(d0, d1) -> (d1)>
//       CHECK: tile.graph @started
//       CHECK:   %[[PLACE:.+]] = tile.empty in @dram : tensor<4x5xf32>
//       CHECK:   tile.run "fc" @gemm_0(%arg0, %arg1, %arg2) into(%[[PLACE]])
//   CHECK-NOT:   tile.run
//       CHECK: tile.kernel @gemm_0 {
//       CHECK:   %[[START:.+]] = linalg.generic {indexing_maps = [#[[BIAS]], {{.+}}]
//       CHECK:   linalg.generic {{.+}} outs(%[[START]] : tensor<4x5xf32>)
//   CHECK-NOT: tile.kernel
graph.model @started inputs ["x", "w", "b"] outputs ["y"] {
^bb0(%x: tensor<4x6xf32>, %w: tensor<6x5xf32>, %b: tensor<5xf32>):
  %y = graph.op "Gemm" "fc"(%x, %w, %b) : (tensor<4x6xf32>, tensor<6x5xf32>, tensor<5xf32>) -> tensor<4x5xf32> {
  ^bb0(%a: tensor<4x6xf32>, %m: tensor<6x5xf32>, %c: tensor<5xf32>):
    %e = tensor.empty() : tensor<4x5xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<5xf32>) outs(%e : tensor<4x5xf32>) {
    ^bb0(%p: f32, %q: f32):
      linalg.yield %p : f32
    } -> tensor<4x5xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %m : tensor<4x6xf32>, tensor<6x5xf32>) outs(%s : tensor<4x5xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %t = arith.mulf %p, %q : f32
      %u = arith.addf %o, %t : f32
      linalg.yield %u : f32
    } -> tensor<4x5xf32>
    graph.yield %r : tensor<4x5xf32>
  }
  graph.output %y : tensor<4x5xf32>
}

// -----

// An axis of one point is dropped; axes that lie side by side everywhere are one.
// CHECK-LABEL: tile.graph @fused
//       CHECK:   %[[X:.+]] = tile.view %arg0 : tensor<1x3x4x5xf32> to tensor<60xf32>
//       CHECK:   tile.run "neg" @neg_0(%[[X]])
//       CHECK: tile.kernel @neg_0 {
//       CHECK:   linalg.generic {{.+}} iterator_types = ["parallel"]}
graph.model @fused inputs ["x"] outputs ["y"] {
^bb0(%x: tensor<1x3x4x5xf32>):
  %y = graph.op "Neg" "neg"(%x) : (tensor<1x3x4x5xf32>) -> tensor<1x3x4x5xf32> {
  ^bb0(%a: tensor<1x3x4x5xf32>):
    %e = tensor.empty() : tensor<1x3x4x5xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(n, i, j, k) -> (n, i, j, k)>, affine_map<(n, i, j, k) -> (n, i, j, k)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%a : tensor<1x3x4x5xf32>) outs(%e : tensor<1x3x4x5xf32>) {
    ^bb0(%p: f32, %o: f32):
      %t = arith.negf %p : f32
      linalg.yield %t : f32
    } -> tensor<1x3x4x5xf32>
    graph.yield %r : tensor<1x3x4x5xf32>
  }
  graph.output %y : tensor<1x3x4x5xf32>
}

// -----

// An axis that one operand lacks stays apart from its neighbours.
// CHECK-LABEL: tile.graph @keeps_broadcast
//       CHECK:   tile.run "add" @add_0(%{{.+}}, %arg1) into(%{{.+}}) : (tensor<3x20xf32>, tensor<3xf32>, tensor<3x20xf32>)
//       CHECK:   linalg.generic {{.+}} iterator_types = ["parallel", "parallel"]}
graph.model @keeps_broadcast inputs ["x", "b"] outputs ["y"] {
^bb0(%x: tensor<3x4x5xf32>, %b: tensor<3xf32>):
  %y = graph.op "Add" "add"(%x, %b) : (tensor<3x4x5xf32>, tensor<3xf32>) -> tensor<3x4x5xf32> {
  ^bb0(%a: tensor<3x4x5xf32>, %c: tensor<3xf32>):
    %e = tensor.empty() : tensor<3x4x5xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a, %c : tensor<3x4x5xf32>, tensor<3xf32>) outs(%e : tensor<3x4x5xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %t = arith.addf %p, %q : f32
      linalg.yield %t : f32
    } -> tensor<3x4x5xf32>
    graph.yield %r : tensor<3x4x5xf32>
  }
  graph.output %y : tensor<3x4x5xf32>
}

// -----

// Padding fills the whole and copies into a window of it.
//       CHECK: #[[WINDOW:.+]] = affine_map<(d0, d1) -> (d0 + 1, d1 + 2)>
// CHECK-LABEL: tile.graph @padded
//       CHECK:   %[[FILLED:.+]] = tile.run "pad" @pad_0() into(%{{.+}}) : (tensor<21xf32>) -> tensor<21xf32>
//       CHECK:   %[[WHOLE:.+]] = tile.view %[[FILLED]] : tensor<21xf32> to tensor<3x7xf32>
//       CHECK:   tile.run "pad" @pad_1(%arg0) into(%{{.+}}) : (tensor<2x4xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
//       CHECK: tile.kernel @pad_0 {
//       CHECK:   arith.constant 5.000000e-01 : f32
//       CHECK: tile.kernel @pad_1 {
//       CHECK:   linalg.generic {indexing_maps = [#{{.+}}, #[[WINDOW]]]
graph.model @padded inputs ["x"] outputs ["y"] {
^bb0(%x: tensor<2x4xf32>):
  %y = graph.op "Pad" "pad"(%x) : (tensor<2x4xf32>) -> tensor<3x7xf32> {
  ^bb0(%a: tensor<2x4xf32>):
    %z = arith.constant 0.5 : f32
    %r = tensor.pad %a low[1, 2] high[0, 1] {
    ^bb0(%i: index, %j: index):
      tensor.yield %z : f32
    } : tensor<2x4xf32> to tensor<3x7xf32>
    graph.yield %r : tensor<3x7xf32>
  }
  graph.output %y : tensor<3x7xf32>
}

// -----

// Equal kernels are one, whichever operator they come from.
// CHECK-LABEL: tile.graph @twice
//       CHECK:   %[[FIRST:.+]] = tile.run "first" @neg_0(%arg0)
//       CHECK:   tile.run "second" @neg_0(%[[FIRST]])
//       CHECK: tile.kernel @neg_0 {
//   CHECK-NOT: tile.kernel
graph.model @twice inputs ["x"] outputs ["y"] {
^bb0(%x: tensor<8xf32>):
  %y = graph.op "Neg" "first"(%x) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %e = tensor.empty() : tensor<8xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%p: f32, %o: f32):
      %t = arith.negf %p : f32
      linalg.yield %t : f32
    } -> tensor<8xf32>
    graph.yield %r : tensor<8xf32>
  }
  %z = graph.op "Minus" "second"(%y) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %e = tensor.empty() : tensor<8xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%p: f32, %o: f32):
      %t = arith.negf %p : f32
      linalg.yield %t : f32
    } -> tensor<8xf32>
    graph.yield %r : tensor<8xf32>
  }
  graph.output %z : tensor<8xf32>
}

// -----

// A slice is an index expression of who reads it, a reshape a view: nothing is copied.
//       CHECK: #[[SLICE:.+]] = affine_map<(d0, d1) -> (d0, d1 * 2 + 1)>
// CHECK-LABEL: tile.graph @sliced
//       CHECK:   %[[Y:.+]] = tile.run "neg" @neg_0(%arg0)
//   CHECK-NOT:   tile.run
//       CHECK:   tile.view %[[Y]] : tensor<2x4xf32> to tensor<8xf32>
//       CHECK: tile.kernel @neg_0 {
//       CHECK:   linalg.generic {indexing_maps = [#[[SLICE]], #{{.+}}]
graph.model @sliced inputs ["x"] outputs ["y"] {
^bb0(%x: tensor<2x9xf32>):
  %y = graph.op "Neg" "neg"(%x) : (tensor<2x9xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<2x9xf32>):
    %w = tensor.extract_slice %a[0, 1] [2, 4] [1, 2] : tensor<2x9xf32> to tensor<2x4xf32>
    %e = tensor.empty() : tensor<2x4xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
    ^bb0(%p: f32, %o: f32):
      %t = arith.negf %p : f32
      linalg.yield %t : f32
    } -> tensor<2x4xf32>
    %v = tensor.collapse_shape %r [[0, 1]] : tensor<2x4xf32> into tensor<8xf32>
    graph.yield %v : tensor<8xf32>
  }
  graph.output %y : tensor<8xf32>
}

// -----

// Where a slice begins has to be known.
// REFUSED: a payload cannot hold a slice at positions that are not constant
// REFUSED: help: payloads hold linalg.generic, {{.+}} slices at constant positions
graph.model @moving_slice inputs ["x"] outputs ["y"] {
^bb0(%x: tensor<9xf32>):
  %y = graph.op "Slice" "slice"(%x) : (tensor<9xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<9xf32>):
    %i = arith.constant 3 : index
    %w = tensor.extract_slice %a[%i] [4] [1] : tensor<9xf32> to tensor<4xf32>
    graph.yield %w : tensor<4xf32>
  }
  graph.output %y : tensor<4xf32>
}

// -----

// REFUSED: a payload cannot hold a slice that drops dimensions
graph.model @dropped_dimension inputs ["x"] outputs ["y"] {
^bb0(%x: tensor<2x4xf32>):
  %y = graph.op "Slice" "slice"(%x) : (tensor<2x4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<2x4xf32>):
    %w = tensor.extract_slice %a[1, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<4xf32>
    graph.yield %w : tensor<4xf32>
  }
  graph.output %y : tensor<4xf32>
}

// -----

// REFUSED: a payload cannot hold padding with a value that is not constant
graph.model @padding_value inputs ["x", "v"] outputs ["y"] {
^bb0(%x: tensor<4xf32>, %v: tensor<f32>):
  %y = graph.op "Pad" "pad"(%x, %v) : (tensor<4xf32>, tensor<f32>) -> tensor<6xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<f32>):
    %r = tensor.pad %a low[1] high[1] {
    ^bb0(%i: index):
      %p = tensor.extract %b[] : tensor<f32>
      tensor.yield %p : f32
    } : tensor<4xf32> to tensor<6xf32>
    graph.yield %r : tensor<6xf32>
  }
  graph.output %y : tensor<6xf32>
}

// -----

// Arithmetic on whole tensors says nothing about loops.
// REFUSED: a payload cannot hold math.exp
graph.model @no_nest inputs ["x"] outputs ["y"] {
^bb0(%x: tensor<4xf32>):
  %y = graph.op "Exp" "exp"(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %w = math.exp %a : tensor<4xf32>
    graph.yield %w : tensor<4xf32>
  }
  graph.output %y : tensor<4xf32>
}

// -----

// REFUSED: the index map {{.+}}mod 4{{.+}} is not linear in the axes
graph.model @not_linear inputs ["x"] outputs ["y"] {
^bb0(%x: tensor<4xf32>):
  %y = graph.op "Repeat" "repeat"(%x) : (tensor<4xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<4xf32>):
    %e = tensor.empty() : tensor<8xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i mod 4)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%p: f32, %o: f32):
      linalg.yield %p : f32
    } -> tensor<8xf32>
    graph.yield %r : tensor<8xf32>
  }
  graph.output %y : tensor<8xf32>
}
