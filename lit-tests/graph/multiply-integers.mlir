// Products of dequantised numbers are those of the integers behind them, times both scales.
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/dots.mlir --graph-multiply-integers=remarks=true --split-input-file 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/dots.mlir --graph-multiply-integers=products=floats --split-input-file | FileCheck %s --check-prefix=FLOATS
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/fma.mlir --graph-multiply-integers --split-input-file | FileCheck %s --check-prefix=FLOATS

// An array that takes as long for bytes as for floats multiplies floats.
// RUN: weft-opt %s --device-load-machine="file=%devices/systolic.mlir" --graph-multiply-integers --split-input-file | FileCheck %s --check-prefix=FLOATS

// FLOATS-LABEL: graph.model @plain
// FLOATS-COUNT-2: "DequantizeLinear"
// FLOATS: "MatMul" "m"(%{{.+}}, %{{.+}}) : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>

// A zero point on the left, a scale for each column on the right; what the sums started with, a literal, stays in front.
//      REMARK: remark: "m" multiplies integers
// CHECK-LABEL: graph.model @plain
//   CHECK-NOT:   "DequantizeLinear"
//       CHECK:   graph.op "MatMul" "m"(%arg0, %{{.+}}, %{{.+}}, %arg1, %{{.+}}) : (tensor<4x8xi8>, tensor<i8>, tensor<f32>, tensor<8x6xi8>, tensor<6xf32>) -> tensor<4x6xf32>
//       CHECK:     linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%{{.+}}, %{{.+}}, %{{.+}} : tensor<4x8xi8>, tensor<8x6xi8>, tensor<i8>)
//       CHECK:       arith.extui
//       CHECK:       arith.subi
//       CHECK:       arith.extsi
//       CHECK:       arith.muli
//       CHECK:     linalg.generic {{.*}} ins(%{{.+}}, %{{.+}}, %{{.+}} : tensor<4x6xi32>, tensor<f32>, tensor<6xf32>)
//       CHECK:       arith.sitofp
//       CHECK:       arith.mulf
//       CHECK:       arith.mulf
//       CHECK:       arith.constant 0.0
//       CHECK:       arith.addf
graph.model @plain inputs ["x", "w"] outputs ["y"] {
^bb0(%x: tensor<4x8xi8>, %w: tensor<8x6xi8>):
  %s_x = graph.constant dense<0.5> : tensor<f32> -> tensor<f32>
  %z_x = graph.constant dense<100> : tensor<i8> -> tensor<i8>
  %f_x = graph.op "DequantizeLinear" "f_x"(%x, %s_x, %z_x) : (tensor<4x8xi8>, tensor<f32>, tensor<i8>) -> tensor<4x8xf32> {
  ^bb0(%p: tensor<4x8xi8>, %q: tensor<f32>, %t: tensor<i8>):
    %e = tensor.empty() : tensor<4x8xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p, %q, %t : tensor<4x8xi8>, tensor<f32>, tensor<i8>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%a: i8, %b: f32, %c: i8, %o: f32):
      %u = arith.extui %a : i8 to i32
      %v = arith.extui %c : i8 to i32
      %d = arith.subi %u, %v : i32
      %f = arith.sitofp %d : i32 to f32
      %m = arith.mulf %f, %b : f32
      linalg.yield %m : f32
    } -> tensor<4x8xf32>
    graph.yield %r : tensor<4x8xf32>
  }
  %s_w = graph.constant dense<0.5> : tensor<6xf32> -> tensor<6xf32>
  %f_w = graph.op "DequantizeLinear" "f_w"(%w, %s_w) : (tensor<8x6xi8>, tensor<6xf32>) -> tensor<8x6xf32> {
  ^bb0(%p: tensor<8x6xi8>, %q: tensor<6xf32>):
    %e = tensor.empty() : tensor<8x6xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p, %q : tensor<8x6xi8>, tensor<6xf32>) outs(%e : tensor<8x6xf32>) {
    ^bb0(%a: i8, %b: f32, %o: f32):
      %u = arith.extsi %a : i8 to i32
      %f = arith.sitofp %u : i32 to f32
      %m = arith.mulf %f, %b : f32
      linalg.yield %m : f32
    } -> tensor<8x6xf32>
    graph.yield %r : tensor<8x6xf32>
  }
  %y_m = graph.op "MatMul" "m"(%f_x, %f_w) : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32> {
  ^bb0(%p: tensor<4x8xf32>, %q: tensor<8x6xf32>):
    %n = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4x6xf32>
    %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x6xf32>) {
    ^bb0(%o: f32):
      linalg.yield %n : f32
    } -> tensor<4x6xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<4x8xf32>, tensor<8x6xf32>) outs(%b : tensor<4x6xf32>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %u = arith.mulf %a, %c : f32
      %v = arith.addf %o, %u : f32
      linalg.yield %v : f32
    } -> tensor<4x6xf32>
    graph.yield %r : tensor<4x6xf32>
  }
  graph.output %y_m : tensor<4x6xf32>
}

// -----

// A transpose moves bytes, and the scale comes behind it: it is nobody's then.
//      REMARK: remark: "m" multiplies integers
// CHECK-LABEL: graph.model @moved
//       CHECK:   %[[T:.+]] = graph.op "Transpose" "t"(%arg0) : (tensor<8x4xi8>) -> tensor<4x8xi8>
//   CHECK-NOT:   "DequantizeLinear"
//       CHECK:   graph.op "MatMul" "m"(%[[T]],
graph.model @moved inputs ["x", "w"] outputs ["y"] {
^bb0(%x: tensor<8x4xi8>, %w: tensor<8x6xi8>):
  %s_x = graph.constant dense<0.5> : tensor<f32> -> tensor<f32>
  %z_x = graph.constant dense<100> : tensor<i8> -> tensor<i8>
  %f_x = graph.op "DequantizeLinear" "f_x"(%x, %s_x, %z_x) : (tensor<8x4xi8>, tensor<f32>, tensor<i8>) -> tensor<8x4xf32> {
  ^bb0(%p: tensor<8x4xi8>, %q: tensor<f32>, %t: tensor<i8>):
    %e = tensor.empty() : tensor<8x4xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p, %q, %t : tensor<8x4xi8>, tensor<f32>, tensor<i8>) outs(%e : tensor<8x4xf32>) {
    ^bb0(%a: i8, %b: f32, %c: i8, %o: f32):
      %u = arith.extui %a : i8 to i32
      %v = arith.extui %c : i8 to i32
      %d = arith.subi %u, %v : i32
      %f = arith.sitofp %d : i32 to f32
      %m = arith.mulf %f, %b : f32
      linalg.yield %m : f32
    } -> tensor<8x4xf32>
    graph.yield %r : tensor<8x4xf32>
  }
  %s_w = graph.constant dense<0.5> : tensor<f32> -> tensor<f32>
  %f_w = graph.op "DequantizeLinear" "f_w"(%w, %s_w) : (tensor<8x6xi8>, tensor<f32>) -> tensor<8x6xf32> {
  ^bb0(%p: tensor<8x6xi8>, %q: tensor<f32>):
    %e = tensor.empty() : tensor<8x6xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p, %q : tensor<8x6xi8>, tensor<f32>) outs(%e : tensor<8x6xf32>) {
    ^bb0(%a: i8, %b: f32, %o: f32):
      %u = arith.extsi %a : i8 to i32
      %f = arith.sitofp %u : i32 to f32
      %m = arith.mulf %f, %b : f32
      linalg.yield %m : f32
    } -> tensor<8x6xf32>
    graph.yield %r : tensor<8x6xf32>
  }
  %t = graph.op "Transpose" "t"(%f_x) : (tensor<8x4xf32>) -> tensor<4x8xf32> {
  ^bb0(%p: tensor<8x4xf32>):
    %e = tensor.empty() : tensor<4x8xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<8x4xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    } -> tensor<4x8xf32>
    graph.yield %r : tensor<4x8xf32>
  }
  %y_m = graph.op "MatMul" "m"(%t, %f_w) : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32> {
  ^bb0(%p: tensor<4x8xf32>, %q: tensor<8x6xf32>):
    %n = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4x6xf32>
    %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x6xf32>) {
    ^bb0(%o: f32):
      linalg.yield %n : f32
    } -> tensor<4x6xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<4x8xf32>, tensor<8x6xf32>) outs(%b : tensor<4x6xf32>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %u = arith.mulf %a, %c : f32
      %v = arith.addf %o, %u : f32
      linalg.yield %v : f32
    } -> tensor<4x6xf32>
    graph.yield %r : tensor<4x6xf32>
  }
  graph.output %y_m : tensor<4x6xf32>
}

// -----

// A scale that moves along the reduction cannot go in front of the sum, a sum of 33,028 products of up to 255 * 255 may leave 32 bits,
// and quads do not divide a reduction of 6.
//  REMARK-NOT: remark:
// CHECK-LABEL: graph.model @rows
//       CHECK:   "DequantizeLinear"
//   CHECK-NOT:   arith.muli
// CHECK-LABEL: graph.model @long
//   CHECK-NOT:   arith.muli
// CHECK-LABEL: graph.model @odd
//   CHECK-NOT:   arith.muli
graph.model @rows inputs ["x", "w"] outputs ["y"] {
^bb0(%x: tensor<4x8xi8>, %w: tensor<8x6xi8>):
  %s_x = graph.constant dense<0.5> : tensor<f32> -> tensor<f32>
  %f_x = graph.op "DequantizeLinear" "f_x"(%x, %s_x) : (tensor<4x8xi8>, tensor<f32>) -> tensor<4x8xf32> {
  ^bb0(%p: tensor<4x8xi8>, %q: tensor<f32>):
    %e = tensor.empty() : tensor<4x8xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p, %q : tensor<4x8xi8>, tensor<f32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%a: i8, %b: f32, %o: f32):
      %u = arith.extui %a : i8 to i32
      %f = arith.sitofp %u : i32 to f32
      %m = arith.mulf %f, %b : f32
      linalg.yield %m : f32
    } -> tensor<4x8xf32>
    graph.yield %r : tensor<4x8xf32>
  }
  %s_w = graph.constant dense<0.5> : tensor<8xf32> -> tensor<8xf32>
  %f_w = graph.op "DequantizeLinear" "f_w"(%w, %s_w) : (tensor<8x6xi8>, tensor<8xf32>) -> tensor<8x6xf32> {
  ^bb0(%p: tensor<8x6xi8>, %q: tensor<8xf32>):
    %e = tensor.empty() : tensor<8x6xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p, %q : tensor<8x6xi8>, tensor<8xf32>) outs(%e : tensor<8x6xf32>) {
    ^bb0(%a: i8, %b: f32, %o: f32):
      %u = arith.extsi %a : i8 to i32
      %f = arith.sitofp %u : i32 to f32
      %m = arith.mulf %f, %b : f32
      linalg.yield %m : f32
    } -> tensor<8x6xf32>
    graph.yield %r : tensor<8x6xf32>
  }
  %y_m = graph.op "MatMul" "m"(%f_x, %f_w) : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32> {
  ^bb0(%p: tensor<4x8xf32>, %q: tensor<8x6xf32>):
    %n = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4x6xf32>
    %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x6xf32>) {
    ^bb0(%o: f32):
      linalg.yield %n : f32
    } -> tensor<4x6xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<4x8xf32>, tensor<8x6xf32>) outs(%b : tensor<4x6xf32>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %u = arith.mulf %a, %c : f32
      %v = arith.addf %o, %u : f32
      linalg.yield %v : f32
    } -> tensor<4x6xf32>
    graph.yield %r : tensor<4x6xf32>
  }
  graph.output %y_m : tensor<4x6xf32>
}
graph.model @long inputs ["x", "w"] outputs ["y"] {
^bb0(%x: tensor<1x33028xi8>, %w: tensor<33028x4xi8>):
  %s_x = graph.constant dense<0.5> : tensor<f32> -> tensor<f32>
  %f_x = graph.op "DequantizeLinear" "f_x"(%x, %s_x) : (tensor<1x33028xi8>, tensor<f32>) -> tensor<1x33028xf32> {
  ^bb0(%p: tensor<1x33028xi8>, %q: tensor<f32>):
    %e = tensor.empty() : tensor<1x33028xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p, %q : tensor<1x33028xi8>, tensor<f32>) outs(%e : tensor<1x33028xf32>) {
    ^bb0(%a: i8, %b: f32, %o: f32):
      %u = arith.extui %a : i8 to i32
      %f = arith.sitofp %u : i32 to f32
      %m = arith.mulf %f, %b : f32
      linalg.yield %m : f32
    } -> tensor<1x33028xf32>
    graph.yield %r : tensor<1x33028xf32>
  }
  %s_w = graph.constant dense<0.5> : tensor<f32> -> tensor<f32>
  %f_w = graph.op "DequantizeLinear" "f_w"(%w, %s_w) : (tensor<33028x4xi8>, tensor<f32>) -> tensor<33028x4xf32> {
  ^bb0(%p: tensor<33028x4xi8>, %q: tensor<f32>):
    %e = tensor.empty() : tensor<33028x4xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p, %q : tensor<33028x4xi8>, tensor<f32>) outs(%e : tensor<33028x4xf32>) {
    ^bb0(%a: i8, %b: f32, %o: f32):
      %u = arith.extsi %a : i8 to i32
      %f = arith.sitofp %u : i32 to f32
      %m = arith.mulf %f, %b : f32
      linalg.yield %m : f32
    } -> tensor<33028x4xf32>
    graph.yield %r : tensor<33028x4xf32>
  }
  %y_m = graph.op "MatMul" "m"(%f_x, %f_w) : (tensor<1x33028xf32>, tensor<33028x4xf32>) -> tensor<1x4xf32> {
  ^bb0(%p: tensor<1x33028xf32>, %q: tensor<33028x4xf32>):
    %n = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x4xf32>
    %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<1x4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %n : f32
    } -> tensor<1x4xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<1x33028xf32>, tensor<33028x4xf32>) outs(%b : tensor<1x4xf32>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %u = arith.mulf %a, %c : f32
      %v = arith.addf %o, %u : f32
      linalg.yield %v : f32
    } -> tensor<1x4xf32>
    graph.yield %r : tensor<1x4xf32>
  }
  graph.output %y_m : tensor<1x4xf32>
}
graph.model @odd inputs ["x", "w"] outputs ["y"] {
^bb0(%x: tensor<4x6xi8>, %w: tensor<6x6xi8>):
  %s_x = graph.constant dense<0.5> : tensor<f32> -> tensor<f32>
  %f_x = graph.op "DequantizeLinear" "f_x"(%x, %s_x) : (tensor<4x6xi8>, tensor<f32>) -> tensor<4x6xf32> {
  ^bb0(%p: tensor<4x6xi8>, %q: tensor<f32>):
    %e = tensor.empty() : tensor<4x6xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p, %q : tensor<4x6xi8>, tensor<f32>) outs(%e : tensor<4x6xf32>) {
    ^bb0(%a: i8, %b: f32, %o: f32):
      %u = arith.extui %a : i8 to i32
      %f = arith.sitofp %u : i32 to f32
      %m = arith.mulf %f, %b : f32
      linalg.yield %m : f32
    } -> tensor<4x6xf32>
    graph.yield %r : tensor<4x6xf32>
  }
  %s_w = graph.constant dense<0.5> : tensor<f32> -> tensor<f32>
  %f_w = graph.op "DequantizeLinear" "f_w"(%w, %s_w) : (tensor<6x6xi8>, tensor<f32>) -> tensor<6x6xf32> {
  ^bb0(%p: tensor<6x6xi8>, %q: tensor<f32>):
    %e = tensor.empty() : tensor<6x6xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p, %q : tensor<6x6xi8>, tensor<f32>) outs(%e : tensor<6x6xf32>) {
    ^bb0(%a: i8, %b: f32, %o: f32):
      %u = arith.extsi %a : i8 to i32
      %f = arith.sitofp %u : i32 to f32
      %m = arith.mulf %f, %b : f32
      linalg.yield %m : f32
    } -> tensor<6x6xf32>
    graph.yield %r : tensor<6x6xf32>
  }
  %y_m = graph.op "MatMul" "m"(%f_x, %f_w) : (tensor<4x6xf32>, tensor<6x6xf32>) -> tensor<4x6xf32> {
  ^bb0(%p: tensor<4x6xf32>, %q: tensor<6x6xf32>):
    %n = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4x6xf32>
    %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x6xf32>) {
    ^bb0(%o: f32):
      linalg.yield %n : f32
    } -> tensor<4x6xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<4x6xf32>, tensor<6x6xf32>) outs(%b : tensor<4x6xf32>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %u = arith.mulf %a, %c : f32
      %v = arith.addf %o, %u : f32
      linalg.yield %v : f32
    } -> tensor<4x6xf32>
    graph.yield %r : tensor<4x6xf32>
  }
  graph.output %y_m : tensor<4x6xf32>
}
