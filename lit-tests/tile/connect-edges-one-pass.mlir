// What is no pass over rows between two products, and why.
// RUN: weft compile %s --device a100 --no-cache --emit tile --pass-option tile-connect-edges.remarks=true -o %t.mlir 2>&1 | FileCheck %s
// RUN: sed 's/ins(%e : tensor<8x192x256xf32>) outs(%lf/ins(%c : tensor<8x192x256xf32>) outs(%lf/' %s > %t.other.mlir
// RUN: weft compile %t.other.mlir --device a100 --no-cache --emit tile --pass-option tile-connect-edges.remarks=true -o - 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed 's/x256/x250/g; s/(tensor<8x192x64xf32>, tensor<8x192x250xf32>) {/tensor<8x192x64xf32> {/; s/return .*/return %w : tensor<8x192x64xf32>/' %s > %t.ragged.mlir
// RUN: weft compile %t.ragged.mlir --device a100 --no-cache --emit tile --pass-option tile-split-rows.parts=1 --pass-option tile-connect-edges.remarks=true -o - 2>&1 | FileCheck %s --check-prefix=RAGGED
// RUN: weft compile %s --device v100 --no-cache --emit tile --pass-option tile-split-rows.parts=1 --pass-option tile-connect-edges.remarks=true -o - 2>&1 | FileCheck %s --check-prefix=VOLTA

// The exponentials leave, too.
// CHECK: remark: @{{.+}}: not in one pass with the product before: what is between is read elsewhere, too

// What is summed up are other numbers: there is no softmax.
// OTHER-NOT: one pass

// Rows may end inside a piece, where the exponentials do not leave.
// RAGGED: remark: @{{.+}}: one pass by @mma_m16n8k16_f16

// A lane has other elements of the sums than of the factor there.
// VOLTA: remark: @{{.+}}: not in one pass with the product before: no instruction does both products so that lanes hand over nothing

#q = affine_map<(b, m, n, k) -> (b, m, k)>
#k = affine_map<(b, m, n, k) -> (b, n, k)>
#v = affine_map<(b, m, n, k) -> (b, k, n)>
#o = affine_map<(b, m, n, k) -> (b, m, n)>
#e = affine_map<(b, m, n) -> (b, m, n)>
#r = affine_map<(b, m, n) -> (b, m)>
func.func @attention(%q: tensor<8x192x64xf16>, %k: tensor<8x256x64xf16>, %v: tensor<8x256x64xf16>) -> (tensor<8x192x64xf32>, tensor<8x192x256xf32>) {
  %z = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<8x192x256xf32>
  %sf = linalg.fill ins(%z : f32) outs(%se : tensor<8x192x256xf32>) -> tensor<8x192x256xf32>
  %c = linalg.generic {indexing_maps = [#q, #k, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<8x192x64xf16>, tensor<8x256x64xf16>) outs(%sf : tensor<8x192x256xf32>) {
  ^bb0(%x: f16, %y: f16, %a: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %p = arith.mulf %xw, %yw : f32
    %t = arith.addf %a, %p : f32
    linalg.yield %t : f32
  } -> tensor<8x192x256xf32>
  %me = tensor.empty() : tensor<8x192xf32>
  %mf = linalg.fill ins(%low : f32) outs(%me : tensor<8x192xf32>) -> tensor<8x192xf32>
  %m = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "parallel", "reduction"]} ins(%c : tensor<8x192x256xf32>) outs(%mf : tensor<8x192xf32>) {
  ^bb0(%x: f32, %a: f32):
    %t = arith.maximumf %a, %x : f32
    linalg.yield %t : f32
  } -> tensor<8x192xf32>
  %e = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel", "parallel"]} ins(%c, %m : tensor<8x192x256xf32>, tensor<8x192xf32>) outs(%se : tensor<8x192x256xf32>) {
  ^bb0(%x: f32, %y: f32, %a: f32):
    %d = arith.subf %x, %y : f32
    %t = math.exp %d : f32
    linalg.yield %t : f32
  } -> tensor<8x192x256xf32>
  %lf = linalg.fill ins(%z : f32) outs(%me : tensor<8x192xf32>) -> tensor<8x192xf32>
  %l = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : tensor<8x192x256xf32>) outs(%lf : tensor<8x192xf32>) {
  ^bb0(%x: f32, %a: f32):
    %t = arith.addf %a, %x : f32
    linalg.yield %t : f32
  } -> tensor<8x192xf32>
  %pe = tensor.empty() : tensor<8x192x256xf16>
  %p = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e, %l : tensor<8x192x256xf32>, tensor<8x192xf32>) outs(%pe : tensor<8x192x256xf16>) {
  ^bb0(%x: f32, %y: f32, %a: f16):
    %d = arith.divf %x, %y : f32
    %t = arith.truncf %d : f32 to f16
    linalg.yield %t : f16
  } -> tensor<8x192x256xf16>
  %we = tensor.empty() : tensor<8x192x64xf32>
  %wf = linalg.fill ins(%z : f32) outs(%we : tensor<8x192x64xf32>) -> tensor<8x192x64xf32>
  %w = linalg.generic {indexing_maps = [#q, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<8x192x256xf16>, tensor<8x256x64xf16>) outs(%wf : tensor<8x192x64xf32>) {
  ^bb0(%x: f16, %y: f16, %a: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %u = arith.mulf %xw, %yw : f32
    %t = arith.addf %a, %u : f32
    linalg.yield %t : f32
  } -> tensor<8x192x64xf32>
  return %w, %e : tensor<8x192x64xf32>, tensor<8x192x256xf32>
}
