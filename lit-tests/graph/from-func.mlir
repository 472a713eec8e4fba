// A function of upstream dialects on tensors is a model of one operator.
// RUN: split-file %s %t
// RUN: weft compile %t/layer.mlir --emit graph -o - | FileCheck %s --check-prefix=LAYER
// RUN: weft compile %t/layer.mlir --emit tile --device x86-avx2 -o - | FileCheck %s --check-prefix=TILE
// RUN: weft compile %t/tosa.mlir --emit graph -o - | FileCheck %s --check-prefix=TOSA
// RUN: weft compile %t/tosa.mlir --emit tile --device x86-avx2 -o - | FileCheck %s --check-prefix=CLAMPED
// RUN: weft run %t/filled.mlir | FileCheck %s --check-prefix=FILLED
// RUN: not weft compile %t/dynamic.mlir --emit graph -o - 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// RUN: not weft compile %t/none.mlir --emit graph -o - 2>&1 | FileCheck %s --check-prefix=NONE

//--- layer.mlir

// Named operations take their general form; inputs are named by their place.
// LAYER-LABEL: graph.model @layer inputs ["arg0", "arg1", "arg2"] outputs ["result0"] {
//       LAYER:   graph.op "Func" "layer"(%{{.+}}, %{{.+}}, %{{.+}}) : (tensor<4x8xf32>, tensor<8x16xf32>, tensor<4x16xf32>)
//   LAYER-NOT:   linalg.matmul
//       LAYER:     linalg.generic {{.+}} iterator_types = ["parallel", "parallel", "reduction"]}
//   LAYER-NOT: func.func

//       TILE: tile.run "layer" @func_0(
//       TILE: tile.kernel @func_0 {
//       TILE:   tile.compute {{.+}} on @vfma_f32
func.func @layer(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %b: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %r = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x16xf32>) outs(%b : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}

//--- tosa.mlir

// TOSA-LABEL: graph.model @clamped inputs ["arg0", "arg1"] outputs ["result0"] {
//       TOSA:   graph.op "Func" "clamped"
//   TOSA-NOT:   tosa.
//       TOSA:     arith.addf
//       TOSA:     arith.minimumf
//       TOSA:     arith.maximumf
//   TOSA-NOT:   tosa.

//    CLAMPED: tile.run "clamped" @func_0_1
//CLAMPED-NOT: tile.run
//    CLAMPED: tile.compute {{.+}} on @valu lanes
func.func @clamped(%x: tensor<3x16xf32>, %b: tensor<1x16xf32>) -> tensor<3x16xf32> {
  %s = tosa.add %x, %b : (tensor<3x16xf32>, tensor<1x16xf32>) -> tensor<3x16xf32>
  %r = tosa.clamp %s {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<3x16xf32>) -> tensor<3x16xf32>
  return %r : tensor<3x16xf32>
}

//--- filled.mlir

// A fill starts the sum: its scalar becomes part of the nest.
// FILLED: result0: float32 [4, 1]
func.func @filled(%x: tensor<4x8xf32>) -> tensor<4x1xf32> {
  %r = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  return %r : tensor<4x1xf32>
}

//--- dynamic.mlir

// DYNAMIC: error: @any takes or gives tensor<?xf32>
// DYNAMIC: Help: tensors of static shape
func.func @any(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

//--- none.mlir

// NONE: error: the module has no model
// NONE: Help: a graph.model, tile.graph or task.program, or a func.func on tensors
module {}
