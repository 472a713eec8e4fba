// The numbers that a function takes in every round stay in registers: beside the eleven of `exp` 16 have room for two
// values at a time, 32 for four.
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx2.mlir --tile-construct-rtiles | FileCheck %s --check-prefixes=CHECK,FEW
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx512.mlir --tile-construct-rtiles | FileCheck %s --check-prefixes=CHECK,MANY

#i = affine_map<(i) -> (i)>

// CHECK-LABEL: tile.kernel @exp
//         FEW:   tiles {{.+}} #tile.rtile<"vreg"[16]>]
//        MANY:   tiles {{.+}} #tile.rtile<"vreg"[64]>]
tile.kernel @exp {
^bb0(%x: tensor<4096xf32>, %o: tensor<4096xf32>):
  %r = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%x : tensor<4096xf32>) outs(%o : tensor<4096xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<4096xf32>
  tile.yield %r : tensor<4096xf32>
}

// CHECK-LABEL: tile.kernel @double
//         FEW:   tiles {{.+}} #tile.rtile<"vreg"[32]>]
//        MANY:   tiles {{.+}} #tile.rtile<"vreg"[64]>]
tile.kernel @double {
^bb0(%x: tensor<4096xf32>, %o: tensor<4096xf32>):
  %r = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%x : tensor<4096xf32>) outs(%o : tensor<4096xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = arith.addf %a, %a : f32
    linalg.yield %e : f32
  } -> tensor<4096xf32>
  tile.yield %r : tensor<4096xf32>
}
