// Lanes along filters store each into a plane of its own. Planes of 256 x 256 floats lie a multiple of 64 KiB apart, so
// a tile's lines meet in a few sets of both caches, and are gone before the next tile stores beside it: tiles are
// longer along columns than otherwise.
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx512.mlir --tile-construct-rtiles=remarks=true 2>&1 | FileCheck %s
// RUN: sed -E 's/ way_bytes\([0-9]+\)//' %devices/x86-avx512.mlir > %t.mlir
// RUN: weft-opt %s --device-load-machine=file=%t.mlir --tile-construct-rtiles=remarks=true 2>&1 | FileCheck %s --check-prefix=EVEN

#x = affine_map<(o, y, x, c, r, s, d, f) -> (c, y + r, x + s, d)>
#w = affine_map<(o, y, x, c, r, s, d, f) -> (o, c, r, s, d, f)>
#y = affine_map<(o, y, x, c, r, s, d, f) -> (o, f, y, x)>

// CHECK: remark: @meet: @vfma_f32, lanes on axis 7 x1, 2 rows on axis 0, 14 rows on axis 2 with
// EVEN: remark: @meet: @vfma_f32, lanes on axis 7 x1, 4 rows on axis 0, 6 rows on axis 2 with
tile.kernel @meet {
^bb0(%x: tensor<4x258x258x16xf32>, %w: tensor<4x4x3x3x16x16xf32>, %y: tensor<4x16x256x256xf32>):
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction", "parallel"]} ins(%x, %w : tensor<4x258x258x16xf32>, tensor<4x4x3x3x16x16xf32>) outs(%y : tensor<4x16x256x256xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<4x16x256x256xf32>
  tile.yield %r : tensor<4x16x256x256xf32>
}
