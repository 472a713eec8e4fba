// Products of f32 with factors of fewer bits, where somebody asks for it. The interpreter computes what instructions do.
// RUN: weft-opt %s --check-eval
// RUN: weft-opt %s --graph-cut-factors | FileCheck %s --check-prefix=WHOLE
// RUN: weft-opt %s --graph-cut-factors=f32=tf32x3 | FileCheck %s
// RUN: weft-opt %s --graph-cut-factors=f32=tf32 | FileCheck %s --check-prefix=ONCE
// RUN: not weft-opt %s --graph-cut-factors=f32=tf32 --check-eval 2>&1 | FileCheck %s --check-prefix=LOST
// RUN: weft-opt %s --graph-cut-factors=f32=tf32x3 --check-eval
// RUN: weft-opt %s --device-load-machine="file=%devices/a100.mlir" --graph-cut-factors="f32=tf32x3 remarks=true" 2>&1 | FileCheck %s --check-prefix=COST
// RUN: weft-opt %s --device-load-machine="file=%devices/x86-avx512.mlir" --graph-cut-factors="f32=tf32 remarks=true" 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: not weft-opt %s --graph-cut-factors=f32=bf16 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: weft kernel 'C[m,n] += A[m,k] * B[k,n]' --shape m=512,n=512,k=512 --device a100 --emit tile -o - 2>/dev/null | FileCheck %s --check-prefix=LANES-KERNEL
// RUN: weft kernel 'C[m,n] += A[m,k] * B[k,n]' --shape m=512,n=512,k=512 --device a100 --pass-option graph-cut-factors.f32=tf32x3 --emit tile -o - 2>/dev/null | FileCheck %s --check-prefix=KERNEL
// RUN: not weft kernel 'C[m,n] += A[m,k] * B[k,n]' --shape m=8,n=8,k=8 --pass-option graph-cut-factors.f32 2>&1 | FileCheck %s --check-prefix=HALF

// LANES-KERNEL: tile.compute {{.*}} on @{{fma|valu}}
// KERNEL: tile.compute {{.*}} on @mma_m16n8k8_tf32x3
// HALF: error: {{.*}}graph-cut-factors.f32
// WORD: error: graph-cut-factors: unknown value 'bf16' for option 'f32'; expected 'whole', 'tf32' or 'tf32x3'
// LOST: error: result 0 of @product at [0, 0] is 8195.0 ({{.*}}), expected 8201.0

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

// 4099 = 2^12 + 3 has 13 bits, of which tf32 keeps 11: 4096. The product of what is cut off is left out
// by three products as well, but here one factor has nothing to cut off.
//   WHOLE-LABEL: @product
//     WHOLE-NOT:   arith.andi
//   CHECK-LABEL: @product
//         CHECK:   ^bb0(%[[X:.+]]: f32, %[[Y:.+]]: f32, %[[Z:.+]]: f32):
//         CHECK:     arith.constant -8192 : i32
//         CHECK:     %[[UI:.+]] = arith.andi
//         CHECK:     %[[U:.+]] = arith.bitcast %[[UI]] : i32 to f32
//         CHECK:     %[[VI:.+]] = arith.andi
//         CHECK:     %[[V:.+]] = arith.bitcast %[[VI]] : i32 to f32
//         CHECK:     %[[UV:.+]] = arith.mulf %[[U]], %[[V]] : f32
//         CHECK:     arith.subf %[[X]], %[[U]] : f32
//         CHECK:     arith.subf %[[Y]], %[[V]] : f32
// CHECK-COUNT-2:     arith.andi
//         CHECK:     %[[ONE:.+]] = arith.mulf %[[U]], %{{.+}} : f32
//         CHECK:     %[[OTHER:.+]] = arith.mulf %{{.+}}, %[[V]] : f32
//         CHECK:     %[[BOTH:.+]] = arith.addf %[[ONE]], %[[OTHER]] : f32
//         CHECK:     %[[ALL:.+]] = arith.addf %[[UV]], %[[BOTH]] : f32
//         CHECK:     arith.addf %[[Z]], %[[ALL]] : f32
//    ONCE-LABEL: @product
//  ONCE-COUNT-2:     arith.andi
//      ONCE-NOT:     arith.subf
//          COST: remark: stays whole: it takes {{[0-9]+}} cycles with cut factors, {{[0-9]+}} without [cost]
//         LANES: remark: stays whole: it takes {{[0-9]+}} cycles with cut factors, {{[0-9]+}} without [cost]
func.func @product() -> tensor<1x1xf32> attributes {check.expect = [dense<8201.0> : tensor<1x1xf32>]} {
  %zero = arith.constant 0.0 : f32
  %x = arith.constant dense<[[4099.0, 1.0]]> : tensor<1x2xf32>
  %y = arith.constant dense<[[2.0], [3.0]]> : tensor<2x1xf32>
  %e = tensor.empty() : tensor<1x1xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<1x1xf32>) -> tensor<1x1xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<1x2xf32>, tensor<2x1xf32>) outs(%s : tensor<1x1xf32>) {
  ^bb0(%l: f32, %m: f32, %n: f32):
    %p = arith.mulf %l, %m : f32
    %q = arith.addf %n, %p : f32
    linalg.yield %q : f32
  } -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}

// Other types stay, and so do products that are not summed or are of one factor alone.
// CHECK-LABEL: @others
//   CHECK-NOT:   arith.andi
//       CHECK:   return
func.func @others(%x: tensor<4x4xf64>, %y: tensor<4x4xf64>, %s: tensor<4x4xf64>, %u: tensor<4x4xf32>, %v: tensor<4x4xf32>)
    -> (tensor<4x4xf64>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<4x4xf64>, tensor<4x4xf64>) outs(%s : tensor<4x4xf64>) {
  ^bb0(%l: f64, %m: f64, %n: f64):
    %p = arith.mulf %l, %m : f64
    %q = arith.addf %n, %p : f64
    linalg.yield %q : f64
  } -> tensor<4x4xf64>
  %e = tensor.empty() : tensor<4x4xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%u, %v : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%l: f32, %m: f32, %n: f32):
    %p = arith.mulf %l, %m : f32
    %q = arith.addf %n, %p : f32
    linalg.yield %q : f32
  } -> tensor<4x4xf32>
  %t = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%u, %v : tensor<4x4xf32>, tensor<4x4xf32>) outs(%o : tensor<4x4xf32>) {
  ^bb0(%l: f32, %m: f32, %n: f32):
    %p = arith.mulf %l, %l : f32
    %w = arith.addf %p, %m : f32
    %q = arith.addf %n, %w : f32
    linalg.yield %q : f32
  } -> tensor<4x4xf32>
  return %r, %o, %t : tensor<4x4xf64>, tensor<4x4xf32>, tensor<4x4xf32>
}
