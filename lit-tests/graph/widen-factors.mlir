// Products of 16-bit floats are of factors as wide as their sums where no instruction multiplies narrow ones.
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx2.mlir --graph-widen-factors="remarks=true" 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx2.mlir --graph-widen-factors=when=never | FileCheck %s --check-prefix=NARROW
// RUN: weft-opt %s --device-load-machine=file=%devices/a100.mlir --graph-widen-factors=when=always | FileCheck %s --check-prefix=NARROW
// A weight of few rows stays narrow in memory: the product extends it, by an instruction's single rounding.
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx2.mlir --graph-widen-factors --graph-to-tile --tile-fuse-elementwise --tile-inline-constants=inline=always | FileCheck %s --check-prefix=INSIDE

#ij = affine_map<(i, j) -> (i, j)>
#ik = affine_map<(i, j, k) -> (i, k)>
#kj = affine_map<(i, j, k) -> (k, j)>
#o = affine_map<(i, j, k) -> (i, j)>

// Each factor is extended once.
// CHECK-LABEL: graph.op "MatMul" "both"
// CHECK:         linalg.generic {{.+}} ins(%{{.+}} : tensor<24x64xf16>) outs(%{{.+}} : tensor<24x64xf32>)
// CHECK:           arith.extf
// CHECK:         linalg.generic {{.+}} ins(%{{.+}} : tensor<64x32xf16>) outs(%{{.+}} : tensor<64x32xf32>)
// CHECK:           arith.extf
// CHECK:         linalg.generic {{.+}} ins(%{{.+}}, %{{.+}} : tensor<24x64xf32>, tensor<64x32xf32>) outs(%{{.+}} : tensor<24x32xf32>)
// CHECK-NOT:       extf
// CHECK:           arith.mulf
// CHECK-NOT:     tensor<24x64xf16>, tensor<64x32xf16>
// REMARK: remark: "both" multiplies wide factors: {{[0-9]+}} cycles wide, {{[0-9]+}} narrow

// Here what extends the matrix, which comes with the data and is read once, takes longer.
// CHECK-LABEL: graph.op "MatMul" "once"
// CHECK:         linalg.generic {{.+}} ins(%{{.+}}, %{{.+}} : tensor<1x512xf32>, tensor<512x512xf16>)
// REMARK: remark: "once" multiplies narrow factors: {{[0-9]+}} cycles wide, {{[0-9]+}} narrow

// NARROW-LABEL: graph.op "MatMul" "both"
// NARROW:         linalg.generic {{.+}} ins(%{{.+}}, %{{.+}} : tensor<24x64xf16>, tensor<64x32xf16>)

// INSIDE: linalg.generic {{.+}} ins(%{{.+}}, %{{.+}} : tensor<24x64xf32>, tensor<64x32xf16>)
// INSIDE:   arith.extf
// INSIDE:   math.fma
graph.model @model inputs ["x", "v", "m", "p"] outputs ["y", "z", "j"] {
^bb0(%x: tensor<24x64xf16>, %v: tensor<1x512xf32>, %m: tensor<512x512xf16>, %part: tensor<12x64xf16>):
  %w = graph.constant dense<2.0> : tensor<64x32xf16> -> tensor<64x32xf16>
  %y = graph.op "MatMul" "both"(%x, %w) : (tensor<24x64xf16>, tensor<64x32xf16>) -> tensor<24x32xf32> {
  ^bb0(%a: tensor<24x64xf16>, %b: tensor<64x32xf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<24x32xf32>
    %f = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<24x32xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
    } -> tensor<24x32xf32>
    %r = linalg.generic {indexing_maps = [#ik, #kj, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<24x64xf16>, tensor<64x32xf16>) outs(%f : tensor<24x32xf32>) {
    ^bb0(%p: f16, %q: f16, %o: f32):
      %s = arith.extf %p : f16 to f32
      %t = arith.extf %q : f16 to f32
      %u = arith.mulf %s, %t : f32
      %n = arith.addf %o, %u : f32
      linalg.yield %n : f32
    } -> tensor<24x32xf32>
    graph.yield %r : tensor<24x32xf32>
  }
  %z = graph.op "MatMul" "once"(%v, %m) : (tensor<1x512xf32>, tensor<512x512xf16>) -> tensor<1x512xf32> {
  ^bb0(%a: tensor<1x512xf32>, %b: tensor<512x512xf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x512xf32>
    %f = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<1x512xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
    } -> tensor<1x512xf32>
    %r = linalg.generic {indexing_maps = [#ik, #kj, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<1x512xf32>, tensor<512x512xf16>) outs(%f : tensor<1x512xf32>) {
    ^bb0(%p: f32, %q: f16, %o: f32):
      %t = arith.extf %q : f16 to f32
      %u = arith.mulf %p, %t : f32
      %n = arith.addf %o, %u : f32
      linalg.yield %n : f32
    } -> tensor<1x512xf32>
    graph.yield %r : tensor<1x512xf32>
  }
  // Parts that are put together have no border.
  // CHECK-LABEL: graph.op "MatMul" "parts"
  // CHECK:         arith.extf
  // CHECK:         linalg.generic {{.+}} ins(%{{.+}}, %{{.+}} : tensor<24x64xf32>, tensor<64x32xf32>)
  %j = graph.op "MatMul" "parts"(%part, %w) : (tensor<12x64xf16>, tensor<64x32xf16>) -> tensor<24x32xf32> {
  ^bb0(%a: tensor<12x64xf16>, %b: tensor<64x32xf16>):
    %zero = arith.constant 0.0 : f32
    %room = tensor.empty() : tensor<24x64xf16>
    %first = tensor.insert_slice %a into %room[0, 0] [12, 64] [1, 1] : tensor<12x64xf16> into tensor<24x64xf16>
    %both = tensor.insert_slice %a into %first[12, 0] [12, 64] [1, 1] : tensor<12x64xf16> into tensor<24x64xf16>
    %e = tensor.empty() : tensor<24x32xf32>
    %f = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<24x32xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
    } -> tensor<24x32xf32>
    %r = linalg.generic {indexing_maps = [#ik, #kj, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%both, %b : tensor<24x64xf16>, tensor<64x32xf16>) outs(%f : tensor<24x32xf32>) {
    ^bb0(%p: f16, %q: f16, %o: f32):
      %s = arith.extf %p : f16 to f32
      %t = arith.extf %q : f16 to f32
      %u = arith.mulf %s, %t : f32
      %n = arith.addf %o, %u : f32
      linalg.yield %n : f32
    } -> tensor<24x32xf32>
    graph.yield %r : tensor<24x32xf32>
  }
  graph.output %y, %z, %j : tensor<24x32xf32>, tensor<1x512xf32>, tensor<24x32xf32>
}
