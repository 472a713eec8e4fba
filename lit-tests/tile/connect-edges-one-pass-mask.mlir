// What becomes of the scores of a softmax by their places, in one pass between its products.
// RUN: weft compile %s --device a100 --no-cache --emit tile --pass-option tile-connect-edges.remarks=true -o %t.mlir 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=TILE < %t.mlir
// RUN: weft compile %t.mlir --device a100 --no-cache --emit device -o - | FileCheck %s --check-prefix=DEVICE
// RUN: sed 's/linalg.index 1/linalg.index 0/' %s > %t.other.mlir
// RUN: weft compile %t.other.mlir --device a100 --no-cache --emit tile --pass-option tile-connect-edges.remarks=true -o - 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed 's/%%later, %%low/%%later, %%scale/' %s > %t.number.mlir
// RUN: weft compile %t.number.mlir --device a100 --no-cache --emit device -o - | FileCheck %s --check-prefix=NUMBER

// CHECK: remark: @{{.+}}: one pass by @mma_m16n8k16_f16

// The mask is a compute of the group, in registers as the others.
// TILE: tile.compute {{.+}} on @valu {{.+}}"reg"
// TILE: linalg.index 2

// Pieces end where the last row of a block sees no more, and those that all rows see take no mask.
// DEVICE: arith.divui
// DEVICE: arith.ceildivui
// DEVICE: scf.for
// DEVICE: %[[MASKED:.+]] = arith.cmpi sge
// DEVICE: scf.if %[[MASKED]]
// DEVICE: device.lane along
// DEVICE: arith.cmpi sgt
// DEVICE: arith.select

// Which of the heads it is, is known to no lane.
// OTHER: remark: @{{.+}}: not in one pass with the product before: a mask asks for another place than that in a row, and the row's

// What is left out counts as a number: all pieces are computed.
// NUMBER: device.kernel
// NUMBER-NOT: arith.ceildivui
// NUMBER: device.lane along
// NUMBER-NOT: arith.ceildivui

#q = affine_map<(b, m, n, k) -> (b, m, k)>
#k = affine_map<(b, m, n, k) -> (b, n, k)>
#v = affine_map<(b, m, n, k) -> (b, k, n)>
#o = affine_map<(b, m, n, k) -> (b, m, n)>
#e = affine_map<(b, m, n) -> (b, m, n)>
#r = affine_map<(b, m, n) -> (b, m)>
func.func @attention(%q: tensor<8x256x64xf16>, %k: tensor<8x256x64xf16>, %v: tensor<8x256x64xf16>) -> tensor<8x256x64xf16> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.125 : f32
  %se = tensor.empty() : tensor<8x256x256xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<8x256x256xf32>) -> tensor<8x256x256xf32>
  %s0 = linalg.generic {indexing_maps = [#q, #k, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<8x256x64xf16>, tensor<8x256x64xf16>) outs(%sf : tensor<8x256x256xf32>) {
  ^bb0(%x: f16, %y: f16, %a: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %u = arith.mulf %xw, %yw : f32
    %t = arith.addf %a, %u : f32
    linalg.yield %t : f32
  } -> tensor<8x256x256xf32>
  %sc = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s0 : tensor<8x256x256xf32>) outs(%se : tensor<8x256x256xf32>) {
  ^bb0(%x: f32, %a: f32):
    %t = arith.mulf %x, %scale : f32
    linalg.yield %t : f32
  } -> tensor<8x256x256xf32>
  %s = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel", "parallel"]} ins(%sc : tensor<8x256x256xf32>) outs(%se : tensor<8x256x256xf32>) {
  ^bb0(%x: f32, %a: f32):
    %row = linalg.index 1 : index
    %key = linalg.index 2 : index
    %later = arith.cmpi sgt, %key, %row : index
    %t = arith.select %later, %low, %x : f32
    linalg.yield %t : f32
  } -> tensor<8x256x256xf32>
  %me = tensor.empty() : tensor<8x256xf32>
  %mf = linalg.fill ins(%low : f32) outs(%me : tensor<8x256xf32>) -> tensor<8x256xf32>
  %m = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s : tensor<8x256x256xf32>) outs(%mf : tensor<8x256xf32>) {
  ^bb0(%x: f32, %a: f32):
    %t = arith.maximumf %a, %x : f32
    linalg.yield %t : f32
  } -> tensor<8x256xf32>
  %e = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %m : tensor<8x256x256xf32>, tensor<8x256xf32>) outs(%se : tensor<8x256x256xf32>) {
  ^bb0(%x: f32, %y: f32, %a: f32):
    %d = arith.subf %x, %y : f32
    %t = math.exp %d : f32
    linalg.yield %t : f32
  } -> tensor<8x256x256xf32>
  %lf = linalg.fill ins(%zero : f32) outs(%me : tensor<8x256xf32>) -> tensor<8x256xf32>
  %l = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : tensor<8x256x256xf32>) outs(%lf : tensor<8x256xf32>) {
  ^bb0(%x: f32, %a: f32):
    %t = arith.addf %a, %x : f32
    linalg.yield %t : f32
  } -> tensor<8x256xf32>
  %pe = tensor.empty() : tensor<8x256x256xf16>
  %p = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e, %l : tensor<8x256x256xf32>, tensor<8x256xf32>) outs(%pe : tensor<8x256x256xf16>) {
  ^bb0(%x: f32, %y: f32, %a: f16):
    %d = arith.divf %x, %y : f32
    %t = arith.truncf %d : f32 to f16
    linalg.yield %t : f16
  } -> tensor<8x256x256xf16>
  %we = tensor.empty() : tensor<8x256x64xf32>
  %wf = linalg.fill ins(%zero : f32) outs(%we : tensor<8x256x64xf32>) -> tensor<8x256x64xf32>
  %w = linalg.generic {indexing_maps = [#q, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<8x256x256xf16>, tensor<8x256x64xf16>) outs(%wf : tensor<8x256x64xf32>) {
  ^bb0(%x: f16, %y: f16, %a: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %u = arith.mulf %xw, %yw : f32
    %t = arith.addf %a, %u : f32
    linalg.yield %t : f32
  } -> tensor<8x256x64xf32>
  %ye = tensor.empty() : tensor<8x256x64xf16>
  %y = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w : tensor<8x256x64xf32>) outs(%ye : tensor<8x256x64xf16>) {
  ^bb0(%x: f32, %a: f16):
    %t = arith.truncf %x : f32 to f16
    linalg.yield %t : f16
  } -> tensor<8x256x64xf16>
  return %y : tensor<8x256x64xf16>
}
