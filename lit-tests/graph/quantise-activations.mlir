// Activations that meet weights in blocks are rounded to integers on request, where an instruction multiplies bytes.
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx2.mlir --graph-quantise-activations="to=int16 remarks=true" 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx2.mlir --graph-quantise-activations=to=int8 | FileCheck %s --check-prefix=BYTE
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx2.mlir --graph-quantise-activations | FileCheck %s --check-prefix=ASKED
// RUN: weft-opt %s --device-load-machine=file=%devices/v100.mlir --graph-quantise-activations="to=int8 remarks=true" 2>&1 | FileCheck %s --check-prefix=NONE

#k = affine_map<(b, i, n) -> (b, i, n)>
#s = affine_map<(b, i, n) -> (b, n)>
#mn = affine_map<(m, n) -> (m, n)>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>

// The greatest of each block, two bytes of each activation, the sums of their products, and those with both scales.
// CHECK-LABEL: graph.op "MatMul" "long"
// CHECK:         math.absf
// CHECK:         arith.maximumf
// CHECK:         math.roundeven
// CHECK:         arith.fptosi %{{.+}} : f32 to i32
// CHECK:         arith.constant 32768 : i32
// CHECK:         tensor<1x2x2x128xi8>
// CHECK:         linalg.generic {{.+}} ins(%{{.+}}, %{{.+}} : tensor<1x2x2x128xi8>, tensor<2x128x16xi8>) outs(%{{.+}} : tensor<1x2x2x16xi32>)
// CHECK:         linalg.generic {{.+}} iterator_types = ["parallel", "parallel", "reduction"]} ins({{.+}}) outs(%{{.+}} : tensor<1x16xf32>)
// REMARK: remark: "long" multiplies activations of 16 bits
// BYTE-LABEL: graph.op "MatMul" "long"
// BYTE:         linalg.generic {{.+}} ins(%{{.+}}, %{{.+}} : tensor<1x1x2x128xi8>, tensor<2x128x16xi8>) outs(%{{.+}} : tensor<1x1x2x16xi32>)
// ASKED-NOT: tensor<1x2x2x128xi8>
// NONE: remark: "long" stays whole: no instruction of @v100 multiplies bytes

// Of more rows the sums are more than the weights.
// CHECK-LABEL: graph.op "MatMul" "rows"
// CHECK:         linalg.generic {{.+}} ins(%{{.+}}, %{{.+}} : tensor<9x256xf32>, tensor<256x16xf32>)
// REMARK: remark: "rows" stays whole: sums of a block move 148 bytes, more than a quarter of its 128
graph.model @model inputs ["x", "r"] outputs ["y", "z"] {
^bb0(%x: tensor<1x256xf32>, %r: tensor<9x256xf32>):
  %q = graph.constant dense<3> : tensor<256x16xi8> -> tensor<256x16xi8>
  %scale = graph.constant dense<0.5> : tensor<2x16xf32> -> tensor<2x16xf32>
  %zero = graph.constant dense<1> : tensor<2x16xi8> -> tensor<2x16xi8>
  %w = graph.op "DequantizeLinear" "w"(%q, %scale, %zero) : (tensor<256x16xi8>, tensor<2x16xf32>, tensor<2x16xi8>) -> tensor<256x16xf32> {
  ^bb0(%a: tensor<256x16xi8>, %b: tensor<2x16xf32>, %c: tensor<2x16xi8>):
    %dims = arith.constant dense<[2, 128, 16]> : tensor<3xi64>
    %cut = tensor.reshape %a(%dims) : (tensor<256x16xi8>, tensor<3xi64>) -> tensor<2x128x16xi8>
    %e = tensor.empty() : tensor<2x128x16xf32>
    %f = linalg.generic {indexing_maps = [#k, #s, #s, #k], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cut, %b, %c : tensor<2x128x16xi8>, tensor<2x16xf32>, tensor<2x16xi8>) outs(%e : tensor<2x128x16xf32>) {
    ^bb0(%p: i8, %t: f32, %u: i8, %o: f32):
      %g = arith.extsi %p : i8 to i32
      %h = arith.extsi %u : i8 to i32
      %i = arith.subi %g, %h : i32
      %j = arith.sitofp %i : i32 to f32
      %l = arith.mulf %j, %t : f32
      linalg.yield %l : f32
    } -> tensor<2x128x16xf32>
    %whole = arith.constant dense<[256, 16]> : tensor<2xi64>
    %m = tensor.reshape %f(%whole) : (tensor<2x128x16xf32>, tensor<2xi64>) -> tensor<256x16xf32>
    graph.yield %m : tensor<256x16xf32>
  }
  %y = graph.op "MatMul" "long"(%x, %w) : (tensor<1x256xf32>, tensor<256x16xf32>) -> tensor<1x16xf32> {
  ^bb0(%a: tensor<1x256xf32>, %b: tensor<256x16xf32>):
    %n = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x16xf32>
    %f = linalg.generic {indexing_maps = [#mn], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<1x16xf32>) {
    ^bb0(%o: f32):
      linalg.yield %n : f32
    } -> tensor<1x16xf32>
    %g = linalg.generic {indexing_maps = [#mk, #kn, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<1x256xf32>, tensor<256x16xf32>) outs(%f : tensor<1x16xf32>) {
    ^bb0(%p: f32, %t: f32, %o: f32):
      %h = arith.mulf %p, %t : f32
      %i = arith.addf %o, %h : f32
      linalg.yield %i : f32
    } -> tensor<1x16xf32>
    graph.yield %g : tensor<1x16xf32>
  }
  %z = graph.op "MatMul" "rows"(%r, %w) : (tensor<9x256xf32>, tensor<256x16xf32>) -> tensor<9x16xf32> {
  ^bb0(%a: tensor<9x256xf32>, %b: tensor<256x16xf32>):
    %n = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<9x16xf32>
    %f = linalg.generic {indexing_maps = [#mn], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<9x16xf32>) {
    ^bb0(%o: f32):
      linalg.yield %n : f32
    } -> tensor<9x16xf32>
    %g = linalg.generic {indexing_maps = [#mk, #kn, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<9x256xf32>, tensor<256x16xf32>) outs(%f : tensor<9x16xf32>) {
    ^bb0(%p: f32, %t: f32, %o: f32):
      %h = arith.mulf %p, %t : f32
      %i = arith.addf %o, %h : f32
      linalg.yield %i : f32
    } -> tensor<9x16xf32>
    graph.yield %g : tensor<9x16xf32>
  }
  graph.output %y, %z : tensor<1x16xf32>, tensor<9x16xf32>
}
