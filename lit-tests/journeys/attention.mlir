// A softmax between two products, in one pass over its rows.
//
// README: the fourth reading, after blocks.mlir. It shows edges in registers: what six kernels
// mean together, which tiles both products have, and the loop that becomes of it.
//
// RUN: weft compile %s --device a100 --no-cache --emit tile --pass-option tile-connect-edges.remarks=true -o %t.tile.mlir 2> %t.said
// RUN: FileCheck %s --check-prefix=SAID < %t.said
// RUN: FileCheck %s --check-prefix=TILE < %t.tile.mlir
// RUN: weft compile %t.tile.mlir --no-cache --emit device -o %t.device.mlir
// RUN: FileCheck %s --check-prefix=DEVICE < %t.device.mlir
// RUN: weft-opt %t.device.mlir --verify-roundtrip -o /dev/null

// =====================================================================================
// tile: six runs, each with its plain meaning. All edges between them are in registers.

// SAID: remark: @{{.+}}: one pass by @mma_m16n8k16_f16, blocks of {{.+}} rows and pieces of {{.+}} cycles predicted; second apart

//         TILE: tile.run {{.+}} @{{.+}}_near
// TILE-COUNT-7: tile.connect {{.+}} in @reg
//     TILE-NOT: tile.connect
// The first product: groups have whole rows of a piece.
//         TILE: tile.compute {{.+}} on @mma_m16n8k16_f16 axes [1, 2, 3] tiles [#tile.rtile<"smem"[1, [[ROWS:[0-9]+]], [[PIECE:[0-9]+]], 64]>
// Lanes fold rows and take exponentials: powers of two of a rounded product, for they are stored in f16.
//         TILE: tile.compute {{.+}} on @valu tiles [#tile.rtile<"smem"[{{.*}}[[ROWS]], [[PIECE]]]>
//         TILE: math.exp2
// The second product: its first factor is in registers, so it has no layout.
//         TILE: tile.compute {{.+}} on @mma_m16n8k16_f16 axes [1, 2, 3] tiles [#tile.rtile<"smem"[1, [[ROWS]], 64, [[PIECE]]]>, {{.+}}] layouts [array<i64>, array<i64: {{.+}}>]

// =====================================================================================
// device: one kernel. What was summed up is corrected whenever a greater element is found.

//   DEVICE: device.kernel @{{.+}} tasks {{.+}} groups
//   DEVICE:   device.fill {{.+}} value 0.0
//   DEVICE:   scf.for
//   DEVICE:     device.invoke @mma_m16n8k16_f16
//   DEVICE:     arith.maxnumf
//   DEVICE:     device.combine @valu lanes 128 along 1
//   DEVICE:     math.exp2
//   DEVICE:     math.exp2
//   DEVICE:     device.transfer @relabel
//   DEVICE:     device.invoke @mma_m16n8k16_f16
//   DEVICE:   device.combine @valu lanes 128 along 1
//   DEVICE:   arith.divf
//   DEVICE:   device.transfer @store
// DEVICE-NOT: device.kernel

#q = affine_map<(b, m, n, k) -> (b, m, k)>
#k = affine_map<(b, m, n, k) -> (b, n, k)>
#v = affine_map<(b, m, n, k) -> (b, k, n)>
#o = affine_map<(b, m, n, k) -> (b, m, n)>
#e = affine_map<(b, m, n) -> (b, m, n)>
#r = affine_map<(b, m, n) -> (b, m)>
func.func @attention(%q: tensor<64x512x64xf16>, %k: tensor<64x512x64xf16>, %v: tensor<64x512x64xf16>) -> tensor<64x512x64xf16> {
  %z = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<64x512x512xf32>
  %sf = linalg.fill ins(%z : f32) outs(%se : tensor<64x512x512xf32>) -> tensor<64x512x512xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<64x512x64xf16>, tensor<64x512x64xf16>) outs(%sf : tensor<64x512x512xf32>) {
  ^bb0(%x: f16, %y: f16, %a: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %p = arith.mulf %xw, %yw : f32
    %t = arith.addf %a, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x512x512xf32>
  %me = tensor.empty() : tensor<64x512xf32>
  %mf = linalg.fill ins(%low : f32) outs(%me : tensor<64x512xf32>) -> tensor<64x512xf32>
  %m = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s : tensor<64x512x512xf32>) outs(%mf : tensor<64x512xf32>) {
  ^bb0(%x: f32, %a: f32):
    %t = arith.maximumf %a, %x : f32
    linalg.yield %t : f32
  } -> tensor<64x512xf32>
  %e = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %m : tensor<64x512x512xf32>, tensor<64x512xf32>) outs(%se : tensor<64x512x512xf32>) {
  ^bb0(%x: f32, %y: f32, %a: f32):
    %d = arith.subf %x, %y : f32
    %t = math.exp %d : f32
    linalg.yield %t : f32
  } -> tensor<64x512x512xf32>
  %lf = linalg.fill ins(%z : f32) outs(%me : tensor<64x512xf32>) -> tensor<64x512xf32>
  %l = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : tensor<64x512x512xf32>) outs(%lf : tensor<64x512xf32>) {
  ^bb0(%x: f32, %a: f32):
    %t = arith.addf %a, %x : f32
    linalg.yield %t : f32
  } -> tensor<64x512xf32>
  %pe = tensor.empty() : tensor<64x512x512xf16>
  %p = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e, %l : tensor<64x512x512xf32>, tensor<64x512xf32>) outs(%pe : tensor<64x512x512xf16>) {
  ^bb0(%x: f32, %y: f32, %a: f16):
    %d = arith.divf %x, %y : f32
    %t = arith.truncf %d : f32 to f16
    linalg.yield %t : f16
  } -> tensor<64x512x512xf16>
  %we = tensor.empty() : tensor<64x512x64xf32>
  %wf = linalg.fill ins(%z : f32) outs(%we : tensor<64x512x64xf32>) -> tensor<64x512x64xf32>
  %w = linalg.generic {indexing_maps = [#q, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<64x512x512xf16>, tensor<64x512x64xf16>) outs(%wf : tensor<64x512x64xf32>) {
  ^bb0(%x: f16, %y: f16, %a: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %u = arith.mulf %xw, %yw : f32
    %t = arith.addf %a, %u : f32
    linalg.yield %t : f32
  } -> tensor<64x512x64xf32>
  %ye = tensor.empty() : tensor<64x512x64xf16>
  %y = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w : tensor<64x512x64xf32>) outs(%ye : tensor<64x512x64xf16>) {
  ^bb0(%x: f32, %a: f16):
    %t = arith.truncf %x : f32 to f16
    linalg.yield %t : f16
  } -> tensor<64x512x64xf16>
  return %y : tensor<64x512x64xf16>
}
