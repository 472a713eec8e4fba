// A reduction in parts: all tiles with the first part, then all with the next, on top of what
// the output holds.
// RUN: not weft-opt %s --device-load-machine=file=%S/../Inputs/one-core.mlir --tile-to-device --split-input-file 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REFUSED < %t

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j) -> (i, j)>
#d = affine_map<(i, j, k) -> (i, j)>

// CHECK-LABEL: device.kernel @parts
//       CHECK:   scf.for %[[BEGIN:.+]] = %c0
//       CHECK:     %[[END:.+]] = arith.minui
//       CHECK:     scf.for
//       CHECK:       %[[FIRST:.+]] = arith.cmpi eq, %[[BEGIN]]
//       CHECK:       %[[LATER:.+]] = arith.cmpi ne, %[[BEGIN]]
//       CHECK:       scf.if %[[FIRST]]
//       CHECK:         device.apply
//       CHECK:       scf.if %[[LATER]]
//       CHECK:         device.copy @load %arg3[
//       CHECK:       scf.for %{{.+}} = %[[BEGIN]] to %[[END]]
//       CHECK:       device.copy @store
tile.kernel @parts {
^bb0(%a: tensor<8x10xf32>, %b: tensor<10x8xf32>, %c: tensor<8x8xf32>):
  %la = tile.load %a to @dram : tensor<8x10xf32>
  %lb = tile.load %b to @vreg : tensor<10x8xf32>
  %r = tile.compute ins(%la, %lb) outs(%c) on @valu lanes 1 tiles [#tile.rtile<"l2" [8, 8, 10]>, #tile.rtile<"l2" [8, 8, 4]>, #tile.rtile<"vreg" [2, 8, 1]>] : (tensor<8x10xf32>, tensor<10x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%p: tensor<8x10xf32>, %q: tensor<10x8xf32>, %o: tensor<8x8xf32>):
    %f = linalg.generic {indexing_maps = [#c], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<8x8xf32>) {
    ^bb0(%z: f32):
      %zero = arith.constant 0.0 : f32
      linalg.yield %zero : f32
    } -> tensor<8x8xf32>
    %s = linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<8x10xf32>, tensor<10x8xf32>) outs(%f : tensor<8x8xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %m = arith.mulf %x, %y : f32
      %t = arith.addf %z, %m : f32
      linalg.yield %t : f32
    } -> tensor<8x8xf32>
    tile.yield %s : tensor<8x8xf32>
  }
  %w = tile.store %r from @vreg to %c : tensor<8x8xf32>
  tile.yield %w : tensor<8x8xf32>
}

// -----

// REFUSED: error: @rows has an rTile that cuts axes [0]
// REFUSED: help: between the rTask and the registers one rTile may cut one reduction without lanes
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j) -> (i, j)>
#d = affine_map<(i, j, k) -> (i, j)>

tile.kernel @rows {
^bb0(%a: tensor<8x10xf32>, %b: tensor<10x8xf32>, %c: tensor<8x8xf32>):
  %la = tile.load %a to @dram : tensor<8x10xf32>
  %lb = tile.load %b to @vreg : tensor<10x8xf32>
  %r = tile.compute ins(%la, %lb) outs(%c) on @valu lanes 1 tiles [#tile.rtile<"l2" [8, 8, 10]>, #tile.rtile<"l2" [4, 8, 10]>, #tile.rtile<"vreg" [2, 8, 1]>] : (tensor<8x10xf32>, tensor<10x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%p: tensor<8x10xf32>, %q: tensor<10x8xf32>, %o: tensor<8x8xf32>):
    %f = linalg.generic {indexing_maps = [#c], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<8x8xf32>) {
    ^bb0(%z: f32):
      %zero = arith.constant 0.0 : f32
      linalg.yield %zero : f32
    } -> tensor<8x8xf32>
    %s = linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<8x10xf32>, tensor<10x8xf32>) outs(%f : tensor<8x8xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %m = arith.mulf %x, %y : f32
      %t = arith.addf %z, %m : f32
      linalg.yield %t : f32
    } -> tensor<8x8xf32>
    tile.yield %s : tensor<8x8xf32>
  }
  %w = tile.store %r from @vreg to %c : tensor<8x8xf32>
  tile.yield %w : tensor<8x8xf32>
}

// -----

// REFUSED: error: @both has an rTile that cuts axes [0, 2]
// REFUSED: help: between the rTask and the registers one rTile may cut one reduction without lanes
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j) -> (i, j)>
#d = affine_map<(i, j, k) -> (i, j)>

tile.kernel @both {
^bb0(%a: tensor<8x10xf32>, %b: tensor<10x8xf32>, %c: tensor<8x8xf32>):
  %la = tile.load %a to @dram : tensor<8x10xf32>
  %lb = tile.load %b to @vreg : tensor<10x8xf32>
  %r = tile.compute ins(%la, %lb) outs(%c) on @valu lanes 1 tiles [#tile.rtile<"l2" [8, 8, 10]>, #tile.rtile<"l2" [4, 8, 4]>, #tile.rtile<"vreg" [2, 8, 1]>] : (tensor<8x10xf32>, tensor<10x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%p: tensor<8x10xf32>, %q: tensor<10x8xf32>, %o: tensor<8x8xf32>):
    %f = linalg.generic {indexing_maps = [#c], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<8x8xf32>) {
    ^bb0(%z: f32):
      %zero = arith.constant 0.0 : f32
      linalg.yield %zero : f32
    } -> tensor<8x8xf32>
    %s = linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<8x10xf32>, tensor<10x8xf32>) outs(%f : tensor<8x8xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %m = arith.mulf %x, %y : f32
      %t = arith.addf %z, %m : f32
      linalg.yield %t : f32
    } -> tensor<8x8xf32>
    tile.yield %s : tensor<8x8xf32>
  }
  %w = tile.store %r from @vreg to %c : tensor<8x8xf32>
  tile.yield %w : tensor<8x8xf32>
}

// -----

// REFUSED: error: @twice has an rTile that cuts axes [2]
// REFUSED: help: between the rTask and the registers one rTile may cut one reduction without lanes
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j) -> (i, j)>
#d = affine_map<(i, j, k) -> (i, j)>

tile.kernel @twice {
^bb0(%a: tensor<8x10xf32>, %b: tensor<10x8xf32>, %c: tensor<8x8xf32>):
  %la = tile.load %a to @dram : tensor<8x10xf32>
  %lb = tile.load %b to @vreg : tensor<10x8xf32>
  %r = tile.compute ins(%la, %lb) outs(%c) on @valu lanes 1 tiles [#tile.rtile<"l2" [8, 8, 10]>, #tile.rtile<"l2" [8, 8, 4]>, #tile.rtile<"l2" [8, 8, 2]>, #tile.rtile<"vreg" [2, 8, 1]>] : (tensor<8x10xf32>, tensor<10x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%p: tensor<8x10xf32>, %q: tensor<10x8xf32>, %o: tensor<8x8xf32>):
    %f = linalg.generic {indexing_maps = [#c], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<8x8xf32>) {
    ^bb0(%z: f32):
      %zero = arith.constant 0.0 : f32
      linalg.yield %zero : f32
    } -> tensor<8x8xf32>
    %s = linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<8x10xf32>, tensor<10x8xf32>) outs(%f : tensor<8x8xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %m = arith.mulf %x, %y : f32
      %t = arith.addf %z, %m : f32
      linalg.yield %t : f32
    } -> tensor<8x8xf32>
    tile.yield %s : tensor<8x8xf32>
  }
  %w = tile.store %r from @vreg to %c : tensor<8x8xf32>
  tile.yield %w : tensor<8x8xf32>
}
