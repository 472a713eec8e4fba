// Rows that lie far from each other are laid out in panels where a cache would not hold them.
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/fma-caches.mlir --tile-pack-weights --split-input-file | FileCheck %s

// What the caller gives is laid out in every run where many rows read it: 512 of them read
// rows of 1 KiB that nothing brings near in time.
// CHECK-LABEL: tile.graph @g
//       CHECK:   %[[CUT:.+]] = tile.view %arg1 : tensor<256x256xf32> to tensor<256x32x8xf32>
//       CHECK:   %[[PANELS:.+]] = tile.run "fc" @mm_pack_1(%[[CUT]])
//       CHECK:   tile.run "fc" @mm(%arg0, %[[PANELS]])
tile.graph @g inputs ["x", "w"] outputs ["y"] : (tensor<512x256xf32>, tensor<256x256xf32>) -> tensor<512x256xf32> {
^bb0(%x: tensor<512x256xf32>, %w: tensor<256x256xf32>):
  %e = tile.empty in @dram : tensor<512x256xf32>
  %y = tile.run "fc" @mm(%x, %w) into(%e) : (tensor<512x256xf32>, tensor<256x256xf32>, tensor<512x256xf32>) -> tensor<512x256xf32>
  tile.output %y : tensor<512x256xf32>
}
tile.kernel @mm {
^bb0(%x: tensor<512x256xf32>, %w: tensor<256x256xf32>, %o: tensor<512x256xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<512x256xf32>, tensor<256x256xf32>) outs(%o : tensor<512x256xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<512x256xf32>
  tile.yield %r : tensor<512x256xf32>
}

// -----

// Four rows do not pay for it.
// CHECK-LABEL: tile.graph @g
//       CHECK:   tile.run "fc" @mm(%arg0, %arg1)
//   CHECK-NOT: tile.kernel @mm_pack
tile.graph @g inputs ["x", "w"] outputs ["y"] : (tensor<4x256xf32>, tensor<256x256xf32>) -> tensor<4x256xf32> {
^bb0(%x: tensor<4x256xf32>, %w: tensor<256x256xf32>):
  %e = tile.empty in @dram : tensor<4x256xf32>
  %y = tile.run "fc" @mm(%x, %w) into(%e) : (tensor<4x256xf32>, tensor<256x256xf32>, tensor<4x256xf32>) -> tensor<4x256xf32>
  tile.output %y : tensor<4x256xf32>
}
tile.kernel @mm {
^bb0(%x: tensor<4x256xf32>, %w: tensor<256x256xf32>, %o: tensor<4x256xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x256xf32>, tensor<256x256xf32>) outs(%o : tensor<4x256xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<4x256xf32>
  tile.yield %r : tensor<4x256xf32>
}
