// A group of lanes holds one row of the sums in a register: a row behind the end brings nothing of what the
// epilogue reads, as columns behind theirs bring nothing.
// RUN: weft compile %s --device a100 --no-cache --pass-option tile-fuse-elementwise.fuse=always --emit tile -o - | sed 's/tiles .* because/tiles [#tile.rtile<"smem"[64, 64, 16]>, #tile.rtile<"reg"[16, 64, 1]>] layouts [array<i64: 0, 68>, array<i64: 1, 64>] because/' > %t.mlir
// RUN: weft compile %t.mlir --no-cache --emit device -o - | FileCheck %s

// CHECK: device.kernel @
// CHECK:   %[[REST:.+]] = device.alloc : memref<32xf32, "reg">
// CHECK:   device.transfer @load %arg{{.+}} to %[[REST]]{{.+}} sizes [32] from_strides [2] to_strides [1] limits(%{{.+}}, %{{.+}}) steps [0, 2] pads

func.func @f(%x: tensor<1001x1001xf32>, %w: tensor<1001x1001xf32>, %d: tensor<1001x1001xf32>) -> tensor<1001x1001xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1001x1001xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1001x1001xf32>) -> tensor<1001x1001xf32>
  %q = linalg.matmul ins(%x, %w : tensor<1001x1001xf32>, tensor<1001x1001xf32>) outs(%f : tensor<1001x1001xf32>) -> tensor<1001x1001xf32>
  %r = linalg.add ins(%q, %d : tensor<1001x1001xf32>, tensor<1001x1001xf32>) outs(%e : tensor<1001x1001xf32>) -> tensor<1001x1001xf32>
  return %r : tensor<1001x1001xf32>
}
