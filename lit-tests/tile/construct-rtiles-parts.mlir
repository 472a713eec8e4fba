// Reductions whose tiles would wait for far memories are done in parts that stay near.
// RUN: weft-opt %s --tile-construct-rtiles | FileCheck %s

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(4) transaction_bytes(64)
  device.memory @l2 scope("core") capacity_bytes(65536) caches(@dram) bytes_per_cycle(64) transaction_bytes(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1) handover_cycles(1000)
  device.move @load from @dram to @vreg issue_cycles(1.0) latency_cycles(2) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(2) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(3) types([f32])
    operations(["arith.addf", "arith.mulf"]) reductions([])
}

// The rTask is cut, too, so that parts are worth it. Parts are whole lines.
// CHECK-LABEL: tile.kernel @product
//       CHECK:   tile.compute {{.+}} tiles [#tile.rtile<"l2"[{{[0-9]+, [0-9]+}}, 2000]>, #tile.rtile<"l2"[{{[0-9]+, [0-9]+}}, {{256|272|288|304|320|336|352|368|384|400|416|432|448|464|480|496|512|688|1008}}]>, #tile.rtile<"vreg"[{{[0-9]+, [0-9]+}}, 1]>]
tile.kernel @product {
^bb0(%a: tensor<256x2000xf32>, %b: tensor<2000x256xf32>, %c: tensor<256x256xf32>):
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<256x2000xf32>, tensor<2000x256xf32>) outs(%c : tensor<256x256xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<256x256xf32>
  tile.yield %r : tensor<256x256xf32>
}

// All of a short reduction is near.
// CHECK-LABEL: tile.kernel @short
//       CHECK:   tile.compute {{.+}} tiles [#tile.rtile<"l2"[{{[0-9, ]+}}]>, #tile.rtile<"vreg"[{{[0-9, ]+}}]>]
tile.kernel @short {
^bb0(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>):
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  tile.yield %r : tensor<64x64xf32>
}

// A matrix is read once, and the vector stays: parts would bring nothing nearer.
// CHECK-LABEL: tile.kernel @vector
//       CHECK:   tile.compute {{.+}} tiles [#tile.rtile<"l2"[{{[0-9, ]+}}]>, #tile.rtile<"vreg"[{{[0-9, ]+}}]>]
tile.kernel @vector {
^bb0(%a: tensor<2000x256xf32>, %b: tensor<2000xf32>, %c: tensor<256xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (k, i)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%a, %b : tensor<2000x256xf32>, tensor<2000xf32>) outs(%c : tensor<256xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<256xf32>
  tile.yield %r : tensor<256xf32>
}
