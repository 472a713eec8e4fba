// Kernels become tile programs: an instruction, an axis for its lanes, two rTiles.
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/fma.mlir --tile-construct-rtiles --split-input-file | FileCheck %s
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/fma.mlir --tile-construct-rtiles=remarks=true --split-input-file 2>&1 | FileCheck %s --check-prefix=REMARK

// The instruction means the body: one %x for all lanes, the lanes along the columns.
// CHECK-LABEL: tile.kernel @mm {
//       CHECK:   %[[X:.+]] = tile.load %arg0 to @dram
//       CHECK:   %[[W:.+]] = tile.load %arg1 to @vreg
//       CHECK:   %[[Y:.+]] = tile.compute ins(%[[X]], %[[W]]) outs(%arg2) on @fma lanes 1
//  CHECK-SAME:     tiles [#tile.rtile<"l2"[4, 16, 6]>, #tile.rtile<"vreg"[4, 16, 1]>]
//       CHECK:   tile.store %[[Y]] from @vreg to %arg2

// What was chosen is said on request, with what came second.
//      REMARK: remark: @mm: @fma, lanes on axis 1 x2, 4 rows on axis 0 with {{.+}} cycles predicted; second
tile.kernel @mm {
^bb0(%x: tensor<4x6xf32>, %w: tensor<6x16xf32>, %o: tensor<4x16xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x6xf32>, tensor<6x16xf32>) outs(%o : tensor<4x16xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<4x16xf32>
  tile.yield %r : tensor<4x16xf32>
}

// -----

// Nothing but the sum is long: lanes fold apart, and are combined at the end.
// CHECK-LABEL: tile.kernel @row_sum {
//       CHECK:   tile.compute {{.+}} on @valu lanes 1 tiles [{{.+}}, #tile.rtile<"vreg"[4, 8]>]
tile.kernel @row_sum {
^bb0(%x: tensor<4x40xf32>, %o: tensor<4xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x40xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%p: f32, %v: f32):
    %u = arith.addf %v, %p : f32
    linalg.yield %u : f32
  } -> tensor<4xf32>
  tile.yield %r : tensor<4xf32>
}
