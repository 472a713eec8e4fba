// Passes that write nests anew let them end where the ones before did.
// RUN: weft-opt %s --graph-cut-factors=f32=tf32 | FileCheck %s --check-prefix=CUT
// RUN: weft-opt %s --device-load-machine=file=%devices/a100.mlir --graph-narrow-factors=to=bf16 | FileCheck %s --check-prefix=NARROW
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/dots.mlir --graph-multiply-integers=remarks=true 2>&1 | FileCheck %s --check-prefix=INTEGERS
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/dots.mlir --graph-multiply-integers --graph-hoist-zero-points | FileCheck %s --check-prefix=HOISTED

// Zero points are multiplied with how many products are summed, which nobody knows here.
// RUN: sed 's/#sums = \["n", "", ""\]/#sums = ["n", "", "k"]/' %s > %t.mlir
// RUN: weft-opt %t.mlir --device-load-machine=file=%S/../Inputs/dots.mlir --graph-multiply-integers --graph-hoist-zero-points | FileCheck %s --check-prefix=SUMS

#sums = ["n", "", ""]
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
#id = affine_map<(i, j) -> (i, j)>
#none = affine_map<(i, j) -> ()>

graph.symbol "n" from 1 to 4
graph.symbol "k" from 1 to 8

//      CUT-LABEL: graph.model @rows
//            CUT:   ins(%{{.+}}, %{{.+}} : tensor<4x8xf32>, tensor<8x6xf32>) outs(%{{.+}}) attrs = {graph.lengths = ["n", "", ""]}
//            CUT:     arith.andi
//   NARROW-LABEL: graph.model @rows
//         NARROW:   ins(%{{.+}} : tensor<4x8xf32>) outs(%{{.+}} : tensor<4x8xbf16>) attrs = {graph.lengths = ["n", ""]}
//         NARROW:   ins(%{{.+}}, %{{.+}} : tensor<4x8xbf16>, tensor<8x6xbf16>) outs(%{{.+}}) attrs = {graph.lengths = ["n", "", ""]}
// INTEGERS-LABEL: remark: "m" multiplies integers
//       INTEGERS:   ins(%{{.+}}, %{{.+}}, %{{.+}} : tensor<4x8xi8>, tensor<8x6xi8>, tensor<i8>) outs(%{{.+}}) attrs = {graph.lengths = ["n", "", ""]}
//       INTEGERS:   ins(%{{.+}} : tensor<4x6xi32>, tensor<f32>, tensor<f32>) outs(%{{.+}}) attrs = {graph.lengths = ["n", ""]}
//        HOISTED:   ins(%{{.+}}, %{{.+}} : tensor<4x8xi8>, tensor<8x6xi8>) outs(%{{.+}}) attrs = {graph.lengths = ["n", "", ""]}
//        HOISTED:   ins(%{{.+}} : tensor<4x6xi32>
//   HOISTED-SAME:   attrs = {graph.lengths = ["n", ""]}
//           SUMS:   ins(%{{.+}}, %{{.+}}, %{{.+}} : tensor<4x8xi8>, tensor<8x6xi8>, tensor<i8>) outs(%{{.+}}) attrs = {graph.lengths = ["n", "", "k"]}
graph.model @rows inputs ["x", "w"] outputs ["y"] lengths [["n", ""], ["", ""], ["n", ""]] {
^bb0(%x: tensor<4x8xi8>, %w: tensor<8x6xi8>):
  %s = graph.constant dense<0.5> : tensor<f32> -> tensor<f32>
  %z = graph.constant dense<100> : tensor<i8> -> tensor<i8>
  %f = graph.op "DequantizeLinear" "f"(%x, %s, %z) : (tensor<4x8xi8>, tensor<f32>, tensor<i8>) -> tensor<4x8xf32> {
  ^bb0(%p: tensor<4x8xi8>, %q: tensor<f32>, %t: tensor<i8>):
    %e = tensor.empty() : tensor<4x8xf32>
    %r = linalg.generic {graph.lengths = ["n", ""], indexing_maps = [#id, #none, #none, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %q, %t : tensor<4x8xi8>, tensor<f32>, tensor<i8>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%a: i8, %b: f32, %c: i8, %o: f32):
      %u = arith.extui %a : i8 to i32
      %v = arith.extui %c : i8 to i32
      %d = arith.subi %u, %v : i32
      %g = arith.sitofp %d : i32 to f32
      %m = arith.mulf %g, %b : f32
      linalg.yield %m : f32
    } -> tensor<4x8xf32>
    graph.yield %r : tensor<4x8xf32>
  }
  %v = graph.op "DequantizeLinear" "v"(%w, %s) : (tensor<8x6xi8>, tensor<f32>) -> tensor<8x6xf32> {
  ^bb0(%p: tensor<8x6xi8>, %q: tensor<f32>):
    %e = tensor.empty() : tensor<8x6xf32>
    %r = linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %q : tensor<8x6xi8>, tensor<f32>) outs(%e : tensor<8x6xf32>) {
    ^bb0(%a: i8, %b: f32, %o: f32):
      %u = arith.extsi %a : i8 to i32
      %g = arith.sitofp %u : i32 to f32
      %m = arith.mulf %g, %b : f32
      linalg.yield %m : f32
    } -> tensor<8x6xf32>
    graph.yield %r : tensor<8x6xf32>
  }
  %y = graph.op "MatMul" "m"(%f, %v) : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32> {
  ^bb0(%p: tensor<4x8xf32>, %q: tensor<8x6xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4x6xf32>
    %g = linalg.generic {graph.lengths = ["n", ""], indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x6xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
    } -> tensor<4x6xf32>
    %r = linalg.generic {graph.lengths = #sums, indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<4x8xf32>, tensor<8x6xf32>) outs(%g : tensor<4x6xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %t = arith.addf %o, %m : f32
      linalg.yield %t : f32
    } -> tensor<4x6xf32>
    graph.yield %r : tensor<4x6xf32>
  }
  graph.output %y : tensor<4x6xf32>
}
