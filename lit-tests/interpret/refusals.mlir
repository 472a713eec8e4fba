// RUN: weft-opt %s --check-eval --split-input-file --verify-diagnostics

// The first element that differs, with its bits.
// expected-error @below {{result 0 of @differs at [1, 0] is 3.0 (0x40400000), expected 4.0 (0x40800000)}}
// expected-note @below {{}}
func.func @differs() -> tensor<2x2xf32> attributes {check.expect = [
    dense<[[1.0, 2.0], [4.0, 5.0]]> : tensor<2x2xf32>]} {
  %x = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  return %x : tensor<2x2xf32>
}

// -----

// A zero with a sign is another zero.
// expected-error @below {{result 0 of @signed_zero at [0] is -0.0}}
// expected-note @below {{}}
func.func @signed_zero() -> tensor<1xf32> attributes {check.expect = [dense<0.0> : tensor<1xf32>]} {
  %x = arith.constant dense<-0.0> : tensor<1xf32>
  return %x : tensor<1xf32>
}

// -----

// Row 0 has no element 2, though the tensor has one at that address.
// expected-error @below {{@outside stopped: statement 0, instruction}}
// expected-note @below {{}}
func.func @outside() -> f32 attributes {check.expect = [dense<3.0> : tensor<f32>]} {
  %x = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %0 = tensor.extract %x[%c0, %c2] : tensor<2x2xf32>
  return %0 : f32
}

// -----

// expected-error @below {{@divides stopped: statement 0, instruction 0: integer division by zero}}
// expected-note @below {{}}
func.func @divides() -> tensor<1xi32> attributes {check.expect = [dense<0> : tensor<1xi32>]} {
  %x = arith.constant dense<1> : tensor<1xi32>
  %y = arith.constant dense<0> : tensor<1xi32>
  %0 = arith.divsi %x, %y : tensor<1xi32>
  return %0 : tensor<1xi32>
}

// -----

// expected-error @below {{the interpreter does not know vector.broadcast}}
// expected-note @below {{}}
func.func @unknown() -> f32 attributes {check.expect = [dense<0.0> : tensor<f32>]} {
  %x = arith.constant 0.0 : f32
  %v = vector.broadcast %x : f32 to vector<4xf32>
  return %x : f32
}

// -----

// expected-error @below {{@other_type}}
// expected-note @below {{}}
func.func @other_type() -> tensor<1xi32> attributes {check.expect = [dense<0.0> : tensor<1xf32>]} {
  %x = arith.constant dense<0> : tensor<1xi32>
  return %x : tensor<1xi32>
}

// -----

// expected-error @below {{takes arguments}}
// expected-note @below {{}}
func.func @argument(%x: tensor<1xi32>) -> tensor<1xi32> attributes {
    check.expect = [dense<0> : tensor<1xi32>]} {
  return %x : tensor<1xi32>
}

// -----

// expected-error @below {{check-eval found nothing to check}}
// expected-note @below {{}}
module {
  func.func @silent() { return }
}
