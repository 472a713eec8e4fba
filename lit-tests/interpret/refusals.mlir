// RUN: not weft-opt %s --check-eval --split-input-file 2>&1 | FileCheck %s

// The first element that differs, with its bits.
// CHECK: error: result 0 of @differs at [1, 0] is 3.0 (0x40400000), expected 4.0 (0x40800000)
func.func @differs() -> tensor<2x2xf32> attributes {check.expect = [
    dense<[[1.0, 2.0], [4.0, 5.0]]> : tensor<2x2xf32>]} {
  %x = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  return %x : tensor<2x2xf32>
}

// -----

// A zero with a sign is another zero.
// CHECK: error: result 0 of @signed_zero at [0] is -0.0
func.func @signed_zero() -> tensor<1xf32> attributes {check.expect = [dense<0.0> : tensor<1xf32>]} {
  %x = arith.constant dense<-0.0> : tensor<1xf32>
  return %x : tensor<1xf32>
}

// -----

// Row 0 has no element 2, though the tensor has one at that address.
// CHECK: error: @outside stopped: statement 0, instruction
func.func @outside() -> f32 attributes {check.expect = [dense<3.0> : tensor<f32>]} {
  %x = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %0 = tensor.extract %x[%c0, %c2] : tensor<2x2xf32>
  return %0 : f32
}

// -----

// CHECK: error: @divides stopped: statement 0, instruction 0: integer division by zero
func.func @divides() -> tensor<1xi32> attributes {check.expect = [dense<0> : tensor<1xi32>]} {
  %x = arith.constant dense<1> : tensor<1xi32>
  %y = arith.constant dense<0> : tensor<1xi32>
  %0 = arith.divsi %x, %y : tensor<1xi32>
  return %0 : tensor<1xi32>
}

// -----

// CHECK: error: @unknown cannot be evaluated: the interpreter does not know vector.broadcast
func.func @unknown() -> f32 attributes {check.expect = [dense<0.0> : tensor<f32>]} {
  %x = arith.constant 0.0 : f32
  %v = vector.broadcast %x : f32 to vector<4xf32>
  return %x : f32
}

// -----

// CHECK: error: result 0 of @other_type is a tensor<1xi32>, expected dense<0.000000e+00> : tensor<1xf32>
func.func @other_type() -> tensor<1xi32> attributes {check.expect = [dense<0.0> : tensor<1xf32>]} {
  %x = arith.constant dense<0> : tensor<1xi32>
  return %x : tensor<1xi32>
}

// -----

// CHECK: error: @argument takes arguments
func.func @argument(%x: tensor<1xi32>) -> tensor<1xi32> attributes {
    check.expect = [dense<0> : tensor<1xi32>]} {
  return %x : tensor<1xi32>
}

// -----

// CHECK: error: check-eval found nothing to check
module {
  func.func @silent() { return }
}
