// What moves elements: views, windows, borders.
// RUN: weft-opt %s --check-eval

func.func @slice_with_steps() -> tensor<2x2xi32> attributes {check.expect = [
    dense<[[2, 4], [10, 12]]> : tensor<2x2xi32>]} {
  %x = arith.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xi32>
  %0 = tensor.extract_slice %x[0, 1] [2, 2] [2, 2] : tensor<3x4xi32> to tensor<2x2xi32>
  return %0 : tensor<2x2xi32>
}

// A slice of a slice that drops a dimension, flattened: its elements do not lie in a row.
func.func @slice_of_slice() -> tensor<4xi32> attributes {check.expect = [
    dense<[6, 7, 10, 11]> : tensor<4xi32>]} {
  %x = arith.constant dense<[[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]]> : tensor<1x3x4xi32>
  %0 = tensor.extract_slice %x[0, 1, 0] [1, 2, 4] [1, 1, 1] : tensor<1x3x4xi32> to tensor<2x4xi32>
  %1 = tensor.extract_slice %0[0, 1] [2, 2] [1, 1] : tensor<2x4xi32> to tensor<2x2xi32>
  %2 = tensor.collapse_shape %1 [[0, 1]] : tensor<2x2xi32> into tensor<4xi32>
  return %2 : tensor<4xi32>
}

func.func @reshape() -> tensor<3x2xi32> attributes {check.expect = [
    dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>]} {
  %x = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %shape = arith.constant dense<[3, 2]> : tensor<2xi64>
  %0 = tensor.reshape %x(%shape) : (tensor<2x3xi32>, tensor<2xi64>) -> tensor<3x2xi32>
  return %0 : tensor<3x2xi32>
}

// The target is read again, so the window is written to a copy of it.
func.func @insert_keeps_target() -> (tensor<4xi32>, tensor<4xi32>) attributes {check.expect = [
    dense<[1, 8, 3, 9]> : tensor<4xi32>, dense<[1, 2, 3, 4]> : tensor<4xi32>]} {
  %c = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %zero = arith.constant dense<0> : tensor<4xi32>
  %x = arith.addi %c, %zero : tensor<4xi32>
  %w = arith.constant dense<[8, 9]> : tensor<2xi32>
  %0 = tensor.insert_slice %w into %x[1] [2] [2] : tensor<2xi32> into tensor<4xi32>
  return %0, %x : tensor<4xi32>, tensor<4xi32>
}

// A window of a tensor goes into another window of the same tensor.
func.func @insert_of_itself() -> tensor<4xi32> attributes {check.expect = [
    dense<[1, 1, 2, 3]> : tensor<4xi32>]} {
  %c = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %zero = arith.constant dense<0> : tensor<4xi32>
  %x = arith.addi %c, %zero : tensor<4xi32>
  %w = tensor.extract_slice %x[0] [3] [1] : tensor<4xi32> to tensor<3xi32>
  %0 = tensor.insert_slice %w into %x[1] [3] [1] : tensor<3xi32> into tensor<4xi32>
  return %0 : tensor<4xi32>
}

func.func @pad() -> tensor<2x4xf32> attributes {check.expect = [
    dense<[[-1.0, 1.0, 2.0, -1.0], [-1.0, -1.0, -1.0, -1.0]]> : tensor<2x4xf32>]} {
  %x = arith.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %border = arith.constant -1.0 : f32
  %0 = tensor.pad %x low[0, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %border : f32
  } : tensor<1x2xf32> to tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

func.func @concat_with_nothing() -> tensor<3x1xi8> attributes {check.expect = [
    dense<[[1], [2], [3]]> : tensor<3x1xi8>]} {
  %a = arith.constant dense<[[1], [2]]> : tensor<2x1xi8>
  %b = arith.constant dense<> : tensor<0x1xi8>
  %c = arith.constant dense<3> : tensor<1x1xi8>
  %0 = tensor.concat dim(0) %a, %b, %c
      : (tensor<2x1xi8>, tensor<0x1xi8>, tensor<1x1xi8>) -> tensor<3x1xi8>
  return %0 : tensor<3x1xi8>
}

func.func @generate_and_splat() -> (tensor<2x3xindex>, tensor<2xf16>) attributes {check.expect = [
    dense<[[0, 1, 2], [10, 11, 12]]> : tensor<2x3xindex>, dense<1.5> : tensor<2xf16>]} {
  %ten = arith.constant 10 : index
  %0 = tensor.generate {
  ^bb0(%i: index, %j: index):
    %row = arith.muli %i, %ten : index
    %n = arith.addi %row, %j : index
    tensor.yield %n : index
  } : tensor<2x3xindex>
  %h = arith.constant 1.5 : f16
  %1 = tensor.splat %h : tensor<2xf16>
  return %0, %1 : tensor<2x3xindex>, tensor<2xf16>
}
