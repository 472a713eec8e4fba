// Views of other elements than there are.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

// view_c1: the same number of elements.
// CHECK: tile.view shows tensor<4xf32> as tensor<2x3xf32>
func.func @view_c1(%x: tensor<4xf32>) {
  %v = tile.view %x : tensor<4xf32> to tensor<2x3xf32>
  return
}

// -----

// view_c1: the same element type.
// CHECK: tile.view shows tensor<4xf32> as tensor<4xi32>
func.func @view_c1(%x: tensor<4xf32>) {
  %v = tile.view %x : tensor<4xf32> to tensor<4xi32>
  return
}
