// What takes the greatest of dequantised numbers takes that of bytes, and what is quantised again by the same scale stays.
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/dots.mlir --graph-multiply-integers | FileCheck %s
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/dots.mlir --graph-multiply-integers=products=floats | FileCheck %s --check-prefix=FLOATS

// FLOATS-LABEL: graph.model @pool
// FLOATS:         arith.maximumf
// CHECK-LABEL: graph.model @pool
// CHECK:         %[[MOST:.+]] = graph.op "MaxPool" "most"(%arg0) : (tensor<8xi8>) -> tensor<4xi8>
// CHECK:           arith.constant 0 : i8
// CHECK:           arith.maxui
// CHECK-NOT:     "QuantizeLinear" "same"
// A window that begins behind the tensor has nothing of it: the least float stays what it is.
// CHECK:         graph.op "MaxPool" "behind"(%{{.+}}) : (tensor<8xf32>) -> tensor<7xf32>
// CHECK:           arith.maximumf
// By another scale it is another byte, and the first output is the pool's.
// CHECK:         %[[OTHER:.+]] = graph.op "QuantizeLinear" "other"
// A byte that something is done to is no longer the one that was read, and of no numbers the greatest is the least float.
// CHECK:         %[[TURNED:.+]] = graph.op "QuantizeLinear" "turned"
// CHECK:           arith.xori
// CHECK:         graph.op "ReduceMax" "none"
// CHECK:           arith.maximumf
// CHECK:         graph.output %[[MOST]], %{{.+}}, %[[OTHER]], %[[TURNED]]
graph.model @pool inputs ["x", "e"] outputs ["same", "behind", "other", "turned", "none"] {
^bb0(%x: tensor<8xi8>, %empty: tensor<4x0xi8>):
  %s = graph.constant dense<0.1> : tensor<f32> -> tensor<f32>
  %t = graph.constant dense<0.2> : tensor<f32> -> tensor<f32>
  %f_x = graph.op "DequantizeLinear" "f_x"(%x, %s) : (tensor<8xi8>, tensor<f32>) -> tensor<8xf32> {
  ^bb0(%p: tensor<8xi8>, %q: tensor<f32>):
    %e = tensor.empty() : tensor<8xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p, %q : tensor<8xi8>, tensor<f32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: i8, %b: f32, %o: f32):
      %u = arith.extui %a : i8 to i32
      %f = arith.sitofp %u : i32 to f32
      %m = arith.mulf %f, %b : f32
      linalg.yield %m : f32
    } -> tensor<8xf32>
    graph.yield %r : tensor<8xf32>
  }
  %most = graph.op "MaxPool" "most"(%f_x) : (tensor<8xf32>) -> tensor<4xf32> {
  ^bb0(%p: tensor<8xf32>):
    %n = arith.constant 0xFF800000 : f32
    %e = tensor.empty() : tensor<9xf32>
    %f = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<9xf32>) {
    ^bb0(%o: f32):
      linalg.yield %n : f32
    } -> tensor<9xf32>
    %in = tensor.insert_slice %p into %f[1] [8] [1] : tensor<8xf32> into tensor<9xf32>
    %g = tensor.empty() : tensor<4xf32>
    %h = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%g : tensor<4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %n : f32
    } -> tensor<4xf32>
    %w = tensor.empty() : tensor<3xi8>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i * 2 + j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%in, %w : tensor<9xf32>, tensor<3xi8>) outs(%h : tensor<4xf32>) {
    ^bb0(%a: f32, %b: i8, %o: f32):
      %m = arith.maximumf %o, %a : f32
      linalg.yield %m : f32
    } -> tensor<4xf32>
    graph.yield %r : tensor<4xf32>
  }
  %same = graph.op "QuantizeLinear" "same"(%most, %s) : (tensor<4xf32>, tensor<f32>) -> tensor<4xi8> {
  ^bb0(%p: tensor<4xf32>, %q: tensor<f32>):
    %e = tensor.empty() : tensor<4xi8>
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p, %q : tensor<4xf32>, tensor<f32>) outs(%e : tensor<4xi8>) {
    ^bb0(%a: f32, %b: f32, %o: i8):
      %d = arith.divf %a, %b : f32
      %h = math.roundeven %d : f32
      %low = arith.constant 0.0 : f32
      %high = arith.constant 255.0 : f32
      %i1 = arith.cmpf ogt, %h, %low : f32
      %j1 = arith.select %i1, %h, %low : f32
      %k1 = arith.cmpf olt, %j1, %high : f32
      %l1 = arith.select %k1, %j1, %high : f32
      %m = arith.fptoui %l1 : f32 to i8
      linalg.yield %m : i8
    } -> tensor<4xi8>
    graph.yield %r : tensor<4xi8>
  }
  %behind = graph.op "MaxPool" "behind"(%f_x) : (tensor<8xf32>) -> tensor<7xf32> {
  ^bb0(%p: tensor<8xf32>):
    %n = arith.constant 0xFF800000 : f32
    %e = tensor.empty() : tensor<15xf32>
    %f = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<15xf32>) {
    ^bb0(%o: f32):
      linalg.yield %n : f32
    } -> tensor<15xf32>
    %in = tensor.insert_slice %p into %f[1] [8] [1] : tensor<8xf32> into tensor<15xf32>
    %g = tensor.empty() : tensor<7xf32>
    %h = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%g : tensor<7xf32>) {
    ^bb0(%o: f32):
      linalg.yield %n : f32
    } -> tensor<7xf32>
    %w = tensor.empty() : tensor<3xi8>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i * 2 + j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%in, %w : tensor<15xf32>, tensor<3xi8>) outs(%h : tensor<7xf32>) {
    ^bb0(%a: f32, %b: i8, %o: f32):
      %m = arith.maximumf %o, %a : f32
      linalg.yield %m : f32
    } -> tensor<7xf32>
    graph.yield %r : tensor<7xf32>
  }
  %other = graph.op "QuantizeLinear" "other"(%most, %t) : (tensor<4xf32>, tensor<f32>) -> tensor<4xi8> {
  ^bb0(%p: tensor<4xf32>, %q: tensor<f32>):
    %e = tensor.empty() : tensor<4xi8>
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p, %q : tensor<4xf32>, tensor<f32>) outs(%e : tensor<4xi8>) {
    ^bb0(%a: f32, %b: f32, %o: i8):
      %d = arith.divf %a, %b : f32
      %h = math.roundeven %d : f32
      %low = arith.constant 0.0 : f32
      %high = arith.constant 255.0 : f32
      %i1 = arith.cmpf ogt, %h, %low : f32
      %j1 = arith.select %i1, %h, %low : f32
      %k1 = arith.cmpf olt, %j1, %high : f32
      %l1 = arith.select %k1, %j1, %high : f32
      %m = arith.fptoui %l1 : f32 to i8
      linalg.yield %m : i8
    } -> tensor<4xi8>
    graph.yield %r : tensor<4xi8>
  }
  %turned = graph.op "QuantizeLinear" "turned"(%most, %s) : (tensor<4xf32>, tensor<f32>) -> tensor<4xi8> {
  ^bb0(%p: tensor<4xf32>, %q: tensor<f32>):
    %e = tensor.empty() : tensor<4xi8>
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p, %q : tensor<4xf32>, tensor<f32>) outs(%e : tensor<4xi8>) {
    ^bb0(%a: f32, %b: f32, %o: i8):
      %d = arith.divf %a, %b : f32
      %h = math.roundeven %d : f32
      %low = arith.constant 0.0 : f32
      %high = arith.constant 255.0 : f32
      %i1 = arith.cmpf ogt, %h, %low : f32
      %j1 = arith.select %i1, %h, %low : f32
      %k1 = arith.cmpf olt, %j1, %high : f32
      %l1 = arith.select %k1, %j1, %high : f32
      %m = arith.fptoui %l1 : f32 to i8
      %sign = arith.constant -128 : i8
      %x1 = arith.xori %m, %sign : i8
      linalg.yield %x1 : i8
    } -> tensor<4xi8>
    graph.yield %r : tensor<4xi8>
  }
  %f_e = graph.op "DequantizeLinear" "f_e"(%empty, %s) : (tensor<4x0xi8>, tensor<f32>) -> tensor<4x0xf32> {
  ^bb0(%p: tensor<4x0xi8>, %q: tensor<f32>):
    %e = tensor.empty() : tensor<4x0xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p, %q : tensor<4x0xi8>, tensor<f32>) outs(%e : tensor<4x0xf32>) {
    ^bb0(%a: i8, %b: f32, %o: f32):
      %u = arith.extui %a : i8 to i32
      %f = arith.sitofp %u : i32 to f32
      %m = arith.mulf %f, %b : f32
      linalg.yield %m : f32
    } -> tensor<4x0xf32>
    graph.yield %r : tensor<4x0xf32>
  }
  %none = graph.op "ReduceMax" "none"(%f_e) : (tensor<4x0xf32>) -> tensor<4xf32> {
  ^bb0(%p: tensor<4x0xf32>):
    %n = arith.constant 0xFF800000 : f32
    %g = tensor.empty() : tensor<4xf32>
    %h = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%g : tensor<4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %n : f32
    } -> tensor<4xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<4x0xf32>) outs(%h : tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %m = arith.maximumf %o, %a : f32
      linalg.yield %m : f32
    } -> tensor<4xf32>
    graph.yield %r : tensor<4xf32>
  }
  graph.output %same, %behind, %other, %turned, %none : tensor<4xi8>, tensor<7xf32>, tensor<4xi8>, tensor<4xi8>, tensor<4xf32>
}
