// What the schedule of tasks counts for a kernel is what the tile stage predicts of the tiles in the
// text: the same number that the text gives as the reason for them, and another one for other tiles.
//
// RUN: weft compile %s --device x86-avx512 --emit tile -o %t.tile.mlir
// RUN: weft compile %t.tile.mlir --emit task -o - | FileCheck %s
// RUN: weft compile %s --device systolic --emit task -o - | FileCheck %s
// RUN: sed 's/"vreg"\[[0-9]*, [0-9]*, 1\]/"vreg"[1, 16, 1]/' %t.tile.mlir > %t.edited.mlir
// RUN: weft compile %t.edited.mlir --emit task -o - | FileCheck %s --check-prefix=EDITED
// RUN: weft compile %s --device stcp920-like --emit task -o - | FileCheck %s --check-prefix=SHARED

// CHECK: task.range "{{.+}}" @[[KERNEL:[a-z_0-9]+]][0 to {{[0-9]+}}] {{.+}} cycles([[#CYCLES:]])
// CHECK: tile.kernel @[[KERNEL]]
// CHECK: because "roller: {{[^"]+}}; [[#CYCLES]] cycles: compute

// One row of a register waits for its sums at every step: more than the 16916 of 14 rows.
// EDITED: task.range {{.+}} cycles({{[1-9][0-9][0-9][0-9][0-9][0-9]}})

// Ten units have a tenth each of what one would take.
// SHARED-COUNT-10: cycles([[#TENTH:1264]])
// SHARED: because "roller: {{[^"]+}}; [[#mul(10,TENTH)]] cycles: compute

func.func @product(%a: tensor<96x64xf32>, %b: tensor<64x80xf32>) -> tensor<96x80xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<96x80xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<96x80xf32>) -> tensor<96x80xf32>
  %c = linalg.matmul ins(%a, %b : tensor<96x64xf32>, tensor<64x80xf32>)
                     outs(%start : tensor<96x80xf32>) -> tensor<96x80xf32>
  return %c : tensor<96x80xf32>
}
