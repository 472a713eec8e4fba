// Choices are ranked; the pass takes the one of the rank that it is asked for.
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/fma.mlir --tile-construct-rtiles | FileCheck %s --check-prefix=BEST
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/fma.mlir --tile-construct-rtiles=rank=1 | FileCheck %s --check-prefix=NEXT
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/fma.mlir --tile-construct-rtiles=remarks=true -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not weft-opt %s --device-load-machine=file=%S/../Inputs/fma.mlir --tile-construct-rtiles=rank=first 2>&1 | FileCheck %s --check-prefix=REFUSED

// The text says which rule made the tile, among how many, and what the terms of its cost are.
// BEST: tiles [#tile.rtile<"l2"[4, 32, 6]>, #tile.rtile<"vreg"[4, 16, 1]>]
// BEST-SAME: because "roller: fills the registers, wastes at most 0 % of an axis; one of {{[0-9]+}} tiles; 94 cycles: compute 48, loads 36, waits 48, loops 18, results 24"
// NEXT: tiles [#tile.rtile<"l2"[4, 32, 6]>, #tile.rtile<"vreg"[2, 32, 1]>]
// REMARK: rank 0: @fma, lanes on axis 1 x2, 4 rows on axis 0: 94 cycles: compute 48, loads 36, waits 48, loops 18, results 24; footprint 736 bytes, traffic 1472 bytes, waste 0.0 %; roller: fills the registers
// REMARK: rank 1: @fma, lanes on axis 1 x4, 2 rows on axis 0
// REFUSED: tile-construct-rtiles: unknown value 'first' for option 'rank'; expected a number
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
