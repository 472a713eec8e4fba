// Tile programs are written in the machine's instructions.
// RUN: not weft-opt %s --device-load-machine=file=%S/../Inputs/fma.mlir --tile-to-device --split-input-file 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REFUSED < %t

// Tiles of 2 x 16 on 3 x 20: the last row and the last 4 columns are bodies of their own
// size, and nothing is computed twice.
// CHECK-LABEL: device.kernel @ragged tasks 1 {
//  CHECK-NEXT: ^bb0(%{{.+}}: index, %[[X:.+]]: memref<3x5xf32>, %[[W:.+]]: memref<5x20xf32>, %[[O:.+]]: memref<3x20xf32>):

// 2 x 16: two rows of two registers.
//       CHECK:   %[[C:.+]] = device.alloc : memref<2x2x8xf32, "vreg">
//       CHECK:   device.copy @load %[[O]]{{.+}} to %[[C]]{{.+}} count 8
//       CHECK:   scf.for %[[K:.+]] =
//       CHECK:     %[[B:.+]] = device.alloc : memref<2x8xf32, "vreg">
//       CHECK:     device.copy @load %[[W]][%[[K]], %{{.+}}] to %[[B]]{{.+}} count 8
//       CHECK:     affine.for %[[ROW:.+]] = 0 to 2 {
//       CHECK:       affine.for %[[REGISTER:.+]] = 0 to 2 {
//       CHECK:         device.invoke @fma(%[[X]][%{{.+}}, %[[K]]], %[[B]][%[[REGISTER]], %{{.+}}], %[[C]][%[[ROW]], %[[REGISTER]], %{{.+}}])
//       CHECK:   device.copy @store %[[C]]{{.+}} to %[[O]]{{.+}} count 8

// 1 x 16: the third row.
//       CHECK:   device.alloc : memref<2x8xf32, "vreg">
//       CHECK:   device.invoke @fma(%[[X]][%{{.+}}, %{{.+}}]

// 2 x 4: a register with four lanes in use.
//       CHECK:   %[[D:.+]] = device.alloc : memref<2x1x8xf32, "vreg">
//       CHECK:   device.copy @load %[[W]]{{.+}} count 4
//       CHECK:   device.copy @store %[[D]]{{.+}} to %[[O]]{{.+}} count 4

// 1 x 4.
//       CHECK:   %[[E:.+]] = device.alloc : memref<1x8xf32, "vreg">
//       CHECK:   device.copy @store %[[E]]{{.+}} to %[[O]]{{.+}} count 4
//   CHECK-NOT:   device.copy
tile.kernel @ragged {
^bb0(%x: tensor<3x5xf32>, %w: tensor<5x20xf32>, %o: tensor<3x20xf32>):
  %a = tile.load %x to @dram : tensor<3x5xf32>
  %b = tile.load %w to @vreg : tensor<5x20xf32>
  %c = tile.compute ins(%a, %b) outs(%o) on @fma lanes 1 tiles [#tile.rtile<"l2"[3, 20, 5]>, #tile.rtile<"vreg"[2, 16, 1]>] schedule <order = [1, 0]> : (tensor<3x5xf32>, tensor<5x20xf32>, tensor<3x20xf32>) -> tensor<3x20xf32> {
  ^bb0(%d: tensor<3x5xf32>, %e: tensor<5x20xf32>, %f: tensor<3x20xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%d, %e : tensor<3x5xf32>, tensor<5x20xf32>) outs(%f : tensor<3x20xf32>) {
    ^bb0(%p: f32, %q: f32, %v: f32):
      %t = arith.mulf %p, %q : f32
      %u = arith.addf %v, %t : f32
      linalg.yield %u : f32
    } -> tensor<3x20xf32>
    tile.yield %r : tensor<3x20xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<3x20xf32>
  tile.yield %s : tensor<3x20xf32>
}

// -----

// Lanes that fold apart start with what changes nothing, and are combined at the end; the
// last 4 of 20 points leave the other lanes alone.
// CHECK-LABEL: device.kernel @row_sum tasks 1 {
//       CHECK:   %[[LANES:.+]] = device.alloc : memref<1x8xf32, "vreg">
//       CHECK:   device.apply @valu lanes 8 ins() outs(%[[LANES]]
//       CHECK:     arith.constant -0.000000e+00 : f32
//       CHECK:   scf.for
//       CHECK:     device.copy @load {{.+}} count 8
//       CHECK:     device.apply @valu lanes 8
//       CHECK:       arith.addf
//       CHECK:   device.combine @valu lanes 8 ins(%[[LANES]]{{.+}} outs(%[[SUM:[0-9]+]][
//       CHECK:     arith.addf
//       CHECK:   device.copy @store %[[SUM]]{{.+}} count 1
tile.kernel @row_sum {
^bb0(%x: tensor<4x20xf32>, %o: tensor<4xf32>):
  %a = tile.load %x to @vreg : tensor<4x20xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 1 tiles [#tile.rtile<"l2"[4, 20]>, #tile.rtile<"vreg"[1, 8]>] : (tensor<4x20xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%d: tensor<4x20xf32>, %f: tensor<4xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%d : tensor<4x20xf32>) outs(%f : tensor<4xf32>) {
    ^bb0(%p: f32, %v: f32):
      %u = arith.addf %v, %p : f32
      linalg.yield %u : f32
    } -> tensor<4xf32>
    tile.yield %r : tensor<4xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<4xf32>
  tile.yield %s : tensor<4xf32>
}

// -----

// Every second column, by a move that can stride; two rTasks of one row each.
// CHECK-LABEL: device.kernel @strided tasks 2 {
//  CHECK-NEXT: ^bb0(%[[TASK:.+]]: index,
//       CHECK:   scf.for %[[ROW:.+]] = %[[TASK]] to
//       CHECK:     device.copy @load %{{.+}}[%[[ROW]], %{{.+}}] to %{{.+}} count 8 from_dim 1 from_step 2
//       CHECK:     device.copy @store %{{.+}} to %{{.+}}[%[[ROW]], %{{.+}}] count 8 :
tile.kernel @strided {
^bb0(%x: tensor<2x16xf32>, %o: tensor<2x8xf32>):
  %a = tile.load %x to @vreg : tensor<2x16xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 1 tiles [#tile.rtile<"l2"[1, 8]>, #tile.rtile<"vreg"[1, 8]>] : (tensor<2x16xf32>, tensor<2x8xf32>) -> tensor<2x8xf32> {
  ^bb0(%d: tensor<2x16xf32>, %f: tensor<2x8xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j * 2 + 1)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%d : tensor<2x16xf32>) outs(%f : tensor<2x8xf32>) {
    ^bb0(%p: f32, %v: f32):
      linalg.yield %p : f32
    } -> tensor<2x8xf32>
    tile.yield %r : tensor<2x8xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<2x8xf32>
  tile.yield %s : tensor<2x8xf32>
}

// -----

// REFUSED: @plain has no tiles
// REFUSED: help: run tile-construct-rtiles first
tile.kernel @plain {
^bb0(%x: tensor<8xf32>, %o: tensor<8xf32>):
  tile.yield %x : tensor<8xf32>
}

// -----

// REFUSED: @fma does not mean what @doubles computes
// REFUSED: note: its meaning is here
// REFUSED: help: name an instruction of the same body and operands, or a lane unit
tile.kernel @doubles {
^bb0(%x: tensor<8xf32>, %o: tensor<8xf32>):
  %a = tile.load %x to @vreg : tensor<8xf32>
  %c = tile.compute ins(%a) outs(%o) on @fma lanes 0 tiles [#tile.rtile<"l2"[8]>, #tile.rtile<"vreg"[8]>] : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%d: tensor<8xf32>, %f: tensor<8xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%d : tensor<8xf32>) outs(%f : tensor<8xf32>) {
    ^bb0(%p: f32, %v: f32):
      %u = arith.addf %p, %p : f32
      linalg.yield %u : f32
    } -> tensor<8xf32>
    tile.yield %r : tensor<8xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<8xf32>
  tile.yield %s : tensor<8xf32>
}
