// Of a copy that reads along one axis and writes along another the rTask takes whole rows, of which each has a line in the
// smallest cache: register by register, each would come from a row of its own.
// RUN: weft-opt %s --tile-construct-rtiles | FileCheck %s
// RUN: sed 's/way_bytes(1024)/way_bytes(256)/' %s | weft-opt --tile-construct-rtiles | FileCheck %s --check-prefix=WAYS

#from = affine_map<(n, k, v) -> (k, n, v)>
#to = affine_map<(n, k, v) -> (n, k, v)>

// The smallest cache has 4 ways of 1 KiB, or 16 of 256 bytes.
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(4) transaction_bytes(64)
  device.memory @l2 scope("core") capacity_bytes(65536) caches(@dram) bytes_per_cycle(64) transaction_bytes(64) way_bytes(4096)
  device.memory @l1 scope("core") capacity_bytes(4096) caches(@l2) bytes_per_cycle(64) transaction_bytes(64) way_bytes(1024)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(1) handover_cycles(1000)
  device.move @load from @dram to @vreg issue_cycles(1.0) latency_cycles(2) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(2) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(3) types([f32])
    operations(["arith.addf", "arith.mulf"]) reductions([])
}

// Rows lie 2 KiB apart, so four have all the lines that they share; eight do with a finer way, and then 16 KiB of each
// side are what stays.
// CHECK-LABEL: tile.kernel @pack
//       CHECK:   tiles [#tile.rtile<"l2"[64, 4, 8]>, #tile.rtile<"vreg"[1, 1, 8]>]
//  WAYS-LABEL: tile.kernel @pack
//        WAYS:   tiles [#tile.rtile<"l2"[64, 8, 8]>, #tile.rtile<"vreg"[1, 1, 8]>]
tile.kernel @pack {
^bb0(%x: tensor<512x64x8xf32>, %o: tensor<64x512x8xf32>):
  %r = linalg.generic {indexing_maps = [#from, #to], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<512x64x8xf32>) outs(%o : tensor<64x512x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<64x512x8xf32>
  tile.yield %r : tensor<64x512x8xf32>
}

// Rows that are longer than what stays are cut; whole lines of what is written remain.
// CHECK-LABEL: tile.kernel @long
//       CHECK:   tiles [#tile.rtile<"l2"[{{[0-9]+}}, 2, 8]>, #tile.rtile<"vreg"[1, 1, 8]>]
tile.kernel @long {
^bb0(%x: tensor<64x4096x8xf32>, %o: tensor<4096x64x8xf32>):
  %r = linalg.generic {indexing_maps = [#from, #to], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<64x4096x8xf32>) outs(%o : tensor<4096x64x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4096x64x8xf32>
  tile.yield %r : tensor<4096x64x8xf32>
}

// What is written in the order in which it is read is cut along its outermost axis, as before.
// CHECK-LABEL: tile.kernel @same
//       CHECK:   tiles [#tile.rtile<"l2"[{{[0-9]+}}, 512, 8]>, #tile.rtile<"vreg"[1, 1, 8]>]
tile.kernel @same {
^bb0(%x: tensor<64x512x8xf32>, %o: tensor<64x512x8xf32>):
  %r = linalg.generic {indexing_maps = [#to, #to], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<64x512x8xf32>) outs(%o : tensor<64x512x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<64x512x8xf32>
  tile.yield %r : tensor<64x512x8xf32>
}
