// What a number operation gives where machines differ.
// RUN: weft-opt %s --check-eval

// A NaN wins in maximumf and loses in maxnumf.
func.func @nan_maximum() -> (tensor<3xf32>, tensor<3xf32>) attributes {check.expect = [
    dense<[0x7FC00000, 0x7FC00000, 2.0]> : tensor<3xf32>,
    dense<[1.0, 1.0, 2.0]> : tensor<3xf32>]} {
  %a = arith.constant dense<[0x7FC00000, 1.0, 2.0]> : tensor<3xf32>
  %b = arith.constant dense<[1.0, 0x7FC00000, -1.0]> : tensor<3xf32>
  %0 = arith.maximumf %a, %b : tensor<3xf32>
  %1 = arith.maxnumf %a, %b : tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}

func.func @signed_zeros() -> tensor<2xf32> attributes {check.expect = [
    dense<[0.0, -0.0]> : tensor<2xf32>]} {
  %a = arith.constant dense<[-0.0, 0.0]> : tensor<2xf32>
  %b = arith.constant dense<[0.0, -0.0]> : tensor<2xf32>
  %max = arith.maximumf %a, %b : tensor<2xf32>
  %min = arith.minimumf %a, %b : tensor<2xf32>
  %0 = tensor.extract_slice %max[0] [1] [1] : tensor<2xf32> to tensor<1xf32>
  %1 = tensor.extract_slice %min[1] [1] [1] : tensor<2xf32> to tensor<1xf32>
  %r = tensor.concat dim(0) %0, %1 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

func.func @integers_wrap() -> (tensor<2xi8>, tensor<1xi64>) attributes {check.expect = [
    dense<[-128, 127]> : tensor<2xi8>,
    dense<-9223372036854775808> : tensor<1xi64>]} {
  %a = arith.constant dense<[127, -128]> : tensor<2xi8>
  %b = arith.constant dense<[1, -1]> : tensor<2xi8>
  %0 = arith.addi %a, %b : tensor<2xi8>
  %c = arith.constant dense<-9223372036854775808> : tensor<1xi64>
  %d = arith.constant dense<-1> : tensor<1xi64>
  %1 = arith.divsi %c, %d : tensor<1xi64>
  return %0, %1 : tensor<2xi8>, tensor<1xi64>
}

// The same bits, read with and without a sign.
func.func @signs() -> (tensor<2xi1>, tensor<1xi32>, tensor<1xi32>) attributes {check.expect = [
    dense<[true, false]> : tensor<2xi1>,
    dense<-1> : tensor<1xi32>, dense<255> : tensor<1xi32>]} {
  %a = arith.constant dense<[-1, -1]> : tensor<2xi8>
  %b = arith.constant dense<[1, 1]> : tensor<2xi8>
  %s = arith.cmpi slt, %a, %b : tensor<2xi8>
  %u = arith.cmpi ult, %a, %b : tensor<2xi8>
  %mask = arith.constant dense<[true, false]> : tensor<2xi1>
  %0 = arith.select %mask, %s, %u : tensor<2xi1>, tensor<2xi1>
  %one = tensor.extract_slice %a[1] [1] [1] : tensor<2xi8> to tensor<1xi8>
  %1 = arith.extsi %one : tensor<1xi8> to tensor<1xi32>
  %2 = arith.extui %one : tensor<1xi8> to tensor<1xi32>
  return %0, %1, %2 : tensor<2xi1>, tensor<1xi32>, tensor<1xi32>
}

// A half is rounded after each operation, to even.
func.func @halves() -> (tensor<1xf16>, tensor<1xbf16>) attributes {check.expect = [
    dense<2048.0> : tensor<1xf16>, dense<256.0> : tensor<1xbf16>]} {
  %a = arith.constant dense<2048.0> : tensor<1xf16>
  %b = arith.constant dense<1.0> : tensor<1xf16>
  %0 = arith.addf %a, %b : tensor<1xf16>
  %c = arith.constant dense<257.0> : tensor<1xf32>
  %1 = arith.truncf %c : tensor<1xf32> to tensor<1xbf16>
  return %0, %1 : tensor<1xf16>, tensor<1xbf16>
}

func.func @saturates() -> tensor<4xi8> attributes {check.expect = [
    dense<[127, -128, 0, -1]> : tensor<4xi8>]} {
  %a = arith.constant dense<[1.0e9, -1.0e9, 0x7FC00000, -1.9]> : tensor<4xf32>
  %0 = arith.fptosi %a : tensor<4xf32> to tensor<4xi8>
  return %0 : tensor<4xi8>
}

func.func @math() -> tensor<3xf32> attributes {
    check.expect = [dense<[1.0, 0.84270079, 0.76159416]> : tensor<3xf32>],
    check.tolerance = 1.0e-6 : f64} {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %0 = math.exp %zero : f32
  %1 = math.erf %one : f32
  %2 = math.tanh %one : f32
  %r = tensor.from_elements %0, %1, %2 : tensor<3xf32>
  return %r : tensor<3xf32>
}

func.func @bits() -> (tensor<1xi32>, tensor<3xi16>) attributes {check.expect = [
    dense<1065353216> : tensor<1xi32>, dense<[15, 1, 0]> : tensor<3xi16>]} {
  %f = arith.constant dense<1.0> : tensor<1xf32>
  %0 = arith.bitcast %f : tensor<1xf32> to tensor<1xi32>
  %one = arith.constant 1 : i16
  %a = math.ctlz %one : i16
  %b = math.ctpop %one : i16
  %c = math.cttz %one : i16
  %r = tensor.from_elements %a, %b, %c : tensor<3xi16>
  return %0, %r : tensor<1xi32>, tensor<3xi16>
}
