// Rows of a weight that is an input lie a multiple of the cache's ways apart: parts of the reduction
// are as long as their rows stay, and tiles are wide, so that fewer rows are jumped to.
// RUN: sed "s/jump_cycles(40)/jump_cycles(40) prefetch_streams(1024)/" %s | weft-opt --tile-construct-rtiles | FileCheck %s --check-prefix=FOLLOWED
// RUN: weft-opt %s --tile-construct-rtiles | FileCheck %s

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

// The cache of the unit has 16 ways of 4 KiB.
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(4) transaction_bytes(64) jump_cycles(40)
  device.memory @l2 scope("core") capacity_bytes(65536) caches(@dram) bytes_per_cycle(64) transaction_bytes(64) way_bytes(4096)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1) handover_cycles(1000)
  device.move @load from @dram to @vreg issue_cycles(1.0) latency_cycles(2) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(2) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(3) types([f32])
    operations(["arith.addf", "arith.mulf"]) reductions([])
}

// Rows are 2048 bytes apart: 16 of them take half of the ways, which is what may stay; their bytes alone
// would let hundreds stay.
// CHECK-LABEL: tile.kernel @apart
//       CHECK:   tile.compute {{.+}} tiles [#tile.rtile<"l2"[24, [[COLUMNS:[0-9]+]], 1024]>, #tile.rtile<"l2"[24, [[COLUMNS]], 16]>, #tile.rtile<"vreg"[{{[0-9]+, [0-9]+}}, 1]>]
//  CHECK-SAME:     because "roller: {{.+}}, transfers
// Rows that are followed need no parts.
// FOLLOWED-LABEL: tile.kernel @apart
//       FOLLOWED:   tiles [#tile.rtile<"l2"[24, 512, 1024]>, #tile.rtile<"vreg"[{{[0-9]+, [0-9]+}}, 1]>]
tile.kernel @apart {
^bb0(%a: tensor<24x1024xf32>, %b: tensor<1024x512xf32>, %c: tensor<24x512xf32>):
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<24x1024xf32>, tensor<1024x512xf32>) outs(%c : tensor<24x512xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<24x512xf32>
  tile.yield %r : tensor<24x512xf32>
}

// Rows of 516 elements share no ways: parts are as long as their bytes allow.
// CHECK-LABEL: tile.kernel @beside
//       CHECK:   tile.compute {{.+}} tiles [#tile.rtile<"l2"[16, 516, 1024]>, #tile.rtile<"l2"[16, 516, 256]>, #tile.rtile<"vreg"[{{[0-9]+, [0-9]+}}, 1]>]
tile.kernel @beside {
^bb0(%a: tensor<24x1024xf32>, %b: tensor<1024x516xf32>, %c: tensor<24x516xf32>):
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<24x1024xf32>, tensor<1024x516xf32>) outs(%c : tensor<24x516xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<24x516xf32>
  tile.yield %r : tensor<24x516xf32>
}
