// Where tiles of two columns end, the last column is done in tiles of as many more rows: `grow` names the axis of the rows.
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx2.mlir --tile-to-device | FileCheck %s

#x = affine_map<(y, x, n, k) -> (y, x, k)>
#w = affine_map<(y, x, n, k) -> (k, n)>
#o = affine_map<(y, x, n, k) -> (y, x, n)>

// Four of five columns in tiles of one row and two columns, and the fifth in tiles of two rows, the last of which has one.
// CHECK-LABEL: device.kernel @grows
//       CHECK:   scf.for %[[X:.+]] = %{{.+}} to %[[FOUR:.+]] step %[[TWO:.+]] {
//       CHECK:     %[[FIVE:.+]] = arith.constant 5 : index
//       CHECK:     scf.for %{{.+}} = %{{.+}} to %[[FIVE]] step %[[ONE:.+]] {
//       CHECK:   %[[END:.+]] = arith.constant 4 : index
//       CHECK:   %[[STEP:.+]] = arith.constant 2 : index
//       CHECK:   scf.for %{{.+}} = %{{.+}} to %[[END]] step %[[STEP]] {
tile.kernel @grows {
^bb0(%a: tensor<5x5x8xf32>, %b: tensor<8x8xf32>, %o: tensor<5x5x8xf32>):
  %x = tile.load %a to @dram : tensor<5x5x8xf32>
  %w = tile.load %b to @vreg : tensor<8x8xf32>
  %c = tile.compute ins(%x, %w) outs(%o) on @valu lanes 2 tiles [#tile.rtile<"dram" [5, 5, 8, 8]>, #tile.rtile<"vreg" [1, 2, 8, 1]>] schedule <order = [1, 0, 2], grow = 0> : (tensor<5x5x8xf32>, tensor<8x8xf32>, tensor<5x5x8xf32>) -> tensor<5x5x8xf32> {
  ^bb0(%p: tensor<5x5x8xf32>, %q: tensor<8x8xf32>, %s: tensor<5x5x8xf32>):
    %r = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p, %q : tensor<5x5x8xf32>, tensor<8x8xf32>) outs(%s : tensor<5x5x8xf32>) {
    ^bb0(%u: f32, %v: f32, %t: f32):
      %m = arith.mulf %u, %v : f32
      %n = arith.addf %t, %m : f32
      linalg.yield %n : f32
    } -> tensor<5x5x8xf32>
    tile.yield %r : tensor<5x5x8xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<5x5x8xf32>
  tile.yield %s : tensor<5x5x8xf32>
}
