// What is divided by a known scale and becomes a byte is multiplied, where both are the same for every number.
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx2.mlir --graph-known-divisors | FileCheck %s
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx2.mlir --graph-known-divisors=divide=all | FileCheck %s --check-prefix=DIVIDES
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx2.mlir --graph-known-divisors=remarks=true 2>&1 | FileCheck %s --check-prefix=REMARK
// A machine whose lanes divide as fast as they multiply twice.
// RUN: sed 's/arith.divf = [0-9.]*/arith.divf = 0.5/' %devices/x86-avx2.mlir > %t.mlir
// RUN: weft-opt %s --device-load-machine=file=%t.mlir --graph-known-divisors | FileCheck %s --check-prefix=DIVIDES

// DIVIDES-COUNT-5: arith.divf
// REMARK: remark: "odd" divides by -0.1: two products round otherwise

// CHECK-LABEL: graph.model @model
// CHECK:         %[[H:.+]] = graph.constant dense<9.99999904> : tensor<f32>
// CHECK:         %[[L:.+]] = graph.constant dense<8.04662704E-7> : tensor<f32>
// CHECK:         graph.op "QuantizeLinear" "tenth"(%arg0, %{{.+}}, %[[H]], %[[L]])
// CHECK:         ^bb0(%[[X:.+]]: f32, %[[ONE:.+]]: f32, %{{.+}}: i8, %[[OTHER:.+]]: f32, %{{.+}}: i8):
// CHECK-NOT:       arith.divf
// CHECK:           %[[REST:.+]] = arith.mulf %[[X]], %[[OTHER]]
// CHECK:           math.fma %[[X]], %[[ONE]], %[[REST]]
graph.model @model inputs ["x", "s"] outputs ["y", "z", "u", "v", "t"] {
^bb0(%x: tensor<8xf32>, %s: tensor<f32>):
  %tenth = graph.constant dense<0.1> : tensor<f32> -> tensor<f32>
  %zero = graph.constant dense<3> : tensor<i8> -> tensor<i8>
  %y = graph.op "QuantizeLinear" "tenth"(%x, %tenth, %zero) : (tensor<8xf32>, tensor<f32>, tensor<i8>) -> tensor<8xi8> {
  ^bb0(%p: tensor<8xf32>, %q: tensor<f32>, %r: tensor<i8>):
    %e = tensor.empty() : tensor<8xi8>
    %t = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p, %q, %r : tensor<8xf32>, tensor<f32>, tensor<i8>) outs(%e : tensor<8xi8>) {
    ^bb0(%a: f32, %b: f32, %c: i8, %o: i8):
      %d = arith.divf %a, %b : f32
      %f = math.roundeven %d : f32
      %g = arith.uitofp %c : i8 to f32
      %h = arith.addf %f, %g : f32
      %low = arith.constant 0.0 : f32
      %high = arith.constant 255.0 : f32
      %i1 = arith.cmpf ogt, %h, %low : f32
      %j = arith.select %i1, %h, %low : f32
      %k = arith.cmpf olt, %j, %high : f32
      %l = arith.select %k, %j, %high : f32
      %m = arith.fptoui %l : f32 to i8
      linalg.yield %m : i8
    } -> tensor<8xi8>
    graph.yield %t : tensor<8xi8>
  }
  // By a power of two once; signed bytes send NaN to zero first.
  // CHECK:       graph.op "QuantizeLinear" "half"
  // CHECK-NOT:     arith.divf
  // CHECK:         arith.mulf
  // CHECK-NEXT:    math.roundeven
  %half = graph.constant dense<0.5> : tensor<f32> -> tensor<f32>
  %z = graph.op "QuantizeLinear" "half"(%x, %half) : (tensor<8xf32>, tensor<f32>) -> tensor<8xi8> {
  ^bb0(%p: tensor<8xf32>, %q: tensor<f32>):
    %e = tensor.empty() : tensor<8xi8>
    %t = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p, %q : tensor<8xf32>, tensor<f32>) outs(%e : tensor<8xi8>) {
    ^bb0(%a: f32, %b: f32, %o: i8):
      %d = arith.divf %a, %b : f32
      %f = math.roundeven %d : f32
      %none = arith.constant 0.0 : f32
      %n = arith.cmpf uno, %f, %f : f32
      %h = arith.select %n, %none, %f : f32
      %low = arith.constant -128.0 : f32
      %high = arith.constant 127.0 : f32
      %i1 = arith.cmpf ogt, %h, %low : f32
      %j = arith.select %i1, %h, %low : f32
      %k = arith.cmpf olt, %j, %high : f32
      %l = arith.select %k, %j, %high : f32
      %m = arith.fptosi %l : f32 to i8
      linalg.yield %m : i8
    } -> tensor<8xi8>
    graph.yield %t : tensor<8xi8>
  }
  // A scale that is no scale, and one that comes with the data, divide.
  // CHECK:       graph.op "QuantizeLinear" "odd"
  // CHECK:         arith.divf
  %odd = graph.constant dense<-0.1> : tensor<f32> -> tensor<f32>
  %u = graph.op "QuantizeLinear" "odd"(%x, %odd) : (tensor<8xf32>, tensor<f32>) -> tensor<8xi8> {
  ^bb0(%p: tensor<8xf32>, %q: tensor<f32>):
    %e = tensor.empty() : tensor<8xi8>
    %t = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p, %q : tensor<8xf32>, tensor<f32>) outs(%e : tensor<8xi8>) {
    ^bb0(%a: f32, %b: f32, %o: i8):
      %d = arith.divf %a, %b : f32
      %h = math.roundeven %d : f32
      %low = arith.constant 0.0 : f32
      %high = arith.constant 255.0 : f32
      %i1 = arith.cmpf ogt, %h, %low : f32
      %j = arith.select %i1, %h, %low : f32
      %k = arith.cmpf olt, %j, %high : f32
      %l = arith.select %k, %j, %high : f32
      %m = arith.fptoui %l : f32 to i8
      linalg.yield %m : i8
    } -> tensor<8xi8>
    graph.yield %t : tensor<8xi8>
  }
  // CHECK:       graph.op "QuantizeLinear" "given"
  // CHECK:         arith.divf
  %v = graph.op "QuantizeLinear" "given"(%x, %s) : (tensor<8xf32>, tensor<f32>) -> tensor<8xi8> {
  ^bb0(%p: tensor<8xf32>, %q: tensor<f32>):
    %e = tensor.empty() : tensor<8xi8>
    %t = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p, %q : tensor<8xf32>, tensor<f32>) outs(%e : tensor<8xi8>) {
    ^bb0(%a: f32, %b: f32, %o: i8):
      %d = arith.divf %a, %b : f32
      %h = math.roundeven %d : f32
      %low = arith.constant 0.0 : f32
      %high = arith.constant 255.0 : f32
      %i1 = arith.cmpf ogt, %h, %low : f32
      %j = arith.select %i1, %h, %low : f32
      %k = arith.cmpf olt, %j, %high : f32
      %l = arith.select %k, %j, %high : f32
      %m = arith.fptoui %l : f32 to i8
      linalg.yield %m : i8
    } -> tensor<8xi8>
    graph.yield %t : tensor<8xi8>
  }
  // A scale that is read for something else, too, stays a divisor.
  // CHECK:       graph.op "QuantizeLinear" "twice"
  // CHECK:         arith.divf
  %t = graph.op "QuantizeLinear" "twice"(%x, %tenth) : (tensor<8xf32>, tensor<f32>) -> tensor<8xi8> {
  ^bb0(%p: tensor<8xf32>, %q: tensor<f32>):
    %e = tensor.empty() : tensor<8xi8>
    %t = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p, %q : tensor<8xf32>, tensor<f32>) outs(%e : tensor<8xi8>) {
    ^bb0(%a: f32, %b: f32, %o: i8):
      %scaled = arith.mulf %a, %b : f32
      %d = arith.divf %scaled, %b : f32
      %h = math.roundeven %d : f32
      %low = arith.constant 0.0 : f32
      %high = arith.constant 255.0 : f32
      %i1 = arith.cmpf ogt, %h, %low : f32
      %j = arith.select %i1, %h, %low : f32
      %k = arith.cmpf olt, %j, %high : f32
      %l = arith.select %k, %j, %high : f32
      %m = arith.fptoui %l : f32 to i8
      linalg.yield %m : i8
    } -> tensor<8xi8>
    graph.yield %t : tensor<8xi8>
  }
  graph.output %y, %z, %u, %v, %t : tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>
}
