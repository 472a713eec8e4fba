// A border is laid out beside its use where each window is used once and a plane fits the
// unit's own cache; elsewhere the padded tensor is made first.
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/one-core.mlir --graph-to-tile --split-input-file | FileCheck %s

// One kernel, which reads the tensor without its border.
// CHECK-LABEL: tile.graph @depthwise
//       CHECK:   tile.run "dw" @{{.+}}(%{{.+}}, %{{.+}})
//   CHECK-NOT:   tile.run
//       CHECK: tile.kernel @{{.+}} {
//  CHECK-NEXT: ^bb0(%[[X:.+]]: tensor<8x6x6xf32>, %{{.+}}: tensor<8x3x3xf32>, %{{.+}}: tensor<8x6x6xf32>):
//       CHECK:   tensor.pad %[[X]] low[0, 1, 1] high[0, 1, 1]
//       CHECK:   linalg.generic
//   CHECK-NOT: tile.kernel
graph.model @depthwise inputs ["x", "w"] outputs ["y"] {
^bb0(%x: tensor<1x8x6x6xf32>, %w: tensor<8x3x3xf32>):
  %y = graph.op "Conv" "dw"(%x, %w) : (tensor<1x8x6x6xf32>, tensor<8x3x3xf32>) -> tensor<1x8x6x6xf32> {
  ^bb0(%a: tensor<1x8x6x6xf32>, %f: tensor<8x3x3xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x8x8x8xf32>
    %z = linalg.generic {indexing_maps = [affine_map<(n, c, i, j) -> (n, c, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%e : tensor<1x8x8x8xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
    } -> tensor<1x8x8x8xf32>
    %p = tensor.insert_slice %a into %z[0, 0, 1, 1] [1, 8, 6, 6] [1, 1, 1, 1] : tensor<1x8x6x6xf32> into tensor<1x8x8x8xf32>
    %d = tensor.empty() : tensor<1x8x6x6xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(n, c, i, j) -> (n, c, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%d : tensor<1x8x6x6xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
    } -> tensor<1x8x6x6xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(n, c, i, j, p, q) -> (n, c, i + p, j + q)>, affine_map<(n, c, i, j, p, q) -> (c, p, q)>, affine_map<(n, c, i, j, p, q) -> (n, c, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%p, %f : tensor<1x8x8x8xf32>, tensor<8x3x3xf32>) outs(%s : tensor<1x8x6x6xf32>) {
    ^bb0(%u: f32, %v: f32, %o: f32):
      %t = arith.mulf %u, %v : f32
      %n = arith.addf %o, %t : f32
      linalg.yield %n : f32
    } -> tensor<1x8x6x6xf32>
    graph.yield %r : tensor<1x8x6x6xf32>
  }
  graph.output %y : tensor<1x8x6x6xf32>
}

// -----

// Every output channel reads the same windows: the padded tensor is made once.
// CHECK-LABEL: tile.graph @shared
//       CHECK:   tile.run
//       CHECK:   tile.run
//       CHECK:   tile.run
//   CHECK-NOT: tensor.pad
graph.model @shared inputs ["x", "w"] outputs ["y"] {
^bb0(%x: tensor<8x6xf32>, %w: tensor<4x8x3xf32>):
  %y = graph.op "Conv" "conv"(%x, %w) : (tensor<8x6xf32>, tensor<4x8x3xf32>) -> tensor<4x6xf32> {
  ^bb0(%a: tensor<8x6xf32>, %f: tensor<4x8x3xf32>):
    %zero = arith.constant 0.0 : f32
    %p = tensor.pad %a low[0, 1] high[0, 1] {
    ^bb0(%i: index, %j: index):
      tensor.yield %zero : f32
    } : tensor<8x6xf32> to tensor<8x8xf32>
    %d = tensor.empty() : tensor<4x6xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(o, j) -> (o, j)>], iterator_types = ["parallel", "parallel"]} outs(%d : tensor<4x6xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
    } -> tensor<4x6xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(o, j, c, q) -> (c, j + q)>, affine_map<(o, j, c, q) -> (o, c, q)>, affine_map<(o, j, c, q) -> (o, j)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%p, %f : tensor<8x8xf32>, tensor<4x8x3xf32>) outs(%s : tensor<4x6xf32>) {
    ^bb0(%u: f32, %v: f32, %o: f32):
      %t = arith.mulf %u, %v : f32
      %n = arith.addf %o, %t : f32
      linalg.yield %n : f32
    } -> tensor<4x6xf32>
    graph.yield %r : tensor<4x6xf32>
  }
  graph.output %y : tensor<4x6xf32>
}
