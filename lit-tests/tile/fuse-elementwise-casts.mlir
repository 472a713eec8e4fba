// Sums of another type than what is stored stay in registers until they are whole: the cast is an
// epilogue, and the sums are a tensor inside the kernel that no memory holds.
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx2.mlir --tile-fuse-elementwise | FileCheck %s
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx2.mlir --tile-fuse-elementwise --tile-construct-rtiles -o %t.mlir
// RUN: weft-opt %t.mlir --tile-to-device | FileCheck %s --check-prefix=DEVICE
// An rTile that cuts the reduction has nowhere to leave its sums.
// RUN: sed 's/\(tiles \[#tile.rtile<"[a-z0-9]*"\)\(\[[0-9]*, [0-9]*, \)64\]>/\1\264]>, #tile.rtile<"l2"\232]>/' %t.mlir > %t.cut.mlir
// RUN: not weft-opt %t.cut.mlir --tile-to-device 2>&1 | FileCheck %s --check-prefix=CUT
// Sums that nothing starts are nothing.
// RUN: sed '/%6 = linalg/,/} ->/d; s/outs(%6/outs(%5/' %t.mlir > %t.none.mlir
// RUN: not weft-opt %t.none.mlir --tile-to-device 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK-LABEL: tile.graph @g
//       CHECK: tile.run "fc+add+narrow" @mm_add_narrow(%{{.+}}, %{{.+}}, %{{.+}}) into(%{{.+}}) : (tensor<8x64xf32>, tensor<64x16xf32>, tensor<16xf16>, tensor<8x16xf16>) -> tensor<8x16xf16>
//       CHECK: tile.kernel @mm_add_narrow
//       CHECK:   %[[EMPTY:.+]] = tensor.empty() : tensor<8x16xf32>
//       CHECK:   %[[START:.+]] = linalg.generic {{.+}} outs(%[[EMPTY]] : tensor<8x16xf32>)
//       CHECK:   %[[SUMS:.+]] = linalg.generic {{.+}} outs(%[[START]] : tensor<8x16xf32>)
//       CHECK:   %[[STORED:.+]] = linalg.generic {{.+}} ins(%{{.+}}, %[[SUMS]] : tensor<16xf16>, tensor<8x16xf32>) outs(%{{.+}} : tensor<8x16xf16>)
//       CHECK:     arith.truncf
//       CHECK:   tile.yield %[[STORED]] : tensor<8x16xf16>

// DEVICE-LABEL: device.kernel @mm_add_narrow
//       DEVICE:   %[[SUMS:.+]] = device.alloc : memref<{{.+}}x8xf32, "vreg">
//       DEVICE:   device.invoke @{{.+}}(%{{.+}}, %[[SUMS]]
//       DEVICE:   %[[STORED:.+]] = device.alloc : memref<{{.+}}x8xf16, "vreg">
//       DEVICE:   device.apply @valu lanes 8 ins({{.+}}, %[[SUMS]][{{.+}}]) outs(%[[STORED]]
//       DEVICE:   device.copy @store {{.*}}%[[STORED]]

// CUT: error: @mm_add_narrow: an rTile in @l2 has a part of a reduction, whose sums are f32 and stored as f16
// CUT: help: let it have the whole reduction, or give the cast a kernel of its own

// NONE: error: {{.*}}the sums are stored as another type, and nothing gives them a first value

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#d2 = affine_map<(i, j) -> (i, j)>
#d1 = affine_map<(i, j) -> (j)>

tile.graph @g inputs ["x", "w", "b"] outputs ["y"] : (tensor<8x64xf32>, tensor<64x16xf32>, tensor<16xf16>) -> tensor<8x16xf16> {
^bb0(%x: tensor<8x64xf32>, %w: tensor<64x16xf32>, %b: tensor<16xf16>):
  %e = tile.empty in @dram : tensor<8x16xf32>
  %h = tile.run "fc" @mm(%x, %w) into(%e) : (tensor<8x64xf32>, tensor<64x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %f = tile.empty in @dram : tensor<8x16xf32>
  %s = tile.run "add" @add(%h, %b) into(%f) : (tensor<8x16xf32>, tensor<16xf16>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %n = tile.empty in @dram : tensor<8x16xf16>
  %y = tile.run "narrow" @narrow(%s) into(%n) : (tensor<8x16xf32>, tensor<8x16xf16>) -> tensor<8x16xf16>
  tile.output %y : tensor<8x16xf16>
}
tile.kernel @mm {
^bb0(%x: tensor<8x64xf32>, %w: tensor<64x16xf32>, %o: tensor<8x16xf32>):
  %s = linalg.generic {indexing_maps = [#d2], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<8x16xf32>) {
  ^bb0(%v: f32):
    %z = arith.constant 0.0 : f32
    linalg.yield %z : f32
  } -> tensor<8x16xf32>
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<8x64xf32>, tensor<64x16xf32>) outs(%s : tensor<8x16xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<8x16xf32>
  tile.yield %r : tensor<8x16xf32>
}
tile.kernel @add {
^bb0(%x: tensor<8x16xf32>, %b: tensor<16xf16>, %o: tensor<8x16xf32>):
  %r = linalg.generic {indexing_maps = [#d2, #d1, #d2], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<8x16xf32>, tensor<16xf16>) outs(%o : tensor<8x16xf32>) {
  ^bb0(%p: f32, %c: f16, %v: f32):
    %d = arith.extf %c : f16 to f32
    %t = arith.addf %p, %d : f32
    linalg.yield %t : f32
  } -> tensor<8x16xf32>
  tile.yield %r : tensor<8x16xf32>
}
tile.kernel @narrow {
^bb0(%x: tensor<8x16xf32>, %o: tensor<8x16xf16>):
  %r = linalg.generic {indexing_maps = [#d2, #d2], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x16xf32>) outs(%o : tensor<8x16xf16>) {
  ^bb0(%p: f32, %v: f16):
    %t = arith.truncf %p : f32 to f16
    linalg.yield %t : f16
  } -> tensor<8x16xf16>
  tile.yield %r : tensor<8x16xf16>
}
