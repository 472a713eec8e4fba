// A kernel on a move is a copy, piece by piece; nothing else is.
// RUN: not weft-opt %s --tile-to-device --split-input-file -o %t.mlir 2>&1 | FileCheck %s --check-prefix=NOT
// RUN: not weft-opt %s --tile-to-device --split-input-file 2>/dev/null | FileCheck %s

#id = affine_map<(i) -> (i)>
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @near scope("cluster") capacity_bytes(4096) within(@dram)
  device.memory @vreg scope("thread") capacity_bytes(2048) register_bytes(64)
  device.unit @core count(4) cluster(@pair)
  device.unit @pair count(2)
  device.engine @dma on @pair queue(4)
  device.move @fetch from @dram to @near engine(@dma) strided
}

// CHECK-LABEL: device.kernel @pieces tasks 4
//       CHECK:   %[[DONE:.+]] = device.transfer @fetch %{{.+}} sizes [16]
//       CHECK:   device.wait %[[DONE]]
tile.kernel @pieces {
^bb0(%x: tensor<64xf32>, %o: tensor<64xf32>):
  %c = tile.compute ins(%x) outs(%o) on @fetch tiles [#tile.rtile<"near" [16]>] : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%p: tensor<64xf32>, %q: tensor<64xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<64xf32>) outs(%q : tensor<64xf32>) {
    ^bb0(%u: f32, %v: f32):
      linalg.yield %u : f32
    } -> tensor<64xf32>
    tile.yield %r : tensor<64xf32>
  }
  %s = tile.store %c from @near to %o : tensor<64xf32>
  tile.yield %s : tensor<64xf32>
}

// -----

#id = affine_map<(i) -> (i)>
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @near scope("cluster") capacity_bytes(4096) within(@dram)
  device.memory @vreg scope("thread") capacity_bytes(2048) register_bytes(64)
  device.unit @core count(4) cluster(@pair)
  device.unit @pair count(2)
  device.engine @dma on @pair queue(4)
  device.move @fetch from @dram to @near engine(@dma) strided
}

// NOT: error: @twice is no copy that @fetch does
// NOT: help: a kernel on a move gives the elements of its one input, as they are
tile.kernel @twice {
^bb0(%x: tensor<64xf32>, %o: tensor<64xf32>):
  %c = tile.compute ins(%x) outs(%o) on @fetch tiles [#tile.rtile<"near" [16]>] : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%p: tensor<64xf32>, %q: tensor<64xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<64xf32>) outs(%q : tensor<64xf32>) {
    ^bb0(%u: f32, %v: f32):
      %t = arith.addf %u, %u : f32
      linalg.yield %t : f32
    } -> tensor<64xf32>
    tile.yield %r : tensor<64xf32>
  }
  %s = tile.store %c from @near to %o : tensor<64xf32>
  tile.yield %s : tensor<64xf32>
}
