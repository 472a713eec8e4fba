// Where groups of lanes share tiles, weights lie in the order of a block's steps: channels of a tap are
// neighbours.
// RUN: weft-opt %s --device-load-machine=file=%devices/a100.mlir --tile-pack-weights | FileCheck %s
// RUN: weft-opt %s --device-load-machine=file=%devices/a100.mlir --tile-pack-weights --tile-construct-rtiles | FileCheck %s --check-prefix=TILE

//       CHECK: #[[FROM:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
// CHECK-LABEL: tile.graph @g
//       CHECK:   %[[W:.+]] = graph.weight "w"
//       CHECK:   %[[PACKED:.+]] = tile.run "c" @conv_pack_1(%[[W]]) {{.+}} -> tensor<64x3x3x64xf16>
//       CHECK:   tile.run "c" @conv(%arg0, %[[PACKED]])
//       CHECK: tile.kernel @conv_pack_1 {
//       CHECK:   linalg.generic {indexing_maps = [#[[FROM]], #{{.+}}]

// Rows of the instruction are pixels of several images, a box of them a tile, and both factors lie along
// the channels (axis 4).
// TILE: tile.kernel @conv {
// TILE:   tile.compute {{.+}} on @mma_m16n8k16_f16 axes {{\[}}[0, 1, 2], [3], [4]] {{.+}} layouts [array<i64: 4, {{.+}}>, array<i64: 4, {{.+}}>]

tile.graph @g inputs ["x"] outputs ["y"] : (tensor<32x30x30x64xf16>) -> tensor<32x28x28x64xf32> {
^bb0(%x: tensor<32x30x30x64xf16>):
  %w = graph.weight "w" in "model" hash "00" : tensor<64x64x3x3xf16>
  %e = tile.empty in @global : tensor<32x28x28x64xf32>
  %y = tile.run "c" @conv(%x, %w) into(%e) : (tensor<32x30x30x64xf16>, tensor<64x64x3x3xf16>, tensor<32x28x28x64xf32>) -> tensor<32x28x28x64xf32>
  tile.output %y : tensor<32x28x28x64xf32>
}
tile.kernel @conv {
^bb0(%x: tensor<32x30x30x64xf16>, %w: tensor<64x64x3x3xf16>, %o: tensor<32x28x28x64xf32>):
  %s = linalg.generic {indexing_maps = [affine_map<(n, h, w, o) -> (n, h, w, o)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%o : tensor<32x28x28x64xf32>) {
  ^bb0(%v: f32):
    %z = arith.constant 0.0 : f32
    linalg.yield %z : f32
  } -> tensor<32x28x28x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, h, w, o, c, r, s) -> (n, h + r, w + s, c)>, affine_map<(n, h, w, o, c, r, s) -> (o, c, r, s)>, affine_map<(n, h, w, o, c, r, s) -> (n, h, w, o)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<32x30x30x64xf16>, tensor<64x64x3x3xf16>) outs(%s : tensor<32x28x28x64xf32>) {
  ^bb0(%p: f16, %q: f16, %v: f32):
    %a = arith.extf %p : f16 to f32
    %b = arith.extf %q : f16 to f32
    %t = arith.mulf %a, %b : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<32x28x28x64xf32>
  tile.yield %r : tensor<32x28x28x64xf32>
}
