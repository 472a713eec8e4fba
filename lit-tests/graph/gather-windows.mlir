// Windows are written out where that makes a product of a convolution. The interpreter agrees
// before and after.
// RUN: weft-opt %s --check-eval
// RUN: weft-opt %s --graph-gather-windows --check-eval
// RUN: weft-opt %s --graph-gather-windows | FileCheck %s

#image = affine_map<(n, f, y, x, c, r, s) -> (n, c, y * 2 + r, x + s)>
#filter = affine_map<(n, f, y, x, c, r, s) -> (f, c, r, s)>
#out = affine_map<(n, f, y, x, c, r, s) -> (n, f, y, x)>

// Two images of two channels, filters of 2 x 2; what is summed begins at 100.
// CHECK-DAG: #[[WINDOWS:.+]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 + d4 * 2, d3 + d5)>
// CHECK-DAG: #[[G:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d5, d6, d2, d3)>
// CHECK-LABEL: @conv
//       CHECK:   %[[GATHERED:.+]] = linalg.generic
//  CHECK-SAME:     #[[WINDOWS]]
//  CHECK-SAME:     "parallel", "parallel", "parallel", "parallel", "parallel", "parallel"
//       CHECK:   -> tensor<2x2x2x2x1x2xi32>
//       CHECK:   linalg.generic
//  CHECK-SAME:     #[[G]]
//  CHECK-SAME:     ins(%[[GATHERED]], %{{.+}} : tensor<2x2x2x2x1x2xi32>, tensor<1x2x2x2xi32>)
func.func @conv() -> tensor<2x1x1x2xi32> attributes {check.expect = [
    dense<[[[[378, 414]]], [[[810, 846]]]]> : tensor<2x1x1x2xi32>]} {
  %x = arith.constant dense<[[[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]]],
                             [[[13, 14, 15], [16, 17, 18]], [[19, 20, 21], [22, 23, 24]]]]>
    : tensor<2x2x2x3xi32>
  %k = arith.constant dense<[[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]]> : tensor<1x2x2x2xi32>
  %c = arith.constant dense<100> : tensor<2x1x1x2xi32>
  %0 = linalg.generic {indexing_maps = [#image, #filter, #out],
      iterator_types = ["parallel", "parallel", "parallel", "parallel",
                        "reduction", "reduction", "reduction"]}
      ins(%x, %k : tensor<2x2x2x3xi32>, tensor<1x2x2x2xi32>) outs(%c : tensor<2x1x1x2xi32>) {
  ^bb0(%a: i32, %b: i32, %sum: i32):
    %p = arith.muli %a, %b : i32
    %s = arith.addi %sum, %p : i32
    linalg.yield %s : i32
  } -> tensor<2x1x1x2xi32>
  return %0 : tensor<2x1x1x2xi32>
}

// The channel is in both operands: as many products as channels, of one row each.
// CHECK-LABEL: @depthwise
// CHECK-COUNT-1: linalg.generic
//   CHECK-NOT: linalg.generic
func.func @depthwise() -> tensor<2x2xi32> attributes {check.expect = [
    dense<[[5, 8], [22, 27]]> : tensor<2x2xi32>]} {
  %x = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %k = arith.constant dense<[[1, 2], [3, 2]]> : tensor<2x2xi32>
  %c = arith.constant dense<0> : tensor<2x2xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(c, x, s) -> (c, x + s)>,
        affine_map<(c, x, s) -> (c, s)>, affine_map<(c, x, s) -> (c, x)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %k : tensor<2x3xi32>, tensor<2x2xi32>) outs(%c : tensor<2x2xi32>) {
  ^bb0(%a: i32, %b: i32, %sum: i32):
    %p = arith.muli %a, %b : i32
    %s = arith.addi %sum, %p : i32
    linalg.yield %s : i32
  } -> tensor<2x2xi32>
  return %0 : tensor<2x2xi32>
}

// No window: it is a product already.
// CHECK-LABEL: @matmul
// CHECK-COUNT-1: linalg.generic
//   CHECK-NOT: linalg.generic
func.func @matmul(%a: tensor<4x5xf32>, %b: tensor<5x6xf32>, %c: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x5xf32>, tensor<5x6xf32>) outs(%c : tensor<4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
