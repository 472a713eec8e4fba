// 3 x 3 convolutions become products of transformed tiles, where somebody asks for it. The
// interpreter agrees before and after: small whole numbers and their halves are exact.
// RUN: weft-opt %s --check-eval
// RUN: weft-opt %s --graph-winograd=tiles=2x2 --check-eval
// RUN: weft-opt %s --graph-winograd=tiles=2x2 | FileCheck %s
// RUN: weft-opt %s --graph-winograd="tiles=2x2 remarks=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: weft-opt %s --graph-winograd | FileCheck %s --check-prefix=OFF
// RUN: weft-opt %s --graph-winograd="tiles=4x4 remarks=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: weft-opt %s --device-load-machine="file=%devices/x86-avx512.mlir" --graph-winograd="tiles=2x2 error=100 remarks=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=COST
// RUN: not weft-opt %s --graph-winograd=tiles=3x3 2>&1 | FileCheck %s --check-prefix=TILES
// RUN: not weft-opt %s --graph-winograd="tiles=2x2 error=-1" 2>&1 | FileCheck %s --check-prefix=NUMBER

// TILES: error: graph-winograd: unknown value '3x3' for option 'tiles'; expected 'none', '2x2', '4x4' or 'any'
// NUMBER: error: graph-winograd: unknown value '-1' for option 'error'; expected a number above zero

#image = affine_map<(n, f, y, x, c, r, s) -> (n, c, y + r, x + s)>
#wide = affine_map<(n, f, y, x, c, r, s) -> (n, c, y * 2 + r, x * 2 + s)>
#filter = affine_map<(n, f, y, x, c, r, s) -> (f, c, r, s)>
#out = affine_map<(n, f, y, x, c, r, s) -> (n, f, y, x)>

// An output of 3 x 2 in a border of one: two tiles, the lower one half beyond the end. The
// border is laid around the larger image, not around the border.
// CHECK-LABEL: @conv
//       CHECK:   tensor.insert_slice %{{.+}} into %{{.+}}[0, 0, 1, 1] [1, 8, 3, 2] [1, 1, 1, 1] : tensor<1x8x3x2xf32> into tensor<1x8x6x4xf32>
//   CHECK-NOT:   tensor.insert_slice
//       CHECK:   -> tensor<4x4x1x8xf32>
//       CHECK:   -> tensor<4x4x8x1x2x1xf32>
//       CHECK:   -> tensor<4x4x1x1x2x1xf32>
//       CHECK:   -> tensor<1x1x2x2x1x2xf32>
//       CHECK:   tensor.extract_slice %{{.+}}[0, 0, 0, 0] [1, 1, 3, 2] [1, 1, 1, 1] : tensor<1x1x4x2xf32> to tensor<1x1x3x2xf32>
//       CHECK:   return
//   OFF-LABEL: @conv
//     OFF-NOT:   tensor<4x4x1x8xf32>
//      REMARK: remark: is computed by F(2x2, 3x3); its rounding errors are bounded by 4.0 times the direct ones
//       ERROR: remark: stays a direct convolution: rounding errors are bounded by 2228.4 times the direct ones, 4 is allowed
//        COST: remark: stays a direct convolution: F(2x2, 3x3) takes {{[0-9]+}} cycles, the direct convolution {{[0-9]+}}
func.func @conv() -> tensor<1x1x3x2xf32> attributes {check.expect = [
    dense<[[[[82.0, 82.0], [170.0, 170.0], [146.0, 146.0]]]]> : tensor<1x1x3x2xf32>]} {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %x = arith.constant dense<[[
      [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
      [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
      [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
      [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]]]>
    : tensor<1x8x3x2xf32>
  %k = arith.constant dense<1.0> : tensor<1x8x3x3xf32>
  %e = tensor.empty() : tensor<1x8x5x4xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(n, c, y, x) -> (n, c, y, x)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%e : tensor<1x8x5x4xf32>) {
  ^bb0(%a: f32):
    linalg.yield %zero : f32
  } -> tensor<1x8x5x4xf32>
  %p = tensor.insert_slice %x into %f[0, 0, 1, 1] [1, 8, 3, 2] [1, 1, 1, 1]
    : tensor<1x8x3x2xf32> into tensor<1x8x5x4xf32>
  %o = tensor.empty() : tensor<1x1x3x2xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(n, f, y, x) -> (n, f, y, x)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%o : tensor<1x1x3x2xf32>) {
  ^bb0(%a: f32):
    linalg.yield %two : f32
  } -> tensor<1x1x3x2xf32>
  %0 = linalg.generic {indexing_maps = [#image, #filter, #out],
      iterator_types = ["parallel", "parallel", "parallel", "parallel",
                        "reduction", "reduction", "reduction"]}
      ins(%p, %k : tensor<1x8x5x4xf32>, tensor<1x8x3x3xf32>) outs(%b : tensor<1x1x3x2xf32>) {
  ^bb0(%a: f32, %w: f32, %sum: f32):
    %t = arith.mulf %a, %w : f32
    %s = arith.addf %sum, %t : f32
    linalg.yield %s : f32
  } -> tensor<1x1x3x2xf32>
  return %0 : tensor<1x1x3x2xf32>
}

// REMARK: remark: stays a direct convolution: its windows are 2 apart, not 1
// CHECK-LABEL: @strided
// CHECK-COUNT-1: linalg.generic
//   CHECK-NOT:   linalg.generic
//       CHECK: @whole_numbers
func.func @strided(%x: tensor<1x8x9x9xf32>, %k: tensor<4x8x3x3xf32>, %y: tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> {
  %0 = linalg.generic {indexing_maps = [#wide, #filter, #out],
      iterator_types = ["parallel", "parallel", "parallel", "parallel",
                        "reduction", "reduction", "reduction"]}
      ins(%x, %k : tensor<1x8x9x9xf32>, tensor<4x8x3x3xf32>) outs(%y : tensor<1x4x4x4xf32>) {
  ^bb0(%a: f32, %w: f32, %sum: f32):
    %t = arith.mulf %a, %w : f32
    %s = arith.addf %sum, %t : f32
    linalg.yield %s : f32
  } -> tensor<1x4x4x4xf32>
  return %0 : tensor<1x4x4x4xf32>
}

// Halves of whole numbers are none.
// REMARK: remark: stays a direct convolution: it sums i32, and halves are taken of what is summed in f32 and f64 alone
func.func @whole_numbers(%x: tensor<1x8x6x6xi32>, %k: tensor<4x8x3x3xi32>, %y: tensor<1x4x4x4xi32>) -> tensor<1x4x4x4xi32> {
  %0 = linalg.generic {indexing_maps = [#image, #filter, #out],
      iterator_types = ["parallel", "parallel", "parallel", "parallel",
                        "reduction", "reduction", "reduction"]}
      ins(%x, %k : tensor<1x8x6x6xi32>, tensor<4x8x3x3xi32>) outs(%y : tensor<1x4x4x4xi32>) {
  ^bb0(%a: i32, %w: i32, %sum: i32):
    %t = arith.muli %a, %w : i32
    %s = arith.addi %sum, %t : i32
    linalg.yield %s : i32
  } -> tensor<1x4x4x4xi32>
  return %0 : tensor<1x4x4x4xi32>
}

// REMARK: remark: stays a direct convolution: no channel is summed, so there is no product that would be shared
func.func @depthwise(%x: tensor<4x6x6xf32>, %k: tensor<4x3x3xf32>, %y: tensor<4x4x4xf32>) -> tensor<4x4x4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(c, y, x, r, s) -> (c, y + r, x + s)>,
        affine_map<(c, y, x, r, s) -> (c, r, s)>, affine_map<(c, y, x, r, s) -> (c, y, x)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %k : tensor<4x6x6xf32>, tensor<4x3x3xf32>) outs(%y : tensor<4x4x4xf32>) {
  ^bb0(%a: f32, %w: f32, %sum: f32):
    %t = arith.mulf %a, %w : f32
    %s = arith.addf %sum, %t : f32
    linalg.yield %s : f32
  } -> tensor<4x4x4xf32>
  return %0 : tensor<4x4x4xf32>
}

// What the sums begin with is a tensor, which tiles would have to be cut out of.
// REMARK: remark: stays a direct convolution: what its sums begin with differs along rows or columns, or is a tensor
func.func @onto(%x: tensor<1x8x6x6xf32>, %k: tensor<4x8x3x3xf32>, %y: tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> {
  %0 = linalg.generic {indexing_maps = [#image, #filter, #out],
      iterator_types = ["parallel", "parallel", "parallel", "parallel",
                        "reduction", "reduction", "reduction"]}
      ins(%x, %k : tensor<1x8x6x6xf32>, tensor<4x8x3x3xf32>) outs(%y : tensor<1x4x4x4xf32>) {
  ^bb0(%a: f32, %w: f32, %sum: f32):
    %t = arith.mulf %a, %w : f32
    %s = arith.addf %sum, %t : f32
    linalg.yield %s : f32
  } -> tensor<1x4x4x4xf32>
  return %0 : tensor<1x4x4x4xf32>
}
