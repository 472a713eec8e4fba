// What lanes add up of a reduction lies side by side in each lane.
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/dots.mlir --tile-pack-depth --split-input-file | FileCheck %s
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/dots.mlir --tile-pack-depth=remarks=true --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/dots.mlir --tile-pack-depth --tile-pack-weights --tile-construct-rtiles --split-input-file | FileCheck %s --check-prefix=TILES
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/dots.mlir --tile-pack-depth=depth=none --split-input-file | FileCheck %s --check-prefix=NONE
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/fma.mlir --tile-pack-depth --split-input-file | FileCheck %s --check-prefix=NONE

// NONE-NOT: @mm_pack


// Quads of the reduction and panels of four columns; the weight is laid out once.
//      REMARK: remark: @mm: 4 neighbours of axis 2 lie in each lane with {{[0-9]+}} cycles predicted; second as they lie with
//   CHECK-DAG: #[[A:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d3)>
//   CHECK-DAG: #[[B:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d4, d3)>
// CHECK-LABEL: tile.graph @g
//       CHECK:   %[[W:.+]] = graph.weight "w"
//       CHECK:   %[[CUT:.+]] = tile.view %[[W]] : tensor<8x12xi8> to tensor<2x4x3x4xi8>
//       CHECK:   %[[P:.+]] = tile.run "fc" @mm_pack_1(%[[CUT]]) {{.*}} -> tensor<3x2x4x4xi8>
//       CHECK:   %[[X:.+]] = tile.view %arg0 : tensor<5x8xi8> to tensor<5x2x4xi8>
//       CHECK:   tile.run "fc" @mm(%[[X]], %[[P]])
//       CHECK: tile.kernel @mm {
//       CHECK:   linalg.generic {indexing_maps = [#[[A]], #[[B]], {{.*}} iterator_types = ["parallel", "parallel", "reduction", "reduction", "parallel"]}
// TILES-LABEL: tile.kernel @mm {
//       TILES:   tile.compute {{.*}} on @dot lanes 4
tile.graph @g inputs ["x"] outputs ["y"] : (tensor<5x8xi8>) -> tensor<5x12xi32> {
^bb0(%x: tensor<5x8xi8>):
  %w = graph.weight "w" in "model" hash "00" : tensor<8x12xi8>
  %e = tile.empty in @dram : tensor<5x12xi32>
  %y = tile.run "fc" @mm(%x, %w) into(%e) : (tensor<5x8xi8>, tensor<8x12xi8>, tensor<5x12xi32>) -> tensor<5x12xi32>
  tile.output %y : tensor<5x12xi32>
}
tile.kernel @mm {
^bb0(%x: tensor<5x8xi8>, %w: tensor<8x12xi8>, %o: tensor<5x12xi32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<5x8xi8>, tensor<8x12xi8>) outs(%o : tensor<5x12xi32>) {
  ^bb0(%p: i8, %q: i8, %v: i32):
    %s = arith.extui %p : i8 to i32
    %t = arith.extsi %q : i8 to i32
    %u = arith.muli %s, %t : i32
    %z = arith.addi %v, %u : i32
    linalg.yield %z : i32
  } -> tensor<5x12xi32>
  tile.yield %r : tensor<5x12xi32>
}

// -----

// What comes from the caller is copied where that takes less; six columns are one panel.
//      REMARK: remark: @mm: 4 neighbours of axis 2 lie in each lane
// CHECK-LABEL: tile.graph @g
//       CHECK:   tile.run "fc" @mm_pack_1({{.*}} -> tensor<16x6x4xi8>
tile.graph @g inputs ["x", "w"] outputs ["y"] : (tensor<512x64xi8>, tensor<64x6xi8>) -> tensor<512x6xi32> {
^bb0(%x: tensor<512x64xi8>, %w: tensor<64x6xi8>):
  %e = tile.empty in @dram : tensor<512x6xi32>
  %y = tile.run "fc" @mm(%x, %w) into(%e) : (tensor<512x64xi8>, tensor<64x6xi8>, tensor<512x6xi32>) -> tensor<512x6xi32>
  tile.output %y : tensor<512x6xi32>
}
tile.kernel @mm {
^bb0(%x: tensor<512x64xi8>, %w: tensor<64x6xi8>, %o: tensor<512x6xi32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<512x64xi8>, tensor<64x6xi8>) outs(%o : tensor<512x6xi32>) {
  ^bb0(%p: i8, %q: i8, %v: i32):
    %s = arith.extui %p : i8 to i32
    %t = arith.extsi %q : i8 to i32
    %u = arith.muli %s, %t : i32
    %z = arith.addi %v, %u : i32
    linalg.yield %z : i32
  } -> tensor<512x6xi32>
  tile.yield %r : tensor<512x6xi32>
}

// -----

// Not where quads do not divide the reduction, nor where the first factor lies along its rows.
//  REMARK-NOT: remark:
// CHECK-LABEL: tile.graph @g
//   CHECK-NOT:   @odd_pack
//   CHECK-NOT:   @rows_pack
tile.graph @g inputs ["x", "w"] outputs ["y", "z"] : (tensor<6x6xi8>, tensor<8x8xi8>) -> (tensor<6x6xi32>, tensor<8x8xi32>) {
^bb0(%x: tensor<6x6xi8>, %w: tensor<8x8xi8>):
  %e = tile.empty in @dram : tensor<6x6xi32>
  %y = tile.run "fc" @odd(%x, %x) into(%e) : (tensor<6x6xi8>, tensor<6x6xi8>, tensor<6x6xi32>) -> tensor<6x6xi32>
  %f = tile.empty in @dram : tensor<8x8xi32>
  %z = tile.run "fc" @rows(%w, %w) into(%f) : (tensor<8x8xi8>, tensor<8x8xi8>, tensor<8x8xi32>) -> tensor<8x8xi32>
  tile.output %y, %z : tensor<6x6xi32>, tensor<8x8xi32>
}
tile.kernel @odd {
^bb0(%x: tensor<6x6xi8>, %w: tensor<6x6xi8>, %o: tensor<6x6xi32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<6x6xi8>, tensor<6x6xi8>) outs(%o : tensor<6x6xi32>) {
  ^bb0(%p: i8, %q: i8, %v: i32):
    %s = arith.extui %p : i8 to i32
    %t = arith.extsi %q : i8 to i32
    %u = arith.muli %s, %t : i32
    %z = arith.addi %v, %u : i32
    linalg.yield %z : i32
  } -> tensor<6x6xi32>
  tile.yield %r : tensor<6x6xi32>
}
tile.kernel @rows {
^bb0(%x: tensor<8x8xi8>, %w: tensor<8x8xi8>, %o: tensor<8x8xi32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<8x8xi8>, tensor<8x8xi8>) outs(%o : tensor<8x8xi32>) {
  ^bb0(%p: i8, %q: i8, %v: i32):
    %s = arith.extui %p : i8 to i32
    %t = arith.extsi %q : i8 to i32
    %u = arith.muli %s, %t : i32
    %z = arith.addi %v, %u : i32
    linalg.yield %z : i32
  } -> tensor<8x8xi32>
  tile.yield %r : tensor<8x8xi32>
}

// -----

// Windows whose taps are four neighbours of what the lanes read are no depth, though each lane's lie behind the last one's.
// TILES-LABEL: tile.kernel @windows {
//   TILES-NOT:   on @dot
//       TILES:   tile.compute {{.*}} on @valu
tile.kernel @windows {
^bb0(%w: tensor<4xi8>, %x: tensor<32xi8>, %o: tensor<8xi32>):
  %r = linalg.generic {indexing_maps = [affine_map<(j, k) -> (k)>, affine_map<(j, k) -> (j * 4 + k)>, affine_map<(j, k) -> (j)>], iterator_types = ["parallel", "reduction"]} ins(%w, %x : tensor<4xi8>, tensor<32xi8>) outs(%o : tensor<8xi32>) {
  ^bb0(%p: i8, %q: i8, %v: i32):
    %s = arith.extui %p : i8 to i32
    %t = arith.extsi %q : i8 to i32
    %u = arith.muli %s, %t : i32
    %z = arith.addi %v, %u : i32
    linalg.yield %z : i32
  } -> tensor<8xi32>
  tile.yield %r : tensor<8xi32>
}
