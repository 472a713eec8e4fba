// Groups of lanes that share tiles keep their sums in registers: what is done to each element is done
// there, and the product stays with the matrix instruction.
// RUN: weft-opt %s --device-load-machine=file=%devices/a100.mlir --tile-fuse-elementwise --tile-construct-rtiles | FileCheck %s
// RUN: weft-opt %s --device-load-machine=file=%devices/a100.mlir --tile-fuse-elementwise --tile-construct-rtiles --tile-to-device | FileCheck %s --check-prefix=DEVICE

// CHECK-LABEL: tile.graph @g
//       CHECK: tile.run
//   CHECK-NOT: tile.run
//       CHECK: tile.kernel @mm_relu
//       CHECK: tile.compute {{.+}} on @mma_m16n8k16_f16 axes [{{.+}}] tiles {{.+}} layouts [

// The bias comes to registers in the order in which the instruction leaves its sums, 16 by 8 of them.
// DEVICE-LABEL: device.kernel @mm_relu
//       DEVICE:   %[[SUMS:.+]] = device.alloc : memref<{{.+}}x16x8xf32, "reg">
//       DEVICE:   device.invoke @mma_m16n8k16_f16
//       DEVICE:   %[[BIAS:.+]] = device.alloc : memref<16x8xf32, "reg">
//       DEVICE:   device.transfer {{.+}} %[[BIAS]]
//       DEVICE:   device.apply @valu lanes 128 ins(%[[BIAS]][{{.+}}], %[[SUMS]][{{.+}}]) outs(%[[SUMS]]
//       DEVICE:     arith.addf
//       DEVICE:     arith.maximumf
//       DEVICE:   device.transfer {{.+}} %[[SUMS]]

tile.graph @g inputs ["x", "w", "b"] outputs ["y"] : (tensor<1024x1024xf16>, tensor<1024x4096xf16>, tensor<4096xf32>) -> tensor<1024x4096xf32> {
^bb0(%x: tensor<1024x1024xf16>, %w: tensor<1024x4096xf16>, %b: tensor<4096xf32>):
  %e = tile.empty in @global : tensor<1024x4096xf32>
  %h = tile.run "fc" @mm(%x, %w) into(%e) : (tensor<1024x1024xf16>, tensor<1024x4096xf16>, tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  %f = tile.empty in @global : tensor<1024x4096xf32>
  %y = tile.run "relu" @relu(%h, %b) into(%f) : (tensor<1024x4096xf32>, tensor<4096xf32>, tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  tile.output %y : tensor<1024x4096xf32>
}
tile.kernel @mm {
^bb0(%x: tensor<1024x1024xf16>, %w: tensor<1024x4096xf16>, %o: tensor<1024x4096xf32>):
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<1024x4096xf32>) {
  ^bb0(%v: f32):
    %z = arith.constant 0.0 : f32
    linalg.yield %z : f32
  } -> tensor<1024x4096xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<1024x1024xf16>, tensor<1024x4096xf16>) outs(%s : tensor<1024x4096xf32>) {
  ^bb0(%p: f16, %q: f16, %v: f32):
    %a = arith.extf %p : f16 to f32
    %c = arith.extf %q : f16 to f32
    %t = arith.mulf %a, %c : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<1024x4096xf32>
  tile.yield %r : tensor<1024x4096xf32>
}
tile.kernel @relu {
^bb0(%x: tensor<1024x4096xf32>, %b: tensor<4096xf32>, %o: tensor<1024x4096xf32>):
  %z = arith.constant 0.0 : f32
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<1024x4096xf32>, tensor<4096xf32>) outs(%o : tensor<1024x4096xf32>) {
  ^bb0(%p: f32, %c: f32, %v: f32):
    %t = arith.addf %p, %c : f32
    %u = arith.maximumf %t, %z : f32
    linalg.yield %u : f32
  } -> tensor<1024x4096xf32>
  tile.yield %r : tensor<1024x4096xf32>
}
