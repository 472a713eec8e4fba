// Constant operands are laid out in panels for the lanes that read them.
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/fma-transactions.mlir --tile-pack-weights --split-input-file | FileCheck %s

// The columns are cut in panels of one register; each panel is contiguous.
//   CHECK-DAG: #[[FROM:.+]] = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
//   CHECK-DAG: #[[TO:.+]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: tile.graph @g
//       CHECK:   %[[W:.+]] = graph.weight "w"
//       CHECK:   %[[CUT:.+]] = tile.view %[[W]] : tensor<6x32xf32> to tensor<6x4x8xf32>
//       CHECK:   %[[PANELS:.+]] = tile.run "fc" @mm_pack_1(%[[CUT]])
//       CHECK:   tile.run "fc" @mm(%arg0, %[[PANELS]]) into(%{{.+}}) : (tensor<4x6xf32>, tensor<4x6x8xf32>, tensor<4x4x8xf32>)
//       CHECK: tile.kernel @mm_pack_1 {
//       CHECK:   linalg.generic {indexing_maps = [#[[FROM]], #[[TO]]]
//       CHECK: tile.kernel @mm {
//       CHECK:   iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
tile.graph @g inputs ["x"] outputs ["y"] : (tensor<4x6xf32>) -> tensor<4x32xf32> {
^bb0(%x: tensor<4x6xf32>):
  %w = graph.weight "w" in "model" hash "00" : tensor<6x32xf32>
  %e = tile.empty in @dram : tensor<4x32xf32>
  %y = tile.run "fc" @mm(%x, %w) into(%e) : (tensor<4x6xf32>, tensor<6x32xf32>, tensor<4x32xf32>) -> tensor<4x32xf32>
  tile.output %y : tensor<4x32xf32>
}
tile.kernel @mm {
^bb0(%x: tensor<4x6xf32>, %w: tensor<6x32xf32>, %o: tensor<4x32xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x6xf32>, tensor<6x32xf32>) outs(%o : tensor<4x32xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<4x32xf32>
  tile.yield %r : tensor<4x32xf32>
}

// -----

// What comes from the caller lies as it lies.
// CHECK-LABEL: tile.graph @g
//   CHECK-NOT:   tile.view
//       CHECK:   tile.run "fc" @mm(%arg0, %arg1)
//   CHECK-NOT: tile.kernel @mm_pack
tile.graph @g inputs ["x", "w"] outputs ["y"] : (tensor<4x6xf32>, tensor<6x32xf32>) -> tensor<4x32xf32> {
^bb0(%x: tensor<4x6xf32>, %w: tensor<6x32xf32>):
  %e = tile.empty in @dram : tensor<4x32xf32>
  %y = tile.run "fc" @mm(%x, %w) into(%e) : (tensor<4x6xf32>, tensor<6x32xf32>, tensor<4x32xf32>) -> tensor<4x32xf32>
  tile.output %y : tensor<4x32xf32>
}
tile.kernel @mm {
^bb0(%x: tensor<4x6xf32>, %w: tensor<6x32xf32>, %o: tensor<4x32xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x6xf32>, tensor<6x32xf32>) outs(%o : tensor<4x32xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<4x32xf32>
  tile.yield %r : tensor<4x32xf32>
}

// -----

// Every part of 30 columns leaves many lanes without a point.
// CHECK-LABEL: tile.graph @g
//       CHECK:   %[[W:.+]] = graph.weight "w"
//       CHECK:   tile.run "fc" @mm(%arg0, %[[W]])
//   CHECK-NOT: tile.kernel @mm_pack
tile.graph @g inputs ["x"] outputs ["y"] : (tensor<4x6xf32>) -> tensor<4x30xf32> {
^bb0(%x: tensor<4x6xf32>):
  %w = graph.weight "w" in "model" hash "00" : tensor<6x30xf32>
  %e = tile.empty in @dram : tensor<4x30xf32>
  %y = tile.run "fc" @mm(%x, %w) into(%e) : (tensor<4x6xf32>, tensor<6x30xf32>, tensor<4x30xf32>) -> tensor<4x30xf32>
  tile.output %y : tensor<4x30xf32>
}
tile.kernel @mm {
^bb0(%x: tensor<4x6xf32>, %w: tensor<6x30xf32>, %o: tensor<4x30xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x6xf32>, tensor<6x30xf32>) outs(%o : tensor<4x30xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<4x30xf32>
  tile.yield %r : tensor<4x30xf32>
}

// -----

// Columns that begin with a panel of a wider tensor are panels of that one, too.
// CHECK-LABEL: tile.graph @g
//       CHECK:   tile.run "fc" @mm(%arg0, %{{.+}}) into(%{{.+}}) : (tensor<4x6xf32>, tensor<4x6x8xf32>, tensor<4x8x8xf32>)
//       CHECK: tile.kernel @mm {
//       CHECK:   tensor.extract_slice %{{.+}}[0, 2, 0] [4, 4, 8] [1, 1, 1]
tile.graph @g inputs ["x"] outputs ["y"] : (tensor<4x6xf32>) -> tensor<4x64xf32> {
^bb0(%x: tensor<4x6xf32>):
  %w = graph.weight "w" in "model" hash "00" : tensor<6x32xf32>
  %e = tile.empty in @dram : tensor<4x64xf32>
  %y = tile.run "fc" @mm(%x, %w) into(%e) : (tensor<4x6xf32>, tensor<6x32xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  tile.output %y : tensor<4x64xf32>
}
tile.kernel @mm {
^bb0(%x: tensor<4x6xf32>, %w: tensor<6x32xf32>, %o: tensor<4x64xf32>):
  %p = tensor.extract_slice %o[0, 16] [4, 32] [1, 1] : tensor<4x64xf32> to tensor<4x32xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%p : tensor<4x32xf32>) {
  ^bb0(%v: f32):
    %t = arith.constant 0.0 : f32
    linalg.yield %t : f32
  } -> tensor<4x32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x6xf32>, tensor<6x32xf32>) outs(%z : tensor<4x32xf32>) {
  ^bb0(%a: f32, %b: f32, %v: f32):
    %t = arith.mulf %a, %b : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<4x32xf32>
  %i = tensor.insert_slice %r into %o[0, 16] [4, 32] [1, 1] : tensor<4x32xf32> into tensor<4x64xf32>
  tile.yield %i : tensor<4x64xf32>
}

// -----

// Columns that begin inside of one leave the operand as it is: where they start from zeros nothing would say how many panels there are.
// CHECK-LABEL: tile.graph @g
//       CHECK:   tile.run "fc" @mm(%arg0, %{{.+}}) into(%{{.+}}) : (tensor<4x6xf32>, tensor<6x32xf32>, tensor<4x64xf32>)
//   CHECK-NOT: tile.kernel @mm_pack
tile.graph @g inputs ["x"] outputs ["y"] : (tensor<4x6xf32>) -> tensor<4x64xf32> {
^bb0(%x: tensor<4x6xf32>):
  %w = graph.weight "w" in "model" hash "00" : tensor<6x32xf32>
  %e = tile.empty in @dram : tensor<4x64xf32>
  %y = tile.run "fc" @mm(%x, %w) into(%e) : (tensor<4x6xf32>, tensor<6x32xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  tile.output %y : tensor<4x64xf32>
}
tile.kernel @mm {
^bb0(%x: tensor<4x6xf32>, %w: tensor<6x32xf32>, %o: tensor<4x64xf32>):
  %p = tensor.extract_slice %o[0, 12] [4, 32] [1, 1] : tensor<4x64xf32> to tensor<4x32xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%p : tensor<4x32xf32>) {
  ^bb0(%v: f32):
    %t = arith.constant 0.0 : f32
    linalg.yield %t : f32
  } -> tensor<4x32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x6xf32>, tensor<6x32xf32>) outs(%z : tensor<4x32xf32>) {
  ^bb0(%a: f32, %b: f32, %v: f32):
    %t = arith.mulf %a, %b : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<4x32xf32>
  %i = tensor.insert_slice %r into %o[0, 12] [4, 32] [1, 1] : tensor<4x32xf32> into tensor<4x64xf32>
  tile.yield %i : tensor<4x64xf32>
}
