// Products of f32 become products of 16-bit floats on request, where an instruction multiplies these.
// RUN: weft-opt %s --device-load-machine=file=%devices/a100.mlir --graph-narrow-factors="to=bf16 remarks=true" 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx2.mlir --graph-narrow-factors="to=bf16 remarks=true" 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: weft-opt %s --device-load-machine=file=%devices/a100.mlir --graph-narrow-factors | FileCheck %s --check-prefix=ASKED

#ij = affine_map<(i, j) -> (i, j)>
#ik = affine_map<(i, j, k) -> (i, k)>
#kj = affine_map<(i, j, k) -> (k, j)>
#o = affine_map<(i, j, k) -> (i, j)>

// Both factors are rounded by themselves, sums stay what they are.
// CHECK-LABEL: graph.model @model
// CHECK:   graph.op "MatMul" "m"(%{{.+}}, %{{.+}}) : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32> {
// CHECK:     arith.truncf %{{.+}} : f32 to bf16
// CHECK:     arith.truncf %{{.+}} : f32 to bf16
// CHECK:     linalg.generic {{.+}} ins(%{{.+}}, %{{.+}} : tensor<4x8xbf16>, tensor<8x3xbf16>) outs(%{{.+}} : tensor<4x3xf32>)
// CHECK:       arith.extf
// CHECK:       arith.extf
// CHECK:       arith.mulf %{{.+}}, %{{.+}} : f32
// CHECK:       arith.addf %{{.+}}, %{{.+}} : f32
// REMARK: remark: "m" multiplies bf16
// WHOLE: remark: "m" stays whole: no instruction of @x86_avx2 multiplies bf16
// WHOLE-LABEL: graph.model @model
// WHOLE-NOT: truncf
// ASKED-LABEL: graph.model @model
// ASKED-NOT: truncf
graph.model @model inputs ["x"] outputs ["y"] {
^bb0(%x: tensor<4x8xf32>):
  %w = graph.weight "w" in "m" hash "00" : tensor<8x3xf32>
  %y = graph.op "MatMul" "m"(%x, %w) : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32> {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<8x3xf32>):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4x3xf32>
    %f = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x3xf32>) {
    ^bb0(%v: f32):
      linalg.yield %z : f32
    } -> tensor<4x3xf32>
    %r = linalg.generic {indexing_maps = [#ik, #kj, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<4x8xf32>, tensor<8x3xf32>) outs(%f : tensor<4x3xf32>) {
    ^bb0(%p: f32, %q: f32, %v: f32):
      %t = arith.mulf %p, %q : f32
      %u = arith.addf %v, %t : f32
      linalg.yield %u : f32
    } -> tensor<4x3xf32>
    graph.yield %r : tensor<4x3xf32>
  }
  graph.output %y : tensor<4x3xf32>
}
