// How pieces of keys and values come to the groups of an attention, and how these go through them.
//
// RUN: weft compile %s --device h200 --no-cache --emit tile -o - | FileCheck %s --check-prefix=TILE
// RUN: weft compile %s --device h200 --no-cache --emit ptx -o - | FileCheck %s --check-prefix=PTX
//
// A group of its own asks for boxes. In each piece lanes exchange the greatest elements of two rows of two instructions with
// two others, the sums of the rows behind the last one.
//
//     TILE: on @wgmma_m64n64k16_f16_nk {{.+}} schedule <ahead = @stage_boxes_apart, stages = 4>
//     TILE: on @wgmma_m64n64k16_f16_rkn {{.+}} schedule <ahead = @stage_boxes_apart, stages = 4> because
//          PTX: setmaxnreg.inc
//          PTX: mbarrier.try_wait
// PTX-COUNT-8: shfl.sync
//      PTX-NOT: shfl.sync
//          PTX: mbarrier.arrive
//          PTX: setmaxnreg.dec
// PTX-COUNT-4: shfl.sync
//          PTX: div.rn.f32

// Without that move all threads ask for pieces.
//
// RUN: sed '/device.move @stage_boxes_apart/,/boxes/d' %S/../../devices/h200.mlir > %t.h200.mlir
// RUN: weft compile %s --device %t.h200.mlir --no-cache --emit tile -o - | FileCheck %s --check-prefix=PIECES
//     PIECES: on @wgmma_m64n64k16_f16_rkn {{.+}} schedule <ahead = @stage_ahead, stages = {{.+}} because

// Half of the groups multiply while the others fold rows.
//
// RUN: sed 's/8x2048/48x2048/g; s/x2048/x4096/g' %s > %t.mlir
// RUN: weft compile %t.mlir --device mi300x --no-cache --emit tile -o - | FileCheck %s --check-prefix=TURNS
// RUN: weft compile %t.mlir --device mi300x --no-cache --emit device -o - | FileCheck %s --check-prefix=DEVICE
// RUN: weft compile %t.mlir --device mi300x --no-cache --emit amdgcn -o - | FileCheck %s --check-prefix=AMD
//      TURNS: on @mfma_16x16x16_f16 {{.+}} schedule <stages = 3, turns = 2> because
//     DEVICE: device.kernel {{.+}} groups 8 turns 2 {
//     DEVICE: device.barrier "core"
//     DEVICE: device.barrier "core"
//     DEVICE: scf.for
// DEVICE-COUNT-3: device.barrier "core"
// DEVICE-NOT: device.barrier "core"
//        AMD: s_setprio 1
//        AMD: s_barrier
//   AMD-NEXT: s_setprio 0
//        AMD: s_barrier
//   AMD-NEXT: s_setprio 1
//        AMD: s_barrier
//   AMD-NEXT: s_setprio 1
//        AMD: s_cbranch

// Where the machine's groups do not go by turns there is one barrier for each piece.
//
// RUN: sed 's/ turns(2)//' %S/../../devices/mi300x.mlir > %t.mi300x.mlir
// RUN: weft compile %t.mlir --device %t.mi300x.mlir --no-cache --emit device -o - | FileCheck %s --check-prefix=ALIKE
//      ALIKE: device.kernel {{.+}} groups {{[0-9]+}} {
//      ALIKE: scf.for
//      ALIKE: device.barrier "core"
//  ALIKE-NOT: device.barrier "core"

#q = affine_map<(b, m, n, k) -> (b, m, k)>
#k = affine_map<(b, m, n, k) -> (b, n, k)>
#v = affine_map<(b, m, n, k) -> (b, k, n)>
#o = affine_map<(b, m, n, k) -> (b, m, n)>
#e = affine_map<(b, m, n) -> (b, m, n)>
#r = affine_map<(b, m, n) -> (b, m)>
func.func @attention(%q: tensor<8x2048x64xf16>, %k: tensor<8x2048x64xf16>, %v: tensor<8x2048x64xf16>) -> tensor<8x2048x64xf16> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.125 : f32
  %se = tensor.empty() : tensor<8x2048x2048xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<8x2048x2048xf32>) -> tensor<8x2048x2048xf32>
  %s0 = linalg.generic {indexing_maps = [#q, #k, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<8x2048x64xf16>, tensor<8x2048x64xf16>) outs(%sf : tensor<8x2048x2048xf32>) {
  ^bb0(%x: f16, %y: f16, %a: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %u = arith.mulf %xw, %yw : f32
    %t = arith.addf %a, %u : f32
    linalg.yield %t : f32
  } -> tensor<8x2048x2048xf32>
  %s = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s0 : tensor<8x2048x2048xf32>) outs(%se : tensor<8x2048x2048xf32>) {
  ^bb0(%x: f32, %a: f32):
    %t = arith.mulf %x, %scale : f32
    linalg.yield %t : f32
  } -> tensor<8x2048x2048xf32>
  %me = tensor.empty() : tensor<8x2048xf32>
  %mf = linalg.fill ins(%low : f32) outs(%me : tensor<8x2048xf32>) -> tensor<8x2048xf32>
  %m = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s : tensor<8x2048x2048xf32>) outs(%mf : tensor<8x2048xf32>) {
  ^bb0(%x: f32, %a: f32):
    %t = arith.maximumf %a, %x : f32
    linalg.yield %t : f32
  } -> tensor<8x2048xf32>
  %e = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %m : tensor<8x2048x2048xf32>, tensor<8x2048xf32>) outs(%se : tensor<8x2048x2048xf32>) {
  ^bb0(%x: f32, %y: f32, %a: f32):
    %d = arith.subf %x, %y : f32
    %t = math.exp %d : f32
    linalg.yield %t : f32
  } -> tensor<8x2048x2048xf32>
  %lf = linalg.fill ins(%zero : f32) outs(%me : tensor<8x2048xf32>) -> tensor<8x2048xf32>
  %l = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : tensor<8x2048x2048xf32>) outs(%lf : tensor<8x2048xf32>) {
  ^bb0(%x: f32, %a: f32):
    %t = arith.addf %a, %x : f32
    linalg.yield %t : f32
  } -> tensor<8x2048xf32>
  %pe = tensor.empty() : tensor<8x2048x2048xf16>
  %p = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e, %l : tensor<8x2048x2048xf32>, tensor<8x2048xf32>) outs(%pe : tensor<8x2048x2048xf16>) {
  ^bb0(%x: f32, %y: f32, %a: f16):
    %d = arith.divf %x, %y : f32
    %t = arith.truncf %d : f32 to f16
    linalg.yield %t : f16
  } -> tensor<8x2048x2048xf16>
  %we = tensor.empty() : tensor<8x2048x64xf32>
  %wf = linalg.fill ins(%zero : f32) outs(%we : tensor<8x2048x64xf32>) -> tensor<8x2048x64xf32>
  %w = linalg.generic {indexing_maps = [#q, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<8x2048x2048xf16>, tensor<8x2048x64xf16>) outs(%wf : tensor<8x2048x64xf32>) {
  ^bb0(%x: f16, %y: f16, %a: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %u = arith.mulf %xw, %yw : f32
    %t = arith.addf %a, %u : f32
    linalg.yield %t : f32
  } -> tensor<8x2048x64xf32>
  %ye = tensor.empty() : tensor<8x2048x64xf16>
  %y = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w : tensor<8x2048x64xf32>) outs(%ye : tensor<8x2048x64xf16>) {
  ^bb0(%x: f32, %a: f16):
    %t = arith.truncf %x : f32 to f16
    linalg.yield %t : f16
  } -> tensor<8x2048x64xf16>
  return %y : tensor<8x2048x64xf16>
}
